"""A web kept in WARC files.

Opening reads every file once and keeps, for each URL, where its last capture begins; a record is
read when its page is asked for, through a file handle of its own, so that threads need no lock.
Records are read as the archive reads them that takes them in (:mod:`mmcrawl.archive.warc`): over
damage, up to a size, compared with the digest of their bytes.
"""

import logging
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from mmcrawl.archive.model import Headers
from mmcrawl.archive.warc.answers import digest_doubts, head_in, message_at
from mmcrawl.archive.warc.catalogue import Catalogue, Place
from mmcrawl.archive.warc.payload import CodingError, body_of, dechunked
from mmcrawl.archive.warc.records import BadRecordError, Record, WarcProblem, records
from mmcrawl.errors import WebError
from mmcrawl.page.urls import absolute_url
from mmcrawl.replay.web import StoredResponse, StoredWeb, for_method, not_found, page_key

logger = logging.getLogger(__name__)

REDIRECTS = range(300, 400)
# Of each block as much is read on opening: few heads of HTTP are longer.
HEAD_BYTES = 1 << 16
# Headers about the coding on the wire, which is undone here; and about that of the body.
_OF_THE_WIRE = frozenset({"content-length", "transfer-encoding"})
_OF_THE_BODY = frozenset({"content-length", "content-encoding"})


@dataclass(frozen=True, slots=True)
class _Capture:
    """Where a record is, and about how much is read for it.

    Attributes:
        place: Of the response, or of the revisit.
        size: Of the block that holds the body.
        original: For a revisit: where that is.
    """

    place: Place
    size: int
    original: Place | None = None


class WarcWeb(StoredWeb):
    """The web of one or several WARC files, compressed record by record or not at all.

    Responses come with the status, headers and body of their last capture, the codings of transfer
    and content undone; a body that is not in its content coding, or in one that is not known, comes
    as it was sent. Revisit records take their body from the capture they point to, if that is in
    one of the files. URLs match in their canonical form, http and https alike. A crawl without
    seeds starts at the first HTML page of each host.

    Args:
        paths: The files, in the order of their captures.

    Raises:
        WebError: A file cannot be read, or no record of it, or there is no response in any. What is
            damaged is left out, with a warning in the log.
    """

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self._paths = paths
        try:
            with Catalogue() as catalogue:
                index = _Index(catalogue)
                for number, path in enumerate(paths):
                    _index_file(index, number, path)
                lost = index.find_originals()
        except sqlite3.Error as error:
            raise WebError(f"The index of the WARC files cannot be kept: {error}.") from error
        if lost:
            logger.warning("%d revisits of captures that are in none of the WARC files", lost)
        self._captures = index.captures
        self._hosts = frozenset(host for host, _ in index.captures)
        self._starts = tuple((index.first_pages or index.first_responses).values())
        if not self._captures:
            names = ", ".join(f"'{path}'" for path in paths)
            raise WebError(f"No response is stored in {names}: give a WARC of a crawl.")

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        key = page_key(url)
        if key is None or key[0] not in self._hosts:
            return None
        capture = self._captures.get(key)
        return for_method(self._read(capture) if capture else not_found(), method)

    def size_hint(self, url: str) -> int:
        key = page_key(url)
        capture = self._captures.get(key) if key else None
        return capture.size if capture else 0

    def start_urls(self) -> tuple[str, ...]:
        return self._starts

    def _read(self, capture: _Capture) -> StoredResponse:
        try:
            response = self._response(capture.place)
            if capture.original is None:
                return response
            original = self._response(capture.original)
        except BadRecordError as error:
            path = self._paths[capture.place.file]
            logger.warning("'%s', offset %d: %s", path, capture.place.offset, error)
            return not_found()
        if response.status in (0, 304):  # "not modified" says nothing about the page
            return original
        # The body of the original is in the codings that its own headers name, if in any.
        headers = [pair for pair in response.headers if pair[0].lower() not in _OF_THE_BODY]
        headers += [pair for pair in original.headers if pair[0].lower() in _OF_THE_BODY]
        return StoredResponse(response.status, tuple(headers), original.body)

    def _response(self, place: Place) -> StoredResponse:
        message = message_at(self._paths[place.file], place.offset)
        headers, body = _decoded(message.headers, message.payload)
        if message.certain is False and digest_doubts(message, body)[1]:
            raise BadRecordError("its bytes are not those of its digest")
        headers = tuple(pair for pair in headers if pair[0].lower() not in _OF_THE_WIRE)
        return StoredResponse(message.status, (*headers, ("Content-Length", str(len(body)))), body)


