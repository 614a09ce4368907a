"""A crawl opened to look at it, wherever its store is.

One that is shared is read from the snapshots and logs of its parts, into a file of this process
that is removed afterwards.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from mmcrawl import __version__
from mmcrawl.cluster.changes import put_rows
from mmcrawl.cluster.leases import leases_of
from mmcrawl.cluster.log import Logs, Stored
from mmcrawl.cluster.own_parts import FOLDER
from mmcrawl.cluster.places import PARTS
from mmcrawl.cluster.store import SharedStore, is_shared, open_shared_store
from mmcrawl.cluster.views.merging import merge
from mmcrawl.cluster.views.observing import Observer
from mmcrawl.crawl.history import LastScores, noted, retold
from mmcrawl.crawl.parts import CrawlParts
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.frontier.ranking import ALL
from mmcrawl.frontier.reading import JOB_SHIFT, LinkTable
from mmcrawl.frontier.records import LinkScores
from mmcrawl.frontier.store import Job, SqliteStore, open_store
from mmcrawl.scoring.pinned_rules import PinnedRule, PinnedRules

_AT_ONCE = 64  # parts
_TRIES = 3
_SCORES_AT_ONCE = 50_000
_WAITING = f"SELECT DISTINCT id >> {JOB_SHIFT} FROM link WHERE status = 'W'"  # noqa: S608


@contextmanager
def opened_to_look(
    uri: str, name: str = "", tell: Callable[[str], object] = lambda words: None
) -> Iterator[tuple[SqliteStore, Job]]:
    """Open a crawl to look at it as it stands now; nothing is written, and it may be running.

    Of one that is shared the links of all parts are there, under one numbering; those that are
    being fetched wait there. The scores of those that wait are what its algorithm says when it is
    told the history of each part, as when a worker takes that over.

    Args:
        uri: of its store.
        name: of the job; "" for the only one.
        tell: is told which parts of a shared crawl are left out because they cannot be read.

    Raises:
        StoreError: the store cannot be read, or has no such job.
    """
    if not is_shared(uri):
        with open_store(uri, read_only=True) as store:
            jobs = {job.name: job for job in store.jobs()}
            yield store, jobs[chosen_job(list(jobs), name, store.name)]
        return
    with Observer(uri) as observer:
        name = chosen_job(observer.jobs(), name, observer.name)
    with tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-") as folder:
        path = Path(folder, "crawl.db")
        with closing(open_shared_store(uri, job=name, arguments=None)) as shared:
            copy_to(path, shared, tell)
        with open_store(f"sqlite:///{path}", read_only=True) as store:
            yield store, store.jobs()[0]


def chosen_job(names: list[str], name: str, store: str) -> str:
    """Return the name of the job that is meant."""
    if name in names or (not name and len(names) == 1):
        return name or names[0]
    if not names:
        raise StoreError(f"there is no crawl in store {store}; `scrapy crawl focused` begins one")
    some = ", ".join(names[-10:])
    if name:
        raise StoreError(f"there is no job {name!r} in store {store}; there are {some}")
    raise StoreError(f"store {store} has several jobs: say -a job=NAME; there are {some}")


def copy_to(path: Path, shared: SharedStore, tell: Callable[[str], object]) -> None:
    """Make a file in which a shared crawl is one job, as it stands now.

    Args:
        path: of the file, which is not there.
        shared: has the crawl.
        tell: is told which parts are left out because they cannot be read.
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
        _read_parts(shared, store, tell)
        try:
            _rescore(store, job.arguments)
        except MmcrawlError:  # its topic is not there any more: scores are as they were logged
            store.roll_back()
        merge(store, PARTS)
        store.begin(PARTS, job.name, job.arguments)
        rules = PinnedRules(PinnedRule(*fields) for fields in shared.rules())
        store.remember(PARTS, noted(rules, job.arguments.get("links", ALL)))
        store.commit()


def _read_parts(shared: SharedStore, store: SqliteStore, tell: Callable[[str], object]) -> None:
    logs = Logs(shared)
    left, found = {*leases_of(shared.all("lease"))}, dict[int, Stored]()
    for _ in range(_TRIES):  # an owner may shorten its log meanwhile
        leases = leases_of(shared.all("lease") if left else ())
        parts = sorted(left)
        for first in range(0, len(parts), _AT_ONCE):
            some = [leases[part] for part in parts[first : first + _AT_ONCE]]
            found |= {one.lease.part: one for one in logs.read(some)}
        left = {part for part in left if found[part].fault}
    for part, stored in sorted(found.items()):
        fault = stored.lease.fault or stored.fault
        try:
            put_rows(store, () if fault else list(stored.decoded()))
            store.commit()
        except (ValueError, StoreError) as error:
            store.roll_back()
            fault = str(error)
        if fault:
            tell(f"partition {part} of the crawl is left out, as it cannot be read: {fault}")


def _rescore(store: SqliteStore, arguments: Mapping[str, Any]) -> None:
    """Give the links that wait in parts the scores that follow from what happened there."""
    waits = {row[0] for row in store.db.execute(_WAITING)}
    if not waits:
        return
    crawl = CrawlParts.told(arguments, {})
    reporter = crawl.reporter()
    link_model = None
    for (part,) in store.db.execute("SELECT DISTINCT job FROM host ORDER BY job").fetchall():
        links = LinkTable(store, part)
        scorer = crawl.scorer(links, reporter.similarity)
        if link_model is None:
            link_model = scorer.link_model
        else:
            scorer.load_model(link_model)
        if link_model is None and part not in waits:
            continue
        told = LastScores(scorer)
        for _ in retold(links, told, reporter.test):
            if len(told) > _SCORES_AT_ONCE:
                _write(store, part, told.take())
        _write(store, part, told.take())
    store.commit()


def _write(store: SqliteStore, part: int, scores: LinkScores) -> None:
    rows = zip(scores.ids, scores.score, scores.structure, strict=True)
    with store.writing() as db:
        db.executemany(
            "UPDATE link SET score = ?, structure = ? WHERE id = ? AND status = 'W'",
            [(score, structure, (part << JOB_SHIFT) + link) for link, score, structure in rows],
        )
