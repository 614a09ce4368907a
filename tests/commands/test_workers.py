"""`scrapy workers`: what a person types, and what comes back."""

import io
import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mmcrawl.cluster import Heartbeat, Lease, SharedStore, open_shared_store
from mmcrawl.cluster.views import CrawlView, JobView, WorkerView
from mmcrawl.commands import crawl_tables, jobs_table
from mmcrawl.commands import workers as module
from mmcrawl.crawl import Totals
from tests.cluster.memory import made_lease
from tests.commands.running import Run, runner
from tests.databases import each_store
from tests.programs import started
from tests.tables import each
from tests.waiting import HANG

ANN, BOB = "ann-1-aa", "bob-2-bb"
TOTALS = Totals(
    pages=1_234,
    media_pages=56,
    media={"audio": 7, "video": 60, "animation": 8},
    harvest_rate=0.25,
    waiting=8_901,
    held=3,
    patterns=2,
    errors=45,
)
PLAIN = TOTALS.as_plain()
store = each_store


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""
    monkeypatch.setenv("COLUMNS", "100")
    return runner(module.Command, capfd)


def begin(store: str, job: str) -> SharedStore:
    return open_shared_store(store, job=job, arguments={"topic": "optics"})


def tell(shared: SharedStore, *, beat: int) -> None:
    """Write what a worker tells of itself and its partitions, and a message to one of these."""
    shared.put("worker", ANN, Heartbeat(beat, crawled=100, under_way=7).row)
    made_lease(shared, 3, owner=ANN, epoch=3, busy=9, pages=1_000, facts={"totals": PLAIN})
    made_lease(shared, 4, owner=ANN, epoch=5)
    made_lease(shared, 5, fault="torn")
    shared.insert("message", dict([shared.row_of(3, "someone/000000000", bytes=b"")]))


# -- jobs and one of them ---------------------------------------------------------------------


def test_without_a_job_the_jobs_of_the_store_are_listed(run, store: str):
    first, second = begin(store, "optics"), begin(store, "sound")
    tell(first, beat=9)
    first.delete("worker", [ANN])
    made_lease(first, 3, owner="")
    made_lease(first, 4, owner="")
    first.stop_job("max_pages", finished=False)
    second.stop_job("finished", finished=True)
    said = run("-a", f"store={store}")
    assert (said.code, said.err) == (0, "")
    rows = [line.split() for line in said.out.splitlines() if " UTC " in line]
    assert [row[0] for row in rows] == ["optics", "sound"]
    assert "1,234" in rows[0]
    assert rows[0][-2:] == ["stopped:", "max_pages"]
    assert "finished" in rows[1]
    plain = json.loads(run("-a", f"store={store}", "--json").out)
    assert [job["state"] for job in plain["jobs"]] == ["stopped", "finished"]
    assert plain["jobs"][0]["reason"] == "max_pages"
    first.close()
    second.close()


