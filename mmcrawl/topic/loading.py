"""Topics by name, from files, and from a few words.

Topic files: TOML, or plain text with one concept a line. See dictionaries/README. A topic that was
learnt from pages is a JSON file. Those in the folder `OWN_TOPICS` go by their names as well.
"""

import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from mmcrawl.errors import TopicError
from mmcrawl.store.durable import make_folder, put_in_place
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.text.resources import data_file
from mmcrawl.text.segmentation import Lexicon
from mmcrawl.topic.page_model import PageModel
from mmcrawl.topic.topic import Chapter, Concept, Topic

_TEXTS = ("name", "title", "title_en", "stage", "subject", "source")
_LISTS = ("words", "subject_words")
ANYTHING = "*"
"""Given as keywords: pages with media are looked for, whatever they are about."""

OWN_TOPICS = Path("topics")
"""Folder of the user's own topics, in the folder where a command is run."""

LEARNT = ".json"
"""Ending of the file of a learnt topic."""

_OWN = (LEARNT, ".toml", ".txt")
_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
_COMMENT = re.compile(r"(?:^|\s)#.*")


def parse_toml(data: bytes, file: str) -> Topic:
    """The topic of a TOML file; `file` is its name in messages.

    Raises :class:`~mmcrawl.errors.TopicError` with file and, where there is one, line.
    """
    text = decode(data, file)
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TopicError(f"{file}: not valid TOML: {error}") from None
    _check_keys(content, (*_TEXTS, *_LISTS, "chapters", "media"), file)
    fields = {key: _text(content, key, file) for key in _TEXTS}
    if not fields["name"]:
        raise TopicError(f'{file}: the topic has no name; add a line such as name = "optics"')
    media = content.get("media", {})
    if not isinstance(media, dict):
        raise TopicError(f"{file}: media must be a table, as [media.video]")
    _check_keys(media, MEDIA_KINDS, f"{file}: [media]")
    chapters = _chapters(content.get("chapters", []), file, text)
    concepts = _concepts(content, "words", file, text)
    return _topic(
        file,
        **(fields | {"title": fields["title"] or fields["name"]}),
        concepts=(*concepts, *(one for chapter in chapters for one in chapter.concepts)),
        chapters=chapters,
        subject_words=_concepts(content, "subject_words", file, text),
        media={kind: _media_concepts(media, kind, file, text) for kind in media},
    )


def parse_plain(data: bytes, file: str, name: str) -> Topic:
    """The topic of a plain-text file: one concept a line, equivalents separated by ``|`` or a tab.

    What follows a ``#`` at the start of a line or after a blank is a comment. Raises
    :class:`~mmcrawl.errors.TopicError` with file and line.
    """
    concepts = []
    for number, line in enumerate(decode(data, file).splitlines(), 1):
        words = split_words(_COMMENT.sub("", line))
        _check_words(words, f"{file}, line {number}")
        if words:
            concepts.append(words)
    return _topic(file, name=name, title=name, concepts=tuple(concepts), source=file)


def split_words(text: str) -> Concept:
    """The equivalent words of one concept, written with ``|`` or a tab between them."""
    return tuple(word for part in re.split(r"[|｜\t]", text) if (word := part.strip()))


