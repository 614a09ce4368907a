"""`-a workers=N`: who starts workers, starts them again, and ends them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.cluster import Heartbeat, heartbeats_of, open_shared_store
from mmcrawl.commands import Workers, number_of_workers
from mmcrawl.commands import crawl_workers as module
from tests.desks import end_of, ended_by
from tests.programs import started
from tests.tables import each
from tests.waiting import HANG, until

WEB = ["-a", "web=sim:pages=120,sites=2", "-a", "keywords=*", "-a", "archive=none"]


# -- with stand-ins for workers -----------------------------------------------------------------

STAND_IN = """
import os, signal, sys, time
from pathlib import Path

number, _, token = os.environ["_MMCRAWL_WORKER"].partition("/")

def times_begun(number):
    path = Path(sys.argv[1], f"begun-{number}")
    return len(path.read_text().split()) if path.exists() else 0

def die():
    os.kill(os.getpid(), signal.SIGKILL)

with Path(sys.argv[1], f"begun-{number}").open("a") as begun:
    begun.write(token + "\\n")
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
"""
THE_SECOND_DIES_TWICE = """
if number == "1" and times_begun("1") < 3:
    sys.stdin.read()
    die()
while times_begun("1") < 3:
    time.sleep(0.02)
"""
HANGS_AT_FIRST = """
if times_begun(number) == 1:
    os.kill(os.getpid(), signal.SIGSTOP)
"""
STUBBORN = """
signal.signal(signal.SIGINT, lambda *_: 0)
time.sleep(600)
"""


class Stage:
    """Workers of which each runs a piece of Python, and the store they would share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uri = f"sqlite:///{folder}/crawl.db"
        self.shared = open_shared_store(self.uri, job="job", arguments={})

    def workers(self, code: str, count: int = 2) -> Workers:
        command = [sys.executable, "-c", STAND_IN + code, str(self.folder)]
        return Workers(self.shared, self.uri, count, command, shown=False)

    def begun(self, number: int) -> list[str]:
        """Return the tokens of the processes that a worker has been so far."""
        path = self.folder / f"begun-{number}"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(module, "_PAUSES", (0.05, 0.1))
    made = Stage(tmp_path)
    yield made
    made.shared.close()


def when(true: Callable[[], object], do: Callable[[], object]) -> None:
    """Do something from another thread once something is true."""

    def wait() -> None:
        until(true, 0.02)
        do()

    threading.Thread(target=wait, daemon=True).start()


def test_a_worker_that_dies_is_started_again_and_its_parts_are_free(stage: Stage) -> None:
    workers = stage.workers(THE_SECOND_DIES_TWICE)
    see_off = workers._see_off

    def gives_a_sign_before(worker: Any, now: float) -> None:
        stage.shared.put("worker", f"host-7-{worker.token}", Heartbeat(4).row)
        see_off(worker, now)

    workers._see_off = gives_a_sign_before  # type: ignore[method-assign]
    stage.shared.stop_job("finished", finished=True)
    assert workers.run() == "finished"
    [first], [_, _, third] = stage.begun(0), stage.begun(1)
    assert {*stage.shared.names("worker")} == {f"host-7-{token}" for token in (first, third)}


