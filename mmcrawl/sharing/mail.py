"""What workers send to the coordinator, and what it has for each of them.

* ``inbox``: ``JOB/ID`` of a message; ``bytes``.
* ``mail``: ``JOB/WORKER``; ``bytes``, replaced again and again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pymongo import DESCENDING, ReplaceOne
from pymongo.errors import BulkWriteError

from mmcrawl.sharing.server import Row, StoreServer, bytes_of, duplicates

_MOST_RECEIVED = 8 << 20


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
                (taken,) = duplicates(error)
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
        # Not by upserts: what FerretDB 1.24 answers where one of them fails, no driver understands.
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
