"""The links of all partitions of a shared crawl under one numbering."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from mmcrawl import __version__
from mmcrawl.cluster import Rules
from mmcrawl.cluster.views import copy_to
from mmcrawl.crawl import explain_link as explain
from mmcrawl.crawl import looked_at
from mmcrawl.frontier import ELSEWHERE, Job, LinkRecord, SqliteStore, Status, open_store
from mmcrawl.page import parse_page
from tests.tables import each

from .memory import JOB, Gang, MadeWeb, memory_store

RULES = Rules(partitions=16, lease=4.0, rest=0.0)


def arguments(gang: Gang) -> dict[str, object]:
    """Return what a store keeps of the crawl of a gang."""
    return {
        "mmcrawl": __version__,
        "algo": gang.crawl.algo,
        "topic": "",
        "keywords": "optics, lens",
        "media": "video",
        "seeds": [[seed, ""] for seed in gang.web.seeds],
        "sites": "hosts",
        "max_layer": 0,
        "max_depth": 0,
        **gang.crawl.settings(),
    }


@contextmanager
def copied(gang: Gang, tell: list[str] | None = None) -> Iterator[tuple[SqliteStore, Job]]:
    """Give a store in which the crawl of a gang is one job."""
    shared = memory_store(gang.tables)
    shared.job = Job(0, JOB, arguments(gang), None, "")
    told: list[str] = [] if tell is None else tell
    with open_store("memory:") as store:
        job = copy_to(store, shared, told.append)
        assert tell is not None or told == []
        yield store, job


def records(gang: Gang, tell: list[str] | None = None) -> list[LinkRecord]:
    with copied(gang, tell) as (store, job):
        return list(looked_at(store, job).records())


def outlinks(web: MadeWeb, url: str) -> set[str]:
    page = parse_page(web.body(url), url, "text/html")
    return {link.url for link in page.links} & web.urls


def check(web: MadeWeb, found: list[LinkRecord]) -> None:
    """See that links hang together as in a crawl of one process."""
    by_url = {link.url: link for link in found}
    assert len(by_url) == len(found)
    assert [link.id for link in found] == list(range(len(found)))
    for link in found:
        if link.status is Status.CRAWLED:  # what was sent to a partition just now is not sent again
            own, linked = link.url[: link.url.index("/p/")], outlinks(web, link.url)
            assert {url for url in linked if url.startswith(own)} <= {*link.internal_urls} <= linked
        *above, _ = link.url_path
        if above:
            parent = by_url[above[-1]]
            assert link.url in parent.internal_urls
            assert (parent.id, parent.place is not None) < (link.id, True)
            assert link.place is None or parent.place < link.place
        else:
            assert link.url in web.seeds
    places = sorted(link.place for link in found if link.place)
    assert places == list(range(1, len(places) + 1))


@each("algo", ["learned", "hits"])
def test_a_crawl_that_is_over_is_as_one_of_a_single_process(algo: str) -> None:
    gang = Gang(MadeWeb(6, 12), RULES, algo=algo)
    for _ in range(3):
        gang.join()
    assert gang.run() == "finished"
    found = records(gang)
    check(gang.web, found)
    assert {link.url for link in found} == gang.web.urls
    assert {link.status for link in found} == {Status.CRAWLED}
    assert sum(link.relevant for link in found) == len(gang.web.media)
    with copied(gang) as (opened, job):
        assert (job.name, job.arguments) == (JOB, arguments(gang))
        links = looked_at(opened, job)
        for link in found[::7]:
            why = explain(links, job.arguments, link.url)
            assert f"page {link.place} of the crawl" in why.outcome
            assert [step for step, _ in why.steps] == list(link.url_path)


@each("seed", [0])
def test_a_crawl_is_looked_at_while_workers_die_and_join(seed: int) -> None:
    gang = Gang(MadeWeb(6, 20, seed), RULES, seed=seed)
    for _ in range(3):
        gang.join()
    looks = 0
    for step in range(200):
        gang.pass_time()
        if step % 25 == 24 and gang.workers:
            gang.workers[gang.rng.choice(sorted(gang.workers))].die()
            gang.join()
        if step % 40 == 39:
            found = records(gang)
            looks += bool(found)
            twice = [url for url, n in Counter(link.url for link in found).items() if n > 1]
            stand_ins = {link.url for link in found if link.error == ELSEWHERE}
            assert {*twice} <= stand_ins, "only what stands for a page that was lost may come twice"
            assert [link.id for link in found] == list(range(len(found)))
    assert looks == 5
    for _ in range(120):
        gang.pass_time()
    check(gang.web, records(gang))


def test_a_partition_that_cannot_be_read_is_told_and_the_others_are_there() -> None:
    gang = Gang(MadeWeb(6, 12), RULES)
    gang.join()
    assert gang.run() == "finished"
    partitions = Counter(gang.rules.partition_of(url) for url in gang.web.urls)
    cut, torn = sorted(partitions)[:2]
    log = gang.tables["log"]
    mine = sorted(key for key in log if key.startswith(f"{JOB}/{cut:04d}/"))
    log.pop(mine[1])
    for key in log:
        if key.startswith(f"{JOB}/{torn:04d}/"):
            log[key]["bytes"] = b"torn"
    told: list[str] = []
    found = records(gang, told)
    begins = [f"partition {partition} of the crawl is left out, as it" for partition in (cut, torn)]
    assert [line[: len(begins[0])] for line in told] == begins
    assert told[0].endswith("record 1 of its log is missing")
    own = {link.url for link in found if link.error != ELSEWHERE}
    assert own == {url for url in gang.web.urls if gang.rules.partition_of(url) not in {cut, torn}}
