"""Series of versions of pages, histories of git, stored webs: captures in the order of time."""

from __future__ import annotations

import email.utils
import mimetypes
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


def history(repository: Path, paths: str, scratch: Path) -> list[Event]:
    """Return each version that a git repository has of some files, as far as it is stored there.

    Parameters
    ----------
    repository
        Its git folder.
    paths
        Which files, as git takes them: ``xep-*.xml``.
    scratch
        Where to the versions are written.
    """
    git = ["git", "-C", str(repository)]
    log = ["log", "--reverse", "--no-merges", "--no-renames", "--raw", "--no-abbrev"]
    command = [*git, *log, "--format=@%ct", "--", paths]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found: dict[str, list[Event]] = {}
    at = 0
    for line in filter(None, lines):
        if line.startswith("@"):
            at = max(at + 1, int(line[1:]))  # clocks of those who commit differ
            continue
        changed, name = line.split("\t", 1)
        _, _, _, digest, status = changed.split()
        of_url = found.setdefault(name, [])
        path = scratch / digest
        if status == "D" or (of_url and of_url[-1].path == path):
            continue
        if not path.exists():
            read = [*git, "cat-file", "blob", digest]
            body = subprocess.run(read, check=False, capture_output=True)
            if body.returncode:  # a snapshot may lack large ones
                continue
            path.write_bytes(body.stdout)
        of_url.append(Event(f"https://git.test/{name}", at, path))
    events = [event for of_url in found.values() for event in of_url]
    return sorted(events, key=lambda event: (event.time, event.url))


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
        kind = mimetypes.guess_type(event.url)[0] or "text/html"
        headers = {
            "Date": email.utils.formatdate(event.time, usegmt=True),
            "Content-Type": f"{kind}; charset=utf-8",
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
