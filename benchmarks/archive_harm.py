"""What is left of an archive after processes were killed, and after its file was tampered with.

    python benchmarks/archive_harm.py FOLDER [--kills 60] [--tamperings 60]

FOLDER is as of archive.py. *Kills*: a process stores a series, purges a page now and then, and
seals; it is killed with SIGKILL at some moment, and the next one goes on where it was. After each
kill every version whose storing was acknowledged has to be there byte for byte, and a check with
repair has to end clean. *Tamperings*: a copy of the whole archive has some bits flipped, a part
overwritten with zeros or with another part, its end cut off, or rows of its tables deleted, changed
or swapped. Afterwards each version is either equal or refused, never other bytes (`silent`), and
the check has to tell of a copy in which any is not equal (`untold`).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

from _archive_series import captures, events_in, series

from mmcrawl.archive import Capture, open_archive
from mmcrawl.errors import StoreError

BATCH = 3
PURGED = "http://purged.test/"


def series_of(folder: Path, scratch: Path, most: int) -> list[Capture]:
    return list(captures(events_in(series(folder, scratch))[:most]))


def store(uri: str, folder: Path, most: int, begin: int) -> None:
    """Store a series from one of its captures on; say the number of each that is acknowledged."""
    with tempfile.TemporaryDirectory() as scratch, open_archive(uri) as archive:
        pages = series_of(folder, Path(scratch), most)
        for start in range(begin, len(pages), BATCH):
            some = pages[start : start + BATCH]
            archive.store_many([*some, Capture(PURGED, some[0].body, some[0].time)])
            print(start + len(some), flush=True)
            if start // BATCH % 4 == 3:
                archive.purge(url=PURGED)
                archive.pack()
                print(start + len(some), flush=True)


def kills(folder: Path, most: int, wanted: int, scratch: Path) -> Counter[str]:
    """Kill a process that stores, again and again; return what came of it."""
    chance, told = random.Random(7), Counter[str]()
    pages = series_of(folder, scratch, most)
    uri, done = f"sqlite:///{scratch}/killed.db", 0
    while told["kills"] < wanted:
        if done >= len(pages):
            Path(f"{scratch}/killed.db").unlink()
            done = 0
        command = [sys.executable, __file__, str(folder), "--store", uri, str(most), str(done)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            lines = chance.randrange(1, 8)
            for said in running.stdout or ():
                done = max(done, int(said))
                lines -= 1
                if not lines:  # at some moment of what follows
                    with suppress(subprocess.TimeoutExpired):
                        running.wait(chance.random() / 4)
                    running.kill()
                    break
            for said in running.stdout or ():
                done = max(done, int(said))
        told["kills"] += running.returncode == -signal.SIGKILL
        with open_archive(uri) as archive:
            for page in pages[:done]:
                found = archive.rebuild(archive.get(page.url, at=page.time))
                told["versions"] += 1
                told["lost"] += found.body != page.body
            told["not clean"] += not all(one.repaired for one in archive.check(repair=True).faults)
            told["not clean"] += bool(archive.check().faults)
    return told


def tamper(path: Path, chance: random.Random) -> str:
    """Do something to an archive; return what."""
    size = path.stat().st_size
    what = chance.choice(("flip", "zeros", "elsewhere", "cut", "delete", "change", "swap"))
    at, length = chance.randrange(size), chance.choice((16, 512, 20_000))
    if what in ("delete", "change", "swap"):
        table = chance.choice(("url", "version", "segment", "stream"))
        with closing(sqlite3.connect(path)) as db, db:
            rows = [key for (key,) in db.execute(f"SELECT key FROM {table} ORDER BY random()")]
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] != "key"]
            column = chance.choice(names)
            if what == "delete":
                db.execute(f"DELETE FROM {table} WHERE key = ?", rows[:1])
            else:
                values = [
                    db.execute(f"SELECT {column} FROM {table} WHERE key = ?", (key,)).fetchone()[0]
                    for key in rows[:2]
                ]
                put = values[-1] if what == "swap" else changed(values[0])
                db.execute(f"UPDATE {table} SET {column} = ? WHERE key = ?", (put, rows[0]))
        return what
    with path.open("r+b") as file:
        if what == "flip":
            for _ in range(chance.choice((1, 1, 30))):
                place = chance.randrange(size)
                file.seek(place)
                bit = file.read(1)[0] ^ 1 << chance.randrange(8)
                file.seek(place)
                file.write(bytes([bit]))
        elif what == "zeros":
            file.seek(at)
            file.write(bytes(min(length, size - at)))
        elif what == "elsewhere":
            file.seek(chance.randrange(size))
            part = file.read(length)
            file.seek(at)
            file.write(part[: size - at])
        else:
            file.truncate(at)
    return what


def changed(value: object) -> object:
    if isinstance(value, bytes):
        return value[:-1] + bytes([value[-1] ^ 1]) if value else b"x"
    return value + 1 if isinstance(value, int | float) else f"{value}x"


def tamperings(folder: Path, most: int, wanted: int, scratch: Path) -> Counter[str]:
    """Tamper with copies of an archive; return what came of it."""
    told = Counter[str]()
    pages = series_of(folder, scratch, most)
    whole, path = scratch / "whole.db", scratch / "copy.db"
    with open_archive(f"sqlite:///{whole}") as archive:
        for start in range(0, len(pages), BATCH):
            archive.store_many(pages[start : start + BATCH])
        archive.pack()
    for number in range(wanted):
        shutil.copy(whole, path)
        what = tamper(path, random.Random(number))
        told["tamperings"] += 1
        lost, silent, is_told = inspected(path, pages)
        told["with a loss"] += lost > 0
        told["versions lost"] += lost
        told["silent"] += silent
        told["untold"] += lost > 0 and not is_told
        told[f"{what}: lost"] += lost
        for left in scratch.glob("copy.db*"):
            left.unlink()
    told["versions"] = wanted * len(pages)
    return told


def inspected(path: Path, pages: list[Capture]) -> tuple[int, int, bool]:
    """Return how many versions are lost, how many of them silently, and whether a check tells."""
    lost = silent = 0
    with suppress(StoreError), open_archive(f"sqlite:///{path}", read_only=True) as archive:
        for page in pages:
            try:
                found = archive.get(page.url, at=page.time)
                is_other = found.time != page.time  # its row is gone: the one before is found
                wrong = not is_other and archive.rebuild(found).body != page.body
            except StoreError:
                is_other, wrong = True, False
            lost += is_other or wrong
            silent += wrong
        try:
            return lost, silent, bool(archive.check().faults)
        except StoreError:
            return lost, silent, True
    return len(pages), silent, True  # it is refused as a whole


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("MMCRAWL_CORPORA"))
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--tamperings", type=int, default=60)
    parser.add_argument("--versions", type=int, default=60, help="of the series, the first ones")
    parser.add_argument("--store", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.store:
        store(given.store[0], given.folder, *map(int, given.store[1:]))
        return 0
    failed = 0
    for way, count in ((kills, given.kills), (tamperings, given.tamperings)):
        with tempfile.TemporaryDirectory() as scratch:
            told = way(given.folder, given.versions, count, Path(scratch))
        print(way.__name__)
        for what, number in told.items():
            print(f"  {what:<20}{number:>8,}")
        failed += sum(told[name] for name in ("lost", "not clean", "silent", "untold"))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
