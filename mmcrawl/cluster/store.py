"""The shared store of a job: all that the workers of one crawl share, as documents.

They are in an SQLite file for the processes of one machine, or in MongoDB for those of many.

==============  ==================================================================================
table           what is there
==============  ==================================================================================
``job``         one document a job: name, arguments, rules for addresses, when and why it stopped
``lease``       who owns each partition, and where it stands (:mod:`~mmcrawl.cluster.leases`)
``log``         what happened there
``message``     links for a partition, found in another one; its owner removes it once its log has
                what it brought (:mod:`~mmcrawl.cluster.partition`)
``worker``      heartbeats (:mod:`~mmcrawl.cluster.members`); that the crawl is over
``budget``      how many pages may be fetched (:mod:`~mmcrawl.cluster.budget`)
``media``       media pages, by the hash of their URL
``quarantine``  documents of the others that could not be read: ``why``, ``document``
==============  ==================================================================================

A key is the job's name, percent-encoded, ``/``, and the name that a document has in the job.
Documents of a partition have a field ``at`` besides, by which they are found: job and partition.

Operations can be repeated: while the store cannot be reached they are, until patience ends. Whoever
calls them is held up meanwhile. No clock is compared with that of another machine.
"""

from __future__ import annotations

import json
import logging
import secrets
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter

from mmcrawl.errors import StoreError, UnreachableError
from mmcrawl.frontier.findings import MediaPageRecord, NearMiss
from mmcrawl.frontier.store import Job, refuse_other_arguments
from mmcrawl.store.documents import KEY, Condition, Contents, Store, Table, below, open_documents
from mmcrawl.store.sqlite_files import SHARED_CRAWL, mark_of, refuse_network_folder
from mmcrawl.store.uris import file_of, is_server

logger = logging.getLogger(__name__)

Row = dict[str, Any]
"""The fields of a document."""

SCHEMA_VERSION = 8
_NUMBERS = ("epoch", "version", "first", "next", "size", "log", "busy", "alone", "pages")
CONTENTS = Contents(
    noun="store",
    mark=SHARED_CRAWL,
    version=SCHEMA_VERSION,
    prefix="crawl_",
    tables=(
        Table(
            "job",
            {
                "name": str,
                "arguments": str,
                "rules": str,
                "started_at": float,
                "finished_at": float,  # 0 while it can go on
                "reason": str,
            },
        ),
        Table("lease", {"owner": str, **dict.fromkeys(_NUMBERS, int), "facts": str, "fault": str}),
        Table("log", {"at": str, "epoch": int, "owner": str, "bytes": bytes}, orders=(("at",),)),
        Table("learnt", {"token": str, "bytes": bytes}),  # not used; 0.1.0 has it
        Table("message", {"at": str, "bytes": bytes}, orders=(("at",),)),
        Table("worker", {"beat": int, "facts": str}),
        Table("budget", {"version": int, "granted": str}),
        Table(
            "media",
            {
                "job": str,
                "minus_score": float,  # the best first
                "url": str,
                "title": str,
                "words": dict,
                "status": int,
                "visited_at": float,
                "extra": str,
                "resources": dict,
            },
            orders=(("job", "minus_score", "url"),),
        ),
        Table("quarantine", {"why": str, "document": str}),
    ),
    missing="start a crawl with it first, or name another one",
    answer=120.0,  # more than the longest operation takes
)

_MOST_TEXT = 12 << 20  # characters of JSON in ASCII; a document may have 16 MB
_MOST_KEPT = 1 << 20  # characters of a document that is kept in quarantine
_AT_ONCE = 500
_AT_A_TIME, _TRIES = 4, 10  # who change a document at once, and how often each
_PAUSES = (0.1, 2.0)  # seconds between two attempts: the first time, and at most

_R = TypeVar("_R")
_MEDIA_PAGE = TypeAdapter(MediaPageRecord)


def is_shared(uri: str) -> bool:
    """Whether a store is, or may become, that of a crawl which several processes work on."""
    path = file_of(uri)
    return is_server(uri) or (bool(path) and mark_of(Path(path)) == SHARED_CRAWL)


def open_contents(uri: str, *, create: bool) -> Store:
    """Open the documents of a store for shared crawls.

    Raises:
        StoreError: it cannot be reached or used, or is of another version or another kind.
    """
    path = Path(file_of(uri)) if file_of(uri) else None
    if path is None and not is_server(uri):
        raise StoreError(f"several workers cannot share {uri}; name a file, or a MongoDB database")
    if path is not None and create:
        refuse_network_folder(path)
    if path is not None and mark_of(path) == "mmcr":
        raise StoreError(
            f"{path} keeps a crawl of one process; continue it without workers=, or name another"
            " file"
        )
    return open_documents(CONTENTS, uri, path, create=create)


