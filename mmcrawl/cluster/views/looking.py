"""Opens a crawl for reading, wherever its store is.

A shared crawl is read from the snapshots and logs of its partitions, into memory.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain, groupby, repeat
from operator import itemgetter
from typing import Any

from mmcrawl import __version__
from mmcrawl.cluster.changes import put_rows
from mmcrawl.cluster.leases import Logs, Stored, leases_of
from mmcrawl.cluster.places import PARTITIONS
from mmcrawl.cluster.store import SharedStore, is_shared, open_shared_store
from mmcrawl.cluster.views.observing import Observer
from mmcrawl.crawl.history import LastScores, noted, retold
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.frontier.ranking import ALL
from mmcrawl.frontier.reading import ELSEWHERE, JOB_SHIFT, LinkTable
from mmcrawl.frontier.store import Job, SqliteStore, open_store
from mmcrawl.frontier.urls import url_key
from mmcrawl.scoring.pinned_rules import PinnedRule, PinnedRules

_AT_ONCE = 64  # partitions
_TRIES = 3
_SCORES_AT_ONCE = 50_000


@contextmanager
def opened_to_look(
    uri: str,
    name: str = "",
    tell: Callable[[str], object] = lambda words: None,
    *,
    scored: bool = True,
) -> Iterator[tuple[SqliteStore, Job]]:
    """Open a crawl to look at it as it stands now; nothing is written, and it may be running.

    Of one that is shared the links of all partitions are there, under one numbering; those that are
    being fetched wait there. The scores of those that wait are what its algorithm says when it is
    told the history of the crawl.

    Args:
        uri: of its store.
        name: of the job; "" for the only one.
        tell: is told which partitions of a shared crawl are left out because they cannot be read.
        scored: whether the scores of links that wait matter; they take long.

    Raises:
        StoreError: the store cannot be read, or has no such job.
    """
    if not is_shared(uri):
        with open_store(uri, read_only=True) as store:
            yield store, chosen_job(store.jobs(), name, store.name)
        return
    with Observer(uri) as observer:
        name = chosen_job(observer.jobs(), name, observer.name).name
    with open_store("memory:") as store:
        with closing(open_shared_store(uri, job=name, arguments=None)) as shared:
            job = copy_to(store, shared, tell, scored=scored)
        yield store, job


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


def copy_to(
    store: SqliteStore, shared: SharedStore, tell: Callable[[str], object], *, scored: bool = True
) -> Job:
    """Make a shared crawl one job of an empty store, as it stands now; see `opened_to_look`."""
    job = shared.job
    began_by = job.arguments.get("mmcrawl", "of old")
    if began_by != __version__:
        raise StoreError(
            f"job {job.name!r} in {shared.uri_shown} was begun by mmcrawl {began_by}, this is"
            f" {__version__}; use that version"
        )
    _read_partitions(shared, store, tell)
    merge(store, PARTITIONS)
    copied = store.begin(PARTITIONS, job.name, job.arguments)
    told = json.loads(shared.read_job()["rules"])
    rules = PinnedRules(PinnedRule(*fields) for fields in told)
    store.remember(PARTITIONS, noted(rules, job.arguments.get("links", ALL)))
    if scored:
        with suppress(MmcrawlError):  # its topic is not there any more: scores are as logged
            _rescore(store, job.arguments)
    store.commit()
    return copied


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
    """Score the waiting links by the history of the crawl."""
    crawl = CrawlSetup.told(arguments, {})
    reporter, links = crawl.reporter(), LinkTable(store, PARTITIONS)
    told = LastScores(crawl.scorer(links, reporter.similarity))
    steps = (False for _ in retold(links, told, reporter.test))
    for is_last in chain(steps, [True]):
        if is_last or len(told) > _SCORES_AT_ONCE:
            scores = told.take()
            base = repeat(PARTITIONS << JOB_SHIFT)
            rows = zip(scores.score, scores.structure, scores.ids, base, strict=False)
            with store.writing() as db:
                db.executemany(_RESCORED, rows)


# Pages stand in other partitions too, for those who have links from them: `stand_in`. One that
# came after what stands in for it was fetched again, as its first owner died: both stay. Links
# come in the order of the pages that they were found on, pages in that of their visits.
_NUMBERED = """
CREATE TEMP TABLE fetched (url TEXT PRIMARY KEY, id INTEGER, time REAL) WITHOUT ROWID;
INSERT OR IGNORE INTO fetched SELECT url, id, visited_at FROM page JOIN link USING (id)
    WHERE error = '' AND url IN (SELECT url FROM page JOIN link USING (id) WHERE error = '{0}')
    ORDER BY visited_at;
CREATE TEMP TABLE stand_in (id INTEGER PRIMARY KEY, real INTEGER NOT NULL);
INSERT INTO stand_in SELECT page.id, fetched.id FROM page JOIN link USING (id)
    JOIN fetched USING (url) WHERE error = '{0}' AND time <= visited_at;
CREATE TEMP TABLE ended (id INTEGER PRIMARY KEY, time REAL, place INTEGER);
INSERT INTO ended SELECT link.id, max(coalesce(visited_at, 0.0)) OVER
    (PARTITION BY link.id >> 40 ORDER BY settled), settled
    FROM link LEFT JOIN page USING (id) WHERE settled IS NOT NULL;
