"""One crawl of an experiment: a process that runs `scrapy crawl focused` on the stored web."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TextIO

import mmcrawl
from mmcrawl.engine.items import PageItem
from mmcrawl.errors import MmcrawlError
from mmcrawl.frontier.admission import REDIRECT
from mmcrawl.frontier.database import SCHEMA
from mmcrawl.frontier.findings import PatternRecord
from mmcrawl.frontier.urls import host_of, url_key
from mmcrawl.page.urls import resource_key
from mmcrawl.store.sqlite_files import connected, require_tables


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A fetched page."""

    id: int  # the link that led to it
    url: str
    relevant: bool  # what the crawl thought of it in the end
    digest: int  # tells pages of the same bytes; 0 if it was not taken
    layer: int


@dataclass(frozen=True, slots=True)
class CrawlEnd:
    reason: str
    errors: dict[str, int]


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    # Without a journal beside it nothing is left to be merged, and no trace of reading is made.
    journal = path.with_name(path.name + "-wal").exists()
    how = "mode=ro" if journal else "immutable=1"
    with closing(connected(f"{path.resolve().as_uri()}?{how}", trust=True)) as db:
        require_tables(db, str(path), SCHEMA)
        yield db


def read_pages(path: Path) -> list[StoredPage]:
    """Return the fetched pages in the order in which they were."""
    with _reading(path) as db:
        rows = db.execute(
            "SELECT id, url, relevant, digest, physical_layer FROM page JOIN link USING (id)"
            " ORDER BY settled"
        )
        return [StoredPage(row[0], row[1], bool(row[2]), row[3], row[4]) for row in rows]


def read_media(path: Path) -> dict[str, frozenset[str]]:
    """Return the media of each media page, by the page's address; keys, as of `resource_key`."""
    found: dict[str, set[str]] = {}
    with _reading(path) as db:
        for page, url in db.execute("SELECT page, url FROM media_resource"):
            found.setdefault(page, set()).add(resource_key(url))
    return {page: frozenset(keys) for page, keys in found.items()}


def read_rejected(path: Path) -> list[str]:
    """Return title or address of each page off topic with media, nearest first, copies once."""
    with _reading(path) as db:
        rows = db.execute(
            "SELECT iif(title = '', url, title) FROM page WHERE contains_media"
            " AND (digest = 0 OR digest NOT IN (SELECT digest FROM page WHERE relevant))"
            " AND NOT relevant GROUP BY iif(digest, digest, -id) ORDER BY topic_score DESC, id"
        )
        return [title for (title,) in rows]


def read_hosts(path: Path) -> dict[str, tuple[int, str]]:
    """Return for each host how many links lead there, and why none to a page; "" if one does."""
    hosts: dict[str, tuple[int, str]] = {}
    with _reading(path) as db:
        rows = db.execute(
            "SELECT origin, count(*), iif(sum(status = 'C' OR error LIKE ?), '',"
            " group_concat(DISTINCT error)) FROM link"
            " JOIN host ON host.job = link.id >> 40 AND host.id = link.host GROUP BY origin",
            (REDIRECT + "%",),
        )
        for origin, links, why in rows:
            before, also = hosts.get(host_of(origin), (0, why))
            hosts[host_of(origin)] = before + links, why and also
    return hosts


def read_patterns(path: Path) -> list[PatternRecord]:
    """Return the URL patterns the crawl ended with, the most general first."""
    with _reading(path) as db:
        rows = db.execute(
            "SELECT host, pattern, urls, hits, misses FROM pattern ORDER BY urls DESC, pattern"
        )
        return [PatternRecord(*row) for row in rows]


def read_end(path: Path) -> CrawlEnd:
    with _reading(path) as db:
        (reason,) = db.execute("SELECT reason FROM job").fetchone()
        errors = db.execute(
            "SELECT error, count(*) FROM link WHERE status = 'E' GROUP BY error ORDER BY error"
        )
        return CrawlEnd(reason, dict(errors))


def read_graph(path: Path) -> tuple[dict[int, list[int]], list[int]]:
    """Return links of pages, by link ids and past redirects, and the pages the seeds lead to."""
    with _reading(path) as db:
        ends = _ends(db)
        outlinks: dict[int, list[int]] = {}
        for number, links in db.execute("SELECT id, links FROM page ORDER BY id"):
            found = (ends[link] for link in array("I", links) if link in ends)
            outlinks[number] = list(dict.fromkeys(found))
        roots = db.execute("SELECT id FROM link WHERE parent IS NULL ORDER BY id")
        seeds = dict.fromkeys(ends[link] for (link,) in roots if link in ends)
        return outlinks, list(seeds)


def _ends(db: sqlite3.Connection) -> dict[int, int]:
    """Return the page each link leads to: itself, or where its redirects end."""
    ends = {number: number for (number,) in db.execute("SELECT id FROM page")}
    rows = db.execute("SELECT id, error FROM link WHERE error LIKE ?", (REDIRECT + "%",))
    steps: dict[int, int] = {}
    for number, error in rows.fetchall():
        key = url_key(0, error.removeprefix(REDIRECT))
        target = db.execute("SELECT id FROM link WHERE key = ?", (key,)).fetchone()
        if target is not None:
            steps[number] = target[0]
    for number in steps:
        end, seen = number, set[int]()
        while end in steps and end not in seen:
            seen.add(end)
            end = steps[end]
        if end in ends:
            ends[number] = ends[end]
    return ends


