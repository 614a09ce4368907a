"""Opens a crawl for reading, wherever its store is.

A shared crawl is read from the snapshots and logs of its partitions, into a temporary file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

from mmcrawl import __version__
from mmcrawl.cluster.changes import put_rows
from mmcrawl.cluster.leases import Logs, Stored, leases_of
from mmcrawl.cluster.own_partitions import FOLDER
from mmcrawl.cluster.places import PARTITIONS
from mmcrawl.cluster.store import SharedStore, is_shared, open_shared_store
from mmcrawl.cluster.views.observing import Observer
from mmcrawl.crawl.history import LastScores, noted, retold
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.frontier.ranking import ALL
from mmcrawl.frontier.reading import ELSEWHERE, JOB_SHIFT, LinkTable
from mmcrawl.frontier.records import LinkScores
from mmcrawl.frontier.store import Job, SqliteStore, open_store
from mmcrawl.frontier.urls import url_key
from mmcrawl.scoring.pinned_rules import PinnedRule, PinnedRules

_AT_ONCE = 64  # partitions
_TRIES = 3
_SCORES_AT_ONCE = 50_000
_WAITING = f"SELECT DISTINCT id >> {JOB_SHIFT} FROM link WHERE status = 'W'"  # noqa: S608


@contextmanager
def opened_to_look(
    uri: str, name: str = "", tell: Callable[[str], object] = lambda words: None
) -> Iterator[tuple[SqliteStore, Job]]:
    """Open a crawl to look at it as it stands now; nothing is written, and it may be running.

    Of one that is shared the links of all partitions are there, under one numbering; those that are
    being fetched wait there. The scores of those that wait are what its algorithm says when it is
    told the history of each partition, as when a worker takes that over.

    Args:
        uri: of its store.
        name: of the job; "" for the only one.
        tell: is told which partitions of a shared crawl are left out because they cannot be read.

    Raises:
        StoreError: the store cannot be read, or has no such job.
    """
    if not is_shared(uri):
        with open_store(uri, read_only=True) as store:
            yield store, chosen_job(store.jobs(), name, store.name)
        return
    with Observer(uri) as observer:
        name = chosen_job(observer.jobs(), name, observer.name).name
    with tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-") as folder:
        path = Path(folder, "crawl.db")
        with closing(open_shared_store(uri, job=name, arguments=None)) as shared:
            copy_to(path, shared, tell)
        with open_store(f"sqlite:///{path}", read_only=True) as store:
            yield store, store.jobs()[0]


def chosen_job(jobs: Sequence[Job], name: str, store: str) -> Job:
    """Return the job that is meant."""
    found = [job for job in jobs if name in ("", job.name)]
    if len(found) == 1:
        return found[0]
    if not jobs:
        raise StoreError(f"there is no crawl in store {store}; `scrapy crawl focused` begins one")
    some = ", ".join(job.name for job in jobs[-10:])
    if name:
        raise StoreError(f"there is no job {name!r} in store {store}; there are {some}")
    raise StoreError(f"store {store} has several jobs: say -a job=NAME; there are {some}")


def copy_to(path: Path, shared: SharedStore, tell: Callable[[str], object]) -> None:
    """Make a file in which a shared crawl is one job, as it stands now.

    Args:
        path: of the file, which is not there.
        shared: has the crawl.
        tell: is told which partitions are left out because they cannot be read.
    """
    job = shared.job
    began_by = job.arguments.get("mmcrawl", "of old")
    if began_by != __version__:
        raise StoreError(
            f"job {job.name!r} in {shared.uri_shown} was begun by mmcrawl {began_by}, this is"
            f" {__version__}; use that version"
        )
    with open_store(f"sqlite:///{path}") as store:
        store.db.execute("PRAGMA synchronous = OFF")  # it is not kept
        _read_partitions(shared, store, tell)
        try:
            _rescore(store, job.arguments)
        except MmcrawlError:  # its topic is not there any more: scores are as they were logged
            store.roll_back()
        merge(store, PARTITIONS)
        store.begin(PARTITIONS, job.name, job.arguments)
        told = json.loads(shared.read_job()["rules"])
        rules = PinnedRules(PinnedRule(*fields) for fields in told)
        store.remember(PARTITIONS, noted(rules, job.arguments.get("links", ALL)))
        store.commit()


def _read_partitions(
    shared: SharedStore, store: SqliteStore, tell: Callable[[str], object]
) -> None:
    logs = Logs(shared)
    left, found = {*leases_of(shared.all("lease"))}, dict[int, Stored]()
    for _ in range(_TRIES):  # an owner may shorten its log meanwhile
        leases = leases_of(shared.all("lease") if left else {})
        partitions = sorted(left)
        for first in range(0, len(partitions), _AT_ONCE):
            some = [leases[partition] for partition in partitions[first : first + _AT_ONCE]]
            found |= {one.lease.partition: one for one in logs.read(some)}
        left = {partition for partition in left if found[partition].fault}
    for partition, stored in sorted(found.items()):
        try:
            put_rows(store, list(stored.decoded()))
            store.commit()
        except (ValueError, StoreError) as error:
            store.roll_back()
            tell(f"partition {partition} of the crawl is left out, as it cannot be read: {error}")


def _rescore(store: SqliteStore, arguments: Mapping[str, Any]) -> None:
    """Score the waiting links of partitions by the history there."""
    waits = {row[0] for row in store.db.execute(_WAITING)}
    if not waits:
        return
    crawl = CrawlSetup.told(arguments, {})
    reporter = crawl.reporter()
    link_model = None
    for (partition,) in store.db.execute("SELECT DISTINCT job FROM host ORDER BY job").fetchall():
        links = LinkTable(store, partition)
        scorer = crawl.scorer(links, reporter.similarity)
        if link_model is None:
            link_model = scorer.link_model
        else:
            scorer.load_model(link_model)
        if link_model is None and partition not in waits:
            continue
        told = LastScores(scorer)
        for _ in retold(links, told, reporter.test):
            if len(told) > _SCORES_AT_ONCE:
                _write(store, partition, told.take())
        _write(store, partition, told.take())
    store.commit()


def _write(store: SqliteStore, partition: int, scores: LinkScores) -> None:
    rows = zip(scores.ids, scores.score, scores.structure, strict=True)
    with store.writing() as db:
        db.executemany(
            "UPDATE link SET score = ?, structure = ? WHERE id = ? AND status = 'W'",
            [
                (score, structure, (partition << JOB_SHIFT) + link)
                for link, score, structure in rows
            ],
        )


_Numbers: TypeAlias = Mapping[int, "array[int]"]

_TREE = """
CREATE TEMP TABLE fetched (url TEXT PRIMARY KEY, id INTEGER) WITHOUT ROWID;
INSERT OR IGNORE INTO fetched SELECT url, id FROM page JOIN link USING (id)
    WHERE error = '' AND url IN (SELECT url FROM page JOIN link USING (id) WHERE error = '{0}')
    ORDER BY visited_at;