def test_workers_that_die_again_and_again_are_given_up(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_MOST_DEATHS", 2)
    assert stage.workers("die()", 1).run() == "store_error"
    assert len(stage.begun(0)) == 3
    assert "another is started in 0.05 s" in caplog.text
    assert "Worker 0 died; given up" in caplog.text


def test_ctrl_c_is_passed_on_and_a_second_one_ends_at_once(stage: Stage) -> None:
    def there() -> bool:
        return bool(stage.begun(0) and stage.begun(1))

    before = signal.getsignal(signal.SIGINT)  # Spark leaves one of its own, if its tests came first
    when(there, lambda: os.kill(os.getpid(), signal.SIGINT))
    assert stage.workers("time.sleep(600)").run() == "shutdown"
    for number in (0, 1):
        (stage.folder / f"begun-{number}").unlink()
    stubborn = stage.workers(STUBBORN)
    when(there, lambda: os.kill(os.getpid(), signal.SIGTERM))
    when(lambda: stubborn._told == 1, lambda: os.kill(os.getpid(), signal.SIGINT))
    assert stubborn.run() == "shutdown"
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_shows_no_traceback_of_a_worker_that_is_still_starting() -> None:
    python, flag, code = module.program_command()
    code = code.replace("from ", "import os; os.kill(os.getpid(), 2); from ", 1)
    done = subprocess.run([python, flag, code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_a_worker_that_hangs_is_ended_and_another_one_started(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.1)
    workers = stage.workers(HANGS_AT_FIRST, 1)
    workers._hangs = 0.5

    def note() -> None:
        name = f"host-{workers._workers[0].process.pid}-{stage.begun(0)[0]}"  # type: ignore[union-attr]
        stage.shared.put("worker", name, Heartbeat(1).row)

    when(lambda: stage.begun(0), note)
    stage.shared.stop_job("max_pages", finished=False)
    assert workers.run() == "max_pages"
    assert len(stage.begun(0)) == 2
    assert "Worker 0 gives no sign of life and is ended" in caplog.text


@each("code, reason", [(1, "store_error"), (2, "bad_input")])
def test_why_workers_failed_is_why_the_crawl_did(stage: Stage, code: int, reason: str) -> None:
    assert stage.workers(f"sys.exit({code})", 1).run() == reason


def test_auto_goes_by_cores_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {*range(6)}, raising=False)
    for free, workers in ((3 << 30, 6), (1 << 30, 2), (1 << 20, 1)):
        monkeypatch.setattr(module, "_free_memory", lambda free=free: free)
        assert number_of_workers("auto") == workers
    monkeypatch.undo()
    assert module._free_memory() > 0
    assert number_of_workers("7") == 7


# -- with workers -------------------------------------------------------------------------------


def crawl(folder: Path, *more: str) -> subprocess.Popen[str]:
    return started("crawl", "focused", *WEB, *more, folder=folder, start_new_session=True)


def rows(path: Path) -> list[tuple[str, int]]:
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return sorted((row["url"], len(row["media"])) for row in found)


@pytest.mark.processes
def test_workers_that_are_killed_and_stopped_find_what_one_process_finds(tmp_path: Path) -> None:
    alone = crawl(tmp_path, "-a", "store=alone.db", "-O", "alone.jsonl")
    slow = ("-s", "MMCRAWL_WEB_LATENCY=2000", "-s", "CONCURRENT_REQUESTS=2")
    own = ("-a", "store=crawl.db", "-a", "job=j", "-a", "workers=2", "-O", "all.jsonl")
    first = crawl(tmp_path, *own, *slow)
    assert end_of(alone).code == 0
    uri, end = f"sqlite:///{tmp_path}/crawl.db", time.monotonic() + HANG

    def pids(pages: int) -> list[int]:
        """Return the processes that work on the crawl, once each has crawled some pages."""
        while time.monotonic() < end and first.poll() is None:
            time.sleep(0.1)
            if not (tmp_path / "crawl.db").exists():
                continue
            shared = open_shared_store(uri, job="j", arguments=None)
            alive = heartbeats_of(shared.all("worker"))
            shared.close()
            if len(alive) == 2 and all(one.crawled >= pages for one in alive.values()):
                return [int(name.split("-")[-2]) for name in alive]
        raise AssertionError("no two workers")

    os.kill(before := pids(2)[0], signal.SIGKILL)
    while before in pids(0):
        time.sleep(0.1)
    stopped = ended_by(first, signal.SIGINT)
    assert "died; another is started in 1 s" in stopped.err
    assert "Stopped (shutdown); run the same command to continue." in stopped.err
    finished = end_of(crawl(tmp_path, *own))
    assert "Finished: every link that may be followed was fetched." in finished.err
    assert "Learnt URL patterns" in finished.err
    for run in (stopped, finished):
        assert (run.code, "Traceback" in run.err) == (0, False)
    assert rows(tmp_path / "all.jsonl") == rows(tmp_path / "alone.jsonl")
