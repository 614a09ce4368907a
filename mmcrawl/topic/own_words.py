"""The files of the user's own words for topics: written in the browser, one concept a line.

A file with the name of a topic that ships adds its words to that topic.
"""

from pathlib import Path

from mmcrawl.errors import TopicError
from mmcrawl.topic.loading import LEARNT, OWN_TOPICS, check_name, decode, parse_plain
from mmcrawl.topic.topic import Concept


def words_file(name: str) -> Path:
    """File of the user's own words: of a topic of words, or those added to a topic that ships.

    Raises :class:`~mmcrawl.errors.TopicError` for a name that is none, or that another topic has.
    """
    check_name(name)
    for other in (OWN_TOPICS / f"{name}{ending}" for ending in (LEARNT, ".toml")):
        if other.is_file():
            raise TopicError(f"{other} is called {name!r} already; take another name")
    return OWN_TOPICS / f"{name}.txt"


def keep_words(name: str, text: str) -> None:
    """Write the file of the user's own words, one concept a line; wholly or not at all.

    Raises :class:`~mmcrawl.errors.TopicError` if it holds none, or as :func:`words_file` does.
    """
    path = words_file(name)
    parse_plain(text.encode(), name, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def own_words(name: str) -> str:
    """What the file of the user's own words holds, "" if there is none.

    Raises :class:`~mmcrawl.errors.TopicError` if it is no text, or as :func:`words_file` does.
    """
    path = words_file(name)
    return decode(path.read_bytes(), str(path)) if path.is_file() else ""


def add_words(name: str, concept: Concept) -> None:
    """Add a concept to the user's own words of a topic, see :func:`keep_words`."""
    lines, added = own_words(name).splitlines(), "|".join(concept)
    if added not in lines:
        keep_words(name, "\n".join([*lines, added]) + "\n")