CREATE TEMP TABLE stand_in (id INTEGER PRIMARY KEY, real INTEGER NOT NULL);
INSERT INTO stand_in SELECT page.id, fetched.id FROM page JOIN link USING (id)
    JOIN fetched USING (url) WHERE error = '{0}';
CREATE TEMP TABLE above (id INTEGER PRIMARY KEY, parent INTEGER);
INSERT INTO above SELECT link.id, coalesce(real, parent) FROM link
    LEFT JOIN stand_in ON stand_in.id = parent WHERE link.id NOT IN (SELECT id FROM stand_in);
CREATE INDEX temp.above_parent ON above (parent);
CREATE TEMP TABLE ended (id INTEGER PRIMARY KEY, time REAL, place INTEGER);
INSERT INTO ended SELECT link.id, max(coalesce(visited_at, 0.0)) OVER
    (PARTITION BY link.id >> 40 ORDER BY settled), settled
    FROM link LEFT JOIN page USING (id) WHERE settled IS NOT NULL;
CREATE TEMP TABLE tree (id INTEGER PRIMARY KEY, found REAL, depth INTEGER, ended REAL);
"""
# From what was found by nothing down, each after the page that it was found on.
_GROW = """
INSERT INTO tree WITH RECURSIVE grown (id, found, depth, ended) AS (
    SELECT above.id, 0.0, 0, coalesce(time, 0.0) FROM above LEFT JOIN ended USING (id)
        WHERE parent IS NULL AND above.id NOT IN (SELECT id FROM tree)
    UNION ALL
    SELECT above.id, max(found, coalesce(visited_at, 0.0)), depth + 1,
        max(grown.ended, coalesce(time, 0.0))
        FROM grown JOIN above ON above.parent = grown.id LEFT JOIN page ON page.id = grown.id
        LEFT JOIN ended ON ended.id = above.id
) SELECT * FROM grown
"""
# Pages that wait for each other: a worker died, and what it had found was found again elsewhere.
_CIRCLE = """
SELECT stand_in.id FROM above JOIN link USING (id) JOIN stand_in ON stand_in.id = link.parent
    JOIN page ON page.id = stand_in.id WHERE above.id NOT IN (SELECT id FROM tree)
    ORDER BY visited_at LIMIT 1
"""
_NUMBERS = """
CREATE TEMP TABLE number (id INTEGER PRIMARY KEY, new INTEGER, place INTEGER);
INSERT INTO number (id, new) SELECT id, row_number() OVER (ORDER BY found, depth, id) - 1 FROM tree;
UPDATE number SET place = p.place FROM (SELECT tree.id, row_number() OVER
    (ORDER BY tree.ended, (tree.ended > time) * (depth + 1), tree.id >> 40, ended.place)
    AS place FROM tree JOIN ended USING (id)) p WHERE p.id = number.id;
