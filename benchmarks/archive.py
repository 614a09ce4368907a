"""The archive on series of versions, beside other ways to keep them.

    python benchmarks/archive.py FOLDER… [--only archive,warc] [--web]

FOLDER holds a folder for each page with its versions as `<unix time>.html`, or is a folder (or the
variable MMCRAWL_CORPORA) with `series/` or `series.tar.zst` in it. All pages are stored in the
order of time, as a crawl would, each version durable before the next. With `--web`, it is a stored
web: each of its files that begins as markup does is a page, and has one version. With a pattern
behind a colon, `repo:docs/*.xml`, it is a git repository, and its files that the pattern names have
the versions that were committed.

* archive: with the layout and the labelled blocks of every version, sealed as it was written;
  `given` the same, where pages come with their blocks, as from a crawl that has cut them;
  `unblocked` without these; `grouped` without these, 16 a commit, as a crawl has them stored that
  commits what has come meanwhile; `packed` after `scrapy archive seal`; `old` the same
  without blocks;
* warc: gzip'd WARC by warcio, revisit records for bodies that are equal to the one before;
* trial: the 30 lines below: segments of 16 MB at level 19, the end of the one before as
  dictionary, headers beside the bodies, a row a version;
* solid: one stream of zstd at level 19 over all, page by page in order of time: no access to one;
* git: a commit a version, `git repack -adf --window 50 --depth 50`; `blobs` counts bodies alone,
  without what says which page they are of, and when.

Response headers are made up, the same for all that keep them (archive, warc). Sizes are those of
all files. MB/s is of bodies while they are stored; MB/CPU s counts all threads, and sealing to its
end, and depends less on what else the machine does; MB/own s counts the thread that stores, until
all is acknowledged. Rebuilding is timed for all versions in random
order, each checked against its file. Memory is the peak of a process that does only this. `missed`
counts versions that differ from the one before and were not kept as one, `false` those that were
kept and do not differ.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from io import BytesIO
from itertools import islice
from pathlib import Path
from statistics import median

import zstandard
from _archive_series import Event, captures, events_in, history, series, web
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from mmcrawl.archive import Archive, Capture, PageBlocks, open_archive
from mmcrawl.archive.format.cutting import stored_blocks
from mmcrawl.blocks import partition

MEASURES = (
    "size kB",
    "ratio",
    "MB/s",
    "MB/CPU s",
    "MB/own s",
    "median ms",
    "p99 ms",
    "memory MB",
    "missed",
    "false",
)


@dataclass
class Result:
    """What one way came to; nan for what it cannot do."""

    size: int
    seconds: float
    cpu: float
    reads: list[float] = field(default_factory=list)
    memory: float = 0.0
    missed: int | None = None
    false: int | None = None
    own: float = 0.0


def timed_reads(events: list[Event], read: Callable[[Event], bytes]) -> list[float]:
    """Read all versions in random order, each checked; return milliseconds."""
    order = random.Random(2).sample(events, len(events))
    found = []
    for event in order:
        start = time.perf_counter()
        body = read(event)
        found.append(1000 * (time.perf_counter() - start))
        if body != event.path.read_bytes():
            raise AssertionError(f"{event.url} at {event.time} came back differently")
    return found


def bytes_under(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# ---------------------------------------------------------------- the ways


class Clock:
    """Time that passed, CPU time of all threads and of this, inside of its ``with`` blocks."""

    def __init__(self) -> None:
        self.seconds = self.cpu = self.own = 0.0

    def __enter__(self) -> None:
        self._start = time.perf_counter(), time.process_time(), time.thread_time()

    def __exit__(self, *error: object) -> None:
        self.seconds += time.perf_counter() - self._start[0]
        self.cpu += time.process_time() - self._start[1]
        self.own += time.thread_time() - self._start[2]


def archived(
    events: list[Event],
    folder: Path,
    finish: Callable[[Archive], None] = lambda archive: None,
    *,
    keep_blocks: bool = True,
    given: bool = False,
    at_once: int = 1,
) -> Result:
    uri = f"sqlite:///{folder / 'archive.db'}"
    storing, closing = Clock(), Clock()
    archive = open_archive(uri, keep_blocks=keep_blocks)
    coming = captures(events)
    while some := list(islice(coming, at_once)):
        pages = [with_blocks(capture) for capture in some] if given else some
        with storing:
            archive.store_many(pages)
    with closing:
        archive.close()
    cpu = storing.cpu + closing.cpu
    with open_archive(uri) as archive:
        finish(archive)
    size, memory = bytes_under(folder), peak()
    with open_archive(uri, read_only=True) as archive:
        versions = {(version.url, version.time): version for version in archive.all_versions()}
        reads = timed_reads(events, lambda e: archive.rebuild(versions[e.url, e.time]).body)
    missed, false = changes_missed(events, set(versions))
    return Result(size, storing.seconds, cpu, reads, memory, missed, false, storing.own)


def with_blocks(capture: Capture) -> Capture:
    page = partition(capture.body, url=capture.url)
    blocks = PageBlocks(page.method, page.level, tuple(stored_blocks(page)))
    return replace(capture, blocks=blocks)


def changes_missed(events: list[Event], kept: set[tuple[str, float]]) -> tuple[int, int]:
    before: dict[str, bytes] = {}
    missed = false = 0
    for event in events:
        digest = sha256(event.path.read_bytes()).digest()
        changed = before.get(event.url) != digest
        before[event.url] = digest
        missed += changed and (event.url, event.time) not in kept
        false += not changed and (event.url, event.time) in kept
    return missed, false


def trial(events: list[Event], folder: Path) -> Result:
    clock = Clock()
    db = sqlite3.connect(folder / "trial.db")
    db.execute("CREATE TABLE segment (id INTEGER PRIMARY KEY, head BLOB, data BLOB)")
    db.execute(
        "CREATE TABLE version (id INTEGER PRIMARY KEY, url INT, digest BLOB, time INT, status INT,"
        " segment INT, place INT, size INT)"
    )
    db.execute("CREATE TABLE url (id INTEGER PRIMARY KEY, url TEXT UNIQUE)")
    numbers: dict[str, int] = {}
    heads, data, before, segment = [], bytearray(), b"", 1

    def close() -> None:
        nonlocal heads, data, before, segment
        parameters = zstandard.ZstdCompressionParameters.from_level(
            LEVEL, source_size=len(data) + len(before), window_log=25
        )
        known = zstandard.ZstdCompressionDict(before, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        body = zstandard.ZstdCompressor(dict_data=known, compression_params=parameters)
        head = zstandard.ZstdCompressor(LEVEL).compress("\n".join(heads).encode())
        db.execute("INSERT INTO segment VALUES (?, ?, ?)", (segment, head, body.compress(data)))
        heads, data, before, segment = [], bytearray(), bytes(data[-(8 << 20) :]), segment + 1

    for capture in captures(events):
        with clock:
            url = numbers.setdefault(capture.url, len(numbers))
            place = segment, len(data), len(capture.body)
            row = url, sha256(capture.body).digest(), capture.time, capture.status, *place
            db.execute("INSERT INTO version VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)
            heads.append(str(capture.headers))
            data += capture.body
            if len(data) > 16 << 20:
                close()
    with clock:
        close()
        db.executemany("INSERT INTO url VALUES (?, ?)", [(n, url) for url, n in numbers.items()])
        db.commit()
    return Result(bytes_under(folder), clock.seconds, clock.cpu, memory=peak())


def warc(events: list[Event], folder: Path) -> Result:
    clock = Clock()
    before: dict[str, tuple[bytes, str]] = {}
    with (folder / "series.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for capture in captures(events):
            date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(capture.time))
            with clock:
                write_record(writer, capture, date, before)
    return Result(bytes_under(folder), clock.seconds, clock.cpu, memory=peak(), own=clock.own)


def write_record(
    writer: WARCWriter, capture: Capture, date: str, before: dict[str, tuple[bytes, str]]
) -> None:
    """Write a response, or a revisit record if the body is that of the response before."""
    headers = StatusAndHeaders("200 OK", list(capture.headers), protocol="HTTP/1.1")
    digest = sha256(capture.body).digest()
    known = before.get(capture.url)
    if known is not None and known[0] == digest:
        record = writer.create_revisit_record(
            capture.url, digest.hex(), capture.url, known[1], http_headers=headers
        )
    else:
        record = writer.create_warc_record(
            capture.url,
            "response",
            payload=BytesIO(capture.body),
            http_headers=headers,
            warc_headers_dict={"WARC-Date": date},
        )
        before[capture.url] = (digest, date)
    writer.write_record(record)


def solid(events: list[Event], folder: Path) -> Result:
    clock = Clock()
    parameters = zstandard.ZstdCompressionParameters.from_level(19, window_log=27, enable_ldm=True)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    size = 0
    for event in sorted(events, key=lambda event: (event.url, event.time)):
        with clock:
            size += len(compressor.compress(event.path.read_bytes()))
    size += len(compressor.flush())
    return Result(size, clock.seconds, clock.cpu, memory=peak())


def git(events: list[Event], folder: Path) -> Result:
    """Commit every version, fed in by `git fast-import`: a process for each would take hours."""
    run = ["git", "-C", str(folder)]
    start = time.perf_counter()
    subprocess.run([*run, "init", "-q"], check=True)
    with subprocess.Popen([*run, "fast-import", "--quiet"], stdin=subprocess.PIPE) as importing:
        feed = importing.stdin
        assert feed is not None
        for event in events:
            name = event.url.rpartition("//")[2].replace("/", "__")
            body = event.path.read_bytes()
            feed.write(
                b"commit refs/heads/main\ncommitter b <b@localhost> %d +0000\ndata 0\n"
                b"M 644 inline %s\ndata %d\n%s\n" % (event.time, name.encode(), len(body), body)
            )
    seconds = time.perf_counter() - start
    repack = ["repack", "-adfq", "--window", "50", "--depth", "50"]
    subprocess.run([*run, *repack], check=True, capture_output=True)
    return Result(bytes_under(folder / ".git" / "objects"), seconds, 0.0)


def blobs(events: list[Event], folder: Path) -> Result:
    whole = git(events, folder)
    listed = subprocess.run(
        [
            "git",
            "-C",
            str(folder),
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objecttype) %(objectsize:disk)",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    rows = map(str.split, listed.stdout.splitlines())
    return replace(whole, size=sum(int(size) for kind, size in rows if kind == "blob"))


WAYS = {
    "archive": archived,
    "given": partial(archived, given=True),
    "unblocked": partial(archived, keep_blocks=False),
    "grouped": partial(archived, keep_blocks=False, at_once=16),
    "packed": partial(archived, finish=Archive.pack),
    "old": partial(archived, finish=Archive.pack, keep_blocks=False),
    "trial": trial,
    "warc": warc,
    "solid": solid,
    "git": git,
    "blobs": blobs,
}
LEVEL = 19


def peak() -> float:
    """Return the most memory the process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(name: str, events: list[Event]) -> Result:
    """Do one thing in a process of its own, so that its memory is its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(1) as pool,
    ):
        return pool.apply(WAYS[name], (events, Path(folder)))


# ---------------------------------------------------------------- printing


def cells(result: Result, raw: int) -> Iterator[str]:
    yield f"{result.size / 1e3:,.0f}"
    yield f"{raw / result.size:.2f}"
    yield f"{raw / 1e6 / result.seconds:.1f}"
    yield f"{raw / 1e6 / result.cpu:.1f}" if result.cpu else "-"
    yield f"{raw / 1e6 / result.own:.1f}" if result.own else "-"
    reads = sorted(result.reads)
    yield f"{median(reads):.1f}" if reads else "-"
    yield f"{reads[int(len(reads) * 0.99)]:.1f}" if reads else "-"
    yield f"{result.memory:.0f}" if result.memory else "-"
    yield "-" if result.missed is None else str(result.missed)
    yield "-" if result.false is None else str(result.false)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "folders",
        nargs="*",
        default=list(filter(None, [os.environ.get("MMCRAWL_CORPORA")])),
        help="folders with series (default: the variable MMCRAWL_CORPORA), or repositories",
    )
    parser.add_argument("--only", default=",".join(WAYS), help="ways, parted by ,")
    parser.add_argument("--web", action="store_true", help="the folder is a stored web")
    given = parser.parse_args()
    if not given.folders:
        parser.error("name the folder of the series, or set MMCRAWL_CORPORA")
    if unknown := set(given.only.split(",")) - set(WAYS):
        parser.error(f"no such way: {', '.join(sorted(unknown))}; there are {', '.join(WAYS)}")
    return given


def main() -> int:
    given = arguments()
    for named in given.folders:
        name, _, paths = named.partition(":")
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(name)
            try:
                if paths:
                    events = history(folder, paths, Path(scratch))
                else:
                    events = web(folder) if given.web else events_in(series(folder, Path(scratch)))
            except FileNotFoundError as error:
                print(f"{error}.", file=sys.stderr)
                return 2
            table(paths or folder.name, events, given.only.split(","))
    return 0


def table(title: str, events: list[Event], ways: list[str]) -> None:
    raw = sum(event.path.stat().st_size for event in events)
    pages = len({event.url for event in events})
    print(f"{title}: {len(events)} versions of {pages} pages, {raw / 1e6:.0f} MB")
    print(f"{'':<10}" + "".join(f"{name:>11}" for name in MEASURES))
    for name in ways:
        row = "".join(f"{cell:>11}" for cell in cells(measured(name, events), raw))
        print(f"{name:<10}{row}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
