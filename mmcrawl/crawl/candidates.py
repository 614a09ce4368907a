"""Finds hosts that may be worth a crawl in stored data, and scores each with reasons.

An archive and WARC files yield pages, a crawl yields the links it did not fetch, CDX files and
lists yield addresses.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from math import log1p
from pathlib import Path
from typing import IO

from mmcrawl.archive.opening import open_archive
from mmcrawl.archive.warc.answers import pages_of
from mmcrawl.crawl.seeds import read_seeds
from mmcrawl.errors import ListingError, SeedError, StoreError
from mmcrawl.frontier.database import is_crawl_store, reading
from mmcrawl.frontier.urls import host_of, is_private_host
from mmcrawl.page.lists.listings import MOST_LINES, read_cdx
from mmcrawl.page.model import Link, Page
from mmcrawl.page.parse import parse_page
from mmcrawl.page.urls import physical_layer
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.store.uris import archive_beside, file_of, is_server
from mmcrawl.text.resources import site_of
from mmcrawl.text.url_words import url_text

_HTML = ("text/html", "application/xhtml+xml")
_LARGEST_PAGE = 4 * 1024 * 1024
_WARC = (".warc", ".warc.gz", ".wacz")
_CDX = (".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz")


@dataclass(frozen=True, slots=True)
class Source:
    """A store or file in which seeds are searched."""

    name: str
    kind: str  # `crawl`, `archive`, `WARC`, `CDX` or `list`

    def tell(self, candidates: Candidates) -> list[str]:
        """Report everything it holds; return what could not be read, a sentence each."""
        problems: list[str] = []
        if self.kind == "crawl":
            _tell_crawl(Path(file_of(self.name) or self.name), candidates)
            beside = archive_beside(_uri(self.name))
            if beside and (file := file_of(beside)) and os.path.isfile(file):
                problems += _tell_archive(beside, candidates)
        elif self.kind == "archive":
            problems += _tell_archive(_uri(self.name), candidates)
        elif self.kind == "WARC":
            for path in _warcs(Path(self.name)):
                problems += _tell_warc(path, candidates)
        elif self.kind == "CDX":
            _tell_cdx(Path(self.name), candidates)
        else:
            for seed in read_seeds(self.name):
                candidates.candidate(seed.url)
        return problems


def open_source(name: str) -> Source:
    """Return what a user named: a file, a folder of WARC files, or a database."""
    path = Path(os.path.expanduser(file_of(name) or name))
    if is_server(name):
        return Source(name, "archive")
    if path.is_dir():
        if not _warcs(path):
            raise SeedError(f"{name} is a folder without WARC files; name files, or such a folder")
        return Source(str(path), "WARC")
    if not path.is_file():
        raise SeedError(
            f"there is no {name}; give a crawl (FILE.db), an archive, a WARC or CDX file, or a list"
        )
    if path.name.endswith(_WARC):
        return Source(str(path), "WARC")
    if path.name.endswith(_CDX):
        return Source(str(path), "CDX")
    if is_crawl_store(path):
        return Source(str(path), "crawl")
    with path.open("rb") as file:
        is_database = file.read(16).startswith(b"SQLite format 3")
    return Source(str(path), "archive" if is_database else "list")


def _uri(name: str) -> str:
    return name if "://" in name else f"sqlite:///{name}"


def _warcs(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.iterdir() if file.name.endswith(_WARC))


def _tell_crawl(path: Path, candidates: Candidates) -> None:
    """Report the links of a crawl that were not fetched; its pages are in its archive."""
    with reading(path) as db:
        rows = db.execute(
            "SELECT origin || path, anchor FROM link JOIN host ON host.id = link.host"
            " AND host.job = link.id >> 40 WHERE status = 'W'"
        )
        for url, anchor in rows:
            candidates.address(Link(url, anchor, "a"))


def _tell_archive(uri: str, candidates: Candidates) -> list[str]:
    problems = []
    with closing(open_archive(uri, create=False, read_only=True)) as archive:
        for url in archive.urls():
            version = archive.get(url)
            kind = (version.content_type or "").partition(";")[0].strip().lower()
            if version.status != 200 or (kind and kind not in _HTML):
                continue
            try:
                body = archive.rebuild(version).body
            except StoreError as error:
                problems.append(str(error))
                continue
            candidates.page(parse_page(body[:_LARGEST_PAGE], url, version.content_type or ""))
    return problems


def _tell_warc(path: Path, candidates: Candidates) -> list[str]:
    problems: list[str] = []
    for page in pages_of(path, lambda problem: problems.append(str(problem))):
        candidates.page(parse_page(page.body[:_LARGEST_PAGE], page.url, page.media_type))
    return problems


def _tell_cdx(path: Path, candidates: Candidates) -> None:
    try:
        with _opened(path) as file:
            lines = iter(lambda: file.readline(_LONGEST_LINE), b"")
            while some := b"".join(islice(lines, MOST_LINES)):
                _tell_lines(some, candidates)
    except (OSError, EOFError, zlib.error) as error:  # EOFError: of a gzip that ends too early
        raise SeedError(f"the CDX file {path} cannot be read: {error}") from error


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    return path.open("rb")


def _tell_lines(lines: bytes, candidates: Candidates) -> None:
    try:
        links = read_cdx(lines, "http://localhost/").page.links
    except ListingError:
        return  # no page among them
    for link in links:
        candidates.address(link)


_MOST_HOSTS = 200_000
_LONGEST_LINE = 4_096  # bytes of a CDX file; at most so many lines are held at once
_MOST_VOTERS = 100  # sites that are distinguished
_DOUBT = 2


@dataclass(slots=True)
class _Seen:
    pages: int = 0
    on_topic: int = 0
    good: int = 0
    links: int = 0
    fitting: int = 0
    addresses: int = 0
    proposed: bool = False
    voters: set[str] = field(default_factory=set)
    anchor: str = ""
    best: tuple[int, int, str] = (0, 0, "")  # fitting concepts, −directories, address


@dataclass(frozen=True, slots=True)
class Candidate:
    """A host that may be worth a crawl."""

    url: str  # where to begin: the address that promises most
    host: str
    score: float  # see the module; 0 for one of which nothing is known
    reasons: tuple[str, ...]  # why, a clause each, the weightiest first
    known: int


class Candidates:
    def __init__(self, test: TopicTest, without: Collection[str] = ()) -> None:
        self._test = test
        self._without = frozenset(without)
        self._seen: dict[str, _Seen] = {}
        self.left_out = 0
        """Pages and links of hosts beyond the first 200,000."""

    def page(self, page: Page) -> None:
        """Add a stored page, and its links to other hosts."""
        own = host_of(page.url)
        verdict = self._test.judge(page, page.media)
        on_topic = self._test.on_topic(page.url, verdict.score)
        if seen := self._of(own):
            seen.pages += 1
            seen.on_topic += on_topic
            seen.good += verdict.relevant
            if on_topic:
                self._propose(seen, page.url, 3 + verdict.relevant)
        told: set[str] = set()
        for link in page.links:
            host = host_of(link.url)
            if host == own or (seen := self._of(host)) is None:
                continue
            fits = self._fit(link)
            if fits:
                self._propose(seen, link.url, fits)
            if host not in told:
                told.add(host)
                self._vote(seen, link, own if on_topic else "", fits=bool(fits))

    def address(self, link: Link) -> None:
        """Add an address without a stored page."""
        fits = self._fit(link)
        seen = self._of(host_of(link.url)) if fits else None
        if seen is not None:
            seen.addresses += 1
            self._propose(seen, link.url, fits)

    def candidate(self, url: str) -> None:
        """Add an address that a person proposes."""
        if seen := self._of(host_of(url)):
            seen.proposed = True
            self._propose(seen, url, 100)

    def ranked(self, most: int = 0) -> list[Candidate]:
        made = (_judged(host, seen) for host, seen in self._seen.items())
        good = [one for one in made if one.score > 0]
        good.sort(key=lambda one: (-one.score, one.host))
        return good[: most or None]

    def _of(self, host: str) -> _Seen | None:
        if not host or host in self._without or is_private_host(host):
            return None
        seen = self._seen.get(host)
        if seen is None:
            if len(self._seen) >= _MOST_HOSTS:
                self.left_out += 1
                return None
            seen = self._seen[host] = _Seen()
        return seen

    def _fit(self, link: Link) -> int:
        """Return how many concepts of the topic the words of a link name."""
        return len(self._test.topic.find(f"{link.anchor}\n{url_text(link.url)}"))

    def _vote(self, seen: _Seen, link: Link, voter: str, *, fits: bool) -> None:
        seen.links += 1
        if voter and len(seen.voters) < _MOST_VOTERS:
            seen.voters.add(site_of(voter))
        if fits:
            seen.fitting += 1
            seen.anchor = seen.anchor or link.anchor

    def _propose(self, seen: _Seen, url: str, fits: int) -> None:
        """Start the crawl of a host at an address, unless an earlier one promised as much."""
        seen.best = max(seen.best, (fits, -physical_layer(url), url))


def _judged(host: str, seen: _Seen) -> Candidate:
    share = (seen.fitting + _DOUBT) / (seen.links + _DOUBT)
    terms = [(worth, why) for worth, why in _terms(seen, share) if worth > 0]
    terms.sort(key=lambda term: -term[0])
    url = seen.best[2] or f"http://{host}/"
    reasons = tuple(why for _, why in terms)
    return Candidate(url, host, sum(worth for worth, _ in terms), reasons, seen.pages)


def _terms(seen: _Seen, share: float) -> Iterator[tuple[float, str]]:
    plain = seen.on_topic - seen.good
    said = f", e.g. “{seen.anchor[:60]}”" if seen.anchor else ""
    sites = len(seen.voters)
    yield 2 * log1p(seen.good), f"{seen.good} of {seen.pages} stored pages on topic with media"
    yield log1p(plain), f"{plain} of {seen.pages} on topic without media"
    yield log1p(seen.fitting), f"{seen.fitting} of {seen.links} links to it fit the topic{said}"
    yield share * 0.5 * log1p(sites), f"pages on topic of {sites} other sites link to it"
    yield 0.5 * log1p(seen.addresses), f"{seen.addresses} of its addresses fit the topic"
    yield 0.5 * seen.proposed, "proposed"


ALIVE, REDIRECTS, FORBIDDEN, DEAD = "alive", "redirects", "robots.txt forbids it", "dead"


@dataclass(frozen=True, slots=True)
class CheckedSeed:
    """A seed and what the check found.

    Attributes:
        listed: pages of its host by its sitemaps; None if it has none, or they cannot be read.
        delay: seconds its robots.txt asks to wait between requests, None if it says nothing.
    """

    url: str
    state: str  # `alive`, `redirects` to another address, `robots.txt forbids it`, or `dead`
    target: str = ""  # where it redirects to, "" for nowhere
    reason: str = ""  # why it is dead, "" if it is not
    status: int = 0
    language: str = ""
    title: str = ""
    links: int = 0
    media: int = 0
    listed: int | None = None
    more: bool = False  # whether there are more than were counted
    delay: float | None = None

    @property
    def is_good(self) -> bool:
        """Whether a crawl can start there."""
        return self.state in {ALIVE, REDIRECTS}
