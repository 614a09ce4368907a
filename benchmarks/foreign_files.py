"""Whether all good records of WARC, ARC and WACZ files of other programs come in, byte for byte.

    python benchmarks/foreign_files.py FOLDER [--all]

Each file of FOLDER is taken into an archive of its own, and read by warcio beside that, on its own
terms: a WACZ is unpacked with zipfile. Of what warcio reads there count answers of HTTP and
resources of the web. Each is looked for in the archive by URL and second, and its body, as warcio
undoes its codings, compared with what the archive gives back. Printed is a line for each file: good
records, those with the same bytes, with others, not found, and of the import what it left out, by
reason, and what it warned of. With --all each record that differs, and each problem, has a line.
"""

from __future__ import annotations

import argparse
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, is_zipfile

import brotli
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed

from mmcrawl.archive import Archive, open_archive
from mmcrawl.archive.warc import import_warc
from mmcrawl.errors import StoreError

# The last is warcio's at a response without an address.
_BAD = (ArchiveLoadFailed, BadZipFile, EOFError, OSError, ValueError, zlib.error, AttributeError)


@dataclass(frozen=True)
class Good:
    """A record as warcio reads it.

    Its second is None where its date is no ISO date, its digest "" where it is a 304.
    """

    url: str
    second: int | None
    digest: str


@dataclass
class Outcome:
    """What one file came to."""

    same: int = 0
    other: list[Good] = field(default_factory=list)
    missing: list[Good] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def streams(path: Path, opened: ExitStack) -> Iterator[BinaryIO]:
    """Yield the WARC files that a file is, or has in it."""
    if not is_zipfile(path):
        yield opened.enter_context(path.open("rb"))
        return
    archive = opened.enter_context(ZipFile(path))
    for name in archive.namelist():
        if name.startswith("archive/") and name.endswith((".warc", ".warc.gz")):
            yield BytesIO(archive.read(name))


def good_records(path: Path) -> Iterator[Good]:
    """Yield what warcio reads of a file, up to what it cannot read."""
    with ExitStack() as opened:
        try:
            for stream in streams(path, opened):
                for record in ArchiveIterator(stream, arc2warc=True):
                    if (good := as_good(record)) is not None:
                        yield good
        except _BAD:
            return


def as_good(record: object) -> Good | None:
    """Return a record that tells of a page, None for any other."""
    fields = record.rec_headers
    url = str(fields.get_header("WARC-Target-URI") or "")
    is_response = record.rec_type == "response" and record.http_headers is not None
    if not url.startswith(("http:", "https:")) or not (
        is_response or record.rec_type == "resource"
    ):
        return None
    try:
        written = fields.get_header("WARC-Date") or ""
        date = datetime.strptime(written[:19], "%Y-%m-%dT%H:%M:%S")
        second = int(date.replace(tzinfo=UTC).timestamp())
    except ValueError:
        second = None
    body = body_of(record)
    is_304 = is_response and record.http_headers.get_statuscode() == "304"
    digest = "" if is_304 else sha256(body).hexdigest()
    return Good(url, second, digest)


def body_of(record: object) -> bytes:
    """Return a body as warcio undoes its codings; it cannot undo Brotli with today's package."""
    heads = record.http_headers
    if heads is None or (heads.get_header("Content-Encoding") or "").lower() != "br":
        return record.content_stream().read()
    chunks = (heads.get_header("Transfer-Encoding") or "").lower() == "chunked"
    body = (ChunkedDataReader(record.raw_stream) if chunks else record.raw_stream).read()
    try:
        return brotli.decompress(body)
    except brotli.error:
        return body


def archived(archive: Archive) -> dict[tuple[str, int | None], set[str]]:
    """Return the digests of what each visit of an archive found, rebuilt."""
    found: dict[tuple[str, int | None], set[str]] = defaultdict(set)
    for url in archive.urls():
        bodies = {
            one.number: sha256(archive.rebuild(one).body).hexdigest()
            for one in archive.versions(url)
        }
        for visit, version in archive.found(url):
            for second in (int(visit.time), None):
                found[url, second] |= {bodies[version.number], ""}
    return found


def outcome_of(path: Path) -> Outcome:
    """Take a file in, and compare."""
    outcome = Outcome()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_archive(f"sqlite:///{folder}/archive.db", keep_blocks=False) as archive,
    ):
        try:
            report = import_warc(archive, [path])
            outcome.left_out.update(report.skipped)
            outcome.problems += map(str, report.problems)
        except StoreError as error:
            outcome.problems.append(str(error))
        found = archived(archive)
    for good in good_records(path):
        digests = found.get((good.url, good.second))
        if digests is None:
            outcome.missing.append(good)
        elif good.digest in digests:
            outcome.same += 1
        else:
            outcome.other.append(good)
    return outcome


def main() -> None:
    """Print what came of all files of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="name what differs")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for path in sorted(one for one in options.folder.iterdir() if one.is_file()):
        one = outcome_of(path)
        other, missing = len(one.other), len(one.missing)
        print(
            f"{path.name}: good {one.same + other + missing}, same {one.same}, other {other},"
            f" not found {missing}; left out {dict(one.left_out)}, problems {len(one.problems)}"
        )
        total.update(files=1, same=one.same, other=other, missing=missing)
        if options.all:
            for good in one.other + one.missing:
                print(f"    {good}")
            for problem in one.problems[:20]:
                print(f"    {problem}")
    print(dict(total))


if __name__ == "__main__":
    main()
