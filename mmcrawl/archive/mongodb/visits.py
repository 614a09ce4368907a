"""The MongoDB collection of visits, which found what was known.

* ``visit``: ``URL/TIME``, the time's bits such that they ascend with it. Where an answer came with
  nothing, there is no field ``head``. ``after`` is the time of the visit that was written before it
  to the same URL, so that one that is lost is missed: by the next, or by ``visited`` of the URL's
  document. Only of two that two processes write at the same moment, one is missed by nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymongo import ASCENDING, DESCENDING, UpdateOne
from pymongo.errors import BulkWriteError

from mmcrawl.archive.common import guarded
from mmcrawl.archive.mongodb.rows import (
    Row,
    all_of,
    read_visit,
    url_key,
    visit_key,
    written_visit,
)
from mmcrawl.archive.mongodb.urls import UrlCollections
from mmcrawl.archive.rows import VersionRow, VisitRow
from mmcrawl.stores.mongodb import change_all, only_duplicates


class VisitCollections(UrlCollections):
    """What of an open database is about URLs, versions and visits."""

    def add_visits(self, visits: Sequence[VisitRow]) -> None:
        with self.writing():
            if not visits:
                return
            last = {
                url: row.get("visited")
                for url, row in self._documents_of(visit.url for visit in visits).items()
            }
            writes: dict[str, UpdateOne] = {}
            for visit in visits:
                row = written_visit(visit)
                writes[row["_id"]] = _upsert(row, last.get(visit.url))
                last[visit.url] = row["time"]
            self._write_visits(list(writes.values()))
            self._note_visited(last)

    def _write_visits(self, writes: Sequence[UpdateOne]) -> None:
        try:
            change_all(self._visits, writes)
        except BulkWriteError as error:
            only_duplicates(error)  # others wrote them just now
            change_all(self._visits, writes)

    def _note_visited(self, times: Mapping[int, float | None]) -> None:
        for url, time in times.items():
            if url in self._met:
                self._met[url] = {**self._met[url], "visited": time}
        updates = [
            UpdateOne({"_id": url_key(url)}, {"$set": {"visited": time}})
            for url, time in times.items()
        ]
        change_all(self._urls, updates)

    @guarded
    def visits(self, url: int) -> list[VisitRow]:
        return [read_visit(row) for row in self._visits.find(all_of(url)).sort("_id", ASCENDING)]

    @guarded
    def visit_at(self, url: int, time: float | None) -> VisitRow | None:
        condition = all_of(url)
        if time is not None:
            condition["_id"] |= {"$lte": visit_key(url, time)}
        return self._first_visit(condition, DESCENDING)

    @guarded
    def visit_after(self, url: int, time: float) -> VisitRow | None:
        after = {"$gt": visit_key(url, time), "$lt": f"{url:016x}0"}
        return self._first_visit({"_id": after}, ASCENDING)

    @guarded
    def visit_with_head(self, version: VersionRow, after: float, until: float) -> VisitRow | None:
        span = {"$gt": visit_key(version.url, after), "$lte": visit_key(version.url, until)}
        condition = {"_id": span, "number": version.number, "head": {"$exists": True}}
        return self._first_visit(condition, DESCENDING)

    def _first_visit(self, condition: Row, order: int) -> VisitRow | None:
        rows = list(self._visits.find(condition).sort("_id", order).limit(1))
        return read_visit(rows[0]) if rows else None

    @guarded
    def visited_since(self, times: Mapping[int, float]) -> set[int]:
        keys = [(visit_key(url, time), f"{url:016x}0") for url, time in times.items()]
        rows = self._in_ranges(self._visits, keys, {"_id": 1})
        return {int(row["_id"].partition("/")[0], 16) for row in rows}

    def remove_visits(self, url: int, times: Sequence[float]) -> None:
        with self.writing():
            removed = {float(time) for time in times}
            rows = list(self._visits.find(all_of(url), {"time": 1, "after": 1}))
            before = {row["time"]: row.get("after") for row in rows}

            def left(time: float | None) -> float | None:
                passed = set()  # those written at one time by several may lead in a ring
                while time in removed and time not in passed:
                    passed.add(time)
                    time = before.get(time)
                return None if time in removed else time

            writes = [
                UpdateOne({"_id": row["_id"]}, {"$set": {"after": left(row["after"])}})
                for row in rows
                if row.get("after") in removed and row["time"] not in removed
            ]
            change_all(self._visits, writes)
            known = self._urls.find_one({"_id": url_key(url)}) or {}
            if known.get("visited") in removed:
                self._note_visited({url: left(known["visited"])})
            self._delete(self._visits, [visit_key(url, time) for time in times])


def _upsert(row: Row, last: float | None) -> UpdateOne:
    """Return what writes a visit; one that is written again stays behind the same as before."""
    change: dict[str, Any] = {"$set": {name: row[name] for name in row if name != "_id"}}
    if "head" not in row:
        change["$unset"] = {"head": ""}
    if last is not None and last != row["time"]:
        change["$setOnInsert"] = {"after": last}
    return UpdateOne({"_id": row["_id"]}, change, upsert=True)
