"""Why one page was fetched when it was, and why another was not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from heapq import nlargest
from math import inf
from os.path import commonprefix
from typing import Any

from mmcrawl.crawl.history import Overheard, noted_rules, retold
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.frontier.admission import REDIRECT, Admission
from mmcrawl.frontier.interlink import InterLink, PlacedPage
from mmcrawl.frontier.ranking import BEHIND, LEFT, place_by_block
from mmcrawl.frontier.records import HELD, LinkRecord, LinkScores, Status
from mmcrawl.frontier.urls import host_of
from mmcrawl.page.urls import physical_layer
from mmcrawl.scoring.base import Scorer
from mmcrawl.scoring.pinned_rules import PinnedRule

_UNDER_WAY = "it is being fetched"
_NEAR = 3  # neighbours on either side, and addresses that are suggested
_COMPARED = 200

TOLD_AGAIN = "by the crawl's history told again, where it comes nearest to the score that was kept"


@dataclass(frozen=True, slots=True)
class Why:
    """The explanation of a link.

    Attributes:
        rule: the rule for addresses that counted for it in the last run, None without one.
        steps: addresses from the seed to the link, each with the text of the link that led there.
        parts: what its score is the sum of, empty if that is not known. Of each scoring only the
            score is kept: the history of the crawl is told to the algorithm again, page by page,
            and the scoring that comes nearest is taken. As many pages may have been fetched at
            once, the sum can differ a little.
        before, after: the pages fetched just before it and just after; of one that waits none.
        first, nearest: the best of these, and those just before it, the best first.
    """

    link: LinkRecord  # all that is known of it
    outcome: str  # what became of it, and why, in a sentence
    steps: tuple[tuple[str, str], ...]
    parts: Mapping[str, float]
    parts_note: str  # where the parts are from, or why they are not known
    rule: PinnedRule | None = None
    standing: tuple[str, ...] = ()  # what besides its score says where it stands, a sentence each
    before: tuple[PlacedPage, ...] = ()
    after: tuple[PlacedPage, ...] = ()
    ahead: int | None = None  # how many links stand before one that waits; None for others
    first: tuple[PlacedPage, ...] = ()
    nearest: tuple[PlacedPage, ...] = ()


def explain(links: InterLink, arguments: Mapping[str, Any], url: str) -> Why:
    """Return why a link was fetched when it was, or was not.

    To tell the parts of its score the crawl's history is told to the algorithm again, up to then:
    that takes about as long as taking up the crawl.

    Raises:
        StoreError: no link to it is there; the message tells which ones are like it.
    """
    number = links.lookup(url)
    if number is None:
        number = links.spelled(url)
    if number is None:
        raise StoreError(_why_unknown(links, arguments, url))
    link = links.record(number)
    if link.status is Status.ERROR and not links.was_taken(number):
        outcome = f"it was refused when it was found: {link.error}"
        return Why(link, outcome, links.steps(number), {}, "it was not given to the algorithm")
    rules, followed = noted_rules(links.store, links.job)
    rule = rules.first(link.url)
    parts, note = _parts(links, arguments, link)
    why = Why(
        link, _UNDER_WAY, links.steps(number), parts, note, rule, _standing(link, rule, followed)
    )
    if link.held:
        return replace(why, outcome=_held(link, rule, followed), standing=())
    if link.status in {Status.CRAWLED, Status.ERROR}:
        before, after = links.around(number, _NEAR)
        outcome = _ended(link, pages_before=before[-1].place or 0 if before else 0)
        return replace(why, outcome=outcome, before=tuple(before), after=tuple(after))
    if link.status is Status.RUNNING:
        return why
    ahead, first, last = links.ahead(number, _NEAR)
    outcome = _waiting(link, ahead)
    return replace(why, outcome=outcome, ahead=ahead, first=tuple(first), nearest=tuple(last))


def _ended(link: LinkRecord, *, pages_before: int) -> str:
    if link.place is not None:
        what = "relevant" if link.relevant else "not relevant"
        media = "" if link.contains_media else ", without media that are wanted"
        return f"it was fetched as page {link.place:,} of the crawl: {what}{media}"
    when = f"after {pages_before:,} pages"
    if link.error.startswith(REDIRECT):
        return f"it was fetched {when} and led to no page of its own: it {link.error}"
    return f"it was given up {when}: {link.error}"


def _waiting(link: LinkRecord, ahead: int) -> str:
    behind = ", behind all others as it may be another address of a known page"
    return f"it waits; {ahead:,} links stand before it{behind if link.priority < 0 else ''}"


def _held(link: LinkRecord, rule: PinnedRule | None, followed: str) -> str:
    """Return why a link that waits is not fetched."""
    if rule is not None:
        return f"it waits, and is not fetched: {_named(rule)} says never"
    if place_by_block(followed, link.block) == LEFT:
        return f"it waits, and is not fetched: {_left(link, followed)}"
    return "it waits, and the algorithm does not let it be fetched for now"


def _standing(link: LinkRecord, rule: PinnedRule | None, followed: str) -> tuple[str, ...]:
    """Return how a link's rule and block changed its place."""
    told, place = [], place_by_block(followed, link.block)
    if rule is not None and not rule.weight:
        told.append(f"{_named(rule)} says never")
    elif rule is not None:
        told.append(f"{_named(rule)} puts it before links without a rule, weight {rule.weight}")
        if link.score == HELD:
            told.append("only that rule lets it be fetched: the algorithm holds it")
        if place == LEFT:
            told.append(f"only that rule lets it be fetched: {_left(link, followed)}")
    elif place == LEFT:
        told.append(_left(link, followed))
    if place == BEHIND:
        told.append(
            f"links={followed} puts it behind others of equal score: it is in a block of kind"
            f" {link.block}, and in none better"
        )
    return tuple(told)


