"""Why a page was fetched when it was, and why another one was not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from heapq import nlargest
from math import inf
from os.path import commonprefix
from typing import Any

from mmcrawl.crawling.history import retold
from mmcrawl.crawling.parts import CrawlParts
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.frontier.addresses import host_of
from mmcrawl.frontier.admission import REDIRECT, Admission
from mmcrawl.frontier.interlink import InterLink, PlacedPage
from mmcrawl.frontier.records import LinkRecord, LinkScores, Status
from mmcrawl.page.urls import physical_layer
from mmcrawl.scoring.base import CrawledPage, Scorer

_NEAR = 3  # neighbours on either side, and addresses that are suggested
_COMPARED = 200

TOLD_AGAIN = "by the crawl's history told again, where it comes nearest to the score that was kept"


@dataclass(frozen=True, slots=True)
class Why:
    """What there is to say of a link.

    Attributes:
        link: all that is known of it.
        outcome: what became of it, and why, in a sentence.
        steps: addresses from the seed to the link, each with the text of the link that led there.
        parts: what its score is the sum of, empty if that is not known. Of each scoring only the
            score is kept: the history of the crawl is told to the algorithm again, page by page,
            and the scoring that comes nearest is taken. As many pages may have been fetched at
            once, the sum can differ a little.
        parts_note: where the parts are from, or why they are not known.
        before, after: the pages fetched just before it and just after; of one that waits none.
        ahead: how many links stand before one that waits; None for others.
        first, nearest: the best of these, and those just before it, the best first.
    """

    link: LinkRecord
    outcome: str
    steps: tuple[tuple[str, str], ...]
    parts: Mapping[str, float]
    parts_note: str
    before: tuple[PlacedPage, ...] = ()
    after: tuple[PlacedPage, ...] = ()
    ahead: int | None = None
    first: tuple[PlacedPage, ...] = ()
    nearest: tuple[PlacedPage, ...] = ()


def explain(links: InterLink, arguments: Mapping[str, Any], url: str) -> Why:
    """Return why a link was fetched when it was, or was not.

    To tell the parts of its score the crawl's history is told to the algorithm again, up to then:
    that takes about as long as taking up the crawl.

    Args:
        links: of the crawl.
        arguments: of the job.
        url: address of the link.

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
    if link.state == "held":
        outcome = "it waits, and the algorithm does not let it be fetched for now"
        return Why(link, outcome, links.steps(number), {}, "it has none as long as it is held")
    parts, note = _parts(links, arguments, link)
    if link.status in {Status.CRAWLED, Status.ERROR}:
        before, after = links.around(number, _NEAR)
        outcome = _ended(link, pages_before=before[-1].place or 0 if before else 0)
        return Why(link, outcome, links.steps(number), parts, note, tuple(before), tuple(after))
    if link.status is Status.RUNNING:
        return Why(link, "it is being fetched", links.steps(number), parts, note)
    ahead, first, last = links.ahead(number, _NEAR)
    return Why(
        link,
        _waiting(link, ahead),
        links.steps(number),
        parts,
        note,
        ahead=ahead,
        first=tuple(first),
        nearest=tuple(last),
    )


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


def _parts(
    links: InterLink, arguments: Mapping[str, Any], link: LinkRecord
) -> tuple[Mapping[str, float], str]:
    """Return what a link's score is the sum of, and when; or why that cannot be told."""
    try:
        parts = CrawlParts.told(arguments, {})
        reporter = parts.reporter()
        scorer = parts.scorer(links, reporter.similarity)
    except MmcrawlError as error:
        return {}, f"not known: {error}"
    watched = _Watched(scorer, link)
    for past in retold(links, watched, reporter.test):
        if past.id == link.id:
            break
    if not watched.parts_then:
        return {}, f"{parts.algo} does not add its scores up from parts"
    return watched.parts_then, TOLD_AGAIN


class _Watched(Scorer):
    """An algorithm that is watched scoring a link.

    Args:
        scorer: the algorithm.
        link: whose scores are watched.

    Attributes:
        parts_then: the parts of the score that came nearest to the one that the link has, the last
            of several.
    """

    name = "watched"

    def __init__(self, scorer: Scorer, link: LinkRecord) -> None:
        self.parts_then: Mapping[str, float] = {}
        self._scorer, self._link = scorer, link
        self._nearest = inf

    def added(self, links: Iterable[int]) -> LinkScores:
        return self._seen(self._scorer.added(links))

    def started(self, link: int) -> LinkScores:
        return self._seen(self._scorer.started(link))

    def crawled(self, page: CrawledPage) -> LinkScores:
        return self._seen(self._scorer.crawled(page))

    def failed(self, link: int) -> LinkScores:
        return self._seen(self._scorer.failed(link))

    def repeated(self, link: int) -> LinkScores:
        return self._seen(self._scorer.repeated(link))

    def _seen(self, scores: LinkScores) -> LinkScores:
        if self._link.id in scores.ids:
            parts = self._scorer.parts(self._link.id)
            gap = abs(sum(parts.values()) - self._link.score)
            if gap <= self._nearest:
                self.parts_then, self._nearest = parts, gap
        return scores


def _why_unknown(links: InterLink, arguments: Mapping[str, Any], url: str) -> str:
    """Return what can be said of an address that the crawl has no link to."""
    told = f"the crawl has no link to {url}"
    try:
        parts = CrawlParts.told(arguments, {})
    except MmcrawlError:
        reason = None
    else:
        reason = Admission(parts.limits, parts.seeds).refuse(url, physical_layer(url), 1)
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
