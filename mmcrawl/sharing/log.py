"""The log of a job: entries numbered from 0, each decided by whoever inserts it first.

* ``log``: ``JOB/NUMBER``; ``writer``, the random name of who appended it, and ``bytes``.

Entries that a snapshot covers are forgotten. Their numbers must not be given again to a coordinator
that slept meanwhile: after it has inserted its entry, it looks for a snapshot with a greater
number. That stands before any entry is forgotten, so whoever inserts in the place of a forgotten
one finds it, and takes its own back.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

from pymongo import DESCENDING
from pymongo.errors import DuplicateKeyError

from mmcrawl.sharing.server import Row, StoreServer, bytes_of


class Log(StoreServer):
    """A shared store's log."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._writer = secrets.token_hex(8)

    def append(self, number: int, entry: bytes) -> bool:
        """Add an entry; return False if that of somebody else stands there, or stood there.

        One that this shared store has appended already is recognised. Two round trips.

        Args:
            number: from 0; the one after the last entry read or appended.
            entry: at most 12 MB.

        Raises:
            StoreError: the server refuses, is away for too long, or the entry is too large.
        """
        self._refuse_long(len(entry), "an entry of the log")
        key = self._number_key(number)
        row = {"_id": key, "writer": self._writer, "bytes": entry}
        if not self._patiently(lambda: self._appended(row)):
            return False
        if self._newest_head() > number:
            self._delete_all("log", {"_id": key, "writer": self._writer})
            return False
        return True

    def _appended(self, row: Row) -> bool:
        try:
            self._table("log").insert_one(row)
        except DuplicateKeyError:
            return self._table("log").find_one({"_id": row["_id"]}) == row
        return True

    def entries(self, first: int) -> Iterator[tuple[int, bytes]]:
        """Yield number and bytes of the entries from `first` on, until one is missing.

        Those that are appended meanwhile are met too. An entry forgotten because of a newer
        snapshot is missing as well; `append` after it returns False.
        """
        number = first
        for row in self._rows("log", lambda last: self._from(first, last)):
            if row["_id"] != self._number_key(number):
                break
            yield number, bytes_of(row)
            number += 1
        while (row_now := self._one("log", self._number_key(number))) is not None:
            yield number, bytes_of(row_now)
            number += 1

    def _from(self, first: int, last: Row | None) -> Row:
        end = self._all()["_id"]["$lt"]
        if last is None:
            return {"_id": {"$gte": self._number_key(first), "$lt": end}}
        return {"_id": {"$gt": last["_id"], "$lt": end}}

    def trim(self, before: int) -> None:
        """Forget the entries before a number, as far as a snapshot covers them."""
        end = self._number_key(min(before, self._newest_head()))
        self._delete_all("log", {"_id": {"$gt": self._key(""), "$lt": end}})

    def _newest_head(self) -> int:
        """Return the number of the newest snapshot, 0 if there is none."""
        heads = self._table("snapshot")

        def attempt() -> Row | None:
            return heads.find_one(self._all(), {"_id": 1}, sort=[("_id", DESCENDING)])

        head = self._patiently(attempt)
        return int(self._named(head["_id"])) if head else 0
