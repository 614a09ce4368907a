"""Every page of a crawl goes into the archive, before its link counts as crawled."""

import random
import signal
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from time import sleep, time
from types import SimpleNamespace
from typing import Any

import pytest
import twisted.internet

from mmcrawl.archive import (
    Answers,
    ArchiveStore,
    Capture,
    Intake,
    ProcessStore,
    RefusedError,
    Stored,
    Unchanged,
    Visited,
    open_archive,
)
from mmcrawl.engine import Completions
from mmcrawl.errors import StoreError
from mmcrawl.frontier import canonical
from mmcrawl.pipelines import PageSemaphore
from mmcrawl.replay import open_web
from tests.tables import each
from tests.waiting import HANG
from tests.warm import python

# The crawl's own process writes its archive, which has the fault that the setting FAULT names.
FAULTY = """
from threading import Event
from time import sleep

import mmcrawl.pipelines.archive
from mmcrawl.archive import Archive, open_archive
from mmcrawl.archive.storing import Intake
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.errors import StoreError
from mmcrawl.spiders.focused import FocusedSpider
from tests.waiting import HANG

Intake.__init__.__kwdefaults__["waits"] = (0.01, 0.01)
mmcrawl.pipelines.archive.has_another_core = lambda: False


class Spider(FocusedSpider):
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        global now, fault, groups, stored, learnt
        now, fault = crawler, FAULTS.get(crawler.settings["FAULT"], lambda captures: None)
        groups, stored, learnt = 0, 0, Event()
        return super().from_crawler(crawler, *args, **kwargs)


def full(captures):
    if groups > 2:
        raise StoreError("archive x cannot be written (database or disk is full); make room")


def choking(captures):
    if any(capture.url.endswith("/3") for capture in captures):
        raise RecursionError("too deep")


def late(captures):
    seen.append(learnt.wait(HANG))


def slow(captures):
    global stored
    seen.append(now.stats.get_value("downloader/response_count") - stored)
    sleep(0.02 * len(captures))
    stored += len(captures)


FAULTS = {"full": full, "choking": choking, "late": late, "slow": slow}
store_many, crawled, commit = Archive.store_many, CrawlJob.crawled, CrawlJob.commit


def faulty(archive, captures, **options):
    global groups
    groups, captures = groups + 1, list(captures)
    fault(captures)
    return store_many(archive, captures, **options)


def learns(job, *args, **kwargs):
    learnt.set()
    return crawled(job, *args, **kwargs)


def commits(job):
    pages = {url for (url,) in job.store.db.execute("SELECT url FROM page")}
    if pages and fault is late:
        with open_archive(now.spider.archive_uri, read_only=True) as archive:
            seen.append(pages <= {*archive.urls()})
    commit(job)


Archive.store_many, CrawlJob.crawled, CrawlJob.commit = faulty, learns, commits
"""


