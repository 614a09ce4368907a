"""The log of each partition, and the snapshots that shorten it.

* ``log``: ``JOB/PART/NUMBER/EPOCH``; ``bytes``, rows of the partition that changed
  (:mod:`~mmcrawl.cluster.changes`), written by its owner in that epoch.
* ``chunk``: ``JOB/PART/NUMBER/EPOCH/INDEX``, all rows as they were before the record of a number.

What counts the lease says: the snapshot that it names, and the records from its `first` to before
its `next`. Of several records of one number that of the last epoch counts: the others are of owners
that were replaced before they could make them count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from mmcrawl.cluster.changes import Rows
from mmcrawl.cluster.leases import Lease
from mmcrawl.cluster.store import SharedStore, name_of


@dataclass(slots=True)
class Stored:
    """A partition as its snapshot and log have it.

    Attributes:
        lease: of which it was read.
        rows: encoded, in the order in which they are to be put.
        fault: why it cannot be read, "" if it can.
    """

    lease: Lease
    rows: list[bytes] = field(default_factory=list)
    fault: str = ""

    def decoded(self) -> Iterator[Rows]:
        """Yield the rows.

        Raises:
            ValueError: they are damaged.
        """
        return map(Rows.decode, self.rows)


class Logs:
    """The logs of a job.

    Args:
        documents: where they are.
    """

    def __init__(self, documents: SharedStore) -> None:
        self._documents = documents

    def append(self, records: Mapping[Lease, bytes]) -> list[Lease]:
        """Write the next records of partitions; return the leases with which they count."""
        self._documents.insert(
            "log",
            [
                self._documents.row_of(
                    lease.part,
                    f"{lease.next:012d}/{lease.epoch:06d}",
                    epoch=lease.epoch,
                    owner=lease.owner,
                    bytes=data,
                )
                for lease, data in records.items()
            ],
        )
        return [
            replace(lease, next=lease.next + 1, log=lease.log + len(data))
            for lease, data in records.items()
        ]

    def read(self, leases: Collection[Lease]) -> list[Stored]:
        """Return partitions as they stand. One round trip, and one for each snapshot.

        Of a lease that is not one's own the log may be shortened meanwhile, which is a fault.
        """
        records: dict[int, dict[int, bytes]] = {lease.part: {} for lease in leases}
        for row in self._documents.at("log", records.keys()):
            part, number = map(int, row["_id"].split("/")[1:3])
            records[part][number] = row.get("bytes", b"")  # those of later epochs come later
        return [self._stored(lease, records[lease.part]) for lease in leases]

    def _stored(self, lease: Lease, records: Mapping[int, bytes]) -> Stored:
        stored = Stored(lease)
        if lease.snapshot:
            chunks = self._documents.all("chunk", lease.snapshot)
            stored.rows = [row["bytes"] for row in chunks]
            if len(chunks) != lease.chunks:
                stored.fault = f"{lease.chunks - len(chunks)} chunks of its snapshot are missing"
        for number in range(lease.first, lease.next):
            if not records.get(number):
                stored.fault = f"record {number} of its log is missing"
                break
            stored.rows.append(records[number])
        return stored

    def write_snapshot(self, lease: Lease, chunks: Iterable[bytes]) -> Lease:
        """Write a snapshot of a partition as it stands; return the lease with which it counts."""
        name = f"{name_of(lease.part)}/{lease.next:012d}/{lease.epoch:06d}"
        size = count = 0
        for count, chunk in enumerate(chunks, 1):
            size += len(chunk)
            self._documents.put("chunk", f"{name}/{count - 1:06d}", {"bytes": chunk})
        return replace(lease, first=lease.next, snapshot=name, chunks=count, size=size, log=0)

    def shorten(self, lease: Lease) -> None:
        """Remove what the snapshot of a partition stands for."""
        first = f"{name_of(lease.part)}/"
        self._documents.delete_between("log", first, f"{first}{lease.first:012d}")
        self._documents.delete_between("chunk", first, lease.snapshot)
