"""The query language.

=====================  =============================================================
``lever pulleys``      all words, in any order; stemmed, 力學 = 力学, a part of a Chinese word
                       is found in it (二泉 in 二泉映月)
``"laws of motion"``   these words in this order; “…” and „…“ are quotes too
``-word -"a phrase"``  blocks without it
``topic:力学``         words of the block's topic
``kind:navigation``    blocks of a kind (:data:`mmcrawl.blocks.kinds.KINDS`)
``media:video``        blocks with media of a kind in or right behind them
``site:example.org``   pages of a host and of those below it
``url:example.org/a``  pages whose URL begins so, with or without the scheme
``lang:de``            pages in a language; ``de`` includes ``de-at``
``from:2024-01-01``    blocks seen on or after a day (UTC)
``to:2024-12-31``      blocks seen on or before a day (UTC)
=====================  =============================================================

A value with spaces stands in quotes: ``topic:"laws of motion"``. A field given twice wants either
value, ``topic`` both; ``-`` before a field excludes. Words that say nothing (the, 的) are left out
where others are given; in a phrase they count. Menus, advertisements and the like are searched only
if no other block has the words, or if ``kind:`` asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from typing import NamedTuple

from mmcrawl.archive.search.tokens import Run, phrase_runs
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.blocks.phrases import words_of
from mmcrawl.errors import SearchError
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS

MEDIA = MEDIA_KINDS
"""Kinds of media."""

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

WRONG = {
    "choice": "there is no {field} '{value}'; use one of {known}",
    "date": "{field}:{value} is no date; write it as {field}:2024-12-31",
    "empty": "the query is empty; name a word, a phrase or a field",
    "field": "there is no field '{field}'; fields are {fields} (or put the words in quotes)",
    "long": "the query is longer than {most} characters; shorten it",
    "minus": "-{field}: cannot be excluded; use from: and to: for the time wanted",
    "nothing": "the query has a minus sign before nothing; remove it",
    "phrase": "the query has an empty phrase; remove it",
    "quote": 'the phrase "{phrase} has no closing quote; add one',
    "times": "from:{start} is later than to:{end}; exchange them",
    "twice": "{field}: is given {count} times; give it once",
    "value": "{field}: has no value; write it behind the colon without a space",
    "wildcard": "{value}: there are no wildcards; words are found in all their forms (or put it in"
    " quotes)",
    "without": "the query only says what must not occur; add a word or a field",
    "word": "'{text}' has no word to search for; leave it out",
    "words": "the query has more than {most} words; leave some out",
}
"""What can be wrong with a query, by name."""


def wrong_query(name: str, **values: object) -> SearchError:
    """Return what is wrong with a query, as one of `WRONG`."""
    return SearchError(WRONG[name].format(**values), name, **values)


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a phrase that is looked for."""

    runs: tuple[Run, ...]  # of which one must occur
    topic: bool = False  # it is looked for in the topic of a block

    @property
    def expression(self) -> str:
        """The term in the language of FTS5."""
        found = [f"{'topic' if self.topic else 'text'} : {_quoted(run)}" for run in self.runs]
        return f"({' OR '.join(found)})"


def _quoted(run: Run) -> str:
    text = " ".join(run)
    return f'"{text[:-1]}" *' if text.endswith("*") else f'"{text}"'


@dataclass(frozen=True, slots=True)
class Choice:
    """What a field may be: one of `wanted` if any are, none of `unwanted`."""

    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.wanted or self.unwanted)


@dataclass(frozen=True, slots=True)
class Query:
    """A query, understood."""

    words: tuple[Term, ...]  # each once, phrases first
    topics: tuple[Term, ...]  # that must occur in the topic
    without: tuple[Term, ...]
    kind: Choice
    site: Choice
    url: Choice
    media: Choice
    lang: Choice
    start: float | None  # a block must be seen at or after it, in Unix seconds
    end: float | None  # and before this


class _Item(NamedTuple):
    minus: bool
    field: str
    text: str
    quoted: bool