def test_every_page_is_archived_as_received_relevant_or_not(tools: Any) -> None:
    server = tools.serve()
    asked: list[float] = []
    slow = 2.0  # longer than a busy machine takes to send a request

    def page(visit: Any) -> Any:
        asked.append(time())
        sleep(slow)
        return tools.Answer(tools.links(*bodies), headers={"ETag": '"1"', "X-Thing": "a; b"})

    plain = tools.Answer("words", headers={"Content-Type": "text/plain"})
    bodies = {"/empty": "", "/plain": plain, "/cut": "<html lang=", "/nul": "\0" * 10_000}
    server.pages = {"/": page} | bodies
    begun = time()
    demo, odd = tools.crawl(
        {"web": "demo", "keywords": "光学", "max_pages": 40}, {"seeds": server.url()}
    )
    web = open_web("demo")
    assert len(demo.crawled) == 40
    assert demo.archived == demo.crawled
    encodings = set()
    with demo.archive as archive:
        for version in archive.all_versions():
            stored, answer = archive.rebuild(version), web.get(version.url)
            assert stored.body == answer.body
            assert (stored.status, stored.reason) == (200, "OK")
            assert stored.header("content-type") == answer.header("content-type")
            encodings.add(version.encoding)
        assert archive.check().clean
        stats = archive.stats()
    assert {"utf-8", "gb18030"} <= encodings
    assert demo.stats["mmcrawl/archive/pages"] == demo.stats["mmcrawl/archive/new"] == 40
    assert demo.stats["mmcrawl/archive/bytes"] == stats.raw_bytes
    assert 0 < demo.stats["mmcrawl/archive/new_bytes"] <= stats.raw_bytes
    assert "mmcrawl/archive/unchanged" not in demo.stats

    with odd.archive as archive:
        kept = {v.url.rpartition("/")[2]: archive.rebuild(v).body for v in archive.all_versions()}
        assert archive.check().clean
        version = archive.get(server.url())
    del kept[""]
    wanted = {"empty": "", "plain": "words", "cut": "<html lang=", "nul": "\0" * 10_000}
    assert kept == {name: body.encode() for name, body in wanted.items()}
    assert (version.header("etag"), version.header("x-thing")) == ('"1"', "a; b")
    assert version.header("date")
    assert begun < version.time < asked[0] + slow  # and so not the time of the answer


def test_an_archive_can_be_named_or_left_out_and_must_open(tools: Any) -> None:
    server, place = tools.serve(), tools.folder()
    server.pages = {"/": "<p>page</p>"}
    named, off, argument, setting_off, broken = (place / f"{name}.db" for name in "abcde")
    seed = {"seeds": server.url()}
    (place / "e-archive.db").write_bytes(b"no database at all" * 100)
    *_, ill = tools.crawl(
        seed | {"store": str(named), "settings": {"MMCRAWL_ARCHIVE": f"sqlite:///{place}/x.db"}},
        seed | {"store": str(off), "archive": "none"},
        seed | {"store": str(argument), "archive": f"{place}/y.db"},
        seed | {"store": str(setting_off), "settings": {"MMCRAWL_ARCHIVE": ""}},
        seed | {"store": "memory:"},
        seed | {"store": str(broken)},
    )
    files = {path.name for path in place.glob("*.db")} - {"e.db", "e-archive.db"}
    assert files == {"a.db", "b.db", "c.db", "d.db", "x.db", "y.db"}
    for name in ("x", "y"):
        with open_archive(f"sqlite:///{place / name}.db", read_only=True) as archive:
            assert list(archive.urls()) == [server.url()]
    assert ill.stats["finish_reason"] == "store_error"
    assert "e-archive.db is not an archive of mmcrawl" in ill.stats["mmcrawl/store_error"]
    assert len(server.asked) == 5  # once in each of the others


def test_a_failing_archive_stops_the_crawl_and_nothing_counts_as_crawled_that_it_has_not(tools):
    server, store = tools.chain(25), tools.folder() / "crawl.db"
    crawl = {"seeds": server.url("/0"), "store": str(store)}
    full = crawl | {"settings": {"FAULT": "full"}}
    choking = {"seeds": server.url("/0"), "settings": {"FAULT": "choking"}}
    ill, well, one_page = tools.crawl(full, crawl, choking, spider=FAULTY)
    assert ill.stats["finish_reason"] == "store_error"
    assert ill.stats["mmcrawl/store_error"].startswith("archive x cannot be written")
    assert ill.log.count("ERROR: archive x cannot be written") == 1
    assert "trying again" in ill.log
    assert well.stats["finish_reason"] == "finished"
    assert well.stats["mmcrawl/archive/pages"] >= 20  # most were still to be fetched
    everything = {server.url(f"/{n}") for n in range(25)}
    assert well.archived == well.crawled == everything
    # A page that cannot be stored ends in error, and the others go on.
    assert one_page.finished
    assert one_page.links[server.url("/3")] == ("E", "not archived: RecursionError: too deep")
    assert one_page.archived == one_page.crawled == everything - {server.url("/3")}
    assert one_page.stats["mmcrawl/archive/failed"] == 1