def _decoded(headers: Headers, payload: bytes) -> tuple[Headers, bytes]:
    """Return a body without its codings, and the headers that still describe it.

    What cannot be undone stays, and so does its header: the reader may know more.
    """
    try:
        body = body_of(payload, headers)
    except CodingError:
        is_chunked = any(pair[0].lower() == "transfer-encoding" for pair in headers)
        return headers, dechunked(payload) if is_chunked else payload
    return tuple(pair for pair in headers if pair[0].lower() != "content-encoding"), body


class _Index:
    """What one pass over the files gathers."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.captures: dict[tuple[str, str], _Capture] = {}
        self.first_pages: dict[str, str] = {}
        self.first_responses: dict[str, str] = {}
        self._catalogue = catalogue
        self._revisits: dict[tuple[str, str], tuple[int, Record]] = {}

    def add(self, record: Record, file: int) -> None:
        """Note a record, if it answers a request for a page."""
        url = record.field("WARC-Target-URI")
        key = page_key(url)
        if key is None:
            return
        if record.kind == "response" and record.is_http:
            self._add_response(record, file, url, key)
        elif record.kind == "revisit":
            self._revisits[key] = file, record

    def _add_response(self, record: Record, file: int, url: str, key: tuple[str, str]) -> None:
        try:
            status, _, headers, _ = head_in(record.begin)
        except BadRecordError:
            return
        sent = {name.lower(): value for name, value in reversed(headers)}
        location = sent.get("location")
        target = (absolute_url(url, location) or location) if location else ""
        if status in REDIRECTS and target and page_key(target) == key:
            return  # from http to https: the same page here, so it would lead to itself
        self.captures[key] = _Capture(Place(file, record.offset), _size_of(record))
        self._revisits.pop(key, None)
        self._catalogue.add(record, file)
        self.first_responses.setdefault(key[0], url)
        if status == 200 and "html" in sent.get("content-type", "").lower():
            self.first_pages.setdefault(key[0], url)

    def find_originals(self) -> int:
        """Note the revisits that are the last captures; return how many lead nowhere."""
        lost = 0
        for key, (file, record) in self._revisits.items():
            original = self._catalogue.original(record)
            if original is None:
                lost += 1
            else:
                place = Place(file, record.offset)
                self.captures[key] = _Capture(place, _size_of(record), original)
        return lost


def _index_file(index: _Index, number: int, path: Path) -> None:
    """Add one file to the index, as far as it can be read."""
    read: list[int] = []
    problems: list[WarcProblem] = []
    try:
        for found in records(path, HEAD_BYTES):
            if isinstance(found, WarcProblem):
                problems.append(found)
            else:
                index.add(found, number)
                read.append(found.offset)
    except OSError as error:
        reason = error.strerror or error
        raise WebError(f"The WARC file '{path}' cannot be read: {reason}.") from error
    # A first record that is read, and has a problem all the same, hides those packed up with it.
    if problems and (problems[0].offset is None or read in ([], [problems[0].offset])):
        raise WebError(f"The WARC file cannot be read: {problems[0]}.")
    for problem in problems:
        logger.warning("%s", problem)


def _size_of(record: Record) -> int:
    return int(record.field("Content-Length") or 0)
