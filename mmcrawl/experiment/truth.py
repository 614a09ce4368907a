"""The truth about a web: every reachable page, which of them count, and how they are linked.

It comes from one crawl without focus and without budget, by the same engine, limits and topic test
as the runs. This takes longest of all, so the truth is cached for the next experiment on the same
web, topic, seeds and limits.

The yardstick is how fast recall could rise for a crawler that knew the whole web: the *oracle*
fetches only relevant pages and the pages that must be crossed to reach them. It always takes the
relevant page that costs the fewest new pages from where it has been: Prim's algorithm on distances
that are relaxed after every step. That is greedy, not optimal (reaching many pages cheaply is the
Steiner tree problem, which is hard), so an algorithm's share of the oracle's area may in principle
be slightly above 1.
"""

import heapq
import json
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from mmcrawl.experiment.crawl import (
    CrawlProcess,
    StoredPage,
    read_clock,
    read_end,
    read_graph,
    read_hosts,
    read_media,
    read_pages,
    read_patterns,
    read_refused,
    read_rejected,
)
from mmcrawl.experiment.measures import best_pattern, pattern_of
from mmcrawl.experiment.plan import ExperimentError, Plan, truth_key
from mmcrawl.frontier.admission import TRAP
from mmcrawl.frontier.urls import canonical
from mmcrawl.text.writing import CsvWriter

_Ints = np.ndarray[Any, np.dtype[np.int64]]
_FAR = np.iinfo(np.int64).max // 2


