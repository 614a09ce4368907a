"""What the crawl of an experiment notes beside its store: when each page was taken in.

The crawl runs in a process of its own, which loads `Recorder` as a Scrapy add-on. One line for
every page goes to a file: its address, seconds and CPU seconds since the crawl began. The file is
the measure of time, and while it grows the sign of progress. When the crawl is over, another file
tells how many links were refused, by reason.
"""

import json
import time
from pathlib import Path
from typing import Any, Self, TextIO

from mmcrawl.engine.items import PageItem

CLOCK_SETTING = "EXPERIMENT_CLOCK"  # none of those a user may set
RECORDER = f"{__name__}.Recorder"


class Recorder:
    """A Scrapy add-on: puts `PageClock` before the item pipelines of a crawl."""

    def update_settings(self, settings: Any) -> None:
        """Add the pipeline to those of the project."""
        settings["ITEM_PIPELINES"][f"{__name__}.PageClock"] = 0


class PageClock:
    """Item pipeline that writes a line for every page; starting up the process does not count.

    Args:
        path: file to write, in place of what was there.
        crawler: Scrapy's, whose scheduler knows what was refused.
    """

    def __init__(self, path: Path, crawler: Any) -> None:
        self._path = path
        self._crawler = crawler
        self._file: TextIO | None = None
        self._start = (0.0, 0.0)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(Path(crawler.settings[CLOCK_SETTING]), crawler)

    def open_spider(self) -> None:
        """Start the clock."""
        self._file = self._path.open("w", encoding="utf-8", buffering=1)
        self._start = (time.monotonic(), time.process_time())

    def process_item(self, item: Any) -> Any:
        """Note when a page came; pass it on."""
        if isinstance(item, PageItem) and self._file is not None:
            seconds = time.monotonic() - self._start[0]
            cpu = time.process_time() - self._start[1]
            self._file.write(f"{seconds:.6f}\t{cpu:.6f}\t{item.page.url}\n")
        return item

    def close_spider(self) -> None:
        """Close the file, and write the other one."""
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
