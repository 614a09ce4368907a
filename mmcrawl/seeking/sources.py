"""What seeds are sought in: archives, crawls with theirs, WARC and CDX files, lists of candidates.

All are read one page, or one line, at a time.
"""

import gzip
import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from mmcrawl.archive.opening import open_archive
from mmcrawl.archive.uris import archive_beside
from mmcrawl.archive.warc.answers import message_at
from mmcrawl.archive.warc.payload import CodingError, body_of
from mmcrawl.archive.warc.records import BadRecordError, WarcProblem, records
from mmcrawl.crawling.seeds import read_seeds
from mmcrawl.discovering.cdx import MOST_LINES, read_cdx
from mmcrawl.errors import ListingError, SeedError, StoreError
from mmcrawl.frontier.database import is_crawl_store, reading
from mmcrawl.page.model import Link, Page
from mmcrawl.page.parse import parse_page
from mmcrawl.stores.uris import file_of, is_server

_HTML = ("text/html", "application/xhtml+xml")
_LARGEST_PAGE = 4 * 1024 * 1024
_WARC = (".warc", ".warc.gz")
_CDX = (".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz")


class Takes(Protocol):
    """What sources tell what they hold."""

    def page(self, page: Page) -> None:
        """Take in a stored page."""

    def address(self, link: Link) -> None:
        """Take in an address of which no page is stored, with the words of a link to it."""

    def candidate(self, url: str) -> None:
        """Take in an address that a person proposes."""


@dataclass(frozen=True, slots=True)
class Source:
    """A thing that seeds are sought in.

    Attributes:
        name: as the user wrote it.
        kind: `crawl`, `archive`, `WARC`, `CDX` or `list`.
    """

    name: str
    kind: str

    def tell(self, takes: Takes) -> list[str]:
        """Tell all that it holds; return what could not be read, a sentence each.

        Raises:
            StoreError, SeedError: it cannot be read at all.
        """
        problems: list[str] = []
        if self.kind == "crawl":
            _tell_crawl(Path(file_of(self.name) or self.name), takes)
            beside = archive_beside(_uri(self.name))
            if beside and (file := file_of(beside)) and os.path.isfile(file):
                problems += _tell_archive(beside, takes)
        elif self.kind == "archive":
            problems += _tell_archive(_uri(self.name), takes)
        elif self.kind == "WARC":
            for path in _warcs(Path(self.name)):
                problems += _tell_warc(path, takes)
        elif self.kind == "CDX":
            _tell_cdx(Path(self.name), takes)
        else:
            for seed in read_seeds(self.name):
                takes.candidate(seed.url)
        return problems


def open_source(name: str) -> Source:
    """Return what a user named: a file, a folder of WARC files, or a database.

    Raises:
        SeedError: there is no such thing.
    """
    path = Path(os.path.expanduser(file_of(name) or name))
    if is_server(name):
        return Source(name, "archive")
    if path.is_dir():
        if not _warcs(path):
            raise SeedError(f"{name} is a folder without WARC files; name files, or such a folder")
        return Source(str(path), "WARC")
    if not path.is_file():
        raise SeedError(
            f"there is no {name}; give a crawl (FILE.db), an archive, a WARC or CDX file, or a list"
        )
    if path.name.endswith(_WARC):
        return Source(str(path), "WARC")
    if path.name.endswith(_CDX):
        return Source(str(path), "CDX")
    if is_crawl_store(path):
        return Source(str(path), "crawl")
    with path.open("rb") as file:
        is_database = file.read(16).startswith(b"SQLite format 3")
    return Source(str(path), "archive" if is_database else "list")


def _uri(name: str) -> str:
    return name if "://" in name else f"sqlite:///{name}"


def _warcs(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.iterdir() if file.name.endswith(_WARC))


def _tell_crawl(path: Path, takes: Takes) -> None:
    """Tell the links of a crawl that were not fetched; its pages are in its archive."""
    with reading(path) as db:
        rows = db.execute(
            "SELECT origin || path, anchor FROM link JOIN host ON host.id = link.host"
            " AND host.job = link.id >> 40 WHERE status = 'W'"
        )
        for url, anchor in rows:
            takes.address(Link(url, anchor, "a"))


def _tell_archive(uri: str, takes: Takes) -> list[str]:
    problems = []
    with closing(open_archive(uri, create=False, read_only=True)) as archive:
        for url in archive.urls():
            version = archive.get(url)
            kind = (version.content_type or "").partition(";")[0].strip().lower()
            if version.status != 200 or (kind and kind not in _HTML):
                continue
            try:
                body = archive.rebuild(version).body
            except StoreError as error:
                problems.append(str(error))
                continue
            takes.page(parse_page(body[:_LARGEST_PAGE], url, version.content_type or ""))
    return problems


def _tell_warc(path: Path, takes: Takes) -> list[str]:
    problems = []
    try:
        for record in records(path):
            if isinstance(record, WarcProblem):
                problems.append(str(record))
            elif record.kind == "response" and record.is_http:
                try:
                    _tell_response(path, record.offset, record.field("WARC-Target-URI"), takes)
                except BadRecordError as error:
                    problems.append(f"'{path}', offset {record.offset}: {error}")
    except OSError as error:
        raise SeedError(f"the WARC file {path} cannot be read: {error.strerror}") from error
    return problems


def _tell_response(path: Path, offset: int, url: str, takes: Takes) -> None:
    message = message_at(path, offset)
    declared = next((v for name, v in message.headers if name.lower() == "content-type"), "")
    if message.status != 200 or declared.partition(";")[0].strip().lower() not in _HTML:
        return
    try:
        body = body_of(message.payload, message.headers)
    except CodingError:
        return  # nobody can read such a page
    takes.page(parse_page(body[:_LARGEST_PAGE], url.strip("<>"), declared))


def _tell_cdx(path: Path, takes: Takes) -> None:
    try:
        with _opened(path) as file:
            while lines := file.readlines(1 << 20):
                for start in range(0, len(lines), MOST_LINES):
                    _tell_lines(b"".join(lines[start : start + MOST_LINES]), takes)
    except (OSError, EOFError) as error:  # EOFError: of a gzip that ends too early
        raise SeedError(f"the CDX file {path} cannot be read: {error}") from error


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    return path.open("rb")


def _tell_lines(lines: bytes, takes: Takes) -> None:
    try:
        links = read_cdx(lines, "http://localhost/").page.links
    except ListingError:
        return  # no page among them
    for link in links:
        takes.address(link)
