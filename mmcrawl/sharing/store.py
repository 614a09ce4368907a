"""The shared store of a job: all that the workers of one crawl share, in a MongoDB database.

=============  ====================================================================================
collection     what is there
=============  ====================================================================================
``about``      what the database is, and the version of its schema
``job``        one document a job: name, arguments, when and why it stopped
``log``        the entries that decide everything (:mod:`~mmcrawl.sharing.log`)
``inbox``      what workers report (:mod:`~mmcrawl.sharing.mail`)
``mail``       what the coordinator has for each worker, there too
``worker``     one document a worker, by which it is seen to be alive
``note``       the coordinator, totals, patterns: one document each
``snapshot``   where the parts of a snapshot are (:mod:`~mmcrawl.sharing.snapshots`)
``part``       its parts
``media``      media pages (:mod:`~mmcrawl.sharing.findings`)
``aside``      documents of the others that could not be read: ``why``, ``document``
=============  ====================================================================================

Their names begin with ``crawl_``. Nothing is compared and changed in one step, nor counted up: a
document has one writer, or is decided by who inserts it first. Operations can be repeated, and wait
for a server that is away; whoever calls them is held up meanwhile, and an error is a `StoreError`.
No clock is compared with that of another machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pymongo.errors import DuplicateKeyError

from mmcrawl.errors import StoreError
from mmcrawl.frontier.store import Job, refuse_other_arguments
from mmcrawl.sharing.findings import PublishedFindings
from mmcrawl.sharing.log import Log
from mmcrawl.sharing.mail import Inbox
from mmcrawl.sharing.server import STORE, Row, facts_of
from mmcrawl.sharing.stored_snapshots import StoredSnapshots
from mmcrawl.stores.mongodb import connect, explained

_LEADER, _STATUS = "leader", "status"


def open_shared_store(
    uri: str, *, job: str, arguments: Mapping[str, Any] | None, patience: float = 120.0
) -> SharedStore:
    """Open the shared store of a job.

    A server that is away now is an error at once; patience begins when the shared store is open.

    Args:
        uri: ``mongodb://HOST/DATABASE``, also with user, password and options.
        job: name of the job.
        arguments: the job's; it is begun if there is none of this name. None only looks.
        patience: seconds for which an operation waits for a server that is away.

    Raises:
        StoreError: the store cannot be reached or used, or is of another version; the job was begun
            with other arguments, or there is none to look at.
    """
    shared = SharedStore(uri, job, create=arguments is not None, patience=patience)
    try:
        if arguments is not None:
            shared.begin(arguments)
        shared.refresh_job()
        if arguments is not None:
            refuse_other_arguments(shared.uri_shown, shared.job, arguments)
    except BaseException:
        shared.close()
        raise
    return shared


def jobs(uri: str) -> list[Job]:
    """Return the jobs of a store, in the order they were begun.

    Raises:
        StoreError: there is no store, or it cannot be reached or used.
    """
    server = connect(STORE, uri, create=False, read_only=True)
    try:
        with explained(f"{STORE.noun} {server.name}"):
            rows = list(server.documents("job").find())
    finally:
        server.client.close()
    return [_job(row) for row in sorted(rows, key=lambda row: (row["started_at"], row["name"]))]


class SharedStore(Log, Inbox, StoredSnapshots, PublishedFindings):
    """An open shared store; see `open_shared_store`. Several threads may use it."""

    def __init__(self, uri: str, job: str, *, create: bool, patience: float) -> None:
        super().__init__(uri, job, create=create, patience=patience)
        self._job = Job(0, job, {}, None, "")

    # -- the job ------------------------------------------------------------------------------

    @property
    def job(self) -> Job:
        """The job as it was read last."""
        return self._job

    def begin(self, arguments: Mapping[str, Any]) -> None:
        """Begin the job, if it is not there."""
        row = {
            "_id": self._prefix,
            "name": self._job.name,
            "arguments": json.dumps(arguments, ensure_ascii=False),
            "started_at": time.time(),
            "finished_at": None,
            "reason": "",
        }

        def attempt() -> None:
            try:
                self._table("job").insert_one(row)
            except DuplicateKeyError:
                return

        self._patiently(attempt)

    def refresh_job(self) -> Job:
        """Read the job again. One round trip.

        Raises:
            StoreError: it is not there.
        """
        row = self._one("job", self._prefix)
        if row is None:
            raise StoreError(
                f"there is no job {self._job.name!r} in {self._what}; `scrapy workers` without a"
                " name tells which there are"
            )
        self._job = _job(row)
        return self._job

    def stop_job(self, reason: str, finished: bool) -> None:
        """Note why the job stopped, and whether it is over."""
        finished_at = time.time() if finished else None
        change = {"$set": {"finished_at": finished_at, "reason": reason}}
        job, wanted = self._table("job"), {"_id": self._prefix}
        self._patiently(lambda: job.update_one(wanted, change))
        self._job = replace(self._job, finished_at=finished_at, reason=reason)

    # -- who is there -------------------------------------------------------------------------

    def beat(self, worker: str, facts: Mapping[str, Any]) -> None:
        """Write a worker's own document. One round trip.

        Args:
            worker: its name; nobody else writes under it.
            facts: plain data, small.
        """
        self._put("worker", self._key(worker), {"facts": json.dumps(facts)})

    def beats(self) -> dict[str, dict[str, Any]]:
        """Return what each worker wrote last, by name. One round trip."""
        rows = {self._named(row["_id"]): row for row in self._rows("worker", self._after)}
        found = {name: self._facts("worker", name, row) for name, row in rows.items()}
        return {name: facts for name, facts in found.items() if facts is not None}

    def _after(self, last: Row | None) -> Row:
        return self._all() if last is None else {"_id": {**self._all()["_id"], "$gt": last["_id"]}}

    def forget(self, worker: str) -> None:
        """Remove a worker's document and its mail."""
        self._delete_all("worker", {"_id": self._key(worker)})
        self._forget_mail(worker)

    # -- notes --------------------------------------------------------------------------------

    def lead(self, facts: Mapping[str, Any]) -> None:
        """Write the coordinator's document. One round trip."""
        self._note(_LEADER, facts)

    def leader(self) -> dict[str, Any] | None:
        """Return what a coordinator wrote last. One round trip."""
        return self._noted(_LEADER)

    def set_status(self, status: Mapping[str, Any]) -> None:
        """Write the totals that are shown to people. One round trip."""
        self._note(_STATUS, status)

    def status(self) -> dict[str, Any] | None:
        """Return the totals that were written last. One round trip."""
        return self._noted(_STATUS)

    def _note(self, name: str, facts: Mapping[str, Any]) -> None:
        self._put("note", self._key(name), {"facts": json.dumps(facts)})

    def _noted(self, name: str) -> dict[str, Any] | None:
        row = self._one("note", self._key(name))
        return None if row is None else self._facts("note", name, row)

    def _facts(self, table: str, name: str, row: Row) -> dict[str, Any] | None:
        """Return what a document tells; one that cannot be read is set aside."""
        try:
            return facts_of(name if table == "note" else table, row)
        except ValueError as error:
            self.set_aside(table, name, str(error))
            return None


def _job(row: Row) -> Job:
    return Job(0, row["name"], json.loads(row["arguments"]), row["finished_at"], row["reason"])
