"""The MongoDB collections of URLs, versions and visits.

Keys are strings, as wide as the greatest number, so that their order is that of the numbers and
what is asked for most is found by ``_id``, the one index that every server uses:

* ``url``: its number in hexadecimal; fields ``url`` (unique), ``key``, ``host``, ``stream``.
* ``version``: ``URL/NUMBER`` in hexadecimal. The greatest number of a URL is never forgotten: where
  that version is removed, a document without fields stays in its place.
* ``visit``: ``URL/TIME``, the time's bits such that they ascend with it.
* ``counter``: of URLs and of streams, by the name of the collection; the number given last.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from pymongo import ASCENDING, DESCENDING, ReturnDocument
from pymongo.errors import DuplicateKeyError

from mmcrawl.archive.backend import UrlRow, VersionRow, VisitRow
from mmcrawl.archive.mongodb_leases import SOLE, WRITE, Leases
from mmcrawl.archive.mongodb_server import Documents, connect, explained
from mmcrawl.errors import StoreError

__all__ = ["PAGE", "UrlCollections", "guarded"]

PAGE = 1_000
"""Documents that are asked for at once. No cursor stays open: what follows is asked for by key."""

_ATTEMPTS = 1_000
_SIGN = 1 << 63

_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S", bound="UrlCollections")
_Row = dict[str, Any]


def guarded(
    method: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_S, _P], _R]:
    """Explain what fails."""

    @wraps(method)
    def explaining(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with explained(self.name):
            return method(self, *args, **kwargs)

    return explaining


class UrlCollections:
    """An open database, and what of it is about URLs.

    Reading asks the server at once. One thread at a time writes; other processes write at the same
    time, except beside :meth:`sole`.
    """

    def __init__(self, uri: str, *, create: bool = True, read_only: bool = False) -> None:
        self._server = connect(uri, create=create, read_only=read_only)
        self.name = self._server.name
        self.read_only = read_only
        self._lock = threading.RLock()
        self._depth = 0
        self._leases = Leases(self._server.documents("lease"), self.name)
        self._urls = self._server.documents("url")
        self._versions = self._server.documents("version")
        self._visits = self._server.documents("visit")
        self._counters = self._server.documents("counter")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep others from a purge meanwhile. What was written when it fails is harmless."""
        with self._holding(WRITE):
            yield

    @contextmanager
    def sole(self) -> Iterator[None]:
        """Keep others from writing meanwhile."""
        with self._holding(SOLE):
            yield

    @contextmanager
    def _holding(self, kind: str) -> Iterator[None]:
        with self._lock:
            if self._depth:
                yield
                return
            if self.read_only:
                raise StoreError(f"archive {self.name} was opened for reading only")
            with explained(self.name), self._leases.held(kind):
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0

    # -- URLs and streams ---------------------------------------------------------------------

    @guarded
    def url(self, url: str) -> UrlRow | None:
        row = self._urls.find_one({"url": url})
        return _url(row) if row else None

    @guarded
    def urls_by_key(self, key: int) -> list[UrlRow]:
        return [_url(row) for row in self._urls.find({"key": key}).sort("_id", ASCENDING)]

    @guarded
    def url_by_id(self, number: int) -> UrlRow | None:
        row = self._urls.find_one({"_id": _url_key(number)})
        return _url(row) if row else None

    def urls(self, host: str | None = None, prefix: str | None = None) -> Iterator[UrlRow]:
        after, comparison = prefix or "", "$gte"
        while rows := self._urls_from({"url": {comparison: after}}, host):
            for row in rows:
                if prefix and not row.url.startswith(prefix):
                    return
                yield row
            after, comparison = rows[-1].url, "$gt"

    @guarded
    def _urls_from(self, condition: _Row, host: str | None) -> list[UrlRow]:
        if host is not None:
            condition = {"host": host, **condition}
        rows = self._urls.find(condition).sort("url", ASCENDING).limit(PAGE)
        return [_url(row) for row in rows]

    @guarded
    def hosts(self) -> list[str]:
        # Not by distinct(), whose answer is one document of at most 16 MB.
        return sorted(row["_id"] for row in self._urls.aggregate([{"$group": {"_id": "$host"}}]))

    def add_url(self, url: str, key: int, host: str) -> UrlRow:
        with self.writing():
            return _url(self._numbered(self._urls, {"url": url}, {"key": key, "host": host}))

    def _numbered(self, documents: Documents, name: _Row, more: _Row) -> _Row:
        """Return the document that has a name; if there is none, one made with the next number.

        A server that counts wrongly when several ask at once gives a number twice; the unique
        key refuses it then, and the counter is set right.
        """
        for attempt in range(_ATTEMPTS):
            known = documents.find_one(name)
            if known is not None:
                return known
            try:
                if attempt:
                    self._set_right(documents)
                row = {"_id": _url_key(self._next(documents.name)), **name, **more}
                documents.insert_one(row)
            except DuplicateKeyError:
                continue
            return row
        raise StoreError(f"archive {self.name} gives no new numbers; is a counter damaged?")

    def _set_right(self, documents: Documents) -> None:
        for last in documents.find().sort("_id", DESCENDING).limit(1):
            greatest = {"$max": {"last": int(last["_id"], 16)}}
            self._counters.update_one({"_id": documents.name}, greatest, upsert=True)

    def _next(self, counter: str) -> int:
        row = self._counters.find_one_and_update(
            {"_id": counter},
            {"$inc": {"last": 1}},
            upsert=True,
            return_document=ReturnDocument.AFTER,
        )
        return int(row["last"]) if row else 1

    def set_stream(self, url: int, stream: int) -> None:
        with self.writing():
            self._urls.update_one({"_id": _url_key(url)}, {"$set": {"stream": stream}})

    def remove_url(self, url: int) -> None:
        with self.writing():
            self._urls.delete_one({"_id": _url_key(url)})
            self._versions.delete_many(_all_of(url))

    # -- versions and visits ------------------------------------------------------------------

    def add_version(self, version: VersionRow) -> bool:
        row = {
            "_id": _version_key(version.url, version.number),
            "url": version.url,
            "number": version.number,
            "time": float(version.time),
            "status": version.status,
            "digest": version.digest,
            "size": version.size,
            "entry": version.entry,
        }
        with self.writing():
            self._leases.confirm()
            try:
                self._versions.insert_one(row)
            except DuplicateKeyError:
                # The same one, if the driver sent it again because it heard nothing.
                return self._versions.find_one({"_id": row["_id"]}) == row
            return True

    @guarded
    def version(self, url: int, number: int) -> VersionRow | None:
        row = self._versions.find_one({"_id": _version_key(url, number)})
        return _version(row) if row and "url" in row else None

    @guarded
    def versions(self, url: int) -> list[VersionRow]:
        rows = self._versions.find(_all_of(url)).sort("_id", ASCENDING)
        return [_version(row) for row in rows if "url" in row]

    @guarded
    def version_at(self, url: int, time: float | None) -> VersionRow | None:
        condition: _Row = {"url": url}
        if time is not None:
            condition["time"] = {"$lte": float(time)}
        order = [("time", DESCENDING), ("number", DESCENDING)]
        rows = list(self._versions.find(condition).sort(order).limit(1))
        return _version(rows[0]) if rows else None

    @guarded
    def last_number(self, url: int) -> int:
        rows = self._versions.find(_all_of(url), {"_id": 1}).sort("_id", DESCENDING).limit(1)
        return max((int(row["_id"].rpartition("/")[2], 16) for row in rows), default=0)

    def remove_versions(self, url: int, numbers: Sequence[int]) -> None:
        with self.writing():
            if not numbers:
                return
            gone = sorted(numbers)
            if gone[-1] == self.last_number(url):
                key = {"_id": _version_key(url, gone.pop())}
                self._versions.replace_one(key, key)
            self._delete(self._versions, [_version_key(url, number) for number in gone])

    def add_visit(self, visit: VisitRow) -> None:
        key = {"_id": _visit_key(visit.url, visit.time)}
        row = {
            **key,
            "url": visit.url,
            "time": float(visit.time),
            "number": visit.number,
            "status": visit.status,
        }
        with self.writing():
            try:
                self._visits.replace_one(key, row, upsert=True)
            except DuplicateKeyError:  # others wrote it just now
                self._visits.replace_one(key, row)

    @guarded
    def visits(self, url: int) -> list[VisitRow]:
        rows = self._visits.find(_all_of(url)).sort("_id", ASCENDING)
        return [VisitRow(row["url"], row["time"], row["number"], row["status"]) for row in rows]

    def remove_visits(self, url: int, times: Sequence[float]) -> None:
        with self.writing():
            self._delete(self._visits, [_visit_key(url, time) for time in times])

    def _delete(self, documents: Documents, keys: Sequence[str]) -> None:
        for start in range(0, len(keys), PAGE):
            documents.delete_many({"_id": {"$in": list(keys[start : start + PAGE])}})


def _url_key(number: int) -> str:
    return f"{number:016x}"


def _all_of(url: int) -> _Row:
    """Return the condition for the keys that begin with a URL's number."""
    return {"_id": {"$gt": f"{url:016x}/", "$lt": f"{url:016x}0"}}  # "0" comes after "/"


def _version_key(url: int, number: int) -> str:
    return f"{url:016x}/{number:08x}"


def _visit_key(url: int, time: float) -> str:
    (bits,) = struct.unpack(">Q", struct.pack(">d", time + 0.0))
    ascending = bits ^ (2 * _SIGN - 1) if bits & _SIGN else bits | _SIGN
    return f"{url:016x}/{ascending:016x}"


def _url(row: _Row) -> UrlRow:
    return UrlRow(int(row["_id"], 16), row["url"], row["host"], row.get("stream"))


def _version(row: _Row) -> VersionRow:
    return VersionRow(
        row["url"],
        row["number"],
        row["time"],
        row["status"],
        row["digest"],
        row["size"],
        row["entry"],
    )
