"""The project on a scrapyd server: an egg is deployed to one, and crawls what its API asks for.

The variable MMCRAWL_TEST_SCRAPYD names a Python that has scrapyd, scrapyd-client and what mmcrawl
depends on, but not mmcrawl itself. It is another one than that of the tests: scrapyd needs a
setuptools that still has pkg_resources.
"""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.programs import run
from tests.waiting import HANG

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "MMCRAWL_TEST_SCRAPYD"
PACKAGES = ("mmcrawl", "spiders", "pipelines", "dictionaries", "demo")
FILES = ("pyproject.toml", "setup.py", "scrapy.cfg", "README.md", "LICENSE")
START = CRAWL = HANG

CONFIGURATION = """
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.2
max_proc = 2
"""


@dataclass(frozen=True)
class Scrapyd:
    """A server with the project."""

    url: str
    folder: Path

    def ask(self, name: str, **given: str) -> dict[str, Any]:
        """Call the API; only what schedules is posted."""
        words = urllib.parse.urlencode(given)
        posted = words.encode() if name == "schedule" else None
        url = f"{self.url}{name}.json" + (f"?{words}" if words and posted is None else "")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, posted, timeout=HANG) as answer:
            told: dict[str, Any] = json.load(answer)
        assert told["status"] == "ok", told
        return told

    def crawl(self, **arguments: str) -> str:
        """Run the spider with arguments; return its log when it has ended, "" if there is none."""
        job = self.ask("schedule", project="mmcrawl", spider="focused", **arguments)["jobid"]
        end = time.monotonic() + CRAWL
        while job not in [one["id"] for one in self.ask("listjobs")["finished"]]:
            assert time.monotonic() < end, self.ask("listjobs")
            time.sleep(0.3)
        log = self.folder / "logs" / "mmcrawl" / "focused" / f"{job}.log"
        return log.read_text(encoding="utf-8") if log.exists() else ""


@pytest.fixture(scope="module")
def python() -> str:
    named = os.environ.get(PYTHON)
    if not named:
        pytest.skip(f"no scrapyd: name the Python of one in the variable {PYTHON}")
    return named


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which nothing leads to this tree."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "SCRAPY", "MMCRAWL")) and "proxy" not in name.lower()
    }
    return {**kept, "HOME": str(tmp_path_factory.mktemp("home")), "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def empty_server(
    python: str, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scrapyd]:
    """A server without projects on a free port of this machine."""
    folder = tmp_path_factory.mktemp("scrapyd")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    (folder / "scrapyd.conf").write_text(CONFIGURATION.format(port=port))
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [python, "-m", "scrapyd"], cwd=folder, env=environment, stdout=output, stderr=output
        )
    server = Scrapyd(f"http://127.0.0.1:{port}/", folder)
    try:
        end = time.monotonic() + START
        while True:
            try:
                server.ask("daemonstatus")
                break
            except urllib.error.URLError:
                said = (folder / "output").read_text()
                assert process.poll() is None, said
                assert time.monotonic() < end, said
                time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def server(
    empty_server: Scrapyd,
    python: str,
    environment: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Scrapyd:
    """The server with the egg that `scrapyd-deploy` builds and sends."""
    tree = tmp_path_factory.mktemp("tree")
    for name in PACKAGES:
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tree / name, ignore=left_out)
    for name in FILES:
        shutil.copy(ROOT / name, tree)
    with (tree / "scrapy.cfg").open("a", encoding="utf-8") as configuration:
        configuration.write(f"url = {empty_server.url}\n")
    deploy = (python, "-m", "scrapyd_client.deploy", "--version", "1")
    deployed = run(*deploy, folder=tree, env=environment)
    assert '"status": "ok"' in deployed.stdout, deployed.stdout
    return empty_server


def test_an_egg_is_deployed_with_its_spiders(server: Scrapyd) -> None:
    assert server.ask("listprojects")["projects"] == ["mmcrawl"]
    assert server.ask("listversions", project="mmcrawl")["versions"] == ["1"]
    assert {"focused", "revisit"} <= set(server.ask("listspiders", project="mmcrawl")["spiders"])


def test_a_job_asked_for_by_the_api_crawls_the_demo_web(server: Scrapyd) -> None:
    found = server.folder / "media.jsonl"
    feeds = json.dumps({str(found): {"format": "jsonlines"}})
    log = server.crawl(max_pages="40", job="deployed", setting=f"FEEDS={feeds}")
    assert "Spider closed (max_pages)" in log
    assert "Traceback" not in log
    assert [json.loads(line) for line in found.read_text(encoding="utf-8").splitlines()]


def test_a_wrong_argument_is_a_sentence_in_the_log_of_the_server(server: Scrapyd) -> None:
    server.crawl(algo="none")
    said = (server.folder / "output").read_text(encoding="utf-8")
    assert "scrapy crawl: algo: there is no algorithm" in said