def decode(data: bytes, file: str) -> str:
    """Text of a file in UTF-8 or else GB18030; :class:`~mmcrawl.errors.TopicError` otherwise."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text.replace("\r\n", "\n")
    raise TopicError(f"{file}: neither UTF-8 nor GB18030 text; save it as UTF-8")


def _topic(file: str, **fields: Any) -> Topic:
    try:
        return Topic(**fields)
    except TopicError as error:
        raise TopicError(f"{file}: {error}") from None


def _check_keys(table: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in known:
            raise TopicError(f"{where}: unknown key {key!r}; there are {', '.join(known)}")


def _text(content: dict[str, Any], key: str, file: str) -> str:
    value = content.get(key, "")
    if not isinstance(value, str):
        raise TopicError(f"{file}: {key} must be a text in quotes")
    return value.strip()


def _chapters(chapters: Any, file: str, text: str) -> tuple[Chapter, ...]:
    if not isinstance(chapters, list) or not all(isinstance(one, dict) for one in chapters):
        raise TopicError(f"{file}: write each chapter as [[chapters]] with title and words")
    where = f"{file}: [[chapters]]"
    for one in chapters:
        _check_keys(one, ("title", "title_en", "words"), where)
    return tuple(
        Chapter(
            _text(one, "title", where),
            _text(one, "title_en", where),
            _concepts(one, "words", file, text),
        )
        for one in chapters
    )


def _media_concepts(media: dict[str, Any], kind: str, file: str, text: str) -> tuple[Concept, ...]:
    section = media[kind]
    if not isinstance(section, dict):
        raise TopicError(f"{file}: media.{kind} must be a table, as [media.{kind}] with words")
    _check_keys(section, ("words",), f"{file}: [media.{kind}]")
    return _concepts(section, "words", file, text)


def _concepts(table: dict[str, Any], key: str, file: str, text: str) -> tuple[Concept, ...]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise TopicError(f'{file}: {key} must be a list of concepts, as [["光学", "optics"]]')
    concepts = []
    for item in value:
        words = [item] if isinstance(item, str) else item
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise TopicError(
                f"{file}: {key} holds {item!r}, which is no list of words; "
                'write a concept as ["光学", "optics"]'
            )
        concept = tuple(word.strip() for word in words)
        for word in concept:
            _check_words((word,), _place(file, text, word))
        if concept:
            concepts.append(concept)
    return tuple(concepts)


def _check_words(words: Concept, place: str) -> None:
    key = Lexicon(()).key
    for word in words:
        try:
            key(word)
        except TopicError as error:
            raise TopicError(f"{place}: {error}") from None


def _place(file: str, text: str, word: str) -> str:
    """File and line of a word in the text of a TOML file; the file alone if it is escaped there."""
    before, quoted, _ = text.partition(f'"{word}"')
    line = before.count("\n") + 1
    return f"{file}, line {line}" if quoted else file


def topic_names() -> list[str]:
    folder = data_file("topics")
    if not folder.is_dir():
        return []
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def own_topic_names() -> list[str]:
    """Names of the user's own topics in `OWN_TOPICS`, sorted, but those that a shipped one has."""
    try:
        found = {path.stem for path in OWN_TOPICS.iterdir() if path.suffix in _OWN}
    except OSError:
        return []
    return sorted(name for name in found.difference(topic_names()) if _NAME.fullmatch(name))


def learnt_file(name: str) -> Path:
    """File of the learnt topic of a name; TopicError for a name that is none or is taken."""
    check_name(name)
    if name in topic_names():
        raise TopicError(f"a topic {name!r} ships with mmcrawl; take another name")
    return OWN_TOPICS / f"{name}{LEARNT}"


def check_name(name: str) -> None:
    """Raise :class:`~mmcrawl.errors.TopicError` for what is no name of a topic."""
    if not _NAME.fullmatch(name) or name.endswith(_OWN):
        raise TopicError(
            f"{name!r} is no name for a topic; take letters, digits, - and ., at most 64"
        )


def load_topic(name_or_path: str) -> Topic:
    """The shipped topic of that name or title (高中物理), or the topic of the user's own file.

    A file ending in ``.toml`` is read as TOML, in ``.json`` as a learnt topic, any other as plain
    text (format in dictionaries/README); a name may also be that of a file in `OWN_TOPICS`. A plain
    file there with the name of a shipped topic adds its words to that. Raises
    :class:`~mmcrawl.errors.TopicError` when there is neither such a topic nor such a file, or when
    the file is bad.
    """
    name = name_or_path.strip()
    if name in topic_names():
        return _with_own_words(shipped_topic(name))
    path = Path(name)
    if os.path.isfile(path):  # False for a name that is too long, where pathlib raises
        return _from_file(path)
    if "/" in name or "\\" in name or path.suffix in _OWN:
        raise TopicError(f"there is no topic file {name}")
    for ending in _OWN if _NAME.fullmatch(name) else ():
        if os.path.isfile(own := OWN_TOPICS / f"{name}{ending}"):
            return _from_file(own)
    titles = _titles()
    if called := titles.get(name.casefold()):
        return _with_own_words(shipped_topic(called))
    shown = {one: one for one in (*topic_names(), *own_topic_names())} | titles
    near = [one for one in get_close_matches(name.casefold(), shown, 6, 0.6) if one][:3]
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise TopicError(f"unknown topic {name!r}; {hint}`scrapy topic list` shows all topics")


def load_topics(names: str) -> Topic:
    """One topic that holds the concepts of several, their names or paths separated by commas.

    Raises :class:`~mmcrawl.errors.TopicError` as :func:`load_topic` does.
    """
    topics = [load_topic(name) for name in names.split(",") if name.strip()]
    if not topics:
        raise TopicError("no topic is named; `scrapy topic list` shows all topics")
    return topics[0] if len(topics) == 1 else union(topics)


def topic_from_keywords(keywords: str) -> Topic:
    """A topic of a few words, one concept each: ``光学, refraction``.

    Commas (also ， and 、), semicolons or line ends separate words; ``光学|optics`` makes one
    concept; `ANYTHING` alone is every topic.
    Raises :class:`~mmcrawl.errors.TopicError` if there is none.
    """
    if keywords.strip() == ANYTHING:
        return Topic("keywords", "any media", (), source="all topics", anything=True)
    parts = (split_words(part) for part in re.split(r"[,，、;；\n]", keywords))
    concepts = tuple(words for words in parts if words)
    return Topic("keywords", keywords.strip(), concepts, source="the keywords given")