INSERT INTO number SELECT stand_in.id, new, place FROM stand_in JOIN number ON number.id = real;
CREATE TEMP TABLE outlinks (id INTEGER PRIMARY KEY, links BLOB);
"""
_HOSTS = (
    "INSERT INTO host SELECT :job, row_number() OVER (ORDER BY origin) - 1, origin"
    " FROM (SELECT DISTINCT origin FROM host)"
)
_LINKS = (
    "INSERT INTO link ({0}) SELECT {1} FROM link JOIN host old ON old.job = link.id >> 40"
    " AND old.id = link.host JOIN host new ON new.job = :job AND new.origin = old.origin"
    " JOIN number ON number.id = link.id LEFT JOIN number found_by ON found_by.id = parent"
    " WHERE link.id NOT IN (SELECT id FROM temp.stand_in)"
)
_NEW_LINK = {
    "id": ":base + number.new",
    "key": "new_key(key, link.id >> 40, old.origin || path)",
    "host": "new.id",
    "parent": ":base + found_by.new",
    "settled": "number.place",
}
_OUTLINKS = (
    "SELECT new, page.id, links FROM page JOIN number USING (id)"
    " LEFT JOIN temp.stand_in USING (id) ORDER BY new, real IS NOT NULL, page.id"
)
_PAGES = (
    "INSERT INTO page ({0}) SELECT {1} FROM page JOIN number USING (id)"
    " JOIN outlinks ON outlinks.id = new WHERE page.id NOT IN (SELECT id FROM temp.stand_in)"
)
_NEW_PAGE = {"id": ":base + number.new", "links": "outlinks.links"}
_FOLLOWED = (
    "SELECT job, first, last, coalesce((SELECT place FROM number JOIN link USING (id)"
    " WHERE id >= job << 40 AND id < job + 1 << 40 AND settled <= followed.settled"
    " ORDER BY settled DESC LIMIT 1), 0) FROM followed"
)


def merge(store: SqliteStore, job: int) -> None:
    """Make one job of the links, pages and hosts of all partitions in a store.

    Args:
        store: holds the partitions, each under its number.
        job: number of the one, greater than those.
    """
    told = {"job": job, "base": job << JOB_SHIFT}
    with store.writing() as db:
        _run(db, _TREE.format(ELSEWHERE))
        db.execute(_GROW)
        while row := db.execute(_CIRCLE).fetchone():
            db.execute("DELETE FROM stand_in WHERE id = ?", row)
            db.execute("INSERT INTO above VALUES (?, NULL)", row)
            below = "SELECT id FROM link WHERE parent = ?"
            db.execute(f"UPDATE above SET parent = ? WHERE id IN ({below})", 2 * row)  # noqa: S608
            db.execute(_GROW)
        _run(db, _NUMBERS)
        numbers = _numbers(db)
        db.create_function(
            "new_key", 3, lambda key, partition, url: _new_key(job, key, partition, url)
        )
        db.executemany("INSERT INTO outlinks VALUES (?, ?)", _outlinks(db, numbers))
        db.execute(_HOSTS, {"job": job})
        for table, statement, new in (("link", _LINKS, _NEW_LINK), ("page", _PAGES, _NEW_PAGE)):
            columns = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})")]
            values = (new.get(column, f"{table}.{column}") for column in columns)
            db.execute(statement.format(", ".join(columns), ", ".join(values)), told)
        followed = _followed(db, job, numbers)
        db.executemany("INSERT INTO followed VALUES (?, ?, ?, ?)", followed)
    store.commit()


def _run(db: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        db.execute(statement)


def _numbers(db: sqlite3.Connection) -> _Numbers:
    """Return the new numbers of the links of each partition, in their order there."""
    numbers: defaultdict[int, array[int]] = defaultdict(partial(array, "I"))
    for link, new in db.execute("SELECT id, new FROM number ORDER BY id"):
        numbers[link >> JOB_SHIFT].append(new)
    return numbers


def _new_key(job: int, key: int | None, partition: int, url: str) -> int | None:
    return url_key(job, url) if key == url_key(partition, url) else key


def _outlinks(db: sqlite3.Connection, numbers: _Numbers) -> Iterator[tuple[int, bytes]]:
    """Yield the links on each page: those of its own partition before those of others."""
    for new, some in groupby(db.execute(_OUTLINKS), key=itemgetter(0)):
        links = (
            numbers[page >> JOB_SHIFT][link]
            for _, page, found in some
            for link in array("I", found)
        )
        yield new, array("I", dict.fromkeys(links)).tobytes()


def _followed(
    db: sqlite3.Connection, job: int, numbers: _Numbers
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the rows of `followed`, those of links that are not neighbours any more apart."""
    for partition, first, last, since in db.execute(_FOLLOWED).fetchall():
        links = sorted(numbers[partition][link] for link in range(first, last + 1))
        for _, some in groupby(enumerate(links), key=lambda pair: pair[1] - pair[0]):
            run = [link for _, link in some]
            yield job, run[0], run[-1], since
