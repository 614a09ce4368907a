"""A crawl by many workers, simulated: what is found when, and what the shared store has to do.

    python benchmarks/shared_simulation.py /tmp/lab /tmp/webs/web /tmp/webs/web2 --workers 1,4
    python benchmarks/shared_simulation.py /tmp/lab sim:pages=20000,sites=200 --workers 64

The real code of workers and their exchange, with a shared store in RAM and a clock that is turned
on: in each quarter of a second every worker takes in --pace pages, and takes its turn if there is a
report.
So the figures depend neither on this machine nor on a server. FOLDERs and webs are as for
search_lab.py; all their sites are one crawl for any media, from all their start pages.

`area`: under recall against pages, of one process with as many pages on the way at a time as all
the workers have together, and as a share of that. Then round trips a page, and those as long as all
workers are at work (`busy`); bytes a page that are written to logs and messages; CPU of crawls and
exchanges, ms a page. At the end what the largest partition
takes to be taken over: links, pages, bytes in the store, seconds of CPU.
`--kill N` kills a worker every N pages, and another joins.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, deque
from collections.abc import Mapping
from pathlib import Path

from _lab_pages import Pages
from scrapy.settings import Settings
from search_lab import webs_of

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))


from mmcrawl.cluster.learnt import LearntStore  # noqa: E402
from mmcrawl.cluster.leases import Logs, leases_of  # noqa: E402
from mmcrawl.cluster.places import Rules  # noqa: E402
from mmcrawl.cluster.store import SharedStore  # noqa: E402
from mmcrawl.crawl.job import CrawlJob  # noqa: E402
from mmcrawl.crawl.params import FocusedParams  # noqa: E402
from mmcrawl.crawl.reports import FetchedPage  # noqa: E402
from mmcrawl.crawl.setup import CrawlSetup  # noqa: E402
from mmcrawl.engine.crawls import Configuration, setup_of  # noqa: E402
from mmcrawl.experiment.measures import area  # noqa: E402
from mmcrawl.frontier.records import NewLink, WaitingLink  # noqa: E402
from mmcrawl.frontier.store import open_store  # noqa: E402
from mmcrawl.page.urls import physical_layer  # noqa: E402
from mmcrawl.replay.handler import replay_settings  # noqa: E402
from mmcrawl.store import Document  # noqa: E402
from tests.cluster.memory import Gang, MemoryDocuments, Tables, Worker, memory_store  # noqa: E402


class Lab:
    """The webs as one, and what came of crawls."""

    def __init__(self, cache: Path, specs: list[str], algo: str) -> None:
        spec = specs[0] if len(specs) == 1 else "portal:" + ";".join(specs)
        self.pages = Pages(spec, "all", cache)
        folders = [Path(one) for one in specs if Path(one).is_dir()]
        starts = [web.start for web in webs_of(folders, sims=False)]
        seeds = ",".join(starts) or ",".join(self.pages.web.start_urls())
        settings = Settings()
        settings.setmodule("mmcrawl.settings")
        settings.setdict(replay_settings(spec), priority="spider")
        given = {"algo": algo, "web": spec, "seeds": seeds, "keywords": "*", "store": "memory:"}
        args = FocusedParams.model_validate({**given, "archive": "none"})
        self._crawl = setup_of(args, Configuration.read(settings), self.pages.web)

    def crawl(self, algo: str) -> CrawlSetup:
        """Return what the crawl is made of."""
        return self._crawl

    def single(self, pace: int) -> list[bool]:
        """Crawl with one process, `pace` pages at once; return whether each page is relevant."""
        store = open_store("memory:")
        job = CrawlJob(store, store.job("single", {}), self._crawl)
        found: list[bool] = []
        under_way: list[WaitingLink] = []
        while True:
            while len(under_way) < pace:
                link = job.next()
                if link is None and not job.interrupted:
                    break
                if link is not None:
                    under_way.append(link)
            if not under_way:
                return found
            for link in under_way:
                take_in(job, link, self.pages, found)
            under_way = []


def take_in(job, link, pages: Pages, found: list[bool]) -> None:
    kind, *answer = pages.get(link.url)
    if kind == "redirect":
        target = NewLink(
            url=answer[0],
            logical_layer=link.logical_layer,
            physical_layer=physical_layer(answer[0]),
        )
        job.redirected(link.id, target)
    elif kind == "error":
        job.failed(link.id, answer[0])
    else:
        page, digest = answer
        verdict = job.judge(page, digest)
        found.append(job.crawled(link.id, FetchedPage(page, 200, digest, verdict)))


class StoredWorker(Worker):
    """A worker that fetches from stored webs."""

    gang: SimulatedGang

    def fetch(self) -> None:
        for link in self.under_way:
            if self.job.is_running(link.id):
                take_in(self.job, link, self.gang.lab.pages, self.gang.found)
        self.under_way = []
        while len(self.under_way) < self.gang.pace:
            link = self.job.next()
            if link is None and not self.job.interrupted:
                break
            if link is not None:
                self.under_way.append(link)

    def live(self) -> None:
        began = time.process_time()
        self.fetch()
        if self.gang.now % 1 == 0:  # as the scheduler does
            self.job.commit()
        between = time.process_time()
        self.job.exchange.turn()
        if self.gang.now % 2 == 0:
            self.job.exchange.beat(self.gang.now)
        self.gang.cpu[0] += between - began
        self.gang.cpu[1] += time.process_time() - between


class SimulatedGang(Gang):
    """Workers that crawl stored webs."""

    def __init__(self, lab: Lab, pace: int, partitions: int, most: int) -> None:
        self.lab, self.pace = lab, pace
        self.found: list[bool] = []
        self.cpu = [0.0, 0.0]
        self.sent: Counter[str] = Counter()
        self.busy = self.now_busy = 0.0
        super().__init__(lab, Rules(partitions=partitions, rest=0.0, max_pages=most))

    def _made(self, name: str) -> Worker:
        return StoredWorker(
            self, name, SharedStore(CountingDocuments(self.tables, self.sent), "job")
        )

    def pass_time(self, seconds: float = 0.25) -> None:
        """Let time pass; note what was asked of the store as long as all workers are at work."""
        super().pass_time(seconds)
        if all(worker.under_way for worker in self.workers.values()) and self.found:
            self.busy, self.now_busy = self.sent["trips"] / len(self.found), self.now

    def take_over(self) -> None:
        """Have the largest partition taken over by a new worker, and tell what that takes."""
        shared = memory_store(self.tables)
        leases = leases_of(shared.all("lease")).values()
        largest = max(leases, key=lambda lease: lease.size + lease.log)
        partition = largest.partition
        worker = self._made("new")
        told = LearntStore(memory_store(self.tables), "new")
        worker.job._mixture.hear(told.hear({}), as_own=False)
        began = time.process_time()
        [stored] = Logs(shared).read([largest])
        deque(worker.job._take(stored, told.learnt_links.get(partition, 0)), maxlen=0)
        seconds = time.process_time() - began
        job = worker.job.partitions.jobs[partition]
        size = (largest.size + largest.log) / 1e6
        print(
            f"the largest partition: {len(job.frontier):,} links, {job.pages:,} pages,"
            f" {size:.1f} MB in the store, taken over in {seconds:.2f} s of CPU"
        )


class CountingDocuments(MemoryDocuments):
    """Documents that count what is asked of them, and the bytes that are written."""

    def __init__(self, tables: Tables, sent: Counter[str]) -> None:
        super().__init__(tables)
        self._sent = sent
        self.before = self._count

    def _count(self, operation: str, table: str) -> None:
        self._sent["trips"] += 1

    def insert_new(self, table: str, documents: Mapping[str, Document]) -> set[str]:
        self._sent[table] += sum(len(row.get("bytes", b"")) for row in documents.values())
        return super().insert_new(table, documents)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("webs", nargs="+")
    parser.add_argument("--workers", default="1,4")
    parser.add_argument("--algo", default="urlrule")
    parser.add_argument("--pace", type=int, default=10, help="pages of a worker in 0.25 s")
    parser.add_argument("--partitions", type=int, default=1024)
    parser.add_argument("--max-pages", type=int, default=0)
    parser.add_argument("--kill", type=int, default=0, metavar="PAGES")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    lab = Lab(arguments.cache, arguments.webs, arguments.algo)
    columns = ("pages", "media", "area", "trips", "busy", "log", "message", "crawl", "exchange")
    print(f"{'':<8}" + "".join(f"{column:>9}" for column in columns))
    for count in map(int, arguments.workers.split(",")):
        base = lab.single(count * arguments.pace)[: arguments.max_pages or None]
        lab.pages.keep()
        whole = area(base, sum(base), len(base))
        print(f"{'single':<8}{len(base):>9}{sum(base):>9}{whole:>9.3f}", flush=True)
        gang = SimulatedGang(lab, arguments.pace, arguments.partitions, arguments.max_pages)
        workers = [gang.join() for _ in range(count)]
        killed = 0
        while gang.workers:
            gang.pass_time()
            if arguments.kill and len(gang.found) > (killed + 1) * arguments.kill:
                killed += 1
                gang.workers[gang.rng.choice(sorted(gang.workers))].die()
                workers.append(gang.join())
            gang.see_off()
        found, pages = gang.found, len(gang.found)
        share = area(found, sum(base), pages) / area(base, sum(base), pages)
        each = gang.sent["trips"] / pages, gang.busy
        sent = gang.sent["log"] / pages, gang.sent["message"] / pages
        cpu = (1000 * seconds / pages for seconds in gang.cpu)
        print(
            f"{count:<8}{pages:>9}{sum(found):>9}{share:>9.3f}"
            + "".join(f"{value:>9.3f}" for value in each)
            + "".join(f"{value:>9.0f}" for value in sent)
            + "".join(f"{value:>9.2f}" for value in cpu)
            + f"   {gang.now:.0f} s, all at work until {gang.now_busy:.0f} s",
            flush=True,
        )
    gang.take_over()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
