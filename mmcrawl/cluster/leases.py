"""The owner and the log of each partition.

* ``lease``: ``JOB/PART``, changed by compare-and-set. It is made before the first message for the
  partition, and stays.
* ``log``: ``JOB/PART/NUMBER/EPOCH``; ``bytes``, rows of the partition that changed
  (:mod:`~mmcrawl.cluster.changes`), written by its owner in that epoch.

An owner changes the lease under its `epoch`; once another worker has taken it, the change fails.
Records count from `first` to before `next`; of several with one number, that of the last epoch, as
the others are of owners that were replaced before they could make them count. docs/protocol.md has
the rules.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from mmcrawl.cluster.changes import Rows
from mmcrawl.cluster.store import Row, SharedStore, name_of
from mmcrawl.crawl.protocol import HARVEST_PAGES, Totals


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease of a partition, as it was read or written last."""

    partition: int
    owner: str = ""  # name of a worker, "" for none
    epoch: int = 0  # how often it was taken
    version: int = 0  # how often it was changed
    first: int = 0  # number of the first record of its log that counts
    next: int = 0  # number of the next one
    size: int = 0  # bytes of the snapshot that the log begins with, 0 for none
    log: int = 0  # bytes of the records after it
    busy: int = 0  # links that wait and may be fetched, or are being fetched
    alone: int = 0  # links that wait for hosts that are left alone
    pages: int = 0  # crawled
    facts: str = "{}"  # more for those who look: a JSON object
    fault: str = ""  # why it cannot be read; nobody takes it then

    @property
    def plain_facts(self) -> dict[str, Any]:
        """The facts as plain data."""
        found: dict[str, Any] = json.loads(self.facts)
        return found


_FIELDS = tuple(Lease.__dataclass_fields__)[1:]
_SUMS = ("pages", "media_pages", "waiting", "held", "patterns", "errors")


def leases_of(
    rows: Mapping[str, Row], known: Mapping[int, Lease] = MappingProxyType({})
) -> dict[int, Lease]:
    """Return the leases of documents, by partition; one that is damaged has a fault.

    Of those that have not changed since they were `known` nothing is read again.
    """
    found = {}
    for name, row in rows.items():
        partition = int(name)
        if partition in known and known[partition].version == row.get("version"):
            found[partition] = known[partition]
            continue
        try:
            found[partition] = Lease(partition, *(row[name] for name in _FIELDS))
            found[partition].plain_facts  # noqa: B018 - it is read
        except (KeyError, ValueError) as error:
            fault = f"its lease is damaged: {error!r}"
            found[partition] = Lease(partition, pages=row.get("pages", 0), fault=fault)
    return found


def totals_of(leases: Iterable[Lease]) -> Totals:
    """Return the totals of all partitions."""
    told = [one.plain_facts.get("totals") for one in leases if not one.fault]
    some = [Totals(**one) for one in told if one]
    media, refused = Counter[str](), Counter[str]()
    for one in some:
        media.update(one.media)
        refused.update(one.refused)
    recent = [min(one.pages, HARVEST_PAGES) for one in some]
    harvest = sum(one.harvest_rate * of for one, of in zip(some, recent, strict=True))
    return Totals(
        **{name: sum(getattr(one, name) for one in some) for name in _SUMS},
        media=dict(media),
        refused=dict(refused),
        harvest_rate=harvest / max(sum(recent), 1),
    )


