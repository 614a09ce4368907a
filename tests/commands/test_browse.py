"""`scrapy browse`: what a person types, and what comes back."""

import json
import re
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.browse import Options
from mmcrawl.commands import browse as module
from mmcrawl.errors import MmcrawlError
from tests.commands.running import Run, exit_code, runner
from tests.desks import ended_by
from tests.programs import MMCRAWL, started
from tests.waiting import until
from tests.warm import python

PAGE = "http://optics.test/lens.html"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the archive of a crawl."""
    monkeypatch.chdir(tmp_path)
    with open_archive("sqlite:///crawl-archive.db") as archive:
        html = (("Content-Type", "text/html; charset=utf-8"),)
        archive.store(Capture(PAGE, "<h1>透镜 lens</h1>".encode(), 100.0, headers=html))
    return tmp_path


@contextmanager
def serving(desk: Path, *args: str) -> Iterator[str]:
    """Run the command in a process of its own; gives what it printed."""
    program = (python(), "-c", MMCRAWL)
    with started("browse", *args, folder=desk, program=program, stdout=PIPE) as process:
        try:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            yield line
        finally:
            run = ended_by(process, signal.SIGINT)
    assert "Traceback" not in run.err
    assert run.code == 0, run.err


def fetched(address: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_it_serves_until_interrupted(desk: Path) -> None:
    with serving(desk, "--port", "0") as line:
        [address] = re.findall(r"http://127\.0\.0\.1:\d+/", line)
        status, text = fetched(address)
        assert status == 200
        assert "What was found" in text
        until(lambda: json.loads(fetched(f"{address}search.json?q=lens")[1]).get("total"), 0.05)
        assert json.loads(fetched(f"{address}search.json?q=%E9%80%8F%E9%95%9C")[1])["total"] == 1
        assert fetched(f"{address}static/style.css")[0] == 200


def test_it_begins_where_nothing_was_crawled_and_beyond_loopback_needs_the_token_it_prints(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, "--port", "0", "--host", "0.0.0.0") as line:
        [(port, token)] = re.findall(r":(\d+)/\?token=([\w-]+)", line)
        assert fetched(f"http://127.0.0.1:{port}/")[0] == 401
        status, text = fetched(f"http://127.0.0.1:{port}/", Authorization=f"Bearer {token}")
        assert status == 200
    assert "Start a crawl" in text
    assert (tmp_path / "crawl-archive.db").exists()


@pytest.fixture
def run(desk: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process; it comes back only if it cannot serve."""

    return runner(module.Command, capfd)


def test_without_a_crawl_of_ones_own_the_demo_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    opened = []

    def noted(archive: str, options: Options) -> None:
        opened.append((archive, options.store))
        raise MmcrawlError("seen")

    monkeypatch.setattr("mmcrawl.browse.context.open_context", noted)

    def places(*arguments: str) -> tuple[str, str]:
        given = ["-a", *arguments] if arguments else []
        assert exit_code(module.Command, "--port", "0", *given) == 1
        return opened.pop()

    own = ("sqlite:///crawl-archive.db", "sqlite:///crawl.db")
    assert places() == own
    (tmp_path / "crawl-archive.db").unlink(missing_ok=True)
    (tmp_path / "demo.db").touch()
    assert places() == ("sqlite:///demo-archive.db", "sqlite:///demo.db")
    assert places("archive=mine.db") == ("sqlite:///mine.db", "")
    (tmp_path / "crawl.db").touch()
    assert places() == own


def test_a_port_that_is_taken_is_one_sentence(run):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, errors = run("--port", str(taken.getsockname()[1]))
    assert code == 1
    assert "cannot listen on 127.0.0.1" in errors


def test_what_is_not_installed_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, errors = run(MMCRAWL_RUFFLE="nowhere")
    assert (code, "there is no ruffle.js" in errors) == (2, True)
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "uvicorn" else object())
    code, _, errors = run()
    assert code == 2
    assert "pip install 'mmcrawl[browse]'" in errors
