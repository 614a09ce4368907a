"""The MongoDB collections of URLs and versions.

Keys are strings, as wide as the greatest number, so that their order is that of the numbers and
what is asked for most is found by ``_id``, the one index that every server uses:

* ``url``: its number in hexadecimal; fields ``url`` (unique), ``key``, ``host``, ``stream``,
  ``last``, ``late``. ``last`` says from which number on the last version is looked for; it is
  raised now and then, and before versions are removed, so that no number is given again (``purged``
  is the greatest that such a version had). ``visited`` is the time of the visit that was written
  last: see :mod:`~mmcrawl.archive.mongodb.visits`.
* ``version``: ``URL/NUMBER`` in hexadecimal. ``changes`` says, by the number of another version,
  the kinds of blocks that changed since that one, where it was asked. The first one of a URL has
  its ``name``, by which it is known if the document in ``url`` is lost.
* ``counter``: of URLs and of streams, by the name of the collection; the number given last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from pymongo import ASCENDING, DESCENDING, ReturnDocument, UpdateOne
from pymongo.errors import DuplicateKeyError

from mmcrawl.archive.common import PAGE, CommonBackend, guarded
from mmcrawl.archive.mongodb.leases import SOLE, WRITE, Leases
from mmcrawl.archive.mongodb.rows import (
    Row,
    all_of,
    read_kinds,
    read_url,
    read_version,
    url_key,
    url_update,
    version_key,
    written_kinds,
    written_version,
)
from mmcrawl.archive.mongodb.server import connect, explained
from mmcrawl.archive.rows import UrlRow, VersionRow
from mmcrawl.errors import StoreError
from mmcrawl.stores.mongodb import Documents, change_all, insert_new

_RANGES = 200  # of keys that are asked for at once
_ATTEMPTS = 1_000
_MET = 10_000  # URLs that need not be asked for again


class UrlCollections(CommonBackend):
    """An open database, and what of it is about URLs.

    Reading asks the server at once. One thread at a time writes; other processes write at the same
    time, except beside :meth:`sole`.
    """

    others_wait = False

    def __init__(self, uri: str, *, create: bool = True, read_only: bool = False) -> None:
        self._server = connect(uri, create=create, read_only=read_only)
        super().__init__(self._server.name, read_only=read_only)
        self._leases = Leases(self._server.documents("lease"), self.name)
        self._urls = self._server.documents("url")
        self._versions = self._server.documents("version")
        self._visits = self._server.documents("visit")
        self._counters = self._server.documents("counter")
        self._met: OrderedDict[int, Row] = OrderedDict()  # documents of URLs, as read last

    def _guard(self) -> AbstractContextManager[None]:
        return explained(self.name)

    def writing(self) -> AbstractContextManager[None]:
        """Keep others from a purge meanwhile. What was written when it fails is harmless."""
        return self._holding(WRITE)

    def sole(self) -> AbstractContextManager[None]:
        """Keep others from writing meanwhile."""
        return self._holding(SOLE)

    def _holding(self, kind: str) -> AbstractContextManager[None]:
        return self._changing(self._leases.held(kind))

    @contextmanager
    def _withdrawn_if_late(
        self, documents: Documents, rows: Sequence[Row], own: str
    ) -> Iterator[None]:
        """Take back what is written inside if this process was taken for dead before it was.

        Another may have purged meanwhile what the rows refer to.

        Args:
            documents, rows: What is written.
            own: The field that tells a row from that of another with the same key.
        """
        yield
        try:
            self._leases.confirm()
        except StoreError:
            for row in rows:
                documents.delete_one({"_id": row["_id"], own: row[own]})
            raise

    # -- URLs and streams ---------------------------------------------------------------------

    @guarded
    def url(self, url: str) -> UrlRow | None:
        row = self._urls.find_one({"url": url})
        return read_url(row) if row else None

    @guarded
    def urls_named(self, urls: Iterable[str]) -> dict[str, UrlRow]:
        rows = map(self._noted, self._named(self._urls, "url", list(urls)))
        return {row.url: row for row in rows}

    def _noted(self, row: Row) -> UrlRow:
        """Read a URL, and take note of what its document says beside that."""
        url = read_url(row)
        self._met[url.id] = row
        if len(self._met) > _MET:
            self._met.popitem(last=False)
        return url

    def _documents_of(self, urls: Iterable[int]) -> dict[int, Row]:
        """Return the documents of URLs, those that were met as they were then."""
        found = {url: self._met[url] for url in set(urls) if url in self._met}
        missing = [url_key(url) for url in set(urls) - set(found)]
        for row in self._named(self._urls, "_id", missing):
            found[self._noted(row).id] = row
        return found

    def _named(self, documents: Documents, field: str, names: Sequence[str]) -> Iterator[Row]:
        for start in range(0, len(names), PAGE):
            condition = {field: {"$in": list(names[start : start + PAGE])}}
            yield from documents.find(condition).batch_size(PAGE)

    @guarded
    def urls_by_key(self, key: int) -> list[UrlRow]:
        return [read_url(row) for row in self._urls.find({"key": key}).sort("_id", ASCENDING)]

    @guarded
    def url_by_id(self, number: int) -> UrlRow | None:
        row = self._urls.find_one({"_id": url_key(number)})
        return read_url(row) if row else None

    @guarded
    def _urls_from(self, after: str, inclusive: bool, host: str | None) -> list[UrlRow]:
        condition: Row = {"url": {"$gte" if inclusive else "$gt": after}}
        if host is not None:
            condition = {"host": host, **condition}
        rows = self._urls.find(condition).sort("url", ASCENDING).limit(PAGE)
        return [read_url(row) for row in rows]

    @guarded
    def hosts(self) -> list[str]:
        # Not by distinct(), whose answer is one document of at most 16 MB.
        return sorted(row["_id"] for row in self._urls.aggregate([{"$group": {"_id": "$host"}}]))

    def add_urls(self, urls: Mapping[str, tuple[int, str]]) -> dict[str, UrlRow]:
        with self.writing():
            rows = [
                {"url": url, "key": key, "host": host, "last": 0}
                for url, (key, host) in urls.items()
            ]
            made = map(self._noted, self._numbered(self._urls, "url", rows))
            return {row.url: row for row in made}

    def _numbered(self, documents: Documents, field: str, rows: Sequence[Row]) -> list[Row]:
        """Insert documents with the next numbers; where there is one of the same name, return that.

        A server that counts wrongly when several ask at once gives a number twice; the unique
        key refuses it then, and the counter is set right.
        """
        found: list[Row] = []
        for attempt in range(_ATTEMPTS):
            if attempt:
                found += self._named(documents, field, [row[field] for row in rows])
                known = {row[field] for row in found}
                rows = [row for row in rows if row[field] not in known]
            if not rows:
                return found
            try:
                if attempt:
                    self._set_right(documents)
                first = self._next(documents.name, len(rows))
            except DuplicateKeyError:  # another process made the counter just now
                continue
            made = [{"_id": url_key(first + n), **row} for n, row in enumerate(rows)]
            refused = insert_new(documents, made)
            found += [row for n, row in enumerate(made) if n not in refused]
            rows = [row for n, row in enumerate(rows) if n in refused]
        raise StoreError(f"archive {self.name} gives no new numbers; is a counter damaged?")

    def _set_right(self, documents: Documents) -> None:
        for last in documents.find().sort("_id", DESCENDING).limit(1):
            greatest = {"$max": {"last": int(last["_id"], 16)}}
            self._counters.update_one({"_id": documents.name}, greatest, upsert=True)

    def _next(self, counter: str, count: int) -> int:
        """Take numbers; return the first."""
        row = self._counters.find_one_and_update(
            {"_id": counter},
            {"$inc": {"last": count}},
            upsert=True,
            return_document=ReturnDocument.AFTER,
        )
        return (int(row["last"]) if row else count) - count + 1

    def note_urls(self, rows: Sequence[UrlRow]) -> None:
        with self.writing():
            change_all(self._urls, [url_update(row) for row in rows])

    def remove_url(self, url: int) -> None:
        with self.writing():
            self._urls.delete_one({"_id": url_key(url)})
            self._versions.delete_many(all_of(url))

    # -- versions and visits ------------------------------------------------------------------

    def add_versions(self, versions: Sequence[VersionRow]) -> list[VersionRow]:
        with self.writing():
            if not versions:
                return []
            rows = self._written(versions)
            with self._withdrawn_if_late(self._versions, rows, "entry"):
                refused = [rows[n] for n in sorted(insert_new(self._versions, rows))]
            there = self._named(self._versions, "_id", [row["_id"] for row in refused])
            # The same one, if the driver sent it again because it heard nothing.
            known = {row["_id"]: read_version(row) for row in there}
            return [
                read_version(row) for row in refused if read_version(row) != known.get(row["_id"])
            ]

    def _written(self, versions: Iterable[VersionRow]) -> list[Row]:
        """Return versions as documents, the first of a URL with its name."""
        rows = [written_version(version) for version in versions]
        first = [row for row in rows if row["number"] == 1]
        named = self._documents_of(row["url"] for row in first)
        for row in first:
            if row["url"] in named:
                row["name"] = named[row["url"]]["url"]
        return rows

    @guarded
    def version(self, url: int, number: int) -> VersionRow | None:
        row = self._versions.find_one({"_id": version_key(url, number)})
        return read_version(row) if row else None

    @guarded
    def versions(self, url: int) -> list[VersionRow]:
        return [
            read_version(row) for row in self._versions.find(all_of(url)).sort("_id", ASCENDING)
        ]

    @guarded
    def version_at(self, url: int, time: float | None) -> VersionRow | None:
        condition: Row = {"url": url}
        if time is not None:
            condition["time"] = {"$lte": float(time)}
        order = [("time", DESCENDING), ("number", DESCENDING)]
        return self._first_version(condition, order)

    @guarded
    def version_after(self, url: int, time: float) -> VersionRow | None:
        order = [("time", ASCENDING), ("number", ASCENDING)]
        return self._first_version({"url": url, "time": {"$gt": float(time)}}, order)

    def _first_version(self, condition: Row, order: Sequence[tuple[str, int]]) -> VersionRow | None:
        rows = list(self._versions.find(condition).sort(order).limit(1))
        return read_version(rows[0]) if rows else None

    @guarded
    def last_versions(self, urls: Sequence[UrlRow]) -> dict[int, VersionRow]:
        found: dict[int, VersionRow] = {}
        keys = [(version_key(url.id, url.last), f"{url.id:016x}0") for url in urls]
        for row in self._in_ranges(self._versions, keys):
            version = read_version(row)
            if version.url not in found or found[version.url].number < version.number:
                found[version.url] = version
        return found

    def _in_ranges(
        self,
        documents: Documents,
        ranges: Sequence[tuple[str, str]],
        shown: Mapping[str, int] | None = None,
    ) -> Iterator[Row]:
        """Yield the documents whose keys are from one up to, not including, another."""
        for start in range(0, len(ranges), _RANGES):
            some = [{"_id": {"$gte": a, "$lt": b}} for a, b in ranges[start : start + _RANGES]]
            yield from documents.find({"$or": some}, shown).batch_size(PAGE)

    @guarded
    def last_number(self, url: int) -> int:
        rows = self._versions.find(all_of(url), {"_id": 1}).sort("_id", DESCENDING).limit(1)
        greatest = max((int(row["_id"].rpartition("/")[2], 16) for row in rows), default=0)
        known = self.url_by_id(url)
        return max(greatest, known.last if known is not None else 0)

    def remove_versions(self, url: int, numbers: Sequence[int]) -> None:
        with self.writing():
            known = self.url_by_id(url)
            last = self.last_number(url)
            self._urls.update_one({"_id": url_key(url)}, {"$max": {"last": last, "purged": last}})
            self._delete(self._versions, [version_key(url, number) for number in numbers])
            first = self._versions.find(all_of(url), {"_id": 1}).sort("_id", ASCENDING).limit(1)
            if known is not None:
                for row in first:
                    self._versions.update_one(row, {"$set": {"name": known.url}})

    @guarded
    def changes(self, url: int) -> dict[tuple[int, int], frozenset[str]]:
        rows = self._versions.find(all_of(url), {"number": 1, "changes": 1})
        return {
            (int(old), row["number"]): kinds
            for row in rows
            for old, written in row.get("changes", {}).items()
            if (kinds := read_kinds(row["_id"], int(old), written)) is not None
        }

    def note_changes(self, url: int, changes: Mapping[tuple[int, int], frozenset[str]]) -> None:
        with self.writing():
            writes = []
            for (old, new), kinds in changes.items():
                key = version_key(url, new)
                noted = {f"changes.{old}": written_kinds(key, old, kinds)}
                writes.append(UpdateOne({"_id": key}, {"$set": noted}))
            change_all(self._versions, writes)

    def _delete(self, documents: Documents, keys: Sequence[str]) -> None:
        for start in range(0, len(keys), PAGE):
            documents.delete_many({"_id": {"$in": list(keys[start : start + PAGE])}})