DELETE FROM ended WHERE id IN (SELECT id FROM stand_in);
CREATE TEMP TABLE number (id INTEGER PRIMARY KEY, new INTEGER, place INTEGER);
INSERT INTO number (id, new) SELECT link.id, row_number() OVER
    (ORDER BY ended.time NULLS FIRST, coalesce(real, parent), link.id) - 1
    FROM link LEFT JOIN stand_in ON stand_in.id = parent
    LEFT JOIN ended ON ended.id = coalesce(real, parent)
    WHERE link.id NOT IN (SELECT id FROM stand_in);
UPDATE number SET place = p.place FROM (SELECT id, row_number() OVER
    (ORDER BY time, id >> 40, place) AS place FROM ended) p WHERE p.id = number.id;
INSERT INTO number SELECT stand_in.id, new, place FROM stand_in JOIN number ON number.id = real;
CREATE TEMP TABLE outlinks (id INTEGER PRIMARY KEY, links BLOB);
"""
_MERGED = """
INSERT INTO host SELECT {job}, row_number() OVER (ORDER BY origin) - 1, origin
    FROM (SELECT DISTINCT origin FROM host);
INSERT INTO link ({link}) SELECT {new_link} FROM link
    JOIN host old ON old.job = link.id >> 40 AND old.id = link.host
    JOIN host new ON new.job = {job} AND new.origin = old.origin
    JOIN number ON number.id = link.id LEFT JOIN number found_by ON found_by.id = parent
    WHERE link.id NOT IN (SELECT id FROM temp.stand_in);
INSERT INTO page ({page}) SELECT {new_page} FROM page JOIN number USING (id)
    JOIN outlinks ON outlinks.id = new WHERE page.id NOT IN (SELECT id FROM temp.stand_in);
INSERT INTO pattern SELECT {job}, host, pattern, urls, hits, misses FROM pattern;
"""
_NEW = {
    "id": "({job} << 40) + number.new",
    "key": "new_key(key, link.id >> 40, old.origin || path)",
    "host": "new.id",
    # Where clocks of machines differ, a page may come before the one that led to it.
    "parent": "CASE WHEN found_by.new < number.new THEN ({job} << 40) + found_by.new END",
    "settled": "number.place",
    "links": "outlinks.links",
}
_OUTLINKS = (
    "SELECT new, page.id, links FROM page JOIN number USING (id)"
    " LEFT JOIN temp.stand_in USING (id) ORDER BY new, real IS NOT NULL, page.id"
)
_FOLLOWED = (
    "SELECT job, first, last, coalesce((SELECT place FROM number JOIN link USING (id)"
    " WHERE id >= job << 40 AND id < job + 1 << 40 AND settled <= followed.settled"
    " ORDER BY settled DESC LIMIT 1), 0) FROM followed"
)
_RESCORED = "UPDATE link SET score = ?, structure = ? WHERE id = ? + ? AND status = 'W'"


def merge(store: SqliteStore, job: int) -> None:
    """Make one job of the links, pages, hosts and patterns of all partitions in a store.

    Args:
        store: holds the partitions, each under its number.
        job: number of the one, greater than those.
    """

    def new_key(key: int | None, partition: int, url: str) -> int | None:
        return url_key(job, url) if key == url_key(partition, url) else key

    with store.writing() as db:
        _run(db, _NUMBERED.format(ELSEWHERE))
        numbers: defaultdict[int, array[int]] = defaultdict(partial(array, "I"))
        for link, new in db.execute("SELECT id, new FROM number ORDER BY id"):
            numbers[link >> JOB_SHIFT].append(new)
        db.create_function("new_key", 3, new_key)
        db.executemany("INSERT INTO outlinks VALUES (?, ?)", _outlinks(db, numbers))
        named: dict[str, Any] = {"job": job}
        for table in ("link", "page"):
            columns = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})")]
            values = (_NEW.get(column, f"{table}.{column}") for column in columns)
            named[table] = ", ".join(columns)
            named[f"new_{table}"] = ", ".join(values).format(job=job)
        _run(db, _MERGED.format(**named))
        followed = [(job, *row) for row in _followed(db, numbers)]
        db.executemany("INSERT INTO followed VALUES (?, ?, ?, ?)", followed)
    store.commit()


def _run(db: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        db.execute(statement)


def _outlinks(
    db: sqlite3.Connection, numbers: Mapping[int, array[int]]
) -> Iterator[tuple[int, bytes]]:
    """Yield the links on each page: those of its own partition before those of others."""
    for new, some in groupby(db.execute(_OUTLINKS), key=itemgetter(0)):
        links = (
            numbers[page >> JOB_SHIFT][link]
            for _, page, found in some
            for link in array("I", found)
        )
        yield new, array("I", dict.fromkeys(links)).tobytes()


def _followed(
    db: sqlite3.Connection, numbers: Mapping[int, array[int]]
) -> Iterator[tuple[int, int, int]]:
    """Yield the rows of `followed`, those of links that are not neighbours any more apart."""
    for partition, first, last, since in db.execute(_FOLLOWED):
        links = sorted(numbers[partition][link] for link in range(first, last + 1))
        for _, some in groupby(enumerate(links), key=lambda pair: pair[1] - pair[0]):
            run = [link for _, link in some]
            yield run[0], run[-1], since