def _named(rule: PinnedRule) -> str:
    return f"the rule {rule.pattern}" + (f" ({rule.place})" if rule.place else "")


def _left(link: LinkRecord, followed: str) -> str:
    return (
        f"links={followed} leaves it waiting, as it is in a block of kind {link.block}, and in"
        " none better"
    )


def _parts(
    links: InterLink, arguments: Mapping[str, Any], link: LinkRecord
) -> tuple[Mapping[str, float], str]:
    """Return the terms of a link's score, and when; or why they are unknown."""
    if link.score == HELD:
        return {}, "it has none as long as the algorithm holds it"
    try:
        setup = CrawlSetup.told(arguments, {})
        reporter = setup.reporter()
        scorer = setup.scorer(links, reporter.similarity)
    except MmcrawlError as error:
        return {}, f"not known: {error}"
    watched = _Watched(scorer, link)
    for past in retold(links, watched, reporter.test):
        if past.id == link.id:
            break
    if not watched.parts_then:
        return {}, f"{setup.algo} does not add its scores up from parts"
    return watched.parts_then, TOLD_AGAIN


class _Watched(Overheard):
    """An algorithm watched scoring a link; `parts_then` gave the score nearest to the link's."""

    def __init__(self, scorer: Scorer, link: LinkRecord) -> None:
        super().__init__(scorer)
        self.parts_then: Mapping[str, float] = {}
        self._link = link
        self._nearest = inf

    def heard(self, scores: LinkScores) -> None:
        if self._link.id in scores.ids:
            parts = self.scorer.parts(self._link.id)
            gap = abs(sum(parts.values()) - self._link.score)
            if gap <= self._nearest:
                self.parts_then, self._nearest = parts, gap


def _why_unknown(links: InterLink, arguments: Mapping[str, Any], url: str) -> str:
    """Return why an address has no link in the crawl."""
    told = f"the crawl has no link to {url}"
    try:
        setup = CrawlSetup.told(arguments, {})
    except MmcrawlError:
        reason = None
    else:
        reason = Admission(setup.limits, setup.seeds).refuse(url, physical_layer(url), 1)
    known_host = host_of(url) in links.hosts()
    if reason and not (known_host and reason == "other site"):  # a seed may redirect there
        told += f"; one would not have been followed: {reason}"
    elif not known_host:
        told += "; none to its host was found"
    near = nearest(url, (address for address, _ in links.links_from(0)))
    return told + (f"; like it are {' and '.join(near)}" if near else "")


def nearest(url: str, known: Iterable[str]) -> list[str]:
    """Return the addresses that are most like one, the best first; none if none is.

    >>> nearest("http://h.test/lens", ["http://h.test/lense.htm", "http://h.test/", "http://g/"])
    ['http://h.test/lense.htm', 'http://h.test/']
    """

    def alike(one: str) -> int:
        return len(commonprefix((one, url)))  # noqa: RUF071 - characters are meant

    begun_alike = nlargest(_COMPARED, known, key=alike)
    return get_close_matches(url, begun_alike, _NEAR)