def open_shared_store(
    uri: str,
    *,
    job: str,
    arguments: Mapping[str, Any] | None,
    rules: Sequence[Sequence[Any]] = (),
    patience: float = 120.0,
) -> SharedStore:
    """Open the shared store of a job.

    A server that is away now is an error at once; patience begins when the shared store is open.

    Args:
        uri: ``sqlite:///FILE`` or ``mongodb://HOST/DATABASE``, also with user and options.
        job: name of the job.
        arguments: the job's; it is begun if there is none of this name. None only looks.
        rules: the job's rules for addresses, as plain data, for those who look at it.
        patience: seconds for which an operation waits for a store that cannot be reached.

    Raises:
        StoreError: the store cannot be reached or used, or is of another version; the job was begun
            with other arguments, or there is none to look at.
    """
    shared = SharedStore(open_contents(uri, create=arguments is not None), job, patience)
    try:
        if arguments is not None:
            if is_server(uri) and not shared.read_job():
                shared.refuse_lost_updates()
            shared.begin(arguments, rules)
        shared.refresh_job()
        if arguments is not None:
            refuse_other_arguments(shared.uri_shown, shared.job, arguments)
    except BaseException:
        shared.close()
        raise
    return shared


class SharedStore:
    """An open shared store; see `open_shared_store`. Several threads may use it.

    Args:
        documents: of all jobs; is closed with it.
        job: name of the job.
        patience: seconds for which an operation waits for a store that cannot be reached.
    """

    def __init__(self, documents: Store, job: str, patience: float = 120.0) -> None:
        self.job = Job(0, job, {}, None, "")  # the job as it was read last
        self.round_trips = 0  # how many operations there were so far
        self._documents, self._patience = documents, patience
        self._prefix = quote(job, safe="")
        self._near = f"{self._prefix}//near"  # what documents of near misses have as job
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._away = False

    @property
    def uri_shown(self) -> str:
        """Name in messages of the store."""
        return self._documents.name

    def close(self) -> None:
        """End; operations of other threads that wait for the store fail."""
        self._closed.set()
        self._documents.close()

    # -- patience -----------------------------------------------------------------------------

    def _patiently(self, operation: Callable[..., _R], *told: Any) -> _R:
        """Do an operation of the store; if that cannot be reached, try again.

        Raises:
            StoreError: the store refuses, was away for too long, or is closed.
        """
        end = time.monotonic() + self._patience
        pause, longest = _PAUSES
        while True:
            with self._lock:
                self.round_trips += 1
            try:
                result = operation(*told)
            except StoreError as error:
                self._check_open()
                if not isinstance(error, UnreachableError) or time.monotonic() >= end:
                    raise
                self._note(error)
            else:
                self._note(None)
                return result
            self._closed.wait(min(pause, max(0.0, end - time.monotonic())))
            self._check_open()
            pause = min(2 * pause, longest)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise StoreError(f"store {self.uri_shown} is closed; open it again")

    def _note(self, error: StoreError | None) -> None:
        """Log that the store cannot be reached, or can be again, whichever is new."""
        with self._lock:
            is_new, self._away = self._away == (error is None), error is not None
        if is_new and error:
            logger.warning("%s; waiting for it, %g seconds at most", error, self._patience)
        elif is_new:
            logger.info("store %s answers again", self.uri_shown)

    # -- documents of the job -------------------------------------------------------------------

    def key(self, name: str) -> str:
        """Return the key of what has a name in the job."""
        return f"{self._prefix}/{name}"

    def row_of(self, partition: int, name: str, **fields: Any) -> tuple[str, Row]:
        """Return the name and fields of a document, given its name in a partition."""
        at = name_of(partition)
        return f"{at}/{name}", {"at": self.key(at), **fields}

    def one(self, table: str, name: str) -> Row | None:
        """Return the document of a name, if there is one."""
        return self.some(table, [name]).get(name)

    def some(self, table: str, names: Collection[str]) -> dict[str, Row]:
        """Return those documents of some names that are there."""
        keys = [self.key(name) for name in names]
        found = self._patiently(self._documents.get, table, keys) if keys else {}
        return _named(found.items())

    def names(self, table: str) -> list[str]:
        """Return the names of the documents of the job, in order."""
        fields = next(tuple(one.fields)[:1] for one in CONTENTS.tables if one.name == table)
        return [*self._range(table, *below(self._prefix), fields=fields)]

    def all(self, table: str) -> dict[str, Row]:
        """Return the documents of the job by their names, in order."""
        return self._range(table, *below(self._prefix))

    def at(
        self, table: str, partitions: Collection[int], most: int | None = None
    ) -> dict[str, Row]:
        """Return the documents of some partitions, in the order of their names; of many, some."""
        places = [self.key(name_of(partition)) for partition in sorted(partitions)]
        found = self._range(table, ("at", "in", places), limit=most) if places else {}
        return dict(sorted(found.items()))

    def _range(self, table: str, *conditions: Condition, **more: Any) -> dict[str, Row]:
        return self._patiently(lambda: _named(self._documents.range(table, *conditions, **more)))

    def insert(self, table: str, rows: Mapping[str, Row]) -> set[str]:
        """Insert documents by their names, in any order; return the keys that were taken."""
        documents = {self.key(name): row for name, row in rows.items()}
        return self._patiently(self._documents.insert_new, table, documents) if rows else set()

    def put(self, table: str, name: str, fields: Row) -> None:
        """Write a document in place of the one of a name; nobody else writes that."""
        self._patiently(self._documents.put, table, {self.key(name): fields})

    def compare_and_set(self, table: str, changes: Mapping[str, tuple[int, Row]]) -> set[str]:
        """Change documents that are as they were read; return the names of those that are not.

        Args:
            table: where they are; each has a `version`, which grows with every change.
            changes: by name, the version that was read, and the fields that are set.
        """
        asked = {
            name: {**fields, "version": version + 1} for name, (version, fields) in changes.items()
        }
        made = [
            ([(KEY, "=", self.key(name)), ("version", "=", version)], asked[name])
            for name, (version, _) in changes.items()
        ]
        if self._patiently(self._documents.change, table, made) == len(made):
            return set()
        there = self.some(table, asked)  # an answer may have been lost, and the change repeated
        return {
            name
            for name, fields in asked.items()
            if not fields.items() <= there.get(name, {}).items()
        }

    def change_one(self, table: str, name: str, change: Callable[[Row], Row | None]) -> None:
        """Change a document in one step: none of what others change meanwhile is lost.

        Args:
            table: where it is.
            name: of a document that is there, and stays.
            change: returns the fields to be set, given the document; None for no change.
        """
        while True:
            row = self.one(table, name)
            if row is None:
                raise StoreError(f"a document of store {self.uri_shown} is missing: {name}")
            fields = change(row)
            if fields is None or not self.compare_and_set(table, {name: (row["version"], fields)}):
                return

    def delete(self, table: str, names: Collection[str]) -> None:
        """Remove documents."""
        keys = [self.key(name) for name in names]
        if keys:
            self._patiently(self._documents.delete, table, (KEY, "in", keys))

    def delete_between(self, table: str, first: str, end: str) -> None:
        """Remove the documents whose names are not before `first`, and before `end`."""
        between = (KEY, ">=", self.key(first)), (KEY, "<", self.key(end))
        self._patiently(self._documents.delete, table, *between)

    def quarantine(self, table: str, name: str, why: str) -> None:
        """Move an unreadable document to quarantine, for people to look at."""
        key, place = self.key(name), self.key(f"{table}/{name}")
        row = self.one(table, name)
        logger.error(
            "Document %s of %s%s cannot be read (%s); it is moved to %squarantine as %s",
            *(key, CONTENTS.prefix, table, why, CONTENTS.prefix, place),
        )
        text = json.dumps(row, default=repr)[:_MOST_KEPT]
        self.put("quarantine", f"{table}/{name}", {"why": why, "document": text})
        self.delete(table, [name])

    # -- the job ------------------------------------------------------------------------------

    def refuse_lost_updates(self) -> None:
        """Raise StoreError if changes that several make at once are lost, as in no MongoDB."""
        name = f"try-{secrets.token_hex(6)}"
        self.insert("budget", {name: {"version": 0, "granted": ""}})

        def add(thread: int) -> None:
            for _ in range(_TRIES):  # two that write at once do not write the same
                self.change_one(
                    "budget", name, lambda row: {"granted": f"{row['granted']}{thread}"}
                )

        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            deque(pool.map(add, range(_AT_A_TIME)), maxlen=0)
        made = len((self.one("budget", name) or {"granted": ""})["granted"])
        self.delete("budget", [name])
        if made < _TRIES * _AT_A_TIME:
            raise StoreError(
                f"{self.uri_shown} does not change a document in one step: several workers would"
                " overwrite each other; use MongoDB, or a file with -a workers=N"
            )

    def begin(self, arguments: Mapping[str, Any], rules: Sequence[Sequence[Any]] = ()) -> None:
        """Begin the job, if it is not there."""
        row = {
            "name": self.job.name,
            "arguments": json.dumps(arguments, ensure_ascii=False),
            "rules": json.dumps(rules, ensure_ascii=False),
            "started_at": time.time(),
            "finished_at": 0.0,
            "reason": "",
        }
        self._patiently(self._documents.insert_new, "job", {self._prefix: row})

    def refresh_job(self) -> Job:
        """Read the job again.

        Raises:
            StoreError: it is not there.
        """
        if not (row := self.read_job()):
            raise StoreError(no_job(self.job.name, self.uri_shown))
        self.job = job_of(row)
        return self.job

    def read_job(self) -> Row:
        """Return the document of the job, an empty one if it has not begun."""
        found = self._patiently(self._documents.get, "job", [self._prefix])
        return dict(found.get(self._prefix, {}))

    def stop_job(self, reason: str, *, finished: bool) -> None:
        """Record why the job stopped, and whether it is over."""
        finished_at = time.time() if finished else 0.0
        change = [([(KEY, "=", self._prefix)], {"finished_at": finished_at, "reason": reason})]
        self._patiently(self._documents.change, "job", change)
        self.job = replace(self.job, finished_at=finished_at or None, reason=reason)

    # -- findings -----------------------------------------------------------------------------

    def publish(
        self,
        pages: Iterable[MediaPageRecord],
        near: Iterable[NearMiss] = (),
        dropped: Iterable[str] = (),
    ) -> None:
        """Write media pages and near misses in place of what was at their addresses.

        Args:
            pages: the media pages.
            near: pages that may become media pages.
            dropped: addresses of pages that turned out to be none.
        """
        self.delete("media", [_media_name(url) for url in dropped])
        misses = (MediaPageRecord(*miss, (), 0, 0.0, ()) for miss in near)
        rows = [
            *(_media_row(miss) | {"job": self._near} for miss in misses),
            *(_media_row(page) | {"job": self._prefix} for page in pages),
        ]
        documents = {self.key(_media_name(row["url"])): row for row in rows}
        if documents:
            self._patiently(self._documents.put, "media", documents)

    def media_pages(self, first: int = 0, most: int = sys.maxsize) -> Iterator[MediaPageRecord]:
        """Yield the media pages, best topic score first; `most` of those after the `first`."""
        found = self._patiently(lambda: [key for key, _ in self._best_media(self._prefix)])
        keys = found[first : first + most]
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            rows = self._patiently(self._documents.get, "media", some)
            yield from (_page(rows[key]) for key in some if key in rows)

    def near_misses(self, threshold: float) -> list[NearMiss]:
        """Return the pages with media that scored at least half the threshold, the best first."""
        rows = self._patiently(lambda: [*self._best_media(self._near, "title")])
        found = (NearMiss(row["url"], row["title"], -row["minus_score"]) for _, row in rows)
        return [one for one in found if one.is_below(threshold)]

    def _best_media(self, job: str, *more: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        order = ("minus_score", "url")
        ours = ("job", "=", job)
        return self._documents.range("media", ours, order=order, fields=(*order, *more))


def name_of(partition: int) -> str:
    """Return the prefix of the names of a partition's documents."""
    return f"{partition:04d}"


def partition_in(name: str) -> int:
    """Return the partition that a document's name begins with."""
    return int(name.partition("/")[0])


def job_of(row: Mapping[str, Any]) -> Job:
    """Return the job of a document."""
    arguments, finished_at = json.loads(row["arguments"]), row["finished_at"] or None
    return Job(0, row["name"], arguments, finished_at, row["reason"])


def no_job(name: str, store: str) -> str:
    """Return the message for a missing job."""
    return (
        f"there is no job {name!r} in store {store}; `scrapy workers` without a job tells which"
        " there are"
    )


def _named(documents: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Row]:
    return {key.partition("/")[2]: dict(fields) for key, fields in documents}


def _media_name(url: str) -> str:
    return blake2b(url.encode(), digest_size=16).hexdigest()


def _media_row(page: MediaPageRecord) -> Row:
    """Return the document of a media page, but for its job."""
    row: Row = _MEDIA_PAGE.dump_python(page, mode="json")
    row["minus_score"] = -float(row.pop("topic_score"))
    while len(json.dumps(row["resources"])) > _MOST_TEXT:
        row["resources"] = row["resources"][: len(row["resources"]) // 2]
        count = len(row["resources"])
        logger.warning("Of the media of %s only %d are published", page.url, count)
    return row


def _page(row: Mapping[str, Any]) -> MediaPageRecord:
    score = 0.0 - row["minus_score"]  # SQLite makes 0 of -0.0
    return _MEDIA_PAGE.validate_python({**row, "topic_score": score})