def media_bit(kind: str) -> int:
    """Return what stands for a kind of media where several are kept as one number."""
    return 1 << MEDIA.index(kind)


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
    topics = [item for item in items if item.field == "topic"]
    words = _wanted([item for item in items if not item.field and not item.minus])
    without = [_term(item.text) for item in items if not item.field and item.minus]
    without += [_term(item.text, topic=True) for item in topics if item.minus]
    wanted = [term for item in topics if not item.minus for term in _words(item.text, topic=True)]
    if sum(len(term.runs[0]) for term in (*words, *wanted, *without)) > _MOST_WORDS:
        raise wrong_query("words", most=_MOST_WORDS)
    start, end = _day(items, "from"), _day(items, "to")
    if start is not None and end is not None and end < start:
        raise wrong_query("times", start=start, end=end)
    query = Query(
        words,
        tuple(dict.fromkeys(wanted)),
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
        raise wrong_query("without")
    return query


def _items(text: str) -> list[_Item]:
    if len(text) > _LONGEST:
        raise wrong_query("long", most=_LONGEST)
    items = [_item(match) for match in _ITEM.finditer(text.rstrip()) if match[0]]
    if not items:
        raise wrong_query("empty")
    return items


def _item(match: re.Match[str]) -> _Item:
    field, quoted = (match["field"] or "").lower(), match["quoted"]
    if quoted is not None and match["closed"] is None:
        raise wrong_query("quote", phrase=quoted.strip())
    value = (quoted if quoted is not None else match["plain"]).strip()
    if field and field not in _FIELDS:
        raise wrong_query("field", field=field, fields=", ".join(_FIELDS))
    if field and not value:
        raise wrong_query("value", field=field)
    if match["minus"] and field in ("from", "to"):
        raise wrong_query("minus", field=field)
    if quoted is None and not field and _WILDCARD.search(value):
        raise wrong_query("wildcard", value=value)
    if not value:
        raise wrong_query("phrase" if quoted is not None else "nothing")
    return _Item(match["minus"] is not None, field, value, quoted is not None)


def _term(text: str, *, topic: bool = False) -> Term:
    runs = phrase_runs(text)
    if not runs:
        raise wrong_query("word", text=text[:60])
    return Term(runs, topic)


def _words(text: str, *, topic: bool = False) -> dict[Term, bool]:
    """Return the words of a text, Chinese cut by jieba, and whether each says something."""
    words = {_term(word.text, topic=topic): not word.is_stop for word in words_of(text)}
    return words or {_term(text, topic=topic): True}


def _wanted(items: Iterable[_Item]) -> tuple[Term, ...]:
    """Return all words and phrases that must occur."""
    phrases = [_term(item.text) for item in items if item.quoted]
    plain = (_words(item.text) for item in items if not item.quoted)
    loose = dict(chain.from_iterable(words.items() for words in plain))
    telling = [word for word, tells in loose.items() if tells]
    return tuple(dict.fromkeys(phrases + telling or loose))


def _choice(items: Iterable[_Item], field: str, known: tuple[str, ...] = ()) -> Choice:
    given: tuple[dict[str, None], dict[str, None]] = ({}, {})  # in order
    for item in items:
        if item.field == field:
            value = item.text if field == "url" else item.text.lower()
            if known and value not in known:
                raise wrong_query("choice", field=field, value=value, known=", ".join(known))
            given[item.minus][value] = None
    return Choice(*map(tuple, given))


def _day(items: Iterable[_Item], field: str) -> date | None:
    given = [item.text for item in items if item.field == field]
    if len(given) > 1:
        raise wrong_query("twice", field=field, count=len(given))
    if not given:
        return None
    try:
        if _DATE.fullmatch(given[0]):
            return date.fromisoformat(given[0])
    except ValueError:
        pass
    raise wrong_query("date", field=field, value=given[0])


def _seconds(day: date | None) -> float | None:
    return None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
