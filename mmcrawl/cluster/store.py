"""The shared store of a job: all that the workers of one crawl share, in a MongoDB database.

=============  ====================================================================================
collection     what is there
=============  ====================================================================================
``about``      what the database is, and the version of its schema
``job``        one document a job: name, arguments, when and why it stopped
``log``        what happened in each part (:mod:`~mmcrawl.cluster.log`)
``snapshot``   by what a log is shortened, there too
``chunk``      what a snapshot is made of
``mail``       links that a part found for another one (:mod:`~mmcrawl.cluster.mail`)
``worker``     one document a worker, by which it is seen to be alive
               (:mod:`~mmcrawl.cluster.members`)
``note``       what each worker learnt (:mod:`~mmcrawl.cluster.learnt`), that the crawl is over, the
               rules for addresses
``budget``     how many pages each worker may fetch (:mod:`~mmcrawl.cluster.budget`)
``media``      media pages, by the hash of their URL; of one that was dropped its key alone
``aside``      documents of the others that could not be read: ``why``, ``document``
=============  ====================================================================================

Their names begin with ``crawl_``. Nothing is compared and changed in one step, nor counted up: a
document has one writer, or is decided by who inserts it first. Operations can be repeated, and wait
for a server that is away; whoever calls them is held up meanwhile, and an error is a `StoreError`.
No clock is compared with that of another machine.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, replace
from hashlib import blake2b
from typing import Any

from pymongo import ASCENDING, DESCENDING

from mmcrawl.errors import StoreError
from mmcrawl.frontier.findings import MediaPageRecord, PatternRecord
from mmcrawl.frontier.store import Job, refuse_other_arguments
from mmcrawl.page.model import MediaResource
from mmcrawl.cluster.learnt import learnt_patterns
from mmcrawl.cluster.server import StoreServer
from mmcrawl.stores.patient_server import Row

logger = logging.getLogger(__name__)

_RULES = "rules"
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


class SharedStore(StoreServer):
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
        self.insert("job", [row])

    def refresh_job(self) -> Job:
        """Read the job again. One round trip.

        Raises:
            StoreError: it is not there.
        """
        row = self.patiently(lambda: self.table("job").find_one({"_id": self._prefix}))
        if row is None:
            raise StoreError(
                f"there is no job {self._job.name!r} in {self.what}; `scrapy workers`"
                " without a name tells which there are"
            )
        self._job = _job(row)
        return self._job

    def stop_job(self, reason: str, *, finished: bool) -> None:
        """Note why the job stopped, and whether it is over."""
        finished_at = time.time() if finished else None
        change = {"$set": {"finished_at": finished_at, "reason": reason}}
        self.patiently(lambda: self.table("job").update_one({"_id": self._prefix}, change))
        self._job = replace(self._job, finished_at=finished_at, reason=reason)

    # -- findings -----------------------------------------------------------------------------

    def _media_key(self, url: str) -> str:
        return self.key(blake2b(url.encode(), digest_size=16).hexdigest())

    def dropped_row(self, url: str) -> Row:
        """Return the document of a page that turned out to be no media page."""
        return {"_id": self._media_key(url)}

    def media_row(self, page: MediaPageRecord) -> Row:
        """Return the document of a media page."""
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
        for row in self.rows("media", self._below, _BEST_FIRST):
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
        self.put("note", _RULES, {"rules": json.dumps(rules, ensure_ascii=False)})

    def rules(self) -> list[Any]:
        """Return the rules for addresses that were published, none if there are none."""
        row = self.one("note", _RULES)
        found: list[Any] = [] if row is None else json.loads(row["rules"])
        return found

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns, the most general first."""
        return learnt_patterns(self)


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
