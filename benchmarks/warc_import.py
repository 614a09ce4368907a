"""What cutting pages into blocks costs an import of WARC files.

    python benchmarks/warc_import.py FOLDER [--rounds 3]

FOLDER is a stored web: each of its files that begins as markup does is a page. They are written to
one WARC file, which is taken in with blocks by each method and without, each import by a process of
its own into an archive of its own; of several rounds the least CPU counts. Printed are CPU seconds
up to the end of sealing, pages a CPU second, how many times an import without blocks that is, and
the size of the archive.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from mmcrawl.archive import open_archive
from mmcrawl.archive.warc import import_warc

OFF = "off"
WAYS = (OFF, "bwap", "spcola", "quark")


def pages(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield address and bytes of each page of a stored web."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (body := path.read_bytes()).lstrip()[:1] == b"<":
            yield f"http://{path.relative_to(folder).as_posix()}", body


def written(folder: Path, path: Path) -> int:
    """Write the pages of a stored web to a WARC file; return how many they are."""
    count = 0
    head = [("Content-Type", "text/html")]
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, body in pages(folder):
            count += 1
            writer.write_record(
                writer.create_warc_record(
                    url,
                    "response",
                    payload=BytesIO(body),
                    http_headers=StatusAndHeaders("200 OK", head, protocol="HTTP/1.1"),
                )
            )
    return count


def imported(warc: Path, way: str) -> tuple[float, int]:
    """Return the CPU seconds of an import, and the bytes of the archive."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive.db"
        began = time.process_time()
        with open_archive(f"sqlite:///{path}", keep_blocks=way != OFF) as archive:
            import_warc(archive, [warc], method=None if way == OFF else way)
        return time.process_time() - began, path.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warc = Path(folder) / "web.warc.gz"
        count = written(options.folder, warc)
        print(f"{count} pages\n{'':8}{'CPU s':>9}{'pages/s':>9}{'times':>7}{'kB':>9}")
        base = 0.0
        for way in WAYS:
            runs = []
            for _ in range(options.rounds):
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    runs.append(pool.apply(imported, (warc, way)))
            cpu, size = min(runs)
            base = base or cpu
            print(f"{way:8}{cpu:9.2f}{count / cpu:9.0f}{cpu / base:7.2f}{size / 1000:9.0f}")


if __name__ == "__main__":
    main()
