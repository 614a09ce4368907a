"""The protocol of an algorithm: it receives the outcomes of links and returns scores."""

import logging
from array import array
from collections.abc import Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mmcrawl.errors import raise_if_fatal
from mmcrawl.frontier.findings import PatternRecord
from mmcrawl.frontier.reading import PastPage
from mmcrawl.frontier.records import KnownLink, LinkScores

if TYPE_CHECKING:
    from mmcrawl.scoring.link_model import LinkModel

logger = logging.getLogger(__name__)

NO_SCORES = LinkScores([], [], [])
_FEW = 10_000  # links; of more the scores are not made Python objects all at once
Numbers: TypeAlias = NDArray[Any]
Ranges: TypeAlias = Mapping[str, tuple[float, float]]
"""Least and greatest value of parameters, by name; `inf` for no bound."""
Words: TypeAlias = Mapping[str, str]
"""A word that a parameter may be instead of a number, by name."""
AUTO = "auto"
"""Such a word: the number is worked out from what the crawl sees."""


@dataclass(frozen=True, slots=True)
class LinkText:
    """The words around a link, before its page is known.

    Attributes:
        anchor: text of the link.
        url_words: words of its URL, in both languages.
        group_title: title of its link group, "" for none.
        from_script: the link was a literal inside a script; its words count less.
    """

    anchor: str
    url_words: str
    group_title: str
    from_script: bool = False


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page that was just crawled.

    Attributes:
        id: the link that led to it.
        url: its address.
        relevant: it holds media of the wanted kinds and is on topic.
        contains_media: it holds media of the wanted kinds, on topic or not.
        links: ids of the links on it that may be followed, each once.
        topic_score: what the topic test gave it, with media or without, in [0, 1].
        new_media: how many wanted media it holds that no relevant page before it showed; 0 if it is
            not relevant itself.
        on_topic: it is on topic, with media or without.
    """

    id: int
    url: str
    relevant: bool
    contains_media: bool
    links: Sequence[int]
    topic_score: float = 0.0
    new_media: int = 0
    on_topic: bool = False

    @classmethod
    def again(cls, past: PastPage, *, on_topic: bool) -> "CrawledPage":
        """Return a page as replayed when its crawl is continued."""
        return cls(
            past.id,
            past.url,
            past.relevant,
            past.contains_media,
            past.links,
            past.topic_score,
            past.new_media,
            on_topic,
        )


class LinkSource(Protocol):
    """The source in which a scorer looks up links by id (the frontier)."""

    def known(self, link: int) -> KnownLink:
        """Return a link as it was found."""

    def outlinks(self, page: int) -> Sequence[int]:
        """Return the ids of the links on a crawled page; none for a link that is no page yet."""


class NoLinks:
    """A source for scorers that receive no links."""

    def known(self, link: int) -> KnownLink:
        """Raise LookupError."""
        raise LookupError(link)

    def outlinks(self, page: int) -> Sequence[int]:
        """Raise LookupError."""
        raise LookupError(page)


class Scorer(Protocol):
    """An algorithm that orders the frontier. Methods it need not have may be inherited from here.

    Every method answers with the scores of links that have none yet *and* of waiting links whose
    score the news has changed; links not named keep theirs. Scores are finite numbers in [0, 1000),
    higher is fetched first, or `HELD` for a link that must not be fetched for now. The order among
    equal scores is that of discovery.

    It is made by `factory(source, similarity, **parameters)`: a `LinkSource`, in which it looks up
    links by id, and a `LinkSimilarity`, which tells how well the words of a link fit the topic.

    A scorer keeps no files. When a crawl is taken up again it is told its history from the start,
    in the order in which it happened, and must come to the same scores.

    Attributes:
        name: what it is called.
        random: chance plays a part in its scores; it has a keyword parameter `seed`, 0 by default,
            and with the same seed comes to the same scores.
        silent: while this is set, its answers are not used. An algorithm with a `link_model` is
            asked for the scores of all waiting links afterwards, as if they had been `added`.
    """

    name: ClassVar[str]
    random: ClassVar[bool] = False
    silent: bool = False

    def content(self, text: LinkText) -> float:
        """Return how well a link's own words fit the topic, in [0, 1]."""
        return 0.0

    def added(self, links: Iterable[int]) -> LinkScores:
        """Add links that come from no page: seeds, redirects, requests of the spider.

        Those that are known already are scored again: links that were held may be free now.
        """
        ...

    def started(self, link: int) -> LinkScores:
        """Record that a link was taken to be fetched.

        It ends as `crawled`, `failed` or `repeated`, unless the crawl is left before that.
        """
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Add a crawled page and the links on it."""
        ...

    def failed(self, link: int) -> LinkScores:
        """Record that a link could not be fetched, or redirects to an address that was not known.

        If that may be followed, it is the next that is `added`.
        """
        return NO_SCORES

    def repeated(self, link: int) -> LinkScores:
        """Record that a link is an alias of a known one, or redirects to it.

        That tells nothing of links like it: it is neither a page nor a failure.
        """
        return NO_SCORES

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Record that crawled pages called relevant turned out not to be."""
        return NO_SCORES

    def parts(self, link: int) -> Mapping[str, float]:
        """Return the terms of a waiting link's score, by name; empty if it is no sum."""
        return {}

    @property
    def link_model(self) -> "LinkModel | None":
        """What it learns that also holds for other partitions of the crawl, if anything."""
        return None

    def load_model(self, link_model: "LinkModel") -> None:
        """Learn into the `link_model` of another part; called before anything else is told."""

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns, empty for algorithms that learn none."""
        return []

    def remarks(self) -> list[str]:
        """Return remarks on the search for the user when a crawl stops, a sentence each."""
        return []


def scores_after(scorer: Scorer, page: CrawledPage) -> LinkScores:
    """Return an algorithm's scores after a page; if it fails there, no link is lost."""
    try:
        return scorer.crawled(page)
    except Exception as error:
        raise_if_fatal(error)
        logger.exception("Algorithm %s failed at %s", scorer.name, page.url)
        nothing = [0.0] * len(page.links)
        return LinkScores(list(page.links), nothing, nothing)


