"""Topics by name, from files, and from a few words."""

import os
import re
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path

from mmcrawl.errors import TopicError
from mmcrawl.topic.reading import parse_plain, parse_toml, split_words
from mmcrawl.topic.topic import MEDIA_KINDS, Topic

__all__ = ["load_topic", "load_topics", "topic_from_keywords", "topic_names", "union"]


def topic_names() -> list[str]:
    """Names of the topics that ship with mmcrawl, sorted."""
    folder = files("dictionaries").joinpath("topics")
    if not folder.is_dir():
        return []
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def load_topic(name_or_path: str) -> Topic:
    """The shipped topic of that name, or the topic of the user's own file.

    A file ending in ``.toml`` is read as TOML, any other as plain text (format in
    dictionaries/README). Raises :class:`~mmcrawl.errors.TopicError` when there is neither such a
    topic nor such a file, or when the file is bad.
    """
    name = name_or_path.strip()
    if name in topic_names():
        return _shipped(name)
    path = Path(name)
    if os.path.isfile(path):  # False for a name that is too long, where pathlib raises
        return _from_file(path)
    if "/" in name or "\\" in name or path.suffix in {".toml", ".txt"}:
        raise TopicError(f"there is no topic file {name}")
    near = get_close_matches(name, topic_names(), 3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise TopicError(f"unknown topic {name!r}; {hint}`scrapy topic list` shows all topics")


def load_topics(names: str) -> Topic:
    """One topic that holds the concepts of several, their names or paths parted by commas.

    Raises :class:`~mmcrawl.errors.TopicError` as :func:`load_topic` does.
    """
    topics = [load_topic(name) for name in names.split(",") if name.strip()]
    if not topics:
        raise TopicError("no topic is named; `scrapy topic list` shows all topics")
    return topics[0] if len(topics) == 1 else union(topics)


def topic_from_keywords(keywords: str) -> Topic:
    """A topic of a few words, one concept each: ``光学, refraction``.

    Words are parted by commas (also ， and 、), semicolons or line ends; ``光学|optics`` makes one
    concept.
    Raises :class:`~mmcrawl.errors.TopicError` if there is none.
    """
    parts = (split_words(part) for part in re.split(r"[,，、;；\n]", keywords))
    concepts = tuple(words for words in parts if words)
    return Topic("keywords", keywords.strip(), concepts, source="the keywords given")


@cache
def _shipped(name: str) -> Topic:
    file = f"{name}.toml"
    return parse_toml(files("dictionaries").joinpath("topics", file).read_bytes(), file)


def _from_file(path: Path) -> Topic:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TopicError(f"topic file {path} cannot be read: {error.strerror}") from error
    if path.suffix == ".toml":
        return parse_toml(data, str(path))
    return parse_plain(data, str(path), path.stem)


def union(topics: list[Topic]) -> Topic:
    """One topic that holds the concepts of several, at least one."""
    return Topic(
        name=",".join(topic.name for topic in topics),
        title="、".join(topic.title for topic in topics),
        title_en=", ".join(topic.title_en for topic in topics if topic.title_en),
        source="; ".join(topic.source for topic in topics if topic.source),
        concepts=tuple(concept for topic in topics for concept in topic.concepts),
        subject_words=tuple(concept for topic in topics for concept in topic.subject_words),
        media={
            kind: tuple(concept for topic in topics for concept in topic.media.get(kind, ()))
            for kind in MEDIA_KINDS
        },
    )
