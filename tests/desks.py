"""Folders in which a test runs `scrapy` in processes of its own, as a person does."""

import re
import signal
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.programs import started
from tests.waiting import HANG

# A site of a test is on this machine, and need not be spared.
SETTINGS = {
    "AUTOTHROTTLE_ENABLED": "0",
    "RETRY_TIMES": "1",
    "RETRY_PRIORITY_ADJUST": "0",
    "MMCRAWL_ROBOTS_PAUSE": "0.2",
}


@dataclass(frozen=True)
class Run:
    """What a run came to."""

    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """What mmcrawl logged as errors, a line each."""
        return re.findall(r"^.* \[mmcrawl\.\S+\] ERROR: (.*)$", self.err, re.MULTILINE)

    @property
    def words(self) -> str:
        """Standard error with all white space as single spaces, however its lines were broken."""
        return " ".join(self.err.split())


@dataclass
class Desk:
    """A folder to run `scrapy` from: relative paths in arguments start there."""

    folder: Path

    def start(
        self,
        *words: str,
        program: Sequence[str] = (),
        stderr: int = subprocess.PIPE,
        **settings: object,
    ) -> "subprocess.Popen[str]":
        """Start `scrapy`, or a program in its place.

        A word NAME=VALUE is an argument, given with `-a`; settings are given with `-s`.
        """
        given: list[str] = []
        for word in words:
            given += ["-a", word] if _is_argument(word) else [word]
        for name, value in {**SETTINGS, **settings}.items():
            given += ["-s", f"{name}={value}"]
        files = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": stderr}
        return started(*given, folder=self.folder, program=program, **files)

    def run(self, *words: str, program: Sequence[str] = (), **settings: object) -> Run:
        """Run `scrapy`, or a program in its place, to its end; the rest is as for `start`."""
        with self.start(*words, program=program, **settings) as process:
            return end_of(process)

    def crawl(self, *arguments: str, **settings: object) -> Run:
        """Run `scrapy crawl focused` to its end."""
        return self.run("crawl", "focused", *arguments, **settings)

    def rows(self, store: str, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query to a store in the folder, which no crawl is using."""
        with closing(sqlite3.connect(f"file:{self.folder / store}?mode=ro", uri=True)) as db:
            return db.execute(query).fetchall()

    def links(self, store: str) -> dict[str, tuple[str, str]]:
        """Return status and error of every link in a store of one job, by URL."""
        query = "SELECT origin || path, status, error FROM link JOIN host ON host.id = link.host"
        return {url: (status, error) for url, status, error in self.rows(store, query)}

    def media_pages(self, store: str) -> set[str]:
        """Return the URLs of the media pages in a store."""
        return {url for (url,) in self.rows(store, "SELECT url FROM media_page")}


def end_of(process: "subprocess.Popen[str]") -> Run:
    """Return what a process came to that was started at a desk."""
    try:
        out, err = process.communicate(timeout=HANG)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Run(process.returncode, out, err)


def ended_by(process: "subprocess.Popen[str]", sent: signal.Signals) -> Run:
    """Send a process a signal; return what it came to."""
    process.send_signal(sent)
    return end_of(process)


def _is_argument(word: str) -> bool:
    return re.match(r"\w+=", word) is not None