def scores_of(ids: Numbers, score: Numbers, structure: Numbers) -> LinkScores:
    """Return scores of links given as arrays, shape (n,) each."""
    if len(ids) <= _FEW:
        return LinkScores(ids.tolist(), score.tolist(), structure.tolist())
    return LinkScores(
        array("I", ids.astype(np.uint32).tobytes()),
        array("d", score.astype(np.float64).tobytes()),
        array("d", structure.astype(np.float64).tobytes()),
    )


def join(answers: Iterable[LinkScores]) -> LinkScores:
    """Return the scores of several answers as one."""
    answers = [answer for answer in answers if len(answer.ids)]
    if len(answers) == 1:
        return answers[0]
    few = sum(len(answer.ids) for answer in answers) <= _FEW
    ids: MutableSequence[int] = [] if few else array("I")
    score: MutableSequence[float] = [] if few else array("d")
    structure: MutableSequence[float] = [] if few else array("d")
    for answer in answers:
        ids.extend(answer.ids)
        score.extend(answer.score)
        structure.extend(answer.structure)
    return LinkScores(ids, score, structure)


def check_ranges(
    ranges: Ranges, values: Mapping[str, Any], words: Words = MappingProxyType({})
) -> None:
    """Raise ValueError if a value is outside its range, or no finite number.

    Args:
        ranges: of some parameters.
        values: of some of them, by name, and others that have no range; of a constructor, its
            `locals()`.
        words: what some may be instead.

    >>> check_ranges({"beta": (0, 1), "d": (0, 1)}, {"beta": 0.8})
    """
    for name, (least, greatest) in ranges.items():
        value = values.get(name, least)
        if isinstance(value, str):
            if value != words.get(name):
                word = f" or {words[name]}" if name in words else ""
                raise ValueError(f"{name} must be a number{word}, not {value!r}")
            continue
        if not (least <= value <= greatest and value < inf):  # False for nan
            bounds = f"{least:g} to {greatest:g}" if greatest < inf else f"{least:g} up"
            raise ValueError(f"{name} must be a number from {bounds}, not {value}")
