"""The log of each part, and the snapshots that shorten it.

* ``log``: ``JOB/PART/NUMBER``; ``at``, ``term``, ``owner`` and ``bytes``, rows of the part that
  changed (:mod:`~mmcrawl.cluster.changes`). Entries are numbered from 0, and each is decided by who
  inserts it first. One without bytes says that a worker has taken the part over: it begins a term.
* ``snapshot``: ``JOB/PART/NUMBER``, the head; all rows as they were before the entry of its number
  are in ``chunk``: ``JOB/PART/NUMBER/TOKEN/INDEX``. The head is written last.

So a part belongs to who wrote its newest entry without bytes, and somebody who was replaced without
knowing is told so by the number of the next entry, which is taken: that of the one who replaced it.
Therefore entries without bytes stay when those that a snapshot covers are removed. A worker that
takes a part over which it read before the snapshot may do so in the place of an entry that was
removed; nobody reads that, and `claim` finds it out.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mmcrawl.cluster.changes import Rows
from mmcrawl.cluster.store import Row, SharedStore, name_of


@dataclass(slots=True)
class StoredPart:
    """A part as the shared store has it.

    Attributes:
        number: of the next entry of its log.
        term: how often it was taken over.
        owner: name of the worker that did so last, "" if nobody did.
        snapshot: number of its snapshot, 0 if there is none.
        size: bytes of the snapshot.
        log: bytes of the entries after it.
        rows: encoded, in the order in which they are to be put.
        fault: why it cannot be read, "" if it can.
    """

    number: int = 0
    term: int = 0
    owner: str = ""
    snapshot: int = 0
    size: int = 0
    log: int = 0
    rows: list[bytes] = field(default_factory=list)
    fault: str = ""

    def decoded(self) -> Iterator[Rows]:
        """Yield the rows.

        Raises:
            ValueError: they are damaged.
        """
        return map(Rows.decode, self.rows)


class PartLogs:
    """The logs of the parts of a job.

    Args:
        documents: where they are.
        name: of the worker.
        keep_alive: gives a sign of the worker in the midst of something long, if it is time.
    """

    def __init__(
        self, documents: SharedStore, name: str, keep_alive: Callable[[], object] = lambda: None
    ) -> None:
        self._documents = documents
        self._name, self._keep_alive = name, keep_alive

    def read(self, parts: Collection[int]) -> dict[int, StoredPart]:
        """Return parts as they stand. Two round trips, and one for each chunk of a snapshot.

        Those whose owners shortened their logs meanwhile are left out, if they cannot be read.
        """
        heads = self._heads(parts)
        found = self._read(parts, heads)
        if faulty := [part for part, stored in found.items() if stored.fault]:
            now = self._heads(faulty)
            for part in faulty:
                if now.get(part) != heads.get(part):
                    del found[part]
        return found

    def _read(self, parts: Collection[int], heads: Mapping[int, Row]) -> dict[int, StoredPart]:
        found: dict[int, StoredPart] = {part: StoredPart() for part in parts}
        for part, head in heads.items():
            try:
                self._read_snapshot(found[part], head)
            except (LookupError, TypeError, ValueError) as error:
                found[part].fault = f"the head of its snapshot is damaged: {error!r}"
        for row in self._documents.at("log", parts):
            part, number = _numbers(row)
            stored = found[part]
            if number < stored.snapshot:
                continue
            if number != stored.number and not stored.fault:
                stored.fault = f"entry {stored.number} of its log is missing"
            stored.number = number + 1
            self._keep_alive()
            try:
                stored.term, stored.owner = int(row["term"]), str(row["owner"])
                data = bytes(row["bytes"])
            except (LookupError, TypeError, ValueError) as error:
                stored.fault = f"entry {number} of its log is damaged: {error!r}"
                continue
            if data:
                stored.rows.append(data)
                stored.log += len(data)
        return found

    def claim(self, parts: Mapping[int, StoredPart]) -> set[int]:
        """Take parts over as they were read; return those that nobody has changed meanwhile."""
        entries = {part: (stored.number, stored.term + 1, b"") for part, stored in parts.items()}
        lost = self.append(entries)
        won = parts.keys() - lost
        heads = self._heads(won)
        return {
            part
            for part in won
            if part not in heads or _numbers(heads[part])[1] <= parts[part].number
        }

    def append(self, entries: Mapping[int, tuple[int, int, bytes]]) -> set[int]:
        """Add an entry to the logs of parts; return those that are others' by now.

        Args:
            entries: number, term and bytes of each.
        """
        rows = [
            self._documents.row_of(
                part, f"{number:012d}", term=term, owner=self._name, size=len(data), bytes=data
            )
            for part, (number, term, data) in entries.items()
        ]
        lost = set()
        taken = self._documents.insert("log", rows)
        self._keep_alive()
        there = self._documents.some("log", [key.partition("/")[2] for key in taken])
        for key in taken:
            part, _ = _numbers({"_id": key})
            row, own = there.get(key), (entries[part][1], self._name)
            if row is None or (row["term"], row["owner"]) != own:
                lost.add(part)
        return lost

    def save_snapshot(self, part: int, number: int, term: int, chunks: Iterable[bytes]) -> int:
        """Keep a snapshot in place of an older one, and remove the entries that it covers.

        Args:
            part: its number.
            number: of the first entry that is not in it.
            term: in which it is made.
            chunks: encoded rows.

        Returns:
            Its bytes.
        """
        name, token = f"{name_of(part)}/{number:012d}", secrets.token_hex(4)
        size = count = 0
        for count, chunk in enumerate(chunks, 1):
            size += len(chunk)
            self._documents.insert(
                "chunk",
                [{"_id": self._documents.key(f"{name}/{token}/{count - 1:06d}"), "bytes": chunk}],
            )
        told = {"term": term, "owner": self._name, "token": token, "chunks": count, "size": size}
        head = self._documents.row_of(part, f"{number:012d}", **told)
        self._documents.insert("snapshot", [head])
        first = f"{name_of(part)}/"
        self._documents.delete_between("log", first, name, ("size", ">=", 1))
        for table in ("snapshot", "chunk"):
            self._documents.delete_between(table, first, name)
        return size

    def _heads(self, parts: Collection[int]) -> dict[int, Row]:
        """Return the newest head of each part that has one."""
        return {_numbers(row)[0]: row for row in self._documents.at("snapshot", parts)}

    def _read_snapshot(self, stored: StoredPart, head: Row) -> None:
        part, stored.snapshot = _numbers(head)
        stored.number, stored.size = stored.snapshot, head["size"]
        stored.term, stored.owner = head["term"], head["owner"]
        for index in range(head["chunks"]):
            name = f"{name_of(part)}/{stored.snapshot:012d}/{head['token']}/{index:06d}"
            self._keep_alive()
            row = self._documents.one("chunk", name)
            if row is None:
                stored.fault = f"chunk {index} of its snapshot is missing"
                return
            stored.rows.append(bytes(row["bytes"]))


def _numbers(row: Row) -> tuple[int, int]:
    """Return the part and the number that the key of a document names."""
    part, number = row["_id"].split("/")[1:3]
    return int(part), int(number)
