"""The truth about a web: every page that can be reached, which of them count, how they are linked.

It comes from one crawl without focus and without budget, by the same engine, limits and topic test
as the runs. Finding it takes longest of all, so it is kept in a cache folder for the next
experiment on the same web, topic, seeds and limits.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from filelock import FileLock

from mmcrawl.experiment.crawl import CrawlProcess
from mmcrawl.experiment.oracle import LinkGraph, oracle_order
from mmcrawl.experiment.plan import ExperimentError, Plan, truth_key
from mmcrawl.experiment.recorder import read_refused
from mmcrawl.experiment.stores import StoredPage, read_end, read_graph, read_pages
from mmcrawl.frontier import TRAP, canonical

__all__ = ["Truth", "find_truth", "truth_of"]


@dataclass(frozen=True)
class Truth:
    """What there is to find. Pages are numbered 0 … n−1 in the order of the crawl without focus.

    A page that a host serves under two addresses is one kind of page; whichever address is fetched
    first counts, and counts once.

    Attributes:
        layers: physical layer of each page.
        kinds: for each page, what it is a copy of: the number of the first page like it.
        relevant: the relevant kinds.
        graph: links from page to page.
        errors: links that led to no page, by reason.
        trapped: how often a link was left alone by a bound against traps.
    """

    layers: tuple[int, ...]
    kinds: tuple[int, ...]
    relevant: frozenset[int]
    graph: LinkGraph
    errors: dict[str, int]
    trapped: int
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

    def judge(self, pages: Sequence[StoredPage]) -> list[bool]:
        """Return for each page of a crawl whether it brought something relevant that was new."""
        left = set(self.relevant)
        verdicts = []
        for kind in map(self.kind, pages):
            verdicts.append(kind in left)
            left -= {kind}
        return verdicts

    @cached_property
    def oracle(self) -> list[int]:
        """The pages the oracle fetches, in order."""
        return oracle_order(self.graph, self.kinds, set(self.relevant))

    def judge_own(self, pages: Sequence[int]) -> list[bool]:
        """Return the same as `judge` for pages of the truth, given by number."""
        left = set(self.relevant)
        verdicts = []
        for page in pages:
            verdicts.append(self.kinds[page] in left)
            left.discard(self.kinds[page])
        return verdicts


def truth_of(store: Path) -> Truth:
    """Return the truth that a crawl without focus left in a store."""
    pages = read_pages(store)
    number = {page.id: n for n, page in enumerate(pages)}
    by_digest: dict[int, int] = {}
    kinds = [by_digest.setdefault(page.digest or -n - 1, n) for n, page in enumerate(pages)]
    outlinks, seeds = read_graph(store)
    rows = [[number[link] for link in outlinks[page.id]] for page in pages]
    errors = read_end(store).errors
    refused = [*errors.items(), *read_refused(store).items()]
    return Truth(
        layers=tuple(page.layer for page in pages),
        kinds=tuple(kinds),
        relevant=frozenset(kinds[n] for n, page in enumerate(pages) if page.relevant),
        graph=LinkGraph.of(rows, [number[seed] for seed in seeds]),
        errors=errors,
        trapped=sum(count for reason, count in refused if reason.startswith(TRAP)),
        _by_digest={page.digest: kinds[n] for n, page in enumerate(pages) if page.digest},
        _by_url={canonical(page.url): kinds[n] for n, page in enumerate(pages)},
    )


def find_truth(plan: Plan, cache: Path, wait: Callable[[CrawlProcess], None]) -> Truth:
    """Return the truth of an experiment: from the cache, or from a crawl that is made now.

    Args:
        plan: the experiment.
        cache: folder to keep it in.
        wait: returns when a crawl is over; raises if it fails.

    Raises:
        ExperimentError: the cache cannot be written.
    """
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
    lock = FileLock(base.with_name(base.name + ".lock"))
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise ExperimentError(
            f"the cache {cache} cannot be written: {error.strerror or error}; name another with"
            " --cache"
        ) from error
    try:
        yield
    finally:
        lock.release()


def _kept(store: Path, done: Path) -> Truth | None:
    """Return the truth that was made before, None if it is not whole."""
    if not (store.is_file() and done.is_file()):
        return None
    try:
        return truth_of(store)
    except (sqlite3.Error, LookupError, TypeError, ValueError):
        return None
