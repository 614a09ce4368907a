"""The crawl as the shared store has it, in a file of this process: its newest snapshot, and the log
after it.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from mmcrawl import __version__
from mmcrawl.crawling.parts import CrawlParts
from mmcrawl.errors import StoreError
from mmcrawl.frontier.store import Job, SqliteStore, open_store
from mmcrawl.replay.opening import open_web
from mmcrawl.scoring.pinned_rules import PinnedRule, PinnedRules
from mmcrawl.sharing.crawl import SharedCrawl
from mmcrawl.sharing.messages import Entry
from mmcrawl.sharing.observing import Observer
from mmcrawl.sharing.store import SharedStore, open_shared_store
from mmcrawl.stores.uris import is_server

FOLDER = "mmcrawl-"
"""What names of temporary folders begin with; the process that made it follows."""
_FILE = "crawl.db"


@contextmanager
def working_folder() -> Iterator[Path]:
    """Give an empty folder that is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def open_working_copy(
    shared: SharedStore, folder: Path
) -> tuple[SqliteStore, dict[str, Any] | None]:
    """Open what the newest snapshot holds, an empty store if there is none.

    Returns:
        The store, and what else `SharedCrawl` needs of the snapshot; None if there is none.
    """
    path = folder / _FILE
    snapshot = shared.load_snapshot(path)
    store = open_store(f"sqlite:///{path}")
    store.db.execute("PRAGMA synchronous = OFF")  # the truth is on the shared store
    return store, snapshot[1] if snapshot else None


def replay_log(shared: SharedStore, crawl: SharedCrawl) -> Iterator[int]:
    """Do what the log says from where a crawl stands; yield the bytes of each entry.

    Raises:
        StoreError: the log cannot be read, or was written under other settings.
    """
    for _, data in shared.entries(crawl.number):
        try:
            crawl.replay(Entry.decode(data))
        except ValueError as error:
            raise StoreError(
                f"entry {crawl.number} of the log of job {shared.job.name!r} in"
                f" {shared.uri_shown} cannot be read ({error}); restore the database from"
                " a copy, or start another job with -a job=NAME"
            ) from error
        yield len(data)


@contextmanager
def opened_to_look(uri: str, name: str = "") -> Iterator[tuple[SqliteStore, Job]]:
    """Open a crawl to look at it as it stands now; nothing is written, and it may be running.

    One that is shared is read from its newest snapshot and its log, into a file of this process.

    Args:
        uri: of its store.
        name: of the job; "" for the only one.

    Raises:
        StoreError: the store cannot be read, or has no such job.
        MmcrawlError: a shared crawl cannot be made again of what its store tells.
    """
    if not is_server(uri):
        with open_store(uri, read_only=True) as store:
            jobs = {job.name: job for job in store.jobs()}
            yield store, jobs[chosen_job(list(jobs), name, store.name)]
        return
    with Observer(uri) as observer:
        name = chosen_job(observer.jobs(), name, observer.name)
    with working_folder() as folder:
        with closing(open_shared_store(uri, job=name, arguments=None)) as shared:
            path = _copied(shared, folder)
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


def _copied(shared: SharedStore, folder: Path) -> Path:
    """Return a file with the crawl as it stands; read again where the log was cut meanwhile."""
    arguments = shared.job.arguments
    if arguments.get("mmcrawl") != __version__:
        raise StoreError(
            f"job {shared.job.name!r} in {shared.uri_shown} was begun by mmcrawl"
            f" {arguments.get('mmcrawl', 'of old')}, this is {__version__}; use that version"
        )
    aliases = dict(open_web(arguments["web"]).aliases()) if arguments["web"] else {}
    rules = PinnedRules(PinnedRule(*fields) for fields in shared.rules())
    parts = replace(CrawlParts.told(arguments, aliases), rules=rules)
    while True:
        store, state = open_working_copy(shared, folder)
        with store:
            own = store.job(shared.job.name, arguments)
            crawl = SharedCrawl(parts.job(store, own), state)
            for _ in replay_log(shared, crawl):
                pass
        if shared.newest_snapshot() <= crawl.number:
            return folder / _FILE
        (folder / _FILE).unlink()
