"""A crawl by many workers, simulated: what is found when, and what the shared store has to do.

    python benchmarks/shared_simulation.py /tmp/lab /tmp/webs/web /tmp/webs/web2 --workers 1,4
    python benchmarks/shared_simulation.py /tmp/lab sim:pages=20000,sites=200 --workers 64 --algo learned

The real code of workers and their exchange, with a shared store in RAM and a clock that is turned
on: in each quarter of a second every worker takes in and reports --pace pages, then takes its step.
So the figures depend neither on this machine nor on a server. FOLDERs and webs are as for
search_lab.py; all their sites are one crawl for any media, from all their start pages. At the
beginning and with each number of workers: pages, media pages, the area under recall against pages
as a share of that of one crawl without a shared store (what is found by the same number of pages,
over all of them), operations of the store a page, how many bytes are written to it a page, CPU ms a
page of the crawls and of the exchanges. `--kill N` kills a worker every N pages, and another joins.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from _lab_pages import Pages
from search_lab import webs_of
from scrapy.settings import Settings

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from mmcrawl.crawling.params import FocusedParams  # noqa: E402
from mmcrawl.crawling.parts import CrawlParts  # noqa: E402
from mmcrawl.crawling.reports import FetchedPage  # noqa: E402
from mmcrawl.engine.crawls import parts_of  # noqa: E402
from mmcrawl.experiment.measures import area  # noqa: E402
from mmcrawl.frontier.records import NewLink  # noqa: E402
from mmcrawl.frontier.store import open_store  # noqa: E402
from mmcrawl.page.urls import physical_layer  # noqa: E402
from mmcrawl.replay.handler import replay_settings  # noqa: E402
from mmcrawl.sharing.places import Rules  # noqa: E402
from tests.sharing.memory import Gang, MemoryStore, Worker  # noqa: E402


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
        self._crawl = parts_of(args, settings, self.pages.web)

    def crawl(self, algo: str) -> CrawlParts:
        """Return what the crawl is made of."""
        return self._crawl

    def single(self) -> list[bool]:
        """Crawl with one process; return of each page whether it is relevant."""
        store = open_store("memory:")
        job = self._crawl.job(store, store.job("single", {}))
        found: list[bool] = []
        while (link := job.next()) is not None or job.interrupted:
            if link is not None:
                take_in(job, link, self.pages, found)
        return found


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
        if self.job.exchange.due(self.gang.now) <= 0:
            self.job.exchange.step(self.gang.now)
        self.gang.cpu[0] += between - began
        self.gang.cpu[1] += time.process_time() - between


class SimulatedGang(Gang):
    """Workers that crawl stored webs."""

    def __init__(self, lab: Lab, pace: int, parts: int) -> None:
        self.lab, self.pace = lab, pace
        self.found: list[bool] = []
        self.cpu = [0.0, 0.0]
        super().__init__(lab, Rules(parts=parts, rest=0.0))

    def _made(self, name: str) -> Worker:
        return StoredWorker(self, name, MemoryStore(self.tables))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cache", type=Path)
    parser.add_argument("webs", nargs="+")
    parser.add_argument("--workers", default="1,4")
    parser.add_argument("--algo", default="urlrule")
    parser.add_argument("--pace", type=int, default=10, help="pages of a worker in 0.25 s")
    parser.add_argument("--parts", type=int, default=1024)
    parser.add_argument("--kill", type=int, default=0, metavar="PAGES")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    lab = Lab(arguments.cache, arguments.webs, arguments.algo)
    base = lab.single()
    lab.pages.keep()
    print(
        f"{'':<12}{'pages':>8}{'media':>8}{'area':>8}{'ops/page':>10}{'ms crawl':>10}{'ms exch':>9}"
    )
    print(f"{'single':<12}{len(base):>8}{sum(base):>8}{area(base, sum(base), len(base)):>8.3f}")
    for count in map(int, arguments.workers.split(",")):
        gang = SimulatedGang(lab, arguments.pace, arguments.parts)
        workers = [gang.join() for _ in range(count)]
        killed = 0
        while gang.workers:
            gang.pass_time()
            if arguments.kill and len(gang.found) > (killed + 1) * arguments.kill:
                killed += 1
                gang.workers[gang.rng.choice(sorted(gang.workers))].die()
                workers.append(gang.join())
            gang.see_off()
        operations = sum(sum(worker.store.operations.values()) for worker in workers)
        found, pages = gang.found, len(gang.found)
        share = area(found, sum(base), pages) / area(base, sum(base), pages)
        crawl, exchange = (1000 * cpu / pages for cpu in gang.cpu)
        print(
            f"{count:<12}{pages:>8}{sum(found):>8}{share:>8.3f}{operations / pages:>10.3f}"
            f"{crawl:>10.2f}{exchange:>9.2f}   {gang.now:.0f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
