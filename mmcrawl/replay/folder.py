"""A web kept as files: one folder per host, as mirroring programs write it.

`ROOT/<host>/a/b.htm` is `http://<host>/a/b.htm`. Paths are not joined and opened: each part of the
path is looked up in the listing of the directory found so far. A name that is not in the listing
(`..` never is) cannot be reached, and a symbolic link that leaves the root is left out of it.
Listings are made when first needed and kept.
"""

import json
import logging
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import SplitResult, unquote_to_bytes, urlunsplit

from mmcrawl.archive.model import Headers
from mmcrawl.archive.warc.answers import (
    CodingError,
    body_of,
    dechunked,
    digest_doubts,
    head_in,
    message_at,
)
from mmcrawl.archive.warc.importing import Catalogue, Place
from mmcrawl.archive.warc.records import BadRecordError, Record, WarcProblem, records
from mmcrawl.errors import WebError
from mmcrawl.page.urls import absolute_url
from mmcrawl.replay.web import (
    StoredResponse,
    StoredWeb,
    answer,
    content_type,
    for_method,
    host_of,
    moved,
    moved_to_host,
    not_found,
    page_key,
    split_url,
)

logger = logging.getLogger(__name__)

MANIFEST = "manifest.json"
INDEX_NAMES = ("index.htm", "index.html", "default.htm", "default.html")
PAGE_ENDINGS = (".html", ".htm")


class FolderWeb(StoredWeb):
    """The web of a folder.

    A directory answers with its index page; without the slash at its end it redirects, as servers
    do. `path` may answer with `path.html`. Names match without case when none matches with it. For
    a query, the file named with it is looked for first (`show.asp?id=3`, as wget stores it, or
    `show.asp@id=3`), then the one without.

    Args:
        root: The folder. With a `manifest.json` (host → `{"start": url, "aliases": [host, …]}`),
            the hosts are those it names; otherwise every folder in it is a host.

    Raises:
        WebError: The folder or its manifest cannot be read, or it holds no host, or it is that of
            one host.
    """

    def __init__(self, root: Path) -> None:
        self._root = _Directory(root, Path(os.path.realpath(root)))
        self._manifest = _read_manifest(root / MANIFEST)
        try:
            folders = {d.path.name.lower(): d for d in self._root.directories()}
            index = self._root.file(*INDEX_NAMES)
        except OSError as error:
            raise WebError(f"The folder '{root}' cannot be read: {error}.") from error
        named_as_hosts = bool(self._manifest) or any(
            "." in name.strip(".") or name.startswith("localhost") for name in folders
        )
        # HTTrack writes an index of its own beside the folders of the hosts.
        if index and not named_as_hosts:
            raise WebError(
                f"The folder '{root}' looks like one site: give the folder that holds it."
            )
        if self._manifest:
            for host in self._manifest.keys() - folders.keys():
                logger.warning("%s names the host %s, which has no folder", root / MANIFEST, host)
            folders = {host: folders[host] for host in self._manifest if host in folders}
        if not folders or not named_as_hosts:
            raise WebError(f"The folder '{root}' holds no host: give one with a folder per host.")
        self._hosts = folders
        self._aliases = {
            alias.lower(): host
            for host in folders
            for alias in self._manifest.get(host, {}).get("aliases", ())
        }

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        parts = split_url(url)
        if parts is None:
            return None
        host = host_of(parts)
        if host in self._aliases:
            return for_method(moved_to_host(parts, self._aliases[host]), method)
        if host not in self._hosts:
            return None
        return for_method(self._answer(self._hosts[host], parts), method)

    def size_hint(self, url: str) -> int:
        parts = split_url(url)
        root = self._hosts.get(host_of(parts)) if parts else None
        found = _locate(root, parts) if root and parts else None
        try:
            return found.stat().st_size if isinstance(found, Path) else 0
        except OSError:
            return 0

    def start_urls(self) -> tuple[str, ...]:
        return tuple(
            self._manifest.get(host, {}).get("start", f"http://{host}/") for host in self._hosts
        )

    def aliases(self) -> Mapping[str, str]:
        return MappingProxyType(self._aliases)

    def _answer(self, root: "_Directory", parts: SplitResult) -> StoredResponse:
        found = _locate(root, parts)
        if isinstance(found, _Directory):
            return moved(urlunsplit(parts._replace(path=parts.path + "/", fragment="")))
        if found is None:
            return not_found()
        try:
            body = found.read_bytes()
        except OSError as error:
            logger.warning("%s cannot be read: %s", found, error)
            return not_found()
        name = found.name.partition("?")[0].partition("@")[0]
        return answer(200, content_type(name, body), body)


@dataclass(frozen=True)
class _Directory:
    """One directory inside `real_root`, listed once."""

    path: Path
    real_root: Path

    @cached_property
    def _entries(self) -> dict[str, tuple[str, bool]]:
        """Name → (name as stored, is it a directory); lower-cased names where still free."""
        entries: dict[str, tuple[str, bool]] = {}
        with os.scandir(self.path) as listing:
            for entry in sorted(listing, key=lambda item: item.name):
                readable = entry.is_dir() or entry.is_file()
                if readable and (not entry.is_symlink() or self._stays_inside(entry.path)):
                    entries[entry.name] = entry.name, entry.is_dir()
        for name, value in list(entries.items()):
            entries.setdefault(name.lower(), value)
        return entries

    def _stays_inside(self, link: str) -> bool:
        return Path(os.path.realpath(link)).is_relative_to(self.real_root)

    def _entry(self, name: str) -> tuple[str, bool] | None:
        return self._entries.get(name) or self._entries.get(name.lower())

    def directories(self) -> list["_Directory"]:
        names = sorted({name for name, is_directory in self._entries.values() if is_directory})
        return [self._inner(name) for name in names if not name.startswith(".")]

    def directory(self, name: str) -> "_Directory | None":
        entry = self._entry(name)
        return self._inner(entry[0]) if entry and entry[1] else None

    def file(self, *names: str) -> Path | None:
        """The first of these files that is here."""
        entries = filter(None, map(self._entry, names))
        return next((self.path / name for name, is_directory in entries if not is_directory), None)

    @cached_property
    def _inner_directories(self) -> dict[str, "_Directory"]:
        return {}

    def _inner(self, name: str) -> "_Directory":
        # setdefault is atomic: two threads that meet here keep one of two equal listings.
        fresh = _Directory(self.path / name, self.real_root)
        return self._inner_directories.setdefault(name, fresh)