class Hurrying:
    """A clock that is ahead as soon as somebody wants to wait."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_the_only_job_is_shown_at_once_with_a_worker_that_died(run, store, monkeypatch):
    monkeypatch.setattr(module, "time", Hurrying())
    shared = begin(store, "optics")
    tell(shared, beat=75)
    said = run("-a", f"store={store}")
    assert (said.code, said.err) == (0, "")
    shown = " ".join(said.out.split())
    for words in ("optics", "no worker responds", "1,234", "8,901 (+3 held)", "25%", "errors 45"):
        assert words in shown
    assert "partitions 3, 2 without a worker, 1 in quarantine: they cannot be read" in shown
    assert "messages waiting 1 " in shown
    lines = [line.split() for line in said.out.splitlines()]
    [row] = [line for line in lines if line[:2] == [ANN, "silent"]]
    assert row[-5:] == ["2", "1", "7", "1,000", "…"]
    assert ["3", "3", "9", "1,000", ANN] in lines
    assert ["5", "0", "0", "0", "in", "quarantine"] in lines
    plain = json.loads(run("-a", f"store={store}", "-a", "job=optics", "--json").out)
    [worker] = plain["workers"]
    assert (worker["name"], worker["alive"], worker["partitions"]) == (ANN, False, [3, 4])
    assert (worker["busy"], worker["under_way"], worker["lag"]) == (1, 7, 0.0)
    epochs = {part: (one["owner"], one["epoch"]) for part, one in plain["partitions"].items()}
    assert epochs == {"3": (ANN, 3), "4": (ANN, 5), "5": ("", 0)}
    assert (plain["unowned"], plain["messages"]) == (2, 1)
    assert plain["totals"]["harvest_rate"] == 0.25
    assert plain["pages_per_second"] is None
    shared.close()


# -- a crawl that goes on ---------------------------------------------------------------------


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[str]:
    """The store of a slow crawl with two workers."""
    store = f"sqlite:///{tmp_path}/crawl.db"
    slow = ("-s", "MMCRAWL_WEB_LATENCY=400", "-s", "CONCURRENT_REQUESTS=2")
    args = ("-a", f"store={store}", "-a", "job=slow", "-a", "web=sim:pages=5000,sites=6")
    more = ("-a", "keywords=optics", "-a", "archive=none", *slow)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = started("crawl", "focused", *args, *more, "-a", "workers=2", folder=tmp_path, **quiet)
    yield store
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.wait(HANG)


def test_of_a_crawl_that_goes_on_workers_and_rates_are_shown(run, crawl: str):
    end = time.monotonic() + HANG
    alive: list[dict[str, Any]] = []
    while len(alive) < 2:
        assert time.monotonic() < end
        said = run("-a", f"store={crawl}", "--json")  # until the store is there it is refused
        plain = json.loads(said.out) if said.code == 0 else {}
        alive = [worker for worker in plain.get("workers", ()) if worker["pages_per_second"]]
    assert plain["job"]["state"] == "running"
    assert [worker["alive"] for worker in alive] == [True, True]
    assert plain["totals"]["pages"] > 0
    assert plain["pages_per_second"] > 0
    assert all(worker["under_way"] and worker["busy"] for worker in alive)
    ann, bob = ({*worker["partitions"]} for worker in alive)
    assert ann
    assert bob
    assert not ann & bob
    assert plain["unowned"] <= len(plain["partitions"]) - len(ann | bob)  # some are being given


# -- what is drawn ----------------------------------------------------------------------------


def drawn(what: Any, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(what)
    return out.getvalue()


@each("width", [40, 110])
def test_narrow_terminals_lose_no_numbers(width: int) -> None:
    leases = {n: Lease(n, ANN, 1, busy=n < 12, pages=3 * (n > 7)) for n in range(341)}
    late, silent = Heartbeat(9, 5, 12.34, 512, 31.0), Heartbeat(9, 5, 3.21, 7)
    gone = {900: Lease(900, BOB, 65_000, busy=3, pages=234)}
    workers = (
        WorkerView("a-long-name-of-a-machine-12345-f43d", True, 0.0, late, leases),
        WorkerView(BOB, False, 75.0, silent, gone),
    )
    job = JobView("optics\x1b[31m", 1.7e9, None, "", "running", 1_234)
    view = CrawlView(job, workers, {**leases, **gone}, 683, 58, TOTALS)
    text = drawn(crawl_tables("mongodb://h/d", view), width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    for number in ("1,234", "8,901", "512", "999", "12.3", "234", "…", "341", "683", "58", "65000"):
        assert number in text
    assert BOB in text
    assert ("silent for 1 min" if width == 110 else "silent") in text
    assert ("alive, writes 31 s late" if width == 110 else "late") in text
    listed = drawn(jobs_table("mongodb://h/d", [job, job]), width)
    assert max(map(len, listed.splitlines())) <= width
    assert "1,234" in listed
    assert "\x1b" not in listed


# -- mistakes ---------------------------------------------------------------------------------


def test_a_store_or_a_job_that_is_not_there(run, store: str):
    said = run("-a", f"store={store}")
    assert (said.code, said.out) == (2, "")
    assert "there is no store " in said.err
    begin(store, "optics").close()
    said = run("-a", f"store={store}", "-a", "job=sound")
    assert (said.code, said.out) == (1, "")
    assert "there is no job 'sound' in store " in said.err