@dataclass(frozen=True)
class LinkGraph:
    """Pages 0 … n−1 and the links between them, in compressed rows."""

    starts: _Ints  # shape (n + 1,); the links of page p are `targets[starts[p]:starts[p + 1]]`
    targets: _Ints  # shape (links,), page numbers
    seeds: tuple[int, ...]  # pages where a crawl begins

    @classmethod
    def of(cls, outlinks: Sequence[Sequence[int]], seeds: Sequence[int]) -> "LinkGraph":
        """Return the graph in which page p links to `outlinks[p]`."""
        counts = np.fromiter((len(row) for row in outlinks), np.int64, len(outlinks))
        starts = np.zeros(len(outlinks) + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        links = (target for row in outlinks for target in row)
        return cls(starts, np.fromiter(links, np.int64, int(starts[-1])), tuple(seeds))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def links(self, page: int) -> _Ints:
        return self.targets[self.starts[page] : self.starts[page + 1]]


def oracle_order(
    graph: LinkGraph, kinds: Sequence[int], wanted: Mapping[int, frozenset[Hashable]]
) -> list[int]:
    """Return the pages in the order in which the oracle fetches them.

    Args:
        kinds: for each page what it is a copy of; copies are worth no second fetch.
        wanted: what there is to find on pages of each kind; a page on which all was found before
            is worth no fetch.

    Returns:
        Pages until all that can be reached was found. Of targets equally near the
        one with the lower number comes first.
    """
    return _Oracle(graph, kinds, wanted).run()


class _Oracle:
    """The state of one run: how far each page is from those that were fetched.

    `distance` counts the pages to fetch until a page is had, itself included; `before` is the page
    from which that way comes, −1 for a seed. `open` is a heap of pages by distance, as in
    Dijkstra's algorithm; entries that are outdated are dropped when they come up. The search goes
    no further than to the nearest target and is taken up from there, so that distances are exact
    as far as they are needed and each page is looked at a few times only.
    """

    def __init__(
        self, graph: LinkGraph, kinds: Sequence[int], wanted: Mapping[int, frozenset[Hashable]]
    ) -> None:
        self._graph = graph
        self._kinds = kinds
        self._wanted = wanted
        self._left: set[Hashable] = set().union(*wanted.values())
        self._distance = np.full(len(graph), _FAR, np.int64)
        self._before = np.full(len(graph), -1, np.int64)
        self._open: list[tuple[int, int]] = []
        self._improve(np.array(graph.seeds, np.int64), 1, -1)

    def run(self) -> list[int]:
        order: list[int] = []
        while self._open and self._left:
            distance, page = heapq.heappop(self._open)
            if distance != self._distance[page]:
                continue
            if distance > 0 and not self._left.isdisjoint(self._offer(page)):
                order += self._fetch(page)
            else:
                links = self._graph.links(page)
                nearer = links[self._distance[links] > distance + 1]
                self._improve(nearer, distance + 1, page)
        return order

    def _fetch(self, page: int) -> list[int]:
        """Fetch a page and what must be crossed on the way; return them in order."""
        way = []
        while page >= 0 and self._distance[page] > 0:
            way.append(page)
            page = int(self._before[page])
        way.reverse()
        self._left.difference_update(*map(self._offer, way))
        self._improve(np.array(way, np.int64), 0, -1)
        return way

    def _offer(self, page: int) -> Iterable[Hashable]:
        return self._wanted.get(self._kinds[page], ())

    def _improve(self, pages: _Ints, distance: int, before: int) -> None:
        self._distance[pages] = distance
        self._before[pages] = before
        for page in pages.tolist():
            heapq.heappush(self._open, (distance, page))


@dataclass(frozen=True)
class Truth:
    """What there is to find. Pages are numbered 0 … n−1 in the order of the crawl without focus.

    A page that a host serves under two addresses is one kind of page; whichever address is fetched
    first counts, and counts once.

    Attributes:
        kinds: for each page, what it is a copy of: the number of the first page like it.
        media: the media of each relevant kind, as keys that addresses of one file share.
        hosts: for each host how many links lead there, and why none to a page, "" if one does.
    """

    urls: tuple[str, ...]
    layers: tuple[int, ...]
    kinds: tuple[int, ...]
    relevant: frozenset[int]  # the relevant kinds
    media: dict[int, frozenset[str]]
    rejected: list[str]
    hosts: dict[str, tuple[int, str]]
    graph: LinkGraph
    errors: dict[str, int]
    trapped: int  # how often a link was left alone by a bound against traps
    _by_digest: dict[int, int] = field(repr=False)
    _by_url: dict[str, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.kinds)

    def kind(self, page: StoredPage) -> int | None:
        """Return the kind of a page that another crawl fetched, None for one not known here."""
        kind = self._by_digest.get(page.digest)
        return kind if kind is not None else self.kind_of_url(page.url)

    def kind_of_url(self, url: str) -> int | None:
        """Return the kind of the page at an address, None for one not known here."""
        return self._by_url.get(canonical(url))

    def judge(self, kinds: Iterable[int | None]) -> list[bool]:
        """Return for each page of a crawl, given by its kind, whether it is relevant and new."""
        left: set[int | None] = {*self.relevant}
        verdicts = []
        for kind in kinds:
            verdicts.append(kind in left)
            left.discard(kind)
        return verdicts

    def new_media(self, kinds: Iterable[int | None]) -> list[int]:
        """Return for each page of a crawl, given by its kind, how many new media it has."""
        seen: set[str] = set()
        counts = []
        for kind in kinds:
            new = self.media.get(kind, frozenset()) - seen if kind is not None else ()
            counts.append(len(new))
            seen.update(new)
        return counts

    @cached_property
    def all_media(self) -> int:
        return len(frozenset().union(*self.media.values()))

    @cached_property
    def oracle(self) -> list[int]:
        wanted = {kind: frozenset([kind]) for kind in self.relevant}
        return oracle_order(self.graph, self.kinds, wanted)

    @cached_property
    def best_media(self) -> list[int]:
        """For each page of an oracle that is after distinct media how many new ones it has."""
        order = oracle_order(self.graph, self.kinds, self.media)
        return self.new_media(self.kinds[page] for page in order)

    @cached_property
    def best(self) -> list[bool]:
        """For each page of the oracle whether it is relevant and new."""
        return self.judge(self.kinds[page] for page in self.oracle)


def truth_of(store: Path) -> Truth:
    pages = read_pages(store)
    number = {page.id: n for n, page in enumerate(pages)}
    by_digest: dict[int, int] = {}
    kinds = [by_digest.setdefault(page.digest or -n - 1, n) for n, page in enumerate(pages)]
    outlinks, seeds = read_graph(store)
    rows = [[number[link] for link in outlinks[page.id]] for page in pages]
    errors = read_end(store).errors
    refused = [*errors.items(), *read_refused(store).items()]
    resources = read_media(store)
    media: dict[int, frozenset[str]] = {}
    for n, page in enumerate(pages):
        if page.relevant:
            own = resources.get(page.url, frozenset())
            media[kinds[n]] = media.get(kinds[n], frozenset()) | own
    return Truth(
        urls=tuple(page.url for page in pages),
        layers=tuple(page.layer for page in pages),
        kinds=tuple(kinds),
        relevant=frozenset(media),
        media=media,
        rejected=read_rejected(store),
        hosts=read_hosts(store),
        graph=LinkGraph.of(rows, [number[seed] for seed in seeds]),
        errors=errors,
        trapped=sum(count for reason, count in refused if reason.startswith(TRAP)),
        _by_digest={page.digest: kinds[n] for n, page in enumerate(pages) if page.digest},
        _by_url={canonical(page.url): kinds[n] for n, page in enumerate(pages)},
    )


def find_truth(plan: Plan, cache: Path, wait: Callable[[CrawlProcess], None]) -> Truth:
    """Return the truth of an experiment: from the cache, or from a crawl that is made now."""
    base = cache / truth_key(plan)
    store, done = (base.with_name(f"{base.name}.{ending}") for ending in ("db", "json"))
    with _held(cache, base):
        truth = _kept(store, done)
        if truth is None:
            done.unlink(missing_ok=True)
            crawl = CrawlProcess(base, plan.spider_arguments(), plan.crawl_settings)
            try:
                wait(crawl)
            finally:
                crawl.stop()
            truth = truth_of(store)
            about = {"web": plan.web, "topic": plan.topic_title, "seeds": plan.seeds}
            done.write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", "utf-8")
        return truth


@contextmanager
def _held(cache: Path, base: Path) -> Iterator[None]:
    """Make the cache, and let nobody else make the same truth."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        held = FileLock(base.with_name(base.name + ".lock")).acquire()
    except OSError as error:
        raise ExperimentError(
            f"the cache {cache} cannot be written: {error.strerror or error}; name another"
            " folder with --out"
        ) from error
    with held:
        yield


def _kept(store: Path, done: Path) -> Truth | None:
    """Return the truth that was made before, None if it is not whole."""
    if not (store.is_file() and done.is_file()):
        return None
    try:
        return truth_of(store)
    except (sqlite3.Error, LookupError, TypeError, ValueError):
        return None


_COLUMNS = ("url", "relevant", "media", "layer", "pattern", "seconds", "cpu_seconds")


@dataclass(frozen=True)
class Series:
    """One run. Lists have one entry a page, in the order of fetching.

    Attributes:
        media: how many media it has, if the truth calls it relevant, that no page before had.
        pattern: of the URL patterns the run had learnt in the end, the most general that matches
            the address; "" for none.
    """

    algorithm: str
    repeat: int
    reason: str  # why it ended: `finished` or `max_pages`
    errors: dict[str, int]
    unknown: int  # pages that the truth does not know
    url: list[str]
    relevant: list[bool]  # the truth calls it relevant, and it is no copy of a page fetched before
    media: list[int]
    layer: list[int]
    pattern: list[str]
    seconds: list[float]  # when the page was recorded, since the crawl began
    cpu_seconds: list[float]  # processor time used until then

    def __len__(self) -> int:
        return len(self.url)

    @property
    def found(self) -> int:
        return sum(self.relevant)


def series_of(algorithm: str, repeat: int, store: Path, clock: Path, truth: Truth) -> Series:
    pages, times, end = read_pages(store), read_clock(clock), read_end(store)
    patterns = [pattern_of(record.pattern) for record in read_patterns(store)]
    found = [best_pattern(page.url, patterns) for page in pages]
    kinds = [truth.kind(page) for page in pages]
    return Series(
        algorithm=algorithm,
        repeat=repeat,
        reason=end.reason,
        errors=end.errors,
        unknown=kinds.count(None),
        url=[page.url for page in pages],
        relevant=truth.judge(kinds),
        media=truth.new_media(kinds),
        layer=[page.layer for page in pages],
        pattern=[str(pattern or "") for pattern in found],
        seconds=[times[page.url][0] for page in pages],
        cpu_seconds=[times[page.url][1] for page in pages],
    )


def write_series(series: Series, base: Path) -> None:
    """Write BASE.csv and then BASE.json, which says that the run is complete."""
    with _beside(base, "csv").open("w", encoding="utf-8", newline="") as file:
        writer = CsvWriter(file, lineterminator="\n")
        writer.writerow(("number", *_COLUMNS))
        columns = asdict(series) | {"relevant": map(int, series.relevant)}
        rows = zip(*(columns[name] for name in _COLUMNS), strict=True)
        writer.writerows((number, *row) for number, row in enumerate(rows, 1))
    text = json.dumps(asdict(series), ensure_ascii=False, indent=1)
    draft = _beside(base, "json.part")
    draft.write_text(text + "\n", encoding="utf-8")
    draft.replace(_beside(base, "json"))


def read_series(base: Path) -> Series | None:
    """Return the series that was written as BASE.json, None if it is not there or is broken."""
    try:
        values: dict[str, Any] = json.loads(_beside(base, "json").read_text(encoding="utf-8"))
        return Series(**{field.name: values[field.name] for field in fields(Series)})
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return None


def _beside(base: Path, ending: str) -> Path:
    return base.with_name(f"{base.name}.{ending}")
