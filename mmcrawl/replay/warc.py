"""A web kept in WARC files.

Opening reads every file once and keeps, for each URL, where its last capture begins; a record is
read when its page is asked for, through a file handle of its own, so that threads need no lock.
"""

import logging
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO
from urllib.parse import urljoin

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import BufferedReader, ChunkedDataException, ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed

from mmcrawl.errors import WebError
from mmcrawl.replay.web import StoredResponse, for_method, not_found, page_key

__all__ = ["WarcWeb"]

logger = logging.getLogger(__name__)

REDIRECTS = range(300, 400)
# What warcio, zlib and the parsing of header lines raise on bytes that are no record.
DAMAGE = (ArchiveLoadFailed, ChunkedDataException, EOFError, OSError, ValueError, zlib.error)
# Headers about the coding on the wire, which is undone here.
WIRE_HEADERS = frozenset({"content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a record is; for a revisit also the record that holds what was seen again."""

    file: int
    offset: int
    length: int
    original: "_Place | None" = None


class WarcWeb:
    """The web of one or several WARC files, compressed record by record or not at all.

    Responses come with the status, headers and body of their last capture, the codings of transfer
    and content undone. Revisit records take their body from the capture they point to, if that is
    in one of the files. URLs match in their canonical form, http and https alike. A crawl without
    seeds starts at the first HTML page of each host.

    Parameters
    ----------
    paths
        The files, in the order of their captures.

    Raises
    ------
    WebError
        A file cannot be read, or there is no response in any. A file that is damaged after its
        first records is read up to there, with a warning in the log.
    """

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self._paths = paths
        index = _Index()
        for number, path in enumerate(paths):
            _index_file(index, number, path)
        self._places = index.places
        self._hosts = frozenset(host for host, _ in index.places)
        self._starts = tuple((index.first_pages or index.first_responses).values())
        if not self._places:
            names = ", ".join(f"'{path}'" for path in paths)
            raise WebError(f"No response is stored in {names}: give a WARC of a crawl.")

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        key = page_key(url)
        if key is None or key[0] not in self._hosts:
            return None
        place = self._places.get(key)
        return for_method(self._read(place) if place else not_found(), method)

    def size_hint(self, url: str) -> int:
        key = page_key(url)
        place = self._places.get(key) if key else None
        return (place.original or place).length if place else 0

    def start_urls(self) -> tuple[str, ...]:
        return self._starts

    def aliases(self) -> Mapping[str, str]:
        return MappingProxyType({})

    def _read(self, place: _Place) -> StoredResponse:
        path = self._paths[place.file]
        try:
            response = self._read_record(place)
            if place.original is None:
                return response
            original = self._read_record(place.original)
        except DAMAGE as error:
            logger.warning("%s, offset %d cannot be read: %s", path, place.offset, error)
            return not_found()
        if response.status == 304:  # the server's "not modified" says nothing about the page
            return original
        return _response(response.status, response.headers, original.body)

    def _read_record(self, place: _Place) -> StoredResponse:
        with self._paths[place.file].open("rb") as file:
            file.seek(place.offset)
            with closing(ArchiveIterator(file)) as records:
                record = next(records)
                head = record.http_headers
                if head is None:
                    return StoredResponse(304, (), b"")
                body, headers = _decoded(record)
                return _response(_status(record), headers, body)


def _response(status: int, headers: tuple[tuple[str, str], ...], body: bytes) -> StoredResponse:
    kept = tuple(pair for pair in headers if pair[0].lower() not in WIRE_HEADERS)
    return StoredResponse(status, (*kept, ("Content-Length", str(len(body)))), body)


def _decoded(record: Any) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """The body without its codings, and the headers that still describe it.

    A coding that warcio does not know stays, and so does its header: the reader may know it.
    """
    headers = tuple((str(name), str(value)) for name, value in record.http_headers.headers)
    coding = (record.http_headers.get_header("content-encoding") or "").lower()
    known = coding in BufferedReader.get_supported_decompressors()
    chunked = record.http_headers.get_header("transfer-encoding", "").lower() == "chunked"
    stream = record.raw_stream
    if chunked:
        stream = ChunkedDataReader(stream, decomp_type=coding if known else None)
    elif known:
        stream = BufferedReader(stream, decomp_type=coding)
    if known:
        headers = tuple(pair for pair in headers if pair[0].lower() != "content-encoding")
    return stream.read(), headers


class _Index:
    """What one pass over the files gathers."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, str], _Place] = {}
        self.first_pages: dict[str, str] = {}
        self.first_responses: dict[str, str] = {}
        self._by_digest: dict[str, _Place] = {}
        self._by_capture: dict[tuple[tuple[str, str] | None, str | None], _Place] = {}
        self.unresolved = 0

    def add(self, record: Any, place: _Place) -> None:
        """Note a record, if it answers a request for a page."""
        url = record.rec_headers.get_header("WARC-Target-URI") or ""
        key = page_key(url)
        if key is None:
            return
        if record.rec_type == "response" and record.http_headers is not None:
            self._add_response(record, url, key, place)
        elif record.rec_type == "revisit":
            original = self._original(record.rec_headers)
            if original:
                self.places[key] = _Place(place.file, place.offset, place.length, original)
            else:
                self.unresolved += 1

    def _add_response(self, record: Any, url: str, key: tuple[str, str], place: _Place) -> None:
        status = _status(record)
        if not status:
            return
        location = record.http_headers.get_header("location")
        if status in REDIRECTS and location and page_key(_joined(url, location)) == key:
            return  # from http to https: the same page here, so it would lead to itself
        self.places[key] = place
        self.first_responses.setdefault(key[0], url)
        kind = record.http_headers.get_header("content-type") or ""
        if status == 200 and "html" in kind.lower():
            self.first_pages.setdefault(key[0], url)
        digest = record.rec_headers.get_header("WARC-Payload-Digest")
        if digest:
            self._by_digest[digest] = place
        self._by_capture[key, record.rec_headers.get_header("WARC-Date")] = place

    def _original(self, headers: Any) -> _Place | None:
        uri = headers.get_header("WARC-Refers-To-Target-URI")
        if uri:
            capture = page_key(uri), headers.get_header("WARC-Refers-To-Date")
            if capture in self._by_capture:
                return self._by_capture[capture]
        return self._by_digest.get(headers.get_header("WARC-Payload-Digest") or "")


class _DamageError(Exception):
    """A file stops being readable at `offset`."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"it is damaged or cut off at offset {offset} ({reason})")


class _PackedAsOneError(Exception):
    """All records of a file are in one gzip stream, so that none can be read by itself."""


def _index_file(index: _Index, number: int, path: Path) -> None:
    """Add one file to the index, as far as it can be read."""
    read = 0
    try:
        with path.open("rb") as file:
            for record, offset, length in _records(file):
                index.add(record, _Place(number, offset, length))
                read += 1
    except _DamageError as error:
        if not read:
            raise WebError(f"The WARC file '{path}' cannot be read: {error}.") from error
        logger.warning("The WARC file '%s' is read in part: %s", path, error)
    except _PackedAsOneError as error:
        raise WebError(
            f"The WARC file '{path}' is compressed as a whole, not record by record:"
            f" make one that is with `warcio recompress {path} NEW`."
        ) from error
    except OSError as error:
        raise WebError(f"The WARC file '{path}' cannot be read: {error}.") from error
    if index.unresolved:
        logger.warning("%s: %d revisits of captures kept elsewhere", path, index.unresolved)
        index.unresolved = 0


def _records(file: BinaryIO) -> Iterator[tuple[Any, int, int]]:
    """Every whole record with its offset and length; raises `_DamageError` at one that is not."""
    with closing(ArchiveIterator(file)) as iterator:
        try:
            for record in iterator:
                offset, length = iterator.get_record_offset(), iterator.get_record_length()
                if record.length is None or record.raw_stream.limit > 0:
                    raise _DamageError(offset, "the record is not whole")
                yield record, offset, length
        except DAMAGE as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            if "non-chunked gzip" in reason:
                raise _PackedAsOneError from error
            raise _DamageError(iterator.offset, reason) from error
        end = iterator.offset
    # warcio takes a last record of which not even the first line is there for the end.
    file.seek(end)
    if file.read(1024).strip():
        raise _DamageError(end, "the record is not whole")


def _status(record: Any) -> int:
    """The status code of a response; 0 when its status line holds none."""
    code = (record.http_headers.get_statuscode() or "").strip()
    return int(code) if code.isascii() and code.isdigit() else 0


def _joined(base: str, location: str) -> str:
    with suppress(ValueError):
        return urljoin(base, location)
    return location
