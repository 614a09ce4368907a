"""The query language.

=====================  =============================================================
``lever pulleys``      all words, in any order; stemmed, 力學 = 力学
``"laws of motion"``   these words in this order; “…” and „…“ are quotes too
``-word -"a phrase"``  blocks without it
``topic:力学``         words of the block's topic
``kind:navigation``    blocks of a kind (:data:`mmcrawl.blocks.kinds.KINDS`)
``media:video``        blocks with ``audio``, ``video`` or ``animation`` in or right behind them
``site:example.org``   pages of a host and of those below it
``url:example.org/a``  pages whose URL begins so, with or without the scheme
``lang:de``            pages in a language; ``de`` includes ``de-at``
``from:2024-01-01``    blocks seen on or after a day (UTC)
``to:2024-12-31``      blocks seen on or before a day (UTC)
=====================  =============================================================

A value with spaces stands in quotes: ``topic:"laws of motion"``. A field given twice wants either
value, ``topic`` both; ``-`` before a field excludes. Words that say nothing (the, 的) are left out
where others are given; in a phrase they count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from mmcrawl.archive.search_words import tokens
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.errors import SearchError
from mmcrawl.text import is_stop_word

__all__ = ["MEDIA", "TOPIC", "Choice", "Phrase", "Query", "as_filter", "parse_query"]

MEDIA = ("audio", "video", "animation")
"""Kinds of media; the n-th is bit n where the media of a block are kept."""

TOPIC = "topic:"
"""Stands before a word of a topic, which is a term of its own in the index."""

_FIELDS = ("kind", "topic", "site", "url", "media", "from", "to", "lang")
_LONGEST = 1_000
_MOST_WORDS = 64
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_QUOTES = re.compile('["“”„]')
_WILDCARD = re.compile(r"\w\*|\*\w")
_ITEM = re.compile(
    r"""\s*(?P<minus>[-－])?(?:(?P<field>[A-Za-z]+)[:：](?!//))?"""
    r"""(?:["“„](?P<quoted>[^"”“]*)(?P<closed>["”“])?|(?P<plain>[^\s"“„]*))"""
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words at a distance from the first; one word is a phrase too."""

    words: tuple[str, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a field may be: one of `wanted` if any are, none of `unwanted`."""

    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.wanted or self.unwanted)


@dataclass(frozen=True, slots=True)
class Query:
    """A query, understood.

    Attributes:
        words: That must occur, each once; those of phrases included.
        phrases: That must occur, of two words or more.
        topics: That must occur in the topic.
        without: That must not occur, terms of topics with their prefix.
        kind, site, url, media, lang: What is wanted and unwanted.
        start, end: Unix seconds; a block must be seen at or after `start` and before `end`.
    """

    words: tuple[str, ...]
    phrases: tuple[Phrase, ...]
    topics: tuple[str, ...]
    without: tuple[Phrase, ...]
    kind: Choice
    site: Choice
    url: Choice
    media: Choice
    lang: Choice
    start: float | None
    end: float | None


@dataclass(frozen=True, slots=True)
class _Item:
    minus: bool
    field: str
    text: str
    quoted: bool


def as_filter(field: str, value: str) -> str:
    """Return what to add to a query so that a field is as wanted; quotes in the value are lost.

    >>> as_filter("topic", "laws of motion")
    'topic:"laws of motion"'
    """
    plain = " ".join(_QUOTES.sub(" ", value).split())
    return f'{field}:"{plain}"'


def parse_query(text: str) -> Query:
    """Understand a query.

    Raises:
        SearchError: it is empty, asks for nothing, or has a wrong field, value or quote.
    """
    items = _items(text)
    plain = [item for item in items if not item.field]
    topics = [item for item in items if item.field == "topic"]
    words, phrases = _wanted([item for item in plain if not item.minus])
    without = [_phrase(item.text) for item in plain if item.minus]
    topic_words = [word for item in topics if not item.minus for word in _phrase(item.text).words]
    for item in topics:
        if item.minus:
            phrase = _phrase(item.text)
            prefixed = tuple(TOPIC + word for word in phrase.words)
            without.append(Phrase(prefixed, phrase.offsets))
    if len(words) + len(topic_words) + sum(len(p.words) for p in without) > _MOST_WORDS:
        raise SearchError(f"the query has more than {_MOST_WORDS} words; leave some out")
    start, end = _day(items, "from"), _day(items, "to")
    if start is not None and end is not None and end < start:
        raise SearchError(f"from:{start} is later than to:{end}; exchange them")
    query = Query(
        words,
        phrases,
        tuple(dict.fromkeys(topic_words)),
        tuple(without),
        kind=_choice(items, "kind", KINDS),
        site=_choice(items, "site"),
        url=_choice(items, "url"),
        media=_choice(items, "media", MEDIA),
        lang=_choice(items, "lang"),
        start=_seconds(start),
        end=_seconds(end + timedelta(days=1)) if end is not None and end < date.max else None,
    )
    if without and len(items) == len(without):
        raise SearchError("the query only says what must not occur; add a word or a field")
    return query


def _items(text: str) -> list[_Item]:
    if len(text) > _LONGEST:
        raise SearchError(f"the query is longer than {_LONGEST} characters; shorten it")
    items = [_item(match) for match in _ITEM.finditer(text.rstrip()) if match[0]]
    if not items:
        raise SearchError("the query is empty; name a word, a phrase or a field")
    return items


def _item(match: re.Match[str]) -> _Item:
    field, quoted = (match["field"] or "").lower(), match["quoted"]
    if quoted is not None and match["closed"] is None:
        raise SearchError(f'the phrase "{quoted.strip()} has no closing quote; add one')
    value = (quoted if quoted is not None else match["plain"]).strip()
    if field and field not in _FIELDS:
        raise SearchError(
            f"there is no field {field!r}; fields are {', '.join(_FIELDS)}"
            " (or put the words in quotes)"
        )
    if field and not value:
        raise SearchError(f"{field}: has no value; write it behind the colon without a space")
    if match["minus"] and field in ("from", "to"):
        raise SearchError(f"-{field}: cannot be excluded; use from: and to: for the time wanted")
    if quoted is None and not field and _WILDCARD.search(value):
        raise SearchError(
            f"{value}: there are no wildcards; words are found in all their forms (or put it in"
            " quotes)"
        )
    if not value:
        what = "an empty phrase" if quoted is not None else "a minus sign before nothing"
        raise SearchError(f"the query has {what}; remove it")
    return _Item(match["minus"] is not None, field, value, quoted is not None)


def _phrase(text: str) -> Phrase:
    found = [token for token in tokens(text) if not token.inner]
    if not found:
        raise SearchError(f"{text[:60]!r} has no word to search for; leave it out")
    first = found[0].position
    return Phrase(
        tuple(token.word for token in found), tuple(token.position - first for token in found)
    )


def _wanted(items: Iterable[_Item]) -> tuple[tuple[str, ...], tuple[Phrase, ...]]:
    """Return all words that must occur, and the phrases."""
    loose: list[str] = []
    phrases = []
    for item in items:
        phrase = _phrase(item.text)
        if item.quoted and len(phrase.words) > 1:
            phrases.append(phrase)
        else:
            loose += phrase.words
    bound = [word for phrase in phrases for word in phrase.words]
    telling = [word for word in loose if not is_stop_word(word)]
    words = bound + telling if bound or telling else loose
    return tuple(dict.fromkeys(words)), tuple(phrases)


def _choice(items: Iterable[_Item], field: str, known: tuple[str, ...] = ()) -> Choice:
    given = [
        (item.minus, item.text if field == "url" else item.text.lower())
        for item in items
        if item.field == field
    ]
    for _, value in given:
        if known and value not in known:
            raise SearchError(f"there is no {field} {value!r}; use one of {', '.join(known)}")
    return Choice(
        tuple(dict.fromkeys(value for minus, value in given if not minus)),
        tuple(dict.fromkeys(value for minus, value in given if minus)),
    )


def _day(items: Iterable[_Item], field: str) -> date | None:
    given = [item.text for item in items if item.field == field]
    if len(given) > 1:
        raise SearchError(f"{field}: is given {len(given)} times; give it once")
    if not given:
        return None
    try:
        day = date.fromisoformat(given[0]) if _DATE.fullmatch(given[0]) else None
    except ValueError:
        day = None
    if day is None:
        raise SearchError(f"{field}:{given[0]} is no date; write it as {field}:2024-12-31")
    return day


def _seconds(day: date | None) -> float | None:
    return None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