def topic_of(names: str, keywords: str) -> Topic | None:
    """The topic of several names or paths, or of a few words; None if neither is given."""
    if names and keywords:
        raise TopicError("give either --topic or --keywords, not both")
    if keywords:
        return topic_from_keywords(keywords)
    return load_topics(names) if names else None


def topic_titles() -> dict[str, tuple[str, str]]:
    """Return the titles of the topics that ship, in English and Chinese, by their names."""
    heads = _heads(*topic_names()).items()
    return {name: (one.get("title_en") or one["title"], one["title"]) for name, one in heads}


def topic_stages() -> dict[str, str]:
    """Return the school stages of the topics that ship by their names."""
    return {name: one.get("stage", "") for name, one in _heads(*topic_names()).items()}


@cache
def _heads(*names: str) -> dict[str, dict[str, str]]:
    """Return what topics say of themselves; to check their words takes ten times as long."""
    read = {name: tomllib.loads(decode(_shipped(name), name)) for name in names}
    return {name: {key: one[key] for key in _TEXTS if key in one} for name, one in read.items()}


def _titles() -> dict[str, str]:
    """Return names of topics that ship by their titles in Chinese and English."""
    of_names = topic_titles().items()
    titles = {english.casefold(): name for name, (english, _) in of_names}
    return titles | {title: name for name, (_, title) in of_names}


def _shipped(name: str) -> bytes:
    return data_file("topics", f"{name}.toml").read_bytes()


@cache
def shipped_topic(name: str) -> Topic:
    """The topic of one of `topic_names`, without the user's own words."""
    return parse_toml(_shipped(name), f"{name}.toml")


def _with_own_words(topic: Topic) -> Topic:
    path = OWN_TOPICS / f"{topic.name}.txt"
    if not os.path.isfile(path):
        return topic
    return replace(topic, concepts=topic.concepts + _from_file(path).concepts)


def learnt_topic(model: PageModel) -> Topic:
    return Topic(model.name, model.name, (), source="learnt from pages", learnt=(model,))


def _from_file(path: Path) -> Topic:
    if path.suffix == LEARNT:
        return learnt_topic(PageModel.load(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TopicError(f"topic file {path} cannot be read: {error.strerror}") from error
    if path.suffix == ".toml":
        return parse_toml(data, str(path))
    return parse_plain(data, str(path), path.stem)


def as_one(topics: Iterable[Topic]) -> Topic:
    """One topic of several, at least one, each of which is taken once."""
    distinct = list({topic.name: topic for topic in topics}.values())
    return distinct[0] if len(distinct) == 1 else union(distinct)


def union(topics: list[Topic]) -> Topic:
    """One topic that holds the concepts of several, at least one."""
    return Topic(
        name=",".join(topic.name for topic in topics),
        title="、".join(topic.title for topic in topics),
        title_en=", ".join(topic.title_en for topic in topics if topic.title_en),
        source="; ".join(topic.source for topic in topics if topic.source),
        concepts=tuple(concept for topic in topics for concept in topic.concepts),
        chapters=tuple(chapter for topic in topics for chapter in topic.chapters),
        subject_words=tuple(concept for topic in topics for concept in topic.subject_words),
        media={
            kind: tuple(concept for topic in topics for concept in topic.media.get(kind, ()))
            for kind in MEDIA_KINDS
        },
        learnt=tuple(model for topic in topics for model in topic.learnt),
    )


def words_file(name: str) -> Path:
    """File of the user's own words: of a topic of words, or those added to a topic that ships."""
    check_name(name)
    for other in (OWN_TOPICS / f"{name}{ending}" for ending in (LEARNT, ".toml")):
        if other.is_file():
            raise TopicError(f"{other} is called {name!r} already; take another name")
    return OWN_TOPICS / f"{name}.txt"


def keep_words(name: str, text: str) -> None:
    """Write the file of the user's own words, one concept a line; wholly or not at all."""
    path = words_file(name)
    parse_plain(text.encode(), name, name)
    make_folder(path.parent)
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    put_in_place(beside, path)


def own_words(name: str) -> str:
    """The contents of the file of the user's own words, "" if there is none."""
    path = words_file(name)
    return decode(path.read_bytes(), str(path)) if path.is_file() else ""


def add_words(name: str, concept: Concept) -> None:
    """Add a concept to the user's own words of a topic, see :func:`keep_words`."""
    lines, added = own_words(name).splitlines(), "|".join(concept)
    if added not in lines:
        keep_words(name, "\n".join([*lines, added]) + "\n")
