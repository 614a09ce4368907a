"""mmcrawl from its wheel in another Scrapy project, and without a project."""

import json
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import programs

OWN_SPIDER = """
from scrapy import Request, Spider

class Own(Spider):
    name = "own"

    async def start(self):
        yield {name: str(self.settings[name]) for name in ("SCHEDULER", "USER_AGENT")}
"""
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; what it depends on is named by a .pth file."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site_packages(folder) / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    subprocess.run([*pip, "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    return folder


def site_packages(venv: Path) -> Path:
    [found] = venv.glob("lib/python*/site-packages")
    return found


@pytest.fixture(scope="module")
def run(venv: Path) -> Run:
    """Run a program of the environment in a folder; another exit code fails the test."""

    def run(
        program: str, *arguments: str, folder: Path, exit_code: int = 0
    ) -> subprocess.CompletedProcess[str]:
        words = {
            "scrapy": [venv / "bin" / "python", "-m", "scrapy"],
            "mmcrawl": [venv / "bin" / "mmcrawl"],
        }[program]
        alone = {"PYTHONPATH": ""}
        return programs.run(*words, *arguments, folder=folder, code=exit_code, env=alone)

    return run


@pytest.fixture(scope="module")
def project(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project as Scrapy makes it, with a spider of its own and our addon."""
    folder = tmp_path_factory.mktemp("projects")
    run("scrapy", "startproject", "theirs", folder=folder)
    project = folder / "theirs"
    with (project / "theirs" / "settings.py").open("a") as settings:
        settings.write('\nADDONS = {"mmcrawl.Addon": 300}\n')
    (project / "theirs" / "spiders" / "own.py").write_text(OWN_SPIDER)
    return project


def test_only_the_package_lands_in_site_packages(venv: Path) -> None:
    names = {path.name for path in site_packages(venv).iterdir()} - {"dependencies.pth"}
    assert {name.partition("-")[0] for name in names} == {"mmcrawl"}


def test_the_addon_brings_spiders_commands_and_the_crawl(run: Run, project: Path) -> None:
    listed = run("scrapy", "list", folder=project)
    assert listed.stdout.split() == ["collect", "focused", "own", "revisit"]
    limited = ("-a", "max_pages=25", "-O", "media.jsonl")
    crawl = run("scrapy", "crawl", "focused", *limited, folder=project)
    found = (project / "media.jsonl").read_text(encoding="utf-8").splitlines()
    assert found, crawl.stderr
    assert "Warning:" not in crawl.stderr
    archive = run("scrapy", "archive", "list", "-a", "store=demo.db", folder=project)
    assert json.loads(found[0])["url"].partition("?")[0] in archive.stdout


def test_spiders_of_the_project_keep_scrapys_parts(run: Run, project: Path) -> None:
    own = run("scrapy", "crawl", "own", "-O", "-:json", "-L", "ERROR", folder=project)
    [settings] = json.loads(own.stdout)
    assert settings["SCHEDULER"] == "scrapy.core.scheduler.Scheduler"
    assert settings["USER_AGENT"].startswith("Scrapy/")


def test_the_program_needs_no_project(run: Run, tmp_path: Path) -> None:
    run("mmcrawl", "crawl", "-a", "max_pages=5", "-a", "job=few", "-a", "store=a.db",
        folder=tmp_path)  # fmt: skip
    stats = run("mmcrawl", "archive", "stats", "-a", "store=a.db", folder=tmp_path).stdout
    assert re.search(r"^versions +5 *$", stats, re.MULTILINE)
    revisited = run("mmcrawl", "revisit", "-a", "store=a.db", "-a", "web=demo",
                    "-a", "limit=2", "-a", "at=2100-01-01", folder=tmp_path)  # fmt: skip
    assert "visited" in revisited.stderr
