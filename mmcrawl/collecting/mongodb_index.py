"""The index of a collection in a MongoDB database, for crawls on more than one machine.

* ``file``: a digest of the address; its record, and ``order``, the time it was added.
* ``lease``: the same digest, ``/``, and the number of the try; ``owner`` and ``until``.

To take an address is to insert the lease of its next try: an insertion under a unique key is what
all servers of MongoDB's protocol do atomically. A lease is never taken twice; one that has run out
is followed by that of the next number.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from itertools import islice
from typing import Any

from pymongo import ASCENDING, ReplaceOne, UpdateOne

from mmcrawl.collecting.index import Summary
from mmcrawl.collecting.model import EVERY_KIND, MediaFile, State
from mmcrawl.frontier.addresses import host_of
from mmcrawl.stores.ferretdb import CHANGED_AT_ONCE
from mmcrawl.stores.mongodb import Kind, insert_new
from mmcrawl.stores.mongodb_place import MongoPlace

_KIND = Kind(
    noun="collection",
    application="mmcrawl collection",
    version=1,
    prefix="media_",
    tables=("file", "lease"),
    missing="`scrapy collect` begins one for a crawl",
    indexes={
        "file": (
            ({"state": ASCENDING, "order": ASCENDING}, False),
            ({"order": ASCENDING}, False),
            ({"owner": ASCENDING}, False),
        ),
    },
)
_AT_ONCE = 500
_OWN = ("_id", "host", "order")
_FREE = {"state": str(State.WAITING), "owner": "", "lease_until": 0.0}


class MongoIndex(MongoPlace):
    """A `MediaIndex` in a database. Leases go by the clocks of those who collect."""

    kind = _KIND

    def __init__(self, uri: str, *, create: bool = True) -> None:
        super().__init__(uri, create=create)
        self._files, self._leases = map(self._documents, _KIND.tables)

    def add(self, files: Iterable[MediaFile]) -> int:
        added, rest = 0, iter(files)
        while some := {_key(file.url): file for file in islice(rest, _AT_ONCE)}:
            with self._explained():
                known = {
                    row["_id"] for row in self._files.find({"_id": {"$in": [*some]}}, {"_id": 1})
                }
                order = time.time_ns()
                rows = [
                    _row(file, order + number)
                    for number, (key, file) in enumerate(some.items())
                    if key not in known
                ]
                added += len(rows) - len(insert_new(self._files, rows))
        return added

    def take(
        self,
        owner: str,
        now: float,
        until: float,
        most: int,
        *,
        kinds: Collection[str] = EVERY_KIND,
        busy: Collection[str] = (),
    ) -> list[MediaFile]:
        wanted = {"kind": {"$in": [*kinds]}, "host": {"$nin": [*busy]}}
        waiting = {"state": str(State.WAITING), **wanted}
        late = {"state": str(State.TAKEN), "lease_until": {"$lt": now}, **wanted}
        with self._explained():
            rows = list(self._files.find(waiting).sort("order", ASCENDING).limit(most))
            rows += self._files.find(late).limit(most - len(rows)) if len(rows) < most else []
            common = {"owner": owner, "lease_until": until, "changed_at": now}
            taken = [
                row | common | {"state": str(State.TAKEN), "tries": number}
                for row, number in self._leased(rows, owner, now, until)
            ]
            for start in range(0, len(taken), CHANGED_AT_ONCE):
                some = taken[start : start + CHANGED_AT_ONCE]
                changes = [ReplaceOne({"_id": row["_id"]}, row) for row in some]
                self._files.bulk_write(changes, ordered=False)
        return [_file(row) for row in taken]

    def renew(self, owner: str, until: float) -> None:
        with self._explained():
            for documents, field in ((self._leases, "until"), (self._files, "lease_until")):
                documents.update_many({"owner": owner}, {"$set": {field: until}})

    def settle(self, files: Sequence[MediaFile], owner: str) -> int:
        settled = 0
        for start in range(0, len(files), CHANGED_AT_ONCE):
            changes: list[UpdateOne] = []
            leases: list[str] = []
            for file in files[start : start + CHANGED_AT_ONCE]:
                row = _row(replace(file, owner="", lease_until=0.0), 0)
                fields = {name: value for name, value in row.items() if name not in _OWN}
                condition = {"_id": row["_id"], "owner": owner, "tries": file.tries}
                changes.append(UpdateOne(condition, {"$set": fields}))
                leases.append(f"{row['_id']}/{file.tries}")
            with self._explained():
                settled += self._files.bulk_write(changes, ordered=False).matched_count
                self._leases.delete_many({"_id": {"$in": leases}})
        return settled

    def give_back(self, owner: str) -> None:
        with self._explained():
            self._files.update_many({"owner": owner, "state": str(State.TAKEN)}, {"$set": _FREE})
            self._leases.delete_many({"owner": owner})

    def owners(self) -> set[str]:
        taken = {"state": str(State.TAKEN)}
        with self._explained():
            # Who died before he could note what he took has left leases only.
            rows = [*self._files.find(taken, {"owner": 1}), *self._leases.find({}, {"owner": 1})]
        return {row["owner"] for row in rows}

    def again(self, states: Collection[State]) -> int:
        condition = {"state": {"$in": [str(state) for state in states]}}
        with self._explained():
            changed = self._files.update_many(
                condition, {"$set": _FREE | {"changed_at": time.time()}}
            )
        return changed.modified_count

    def find(self, url: str) -> MediaFile | None:
        with self._explained():
            row = self._files.find_one({"_id": _key(url)})
        return None if row is None else _file(row)

    def files(self, states: Collection[State] = ()) -> Iterator[MediaFile]:
        condition = {"state": {"$in": [str(state) for state in states or State]}}
        with self._explained():
            for row in self._files.find(condition).sort("order", ASCENDING).batch_size(_AT_ONCE):
                yield _file(row)

    def summary(self) -> Summary:
        # By reading rather than by aggregation, which some servers of the protocol do in memory.
        wanted = {"state": 1, "kind": 1, "digest": 1, "size": 1, "reason": 1}
        addresses: dict[State, int] = {}
        reasons: dict[str, int] = {}
        files: dict[str, tuple[str, int]] = {}
        with self._explained():
            for row in self._files.find({}, wanted).batch_size(_AT_ONCE):
                state = State(row["state"])
                addresses[state] = addresses.get(state, 0) + 1
                if state is State.HELD:
                    kind, size = row["kind"], row["size"]
                    before = files.get(row["digest"], (kind, size))
                    files[row["digest"]] = min(kind, before[0]), size
                elif state in (State.FAILED, State.SKIPPED):
                    reasons[row["reason"]] = reasons.get(row["reason"], 0) + 1
        held: dict[str, int] = {}
        held_bytes: dict[str, int] = {}
        for kind, size in files.values():
            held[kind] = held.get(kind, 0) + 1
            held_bytes[kind] = held_bytes.get(kind, 0) + size
        return Summary(addresses, held, held_bytes, reasons)

    def _leased(
        self, rows: Sequence[dict[str, Any]], owner: str, now: float, until: float
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield the records that are ours now, each with the number of its try."""
        wanted = {row["_id"]: (row, int(row["tries"]) + 1) for row in rows}
        while wanted:
            leases = [
                {"_id": f"{key}/{number}", "owner": owner, "until": until}
                for key, (_, number) in wanted.items()
            ]
            refused = insert_new(self._leases, leases)
            keys = list(wanted)
            for place, key in enumerate(keys):
                if place not in refused:
                    yield wanted[key]
            # A process that died before it could note that it took the address left a lease.
            late = {
                row["_id"].partition("/")[0]
                for row in self._leases.find({"_id": {"$in": [leases[n]["_id"] for n in refused]}})
                if row["until"] < now
            }
            wanted = {key: (row, n + 1) for key, (row, n) in wanted.items() if key in late}


def _key(url: str) -> str:
    return blake2b(url.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _row(file: MediaFile, order: int) -> dict[str, Any]:
    fields = asdict(file) | {"state": str(file.state)}
    return {"_id": _key(file.url), "host": host_of(file.url), "order": order, **fields}


def _file(row: dict[str, Any]) -> MediaFile:
    fields = {name: value for name, value in row.items() if name not in _OWN}
    return MediaFile(**fields | {"state": State(row["state"])})
