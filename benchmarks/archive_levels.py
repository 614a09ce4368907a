"""What segments of an archive take when they are compressed at other levels of zstd.

    python benchmarks/archive_levels.py FILE.db [--levels 19,17,16,15,12]

Every sealed segment is decoded, and compressed again with the dictionary that it has. Printed are
the kilobytes of all, and the CPU seconds, by level.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from mmcrawl.archive.format.frames import compressed
from mmcrawl.archive.format.reading import Reader
from mmcrawl.archive.sqlite.backend import SqliteBackend


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--levels", default="19,17,16,15,12")
    given = parser.parse_args()
    backend = SqliteBackend(given.file, create=False, read_only=True)
    reader = Reader(backend)
    for level in map(int, given.levels.split(",")):
        size, start, making = 0, time.process_time(), 0.0
        for stream in backend.streams():
            for pack in backend.packs(stream):
                begun = time.process_time()
                content, like = reader.content(pack), reader.like(pack)
                making += time.process_time() - begun
                size += len(compressed(content, level, like=like))
        cpu = time.process_time() - start - making
        print(f"level {level}: {size / 1e3:,.0f} kB, {cpu:.1f} s", flush=True)
    backend.close()


if __name__ == "__main__":
    main()
