"""What parity of an archive's file costs, and what it mends.

    python benchmarks/parity.py FILE.db [--percent 5] [--flips 40] [--holes 20]

Works on a copy of FILE.db. Its parity is written and compared; then bits are flipped and holes of 4
KB made where chance puts them, and one hole as large as 2 % of the file, and all is mended. Printed
are bytes, CPU seconds, sectors that were damaged and mended, and whether the file is as it was.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeVar

from mmcrawl.archive.parity import examine, write_parity

T = TypeVar("T")


def timed(act: Callable[[], T]) -> tuple[T, float]:
    """Return what a call gives, and the CPU seconds it took."""
    begin = time.process_time()
    return act(), time.process_time() - begin


def damage(path: Path, flips: int, holes: int) -> None:
    """Damage a file as a disk does: its time of modification stays."""
    times, content, chance = path.stat(), bytearray(path.read_bytes()), Random(1)
    for _ in range(flips):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    sizes = [4_096] * holes + [len(content) // 50]
    for size in sizes:
        begin = chance.randrange(len(content) - size)
        content[begin : begin + size] = bytes(size)
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def main() -> None:
    """Print costs and outcome."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--percent", type=int, default=5)
    parser.add_argument("--flips", type=int, default=40)
    parser.add_argument("--holes", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copy.db"
        shutil.copyfile(options.file, path)
        before = path.read_bytes()
        beside, writing = timed(lambda: write_parity(path, options.percent))
        _, comparing = timed(lambda: examine(path, repair=False))
        print(f"{len(before):,} bytes, parity {beside.stat().st_size:,} bytes")
        print(f"written in {writing:.2f} CPU s, compared in {comparing:.2f}")
        damage(path, options.flips, options.holes)
        found, mending = timed(lambda: examine(path, repair=True))
        equal = path.read_bytes() == before
        print(f"{found} in {mending:.2f} CPU s; as it was: {equal}")


if __name__ == "__main__":
    main()