class Leases:
    """The leases of a job; `own` are those of a worker, `seen` all as they were read last."""

    def __init__(self, documents: SharedStore, name: str) -> None:
        self._documents, self._name = documents, name
        self.seen: dict[int, Lease] = {}
        self.own: dict[int, Lease] = {}

    def read(self) -> dict[int, Lease]:
        """Return all, as they are now; what that says of its own is for the caller."""
        self.seen = leases_of(self._documents.all("lease"), self.seen)
        return self.seen

    def make(self, partitions: Iterable[int], busy: int = 0) -> None:
        """Make the leases of partitions that have none."""
        new = {*partitions} - self.seen.keys()
        self._documents.insert("lease", {name_of(p): _plain(Lease(p, busy=busy)) for p in new})

    def take(self, leases: Collection[Lease]) -> list[Lease]:
        """Take partitions whose leases are as they were read; return those acquired."""
        wanted = [
            replace(one, owner=self._name, epoch=one.epoch + 1, busy=one.busy + one.alone, alone=0)
            for one in leases
        ]
        refused = self._change(leases, wanted)
        return [self.own[one.partition] for one in wanted if one.partition not in refused]

    def change(self, wanted: Collection[Lease]) -> set[int]:
        """Change leases of its own; return those that are another's, and are forgotten."""
        refused = self._change([self.own[one.partition] for one in wanted], wanted)
        for partition in refused:
            del self.own[partition]
        for one in wanted:
            if one.partition in self.own and one.owner != self._name:
                del self.own[one.partition]
        return refused

    def _change(self, known: Iterable[Lease], wanted: Collection[Lease]) -> set[int]:
        changes = {
            name_of(one.partition): (before.version, _plain(one))
            for before, one in zip(known, wanted, strict=True)
        }
        refused = {int(name) for name in self._documents.compare_and_set("lease", changes)}
        for one in wanted:
            if one.partition not in refused:
                self.own[one.partition] = replace(one, version=one.version + 1)
        return refused


def _plain(lease: Lease) -> dict[str, Any]:
    return {name: getattr(lease, name) for name in _FIELDS}


@dataclass(frozen=True, slots=True)
class Stored:
    """A partition as it is stored: its lease, and the records of its log by number."""

    lease: Lease
    records: Mapping[int, bytes]

    @property
    def fault(self) -> str:
        """Why it cannot be read, "" if nothing is missing."""
        numbers = range(self.lease.first, self.lease.next)
        missing = (f"record {n} of its log is missing" for n in numbers if not self.records.get(n))
        return self.lease.fault or next(missing, "")

    def decoded(self) -> Iterator[Rows]:
        """Yield the rows of the records that count, in order.

        Raises:
            ValueError: they are damaged, or some are missing.
        """
        if self.fault:
            raise ValueError(self.fault)
        for number in range(self.lease.first, self.lease.next):
            yield Rows.decode(self.records[number])


class Logs:
    """The logs of a job."""

    def __init__(self, documents: SharedStore) -> None:
        self._documents = documents

    def append(self, records: Mapping[Lease, bytes]) -> list[Lease]:
        """Write the next records of partitions; return the leases with which they count."""
        rows = dict(
            self._documents.row_of(
                lease.partition,
                f"{lease.next:012d}/{lease.epoch:06d}",
                epoch=lease.epoch,
                owner=lease.owner,
                bytes=data,
            )
            for lease, data in records.items()
        )
        self._documents.insert("log", rows)
        return [
            replace(lease, next=lease.next + 1, log=lease.log + len(data))
            for lease, data in records.items()
        ]

    def append_snapshot(self, lease: Lease, chunks: Iterable[bytes]) -> Lease:
        """Write all rows of a partition; return the lease with which only these count."""
        copied = replace(lease, first=lease.next, size=0, log=0)
        for chunk in chunks:
            [copied] = self.append({copied: chunk})
        return replace(copied, size=copied.log, log=0)

    def shorten(self, lease: Lease) -> None:
        """Remove the records that do not count any more."""
        first = f"{name_of(lease.partition)}/"
        self._documents.delete_between("log", first, f"{first}{lease.first:012d}")

    def read(self, leases: Collection[Lease]) -> list[Stored]:
        """Return partitions as they stand, in one round trip.

        Of a lease that is not one's own the log may be shortened meanwhile, which is a fault.
        """
        records: dict[int, dict[int, bytes]] = {lease.partition: {} for lease in leases}
        for name, row in self._documents.at("log", records.keys()).items():
            partition, number = map(int, name.split("/")[:2])
            records[partition][number] = row.get("bytes", b"")  # those of later epochs come later
        return [Stored(lease, records[lease.partition]) for lease in leases]
