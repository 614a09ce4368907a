"""Series of versions of pages, and stored webs, as captures in the order of time."""

from __future__ import annotations

import email.utils
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mmcrawl.archive import Capture


@dataclass(frozen=True)
class Event:
    """One version of one page."""

    url: str
    time: int
    path: Path


def series(folder: Path, scratch: Path) -> Path:
    """Return the folder of the series, unpacked if need be.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    for candidate in (folder / "series", folder):
        if any(candidate.glob("*/*.html")):
            return candidate
    archive = folder / "series.tar.zst"
    if not archive.is_file():
        raise FileNotFoundError(f"there is neither {folder / 'series'} nor {archive}")
    subprocess.run(["tar", "-C", scratch, "--zstd", "-xf", archive], check=True)
    return scratch / "series"


def web(folder: Path) -> list[Event]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    pages = (path for path in paths if path.read_bytes()[:1_000].lstrip().startswith(b"<"))
    return [
        Event(f"https://{path.relative_to(folder.parent)}", time, path)
        for time, path in enumerate(pages, 1_000_000_000)
    ]


def events_in(folder: Path) -> list[Event]:
    found = [
        Event(f"https://{path.parent.name.replace('__', '/')}", int(path.stem), path)
        for path in folder.glob("*/*.html")
    ]
    return sorted(found, key=lambda event: (event.time, event.url))


def captures(events: list[Event]) -> Iterator[Capture]:
    chance = random.Random(1)
    for event in events:
        headers = {
            "Date": email.utils.formatdate(event.time, usegmt=True),
            "Content-Type": "text/html; charset=utf-8",
            "Server": "nginx",
            "Cache-Control": "max-age=60, public",
            "ETag": f'W/"{chance.getrandbits(64):x}"',
            "Last-Modified": email.utils.formatdate(event.time - 60, usegmt=True),
            "X-Request-Id": chance.randbytes(16).hex(),
            "Vary": "Accept-Encoding",
            "Set-Cookie": f"sid={chance.randbytes(12).hex()}; Path=/; Secure; HttpOnly",
        }
        body = event.path.read_bytes()
        yield Capture(event.url, body, event.time, 200, tuple(headers.items()), "OK")