def test_a_page_is_learnt_from_while_it_is_stored_and_a_slow_archive_slows_the_crawl(
    tools: Any,
) -> None:
    server, size, pages, most = tools.serve(), 20_000, 60, 200_000
    dice = random.Random(1)
    server.pages = {"/": tools.links(*(f"/{n}" for n in range(pages)))}
    for n in range(pages):
        server.pages[f"/{n}"] = f"<p>{dice.randbytes(size // 2).hex()}</p>"
    seed = {"seeds": server.url()}
    late, slow = tools.crawl(
        seed | {"settings": {"FAULT": "late"}},
        seed | {"settings": {"FAULT": "slow", "SCRAPER_SLOT_MAX_ACTIVE_SIZE": most}},
        spider=FAULTY,
    )
    for outcome in (late, slow):
        assert outcome.finished
        assert len(outcome.archived) == len(outcome.crawled) == pages + 1
    assert len(late.seen) > 2
    assert all(late.seen)  # and counts as crawled when it is stored
    concurrent = 8  # requests under way when the scraper is full
    assert max(slow.seen) <= 2 * (most // size + 1) + concurrent


# Without another core the crawl's own process writes; with one all else is done before the disk is
# full, so long does the first page take.
FULL = """
import os
import resource
import signal
from time import sleep

import mmcrawl.pipelines.archive
from mmcrawl.archive.storing import Intake
from mmcrawl.spiders.focused import FocusedSpider as Spider

put = Intake._store_patiently
Intake.__init__.__kwdefaults__["waits"] = (0.01, 0.01)
Intake._store_patiently = lambda *group: (sleep(float(os.environ["SECONDS"])), put(*group))[1]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, resource.RLIM_INFINITY))
mmcrawl.pipelines.archive.has_another_core = lambda: os.environ["CORES"] == "2"
"""
KILLED = """
import os
import signal

from mmcrawl.archive import storing
from mmcrawl.spiders.focused import FocusedSpider as Spider

asked = storing.ProcessStore.store

def deserted(store, visits):
    if seen:
        os.kill(store._child.process.pid, signal.SIGKILL)
    seen.append(len(visits))
    return asked(store, visits)

storing.ProcessStore.store = deserted
"""


def test_a_full_disk_or_a_killed_writer_stops_the_crawl_which_goes_on_later(tools: Any) -> None:
    server, dice, folder = tools.serve(), random.Random(2), tools.folder()
    server.pages = {"/": tools.links(*(f"/{n}" for n in range(20)))}
    for n in range(20):
        server.pages[f"/{n}"] = f"<p>{n}</p><!--{dice.randbytes(60_000).hex()}-->"
    one_core, two_cores, deserted = (
        {"seeds": server.url(), "store": str(folder / f"{name}.db")} for name in "123"
    )
    ill = tools.crawl(
        one_core | {"environ": {"CORES": "1", "SECONDS": "0"}},
        two_cores | {"environ": {"CORES": "2", "SECONDS": "1"}},
        spider=FULL,
    )
    for full in ill:
        assert "-archive.db cannot be written" in full.stats["mmcrawl/store_error"]
    ill += tools.crawl(deserted, spider=KILLED)
    assert "ended unexpectedly (exit status -9)" in ill[-1].stats["mmcrawl/store_error"]
    errors = [line for one in (ill[0], ill[-1]) for line in one.log.splitlines() if "ERROR" in line]
    # Two files are full in one crawl, if the frontier's is not emptied in time on a busy machine.
    assert [line for line in errors if "cannot be written" not in line] == errors[-1:]
    for outcome in ill:
        assert outcome.stats["finish_reason"] == "store_error"
        assert "Traceback" not in outcome.log
        assert outcome.crawled <= outcome.archived
        assert len(outcome.crawled) < 21
    for outcome in tools.crawl(one_core, two_cores, deserted):
        assert outcome.stats["finish_reason"] == "finished"
        everything = {canonical(server.url())} | {server.url(f"/{n}") for n in range(20)}
        assert outcome.archived == outcome.crawled == everything
        with outcome.archive as archive:
            assert archive.check().clean


ORPHANED = """
import os, signal, sys
from mmcrawl.archive import Capture
from mmcrawl.archive.storing import ProcessStore
from mmcrawl.store import child_process

child_process._PROGRAM = '''
from threading import Event
from mmcrawl.archive.storing import ArchiveStore
ArchiveStore.close = lambda _: Event().wait()
''' + child_process._PROGRAM
store = ProcessStore(sys.argv[1], create=True)
print(store._child.process.pid, flush=True)
store.store([Capture("http://a.test/", b"page", 1.0)])
if "closing" in sys.argv:
    store._child.send(None)
os.kill(os.getpid(), signal.SIGKILL)
"""


@each("at", ["storing", "closing"])
def test_a_writer_ends_when_its_crawl_is_killed(tools: Any, tmp_path: Path, at: str) -> None:
    uri = f"sqlite:///{tmp_path / 'archive.db'}"
    command = [python(), "-c", ORPHANED, uri, at]
    # The writer holds the other end of standard error: there is an end of it when both are gone.
    run = subprocess.run(
        command, env=tools.environ, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert run.returncode == -signal.SIGKILL
    assert int(run.stdout) > 0
    assert "Traceback" not in run.stderr
    with open_archive(uri, read_only=True) as archive:
        assert archive.rebuild(archive.get("http://a.test/")).body == b"page"


def test_a_writer_tells_why_an_archive_cannot_be_opened_and_what_it_logged(tmp_path, caplog):
    with pytest.raises(StoreError, match=f"there is no archive {tmp_path}/none.db"):
        ProcessStore(f"sqlite:///{tmp_path}/none.db", create=False)
    store = ProcessStore(f"sqlite:///{tmp_path}/new.db", create=True)
    assert store.store([Unchanged("http://never-seen.test/", 1.0)]) == Answers(
        [Stored(None, noted=False)]
    )
    [record] = caplog.records
    assert record.getMessage().startswith("A visit of http://never-seen.test/ is not recorded")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="ended unexpectedly"):
        store.store([capture(1)])


# -- the intake by itself -------------------------------------------------------------------------


def capture(n: int, size: int = 100) -> Capture:
    return Capture(f"http://a.test/{n}", f"<p>{n}</p>".encode().ljust(size), float(n + 1))


class Scripted:
    """A store that answers as it is told, once it may."""

    def __init__(self, *answers: Answers | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[list[Visited]] = []
        self.begun, self.may_go = threading.Event(), threading.Event()
        self.may_go.set()

    def store(self, visits: Sequence[Visited]) -> Answers:
        self.asked.append(list(visits))
        self.begun.set()
        assert self.may_go.wait(HANG)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        pass


def answers(*sizes: int) -> list[Answers | Exception]:
    """Return what a store answers that keeps groups of so many visits."""
    return [Answers([Stored(None)] * size) for size in sizes]


def test_a_group_is_bounded_in_bytes_and_in_pages() -> None:
    store = Scripted(*answers(1, 2, 2, 64, 37))
    store.may_go.clear()
    intake = Intake(store)
    first = intake.put(capture(0))
    assert store.begun.wait(HANG)
    large = [intake.put(capture(n, 4 << 20)) for n in range(1, 6)]
    small = [intake.put(capture(n)) for n in range(10, 110)]
    store.may_go.set()
    for future in (first, *large, *small):
        future.result(30)
    assert [len(group) for group in store.asked] == [1, 2, 2, 64, 37]
    intake.close()


def test_a_full_group_and_the_last_one_wait_for_no_others() -> None:
    store = Scripted(*answers(64, 1))
    intake = Intake(store, gather=60.0)
    for future in [intake.put(capture(n)) for n in range(64)]:
        future.result(10)
    last = intake.put(capture(64))
    intake.close()
    assert last.done()
    assert [len(group) for group in store.asked] == [64, 1]


def test_only_what_the_store_failed_at_is_tried_again() -> None:
    refusal, one, two = RefusedError("odd"), Stored(None, 1), Stored(None, 2)
    first = Answers([one, None, refusal, None], StoreError("away"))
    store = Scripted(first, Answers([two, two]))
    intake = Intake(store, waits=(0.01,))
    visits = [capture(n) for n in range(4)]
    done = [intake.put(visit) for visit in visits]
    assert [done[n].result(10) for n in (0, 1, 3)] == [one, two, two]
    assert done[2].exception(10) is refusal
    assert store.asked == [visits, [visits[1], visits[3]]]
    intake.close()


@each(
    "failures, told",
    [
        ([StoreError("full")] * 2, "full"),
        ([KeyError("strange")], "the archive failed: KeyError: 'strange'"),
    ],
)
def test_all_that_waits_is_told_of_a_failure_and_what_comes_later_too(failures, told):
    intake = Intake(Scripted(*failures), waits=(0.01,))
    waiting = [intake.put(capture(n)) for n in range(3)]
    for future in waiting:
        with pytest.raises(StoreError, match=told):
            future.result(10)
    with pytest.raises(StoreError, match=told.partition(":")[0]):
        intake.put(capture(4)).result(10)
    intake.close()


def test_a_page_that_no_archive_can_keep_fails_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("mmcrawl.archive.model.LARGEST_BODY", 1_000)
    odd = Capture("http://a.test/\ud800", b"odd", 1.0)
    with open_archive(f"sqlite:///{tmp_path}/archive.db") as archive:
        told = ArchiveStore(archive).store([capture(0), capture(1, 1_001), capture(2), odd])
        assert told.failure is None
        assert [isinstance(told.of[n], RefusedError) for n in range(4)] == [False, True] * 2
        assert "larger than 1,000 bytes" in str(told.of[1])
        assert sorted(archive.urls()) == ["http://a.test/0", "http://a.test/2"]


def test_the_reactor_is_called_once_for_all_that_a_thread_has_to_tell(monkeypatch):
    calls: list[Any] = []
    reactor = SimpleNamespace(callFromThread=calls.append)
    monkeypatch.setattr(twisted.internet, "reactor", reactor, raising=False)
    completions, told = Completions(), []
    futures: list[Future[Stored]] = [Future() for _ in range(10)]
    for number, future in enumerate(futures):
        completions.of(future).addBoth(lambda _, number=number: told.append(number))
    for future in futures[:5]:
        future.set_result(Stored(None))
    futures[5].set_exception(StoreError("full"))
    assert (len(calls), told) == (1, [])
    calls.pop()()
    assert told == [0, 1, 2, 3, 4, 5]
    for future in futures[6:]:
        future.set_result(Stored(None))
    calls.pop()()
    assert (calls, told) == ([], list(range(10)))


def test_items_under_way_are_bounded_in_number_and_bytes_and_come_in_in_order() -> None:
    room, inside = PageSemaphore(2, 100), []

    def come(name: str, size: int) -> None:
        room.enter(size).addCallback(lambda _: inside.append(name))

    come("a", 500)  # larger than all the room: alone
    come("b", 60)
    come("c", 60)
    come("d", 10)
    assert inside == ["a"]
    room.leave(500)
    assert inside == ["a", "b"]
    room.leave(60)
    assert inside == ["a", "b", "c", "d"]
    come("e", 1)
    assert "e" not in inside
    room.leave(10)
    assert inside[-1] == "e"
