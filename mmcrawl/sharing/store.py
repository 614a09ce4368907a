"""The shared store of a job: all that the workers of one crawl share, in a MongoDB database.

=============  ====================================================================================
collection     what is there
=============  ====================================================================================
``about``      what the database is, and the version of its schema
``job``        one document a job: name, arguments, when and why it stopped
``log``        the entries that decide everything (:mod:`~mmcrawl.sharing.log`)
``inbox``      what workers report, there too
``mail``       what the coordinator has for each worker, there too
``worker``     one document a worker, by which it is seen to be alive
``note``       the coordinator, totals, patterns: one document each
``snapshot``   where the parts of a snapshot are (:mod:`~mmcrawl.sharing.snapshots`)
``part``       its parts
``media``      media pages, by the hash of their URL; ``number`` is that of the log's entry after
               which one was published. A page that was dropped keeps that alone, so that it is not
               published again by somebody who did not hear of it
``aside``      documents of the others that could not be read: ``why``, ``document``
=============  ====================================================================================

Their names begin with ``crawl_``. Nothing is compared and changed in one step, nor counted up: a
document has one writer, or is decided by who inserts it first. Operations can be repeated, and wait
for a server that is away; whoever calls them is held up meanwhile, and an error is a `StoreError`.
No clock is compared with that of another machine.

A page that is published for the first time is inserted; others replace what is older. Where a
server does not compare and replace in one step (:mod:`mmcrawl.stores.ferretdb`), a coordinator that
has been replaced without knowing may, in the same millisecond, undo what its successor writes.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, replace
from hashlib import blake2b
from typing import Any

import zstandard
from pymongo import ASCENDING, DESCENDING, ReplaceOne
from pymongo.errors import DuplicateKeyError

from mmcrawl.errors import StoreError
from mmcrawl.frontier.findings import MediaPageRecord, PatternRecord
from mmcrawl.frontier.store import Job, refuse_other_arguments
from mmcrawl.page.model import MediaResource
from mmcrawl.sharing.log import Inbox
from mmcrawl.sharing.server import Row, facts_of
from mmcrawl.sharing.snapshots import StoredSnapshots

logger = logging.getLogger(__name__)

_LEADER, _STATUS, _PATTERNS, _RULES = "leader", "status", "patterns", "rules"
_MOST_TEXT = 3 << 20  # characters; a document may have 16 MB, a character 4 bytes
_AROUND = 64  # what field names and lengths add to a resource
_BEST_FIRST = {"score": DESCENDING, "url": ASCENDING}


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


class SharedStore(Inbox, StoredSnapshots):
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

    # -- findings -----------------------------------------------------------------------------

    def publish(
        self, changed: Sequence[MediaPageRecord], dropped: Sequence[str], number: int
    ) -> None:
        """Publish media pages, and drop some by their URLs.

        What was published at a later number stays. One round trip for pages that are new, one more
        where some are not.

        Args:
            changed: pages, new ones or changed ones.
            dropped: URLs of pages that turned out to be no media pages.
            number: of the last entry of the log that was taken into account.
        """
        rows = {page.url: self._media_row(page, number) for page in changed}
        rows |= {url: {"_id": self._media_key(url), "number": number} for url in dropped}
        known = self._insert_new("media", list(rows.values()))
        if known:
            changes = [
                ReplaceOne({"_id": row["_id"], "number": {"$lte": number}}, row) for row in known
            ]
            self._change_all("media", changes)

    def _media_key(self, url: str) -> str:
        return self._key(blake2b(url.encode(), digest_size=16).hexdigest())

    def _media_row(self, page: MediaPageRecord, number: int) -> Row:
        resources = page.resources
        lengths = [_length(one) for one in resources]
        while sum(lengths) > _MOST_TEXT:
            half = len(lengths) // 2
            resources, lengths = resources[:half], lengths[:half]
        if len(resources) < len(page.resources):
            logger.warning(
                "Of the %d media of %s, %d are published: more than one document may have",
                len(page.resources),
                page.url,
                len(resources),
            )
        return {
            "_id": self._media_key(page.url),
            "job": self._prefix,
            "number": number,
            "url": page.url,
            "title": page.title,
            "score": float(page.topic_score),
            "words": list(page.words),
            "status": page.status,
            "visited_at": float(page.visited_at),
            "extra": page.extra,
            "resources": [asdict(resource) for resource in resources],
        }

    def media_pages(self) -> Iterator[MediaPageRecord]:
        """Yield the media pages, best topic score first."""
        for row in self._rows("media", self._below, _BEST_FIRST):
            yield _page(row)

    def _below(self, last: Row | None) -> Row:
        """Return the condition for the pages that come after one."""
        if last is None:
            return {"job": self._prefix}
        lower = {"score": {"$lt": last["score"]}}
        equal = {"score": last["score"], "url": {"$gt": last["url"]}}
        return {"job": self._prefix, "$or": [lower, equal]}

    def publish_rules(self, rules: Sequence[Sequence[Any]]) -> None:
        """Keep the rules for addresses, as plain data, for those who look at the job."""
        self._publish(_RULES, rules, "the list of rules")

    def rules(self) -> list[Any]:
        """Return the rules for addresses that were published, none if there are none."""
        return self._published(_RULES)

    def publish_patterns(self, patterns: Sequence[PatternRecord]) -> None:
        """Keep the learnt patterns in place of the former ones."""
        self._publish(_PATTERNS, [astuple(pattern) for pattern in patterns], "the list of patterns")

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns, the most general first."""
        patterns = [PatternRecord(*fields) for fields in self._published(_PATTERNS)]
        return sorted(patterns, key=lambda pattern: (-pattern.urls, pattern.pattern))

    def _publish(self, name: str, rows: Sequence[Sequence[Any]], what: str) -> None:
        text = json.dumps(rows, ensure_ascii=False)
        content = zstandard.ZstdCompressor().compress(text.encode())
        self._refuse_long(len(content), what)
        self._put("note", self._key(name), {"bytes": content})

    def _published(self, name: str) -> list[Any]:
        row = self._one("note", self._key(name))
        if row is None:
            return []
        found: list[Any] = json.loads(zstandard.ZstdDecompressor().decompress(row["bytes"]))
        return found


def _job(row: Row) -> Job:
    return Job(0, row["name"], json.loads(row["arguments"]), row["finished_at"], row["reason"])


def _length(resource: MediaResource) -> int:
    """Return how many characters a resource takes, with what stands around them."""
    *fields, others = astuple(resource)
    return sum(len(text) + _AROUND for text in others) + sum(map(len, fields)) + _AROUND


def _page(row: Row) -> MediaPageRecord:
    return MediaPageRecord(
        row["url"],
        row["title"],
        row["score"],
        tuple(row["words"]),
        row["status"],
        row["visited_at"],
        tuple(
            MediaResource(**resource | {"others": tuple(resource["others"])})
            for resource in row["resources"]
        ),
        row["extra"],
    )
