"""The log of a job, and what workers and the coordinator send to each other.

* ``log``: ``JOB/NUMBER``; ``writer``, the random name of who appended it, and ``bytes``. Entries
  are numbered from 0, and each is decided by whoever inserts it first.
* ``inbox``: ``JOB/ID`` of a message to the coordinator; ``bytes``.
* ``mail``: ``JOB/WORKER``, what the coordinator has for it; ``bytes``, replaced again and again.

Entries that a snapshot covers are forgotten. Their numbers must not be given again to a coordinator
that slept meanwhile: after it has inserted its entry, it looks for a snapshot with a greater
number. That stands before any entry is forgotten, so whoever inserts in the place of a forgotten
one finds it, and takes its own back.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pymongo import DESCENDING, ReplaceOne
from pymongo.errors import BulkWriteError, DuplicateKeyError

from mmcrawl.sharing.server import Row, StoreServer, bytes_of
from mmcrawl.stores.mongodb import only_duplicates

_MOST_RECEIVED = 8 << 20  # bytes


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
        if self.newest_snapshot() > number:
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
        end = self._number_key(min(before, self.newest_snapshot()))
        self._delete_all("log", {"_id": {"$gt": self._key(""), "$lt": end}})

    def newest_snapshot(self) -> int:
        """Return the number of the newest snapshot, 0 if there is none."""
        heads = self._table("snapshot")

        def attempt() -> Row | None:
            return heads.find_one(self._all(), {"_id": 1}, sort=[("_id", DESCENDING)])

        head = self._patiently(attempt)
        return int(self._named(head["_id"])) if head else 0


class Inbox(StoreServer):
    """A shared store's inbox and mailboxes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._mailboxes: set[str] = set()

    # -- to the coordinator -------------------------------------------------------------------

    def send(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Put messages into the inbox. One round trip.

        A message that is there already is not put there again. One that was received and removed
        can come again, where the connection was lost while it was sent: receivers know it by its
        id.

        Args:
            messages: ids and bytes, at most 12 MB. Ids of one sender ascend; the earlier ones are
                visible no later than the later ones.
        """
        rows: list[Row] = []
        for name, message in messages:
            self._refuse_long(len(message), "a message")
            rows.append({"_id": self._key(name), "bytes": message})
        if rows:
            self._patiently(lambda: self._send(rows))

    def _send(self, rows: Sequence[Row]) -> None:
        """Insert in order; after a broken connection, what is missing."""
        while rows:
            try:
                self._table("inbox").insert_many(rows, ordered=True)
            except BulkWriteError as error:
                (taken,) = only_duplicates(error)
                rows = rows[taken + 1 :]
                keys = {"_id": {"$in": [row["_id"] for row in rows]}}
                known = {row["_id"] for row in self._table("inbox").find(keys, {"_id": 1})}
                rows = [row for row in rows if row["_id"] not in known]
            else:
                break

    def receive(self) -> list[tuple[str, bytes]]:
        """Return the messages sorted by id; where they are more than 8 MB, the first of them.

        One round trip, for up to 500 messages.
        """
        # From the last to the first: whoever reads the other way round may pass the place of a
        # message before it is there, and still meet a later one of the same sender.
        kept: deque[tuple[str, bytes]] = deque()
        size = 0
        for row in self._rows("inbox", self._before, {"_id": DESCENDING}):
            kept.appendleft((self._named(row["_id"]), bytes_of(row)))
            size += len(kept[0][1])
            while size > _MOST_RECEIVED and len(kept) > 1:
                size -= len(kept.pop()[1])
        return list(kept)

    def _before(self, last: Row | None) -> Row:
        return self._all() if last is None else {"_id": {**self._all()["_id"], "$lt": last["_id"]}}

    def remove(self, ids: Iterable[str]) -> None:
        """Take messages out of the inbox. One round trip."""
        if keys := [self._key(name) for name in ids]:
            self._delete_all("inbox", {"_id": {"$in": keys}})

    # -- to the workers -----------------------------------------------------------------------

    def put_mail(self, mails: Mapping[str, bytes]) -> None:
        """Give workers their mail in place of what each had. One round trip.

        Args:
            mails: bytes for each worker, at most 12 MB.
        """
        rows: dict[str, Row] = {}
        for worker, mail in mails.items():
            self._refuse_long(len(mail), "mail")
            rows[worker] = {"_id": self._key(worker), "bytes": mail}
        new = [row for worker, row in rows.items() if worker not in self._mailboxes]
        taken = {row["_id"] for row in self._insert_new("mail", new)}
        inserted = {row["_id"] for row in new} - taken
        self._replace([row for row in rows.values() if row["_id"] not in inserted])
        self._mailboxes.update(rows)

    def _replace(self, rows: Sequence[Row]) -> None:
        # Not by upserts: see `mmcrawl.stores.ferretdb`.
        if not rows:
            return
        changes = [ReplaceOne({"_id": row["_id"]}, row) for row in rows]
        if self._change_all("mail", changes) < len(rows):  # others have forgotten one
            self._insert_new("mail", rows)

    def mail(self, worker: str) -> bytes | None:
        """Return a worker's mail. One round trip."""
        row = self._one("mail", self._key(worker))
        return None if row is None else bytes_of(row)

    def _forget_mail(self, worker: str) -> None:
        self._mailboxes.discard(worker)
        self._delete_all("mail", {"_id": self._key(worker)})
