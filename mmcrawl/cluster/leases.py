"""Who owns each partition, and where it stands: one document each, changed by compare-and-set.

* ``lease``: ``JOB/PART``. It is made before the first message for the partition, and stays.

An owner changes it under its `epoch`, and is refused once another worker has taken it. So what an
owner that was replaced does to a partition never counts. docs/protocol.md has all of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from mmcrawl.cluster.store import SharedStore, name_of


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease of a partition, as it was read or written last.

    Attributes:
        part: number of the partition.
        owner: name of a worker, "" for none.
        epoch: how often it was taken.
        version: how often it was changed.
        first: number of the first record of its log that is not in its snapshot.
        next: number of the next one.
        snapshot: what the names of its chunks begin with, "" for none.
        chunks, size: how many these are, and their bytes.
        log: bytes of the records.
        busy: links that wait and may be fetched, or are being fetched.
        alone: links that wait for hosts that are left alone.
        pages: crawled.
        facts: more of it, for those who look: a JSON object.
        fault: why it cannot be read; "" if it can. Nobody takes it then.
    """

    part: int
    owner: str = ""
    epoch: int = 0
    version: int = 0
    first: int = 0
    next: int = 0
    snapshot: str = ""
    chunks: int = 0
    size: int = 0
    log: int = 0
    busy: int = 0
    alone: int = 0
    pages: int = 0
    facts: str = "{}"
    fault: str = ""

    @property
    def plain_facts(self) -> dict[str, Any]:
        """The facts as plain data."""
        found: dict[str, Any] = json.loads(self.facts)
        return found


_FIELDS = tuple(Lease.__dataclass_fields__)[1:]


def leases_of(
    rows: Iterable[Mapping[str, Any]], known: Mapping[int, Lease] = MappingProxyType({})
) -> dict[int, Lease]:
    """Return the leases of documents, by partition; one that is damaged has a fault.

    Of those that have not changed since they were `known` nothing is read again.
    """
    found = {}
    for row in rows:
        part = int(row["_id"].split("/")[1])
        if part in known and known[part].version == row.get("version"):
            found[part] = known[part]
            continue
        try:
            found[part] = Lease(part, *(row[name] for name in _FIELDS))
            found[part].plain_facts  # noqa: B018 - it is read
        except (KeyError, ValueError) as error:
            fault = f"its lease is damaged: {error!r}"
            found[part] = Lease(part, pages=row.get("pages", 0), fault=fault)
    return found


class Leases:
    """The leases of a job, and those that a worker holds.

    Args:
        documents: where they are.
        name: of the worker.

    Attributes:
        own: what it holds.
    """

    def __init__(self, documents: SharedStore, name: str) -> None:
        self._documents, self._name = documents, name
        self._there: set[int] = set()
        self._read: dict[int, Lease] = {}
        self.own: dict[int, Lease] = {}

    def read(self) -> dict[int, Lease]:
        """Return all, as they are now; what that says of its own is for the caller."""
        self._read = leases_of(self._documents.all("lease"), self._read)
        self._there.update(self._read)
        return self._read

    def make(self, parts: Collection[int], busy: int = 0) -> None:
        """Make the leases of partitions that have none."""
        new = [Lease(part, busy=busy) for part in parts if part not in self._there]
        rows = [{"_id": self._documents.key(name_of(one.part)), **_plain(one)} for one in new]
        self._documents.insert("lease", rows)
        self._there.update(parts)

    def take(self, leases: Collection[Lease]) -> list[Lease]:
        """Take partitions whose leases are as they were read; return those that it has now."""
        wanted = [
            replace(one, owner=self._name, epoch=one.epoch + 1, busy=one.busy + one.alone, alone=0)
            for one in leases
        ]
        refused = self._change(leases, wanted)
        return [self.own[one.part] for one in wanted if one.part not in refused]

    def change(self, wanted: Collection[Lease]) -> set[int]:
        """Change leases of its own; return those that are another's, and are forgotten."""
        refused = self._change([self.own[one.part] for one in wanted], wanted)
        for part in refused:
            del self.own[part]
        for one in wanted:
            if one.part in self.own and one.owner != self._name:
                del self.own[one.part]
        return refused

    def _change(self, known: Iterable[Lease], wanted: Collection[Lease]) -> set[int]:
        changes = {
            name_of(one.part): (before.version, _plain(one))
            for before, one in zip(known, wanted, strict=True)
        }
        refused = {int(name) for name in self._documents.compare_and_set("lease", changes)}
        for one in wanted:
            if one.part not in refused:
                self.own[one.part] = replace(one, version=one.version + 1)
        return refused


def _plain(lease: Lease) -> dict[str, Any]:
    return {name: getattr(lease, name) for name in _FIELDS}
