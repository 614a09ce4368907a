"""One crawl of an experiment: a process that runs `scrapy crawl focused` on the stored web."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import mmcrawl
from mmcrawl.errors import MmcrawlError
from mmcrawl.experiment.stores import CLOCK_SETTING, RECORDER, read_end

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
        """Tell whether the crawl is over; CrawlError if it failed."""
        code = self._process.poll()
        if code and not self._led_nowhere():
            raise CrawlError(
                f"the crawl of {self.files.store.stem} failed (exit code {code});"
                f" {self.files.log} says: {_last_line(self.files.log)}"
            )
        return code is not None

    def _led_nowhere(self) -> bool:
        """Tell whether the crawl ended well, but could fetch none of its seeds."""
        return self.files.store.exists() and read_end(self.files.store).reason == "nothing_fetched"

    def stop(self) -> None:
        """End the crawl at once if it still runs: it would have to start afresh anyway."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(_PATIENCE)


def remove_crawl(base: Path) -> None:
    """Remove the files of a crawl."""
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