def _locate(root: _Directory, parts: SplitResult) -> Path | _Directory | None:
    """The file that answers; a directory if it is asked for without its slash; None for a 404."""
    names = _path_names(parts.path)
    if names is None:
        return None
    *outer, last = names
    here: _Directory | None = root
    try:
        for name in outer:
            here = here.directory(name) if here else None
        return _last_step(here, last, parts.query) if here else None
    except OSError as error:
        logger.warning("%s cannot be listed: %s", root.path, error)
        return None


def _last_step(here: _Directory, last: str, query: str) -> Path | _Directory | None:
    queries = _query_spellings(query)
    if not last:
        return here.file(*(name + q for name in INDEX_NAMES for q in queries))
    exact = here.file(*(last + q for q in queries))
    if exact:
        return exact
    directory = here.directory(last)
    if directory and directory.file(*INDEX_NAMES):
        return directory
    return here.file(*(last + ending for ending in PAGE_ENDINGS))


def _query_spellings(query: str) -> list[str]:
    """How names of files may end for this query, the surest first, no query last."""
    spellings = dict.fromkeys((query, _decoded(query) or query)) if query else {}
    endings = ("", *PAGE_ENDINGS)  # wget --adjust-extension adds one after the query
    return [f"{mark}{q}{end}" for q in spellings for mark in "?@" for end in endings] + [""]


def _path_names(path: str) -> list[str] | None:
    """The parts of a path, decoded, the last one empty for a directory; None if that fails."""
    names: list[str] = []
    parts = path.split("/")[1:] or [""]
    for index, part in enumerate(parts):
        name = _decoded(part)
        if name is None:
            return None
        # `//` and `/./` are the directory itself, as servers see them.
        if name not in ("", ".") or index == len(parts) - 1:
            names.append("" if name == "." else name)
    return names


def _decoded(part: str) -> str | None:
    """Undo percent-encoding: UTF-8, else GBK as old Chinese servers wrote it, else None."""
    try:
        raw = unquote_to_bytes(part)
    except UnicodeEncodeError:  # a lone surrogate
        return None
    for encoding in ("utf-8", "gbk"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _read_manifest(path: Path) -> dict[str, dict[str, Any]]:
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise WebError(f"The manifest '{path}' cannot be read: {error}.") from error
    if not isinstance(data, dict) or not all(map(_is_host_entry, data.values())):
        raise WebError(
            f"The manifest '{path}' is of another form:"
            ' it should read {"host": {"start": "http://host/", "aliases": ["other"]}}.'
        )
    return {host.lower(): entry for host, entry in data.items()}


def _is_host_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    aliases = entry.get("aliases", [])
    return (
        isinstance(entry.get("start", ""), str)
        and isinstance(aliases, list)
        and all(isinstance(alias, str) for alias in aliases)
    )


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
        original: For a revisit: where that is.
    """

    place: Place  # of the response, or of the revisit
    size: int  # of the block that holds the body
    original: Place | None = None


class WarcWeb(StoredWeb):
    """The web of one or several WARC files, compressed record by record or not at all.

    Responses come with the status, headers and body of their last capture, the codings of transfer
    and content undone; a body that is not in its content coding, or in one that is not known, comes
    as it was sent. Revisit records take their body from the capture they point to, if that is in
    one of the files. URLs match in their canonical form, http and https alike. A crawl without
    seeds starts at the first HTML page of each host.

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
        headers, body = _plain_body(message.headers, message.payload)
        if message.certain is False and digest_doubts(message, body)[1]:
            raise BadRecordError("its bytes are not those of its digest")
        headers = tuple(pair for pair in headers if pair[0].lower() not in _OF_THE_WIRE)
        return StoredResponse(message.status, (*headers, ("Content-Length", str(len(body)))), body)


def _plain_body(headers: Headers, payload: bytes) -> tuple[Headers, bytes]:
    """Return a body without codings that can be undone, and headers that still describe it."""
    try:
        body = body_of(payload, headers)
    except CodingError:
        is_chunked = any(pair[0].lower() == "transfer-encoding" for pair in headers)
        return headers, dechunked(payload) if is_chunked else payload
    return tuple(pair for pair in headers if pair[0].lower() != "content-encoding"), body


class _Index:
    """The result of one pass over the files."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.captures: dict[tuple[str, str], _Capture] = {}
        self.first_pages: dict[str, str] = {}
        self.first_responses: dict[str, str] = {}
        self._catalogue = catalogue
        self._revisits: dict[tuple[str, str], tuple[int, Record]] = {}

    def add(self, record: Record, file: int) -> None:
        """Add a record, if it answers a request for a page."""
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
        """Resolve the revisits that are the last captures; return how many lead nowhere."""
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
    """Add one file to the index, up to any damage."""
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