CLOCK_SETTING = "EXPERIMENT_CLOCK"  # none of those a user may set
RECORDER = f"{__name__}.Recorder"


class Recorder:
    """A Scrapy add-on: puts `PageClock` before the item pipelines of a crawl."""

    def update_settings(self, settings: Any) -> None:
        settings["ITEM_PIPELINES"][f"{__name__}.PageClock"] = 0


class PageClock:
    """Item pipeline that writes a line for every page; starting up the process does not count."""

    def __init__(self, path: Path, crawler: Any) -> None:
        self._path = path
        self._crawler = crawler
        self._file: TextIO | None = None
        self._start = (0.0, 0.0)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(Path(crawler.settings[CLOCK_SETTING]), crawler)

    def open_spider(self) -> None:
        self._file = self._path.open("w", encoding="utf-8", buffering=1)
        self._start = (time.monotonic(), time.process_time())

    def process_item(self, item: Any) -> Any:
        if isinstance(item, PageItem) and self._file is not None:
            seconds = time.monotonic() - self._start[0]
            cpu = time.process_time() - self._start[1]
            self._file.write(f"{seconds:.6f}\t{cpu:.6f}\t{item.page.url}\n")
        return item

    def close_spider(self) -> None:
        if self._file is not None:
            self._file.close()
        job = getattr(getattr(self._crawler.engine, "scheduler", None), "job", None)
        if job is not None:
            _refused_beside(self._path).write_text(json.dumps(job.refused), encoding="utf-8")


def read_clock(path: Path) -> dict[str, tuple[float, float]]:
    """Return seconds and CPU seconds of every page, by address; the last visit of each counts."""
    times = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        seconds, cpu, url = line.split("\t", 2)
        times[url] = (float(seconds), float(cpu))
    return times


def read_refused(store: Path) -> dict[str, int]:
    """Return how often a link was not even kept, by reason, from the file beside a store."""
    path = _refused_beside(store)
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _refused_beside(path: Path) -> Path:
    return path.with_suffix(".refused")


_DEFAULTS = {"MMCRAWL_BLOCKS": "off"}
# One page at a time, from request to report: what is fetched depends on the algorithm alone.
_SETTINGS = {
    "MMCRAWL_DISPLAY": "0",
    "MMCRAWL_ARCHIVE": "none",
    "MMCRAWL_PAGES_UNDER_WAY": "1",
    "LOG_LEVEL": "WARNING",
    "ADDONS": f'{{"{RECORDER}": 0}}',
}
_PATIENCE = 10.0


class CrawlError(MmcrawlError):
    """A crawl of an experiment failed."""


@dataclass(frozen=True, slots=True)
class _Files:
    """What a crawl writes: `NAME.db`, its store; `NAME.clock`, a line a page; `NAME.log`."""

    store: Path
    clock: Path
    log: Path


class CrawlProcess:
    """A crawl that has started; whatever an earlier one left under its name is gone."""

    def __init__(
        self, base: Path, arguments: Mapping[str, str], settings: Mapping[str, str]
    ) -> None:
        self.files = _Files(*(base.with_name(f"{base.name}.{e}") for e in ("db", "clock", "log")))
        remove_crawl(base)
        self._read = 0
        self._rest = b""
        arguments = {**arguments, "store": f"sqlite:///{self.files.store.resolve()}"}
        settings = _DEFAULTS | {**settings, **_SETTINGS}
        settings[CLOCK_SETTING] = str(self.files.clock.resolve())
        command = [sys.executable, "-m", "scrapy", "crawl", "focused"]
        command += [word for n, v in arguments.items() for word in ("-a", f"{n}={v}")]
        command += [word for n, v in settings.items() for word in ("-s", f"{n}={v}")]
        with self.files.log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own program, no shell
                command, env=_environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def new_pages(self) -> list[tuple[float, str]]:
        """Return seconds and address of the pages that came since this was last asked."""
        if not self.files.clock.exists():
            return []
        with self.files.clock.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        self._read += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        fields = (line.decode("utf-8").split("\t", 2) for line in lines)
        return [(float(seconds), url) for seconds, _, url in fields]

    def ended(self) -> bool:
        """Return whether the crawl is over; CrawlError if it failed."""
        code = self._process.poll()
        if code and not self._led_nowhere():
            raise CrawlError(
                f"the crawl of {self.files.store.stem} failed (exit code {code});"
                f" {self.files.log} says: {_last_line(self.files.log)}"
            )
        return code is not None

    def _led_nowhere(self) -> bool:
        """Return whether the crawl ended well, but could fetch none of its seeds."""
        return self.files.store.exists() and read_end(self.files.store).reason == "nothing_fetched"

    def stop(self) -> None:
        """End the crawl at once if it still runs: it would have to start afresh anyway."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(_PATIENCE)


def remove_crawl(base: Path) -> None:
    for ending in ("db", "db-wal", "db-shm", "db.lock", "clock", "refused", "log"):
        base.with_name(f"{base.name}.{ending}").unlink(missing_ok=True)


def _environment() -> dict[str, str]:
    # The package may be on this process's path only. Sets of strings are walked in the same order
    # by every run.
    home = str(Path(mmcrawl.__file__).parents[1])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    return os.environ | {
        "PYTHONPATH": path,
        "PYTHONHASHSEED": "0",
        "PYTHONIOENCODING": "utf-8",
        "SCRAPY_SETTINGS_MODULE": "mmcrawl.settings",
    }


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "nothing"
