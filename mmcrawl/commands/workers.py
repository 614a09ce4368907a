"""`scrapy workers`: the shared crawls of a store, and their workers."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text
from scrapy.commands import ScrapyCommand

from mmcrawl.archive.model import as_text
from mmcrawl.commands.base import JSON, MmcrawlCommand, as_json, console_of
from mmcrawl.commands.terminal.tables import facts_table, folded, literal
from mmcrawl.crawl.spider_params import checked_store
from mmcrawl.store.uris import file_of

if TYPE_CHECKING:  # the driver of MongoDB is slow to load
    from mmcrawl.cluster.views.observing import CrawlView, JobView, Observer, WorkerView

_NOT_KNOWN = "…"
_LATE = 5.0  # seconds; reports that wait for longer are told of
_STATES = {
    "running": "running",
    "starting": "started; no worker yet",
    "silent": "no worker responds; the same command resumes",
    "": _NOT_KNOWN,
}
_STYLES = {"running": "green", "silent": "bold red", "finished": "", "stopped": "yellow"}

_LOOK_AGAIN, _LONGEST_LOOK = 0.25, 8.0
"""Seconds between two looks where one is not enough, and after which no more is found out."""
_BUSIEST = 8  # partitions that are shown
_LEASE = ("owner", "epoch", "busy", "alone", "pages", "fault")


class Command(MmcrawlCommand, ScrapyCommand):
    """Show the workers of a crawl."""

    name = "workers"
    working = ""
    details = (
        "Without a job, the jobs of the store; the workers at once if there is only one. It"
        " looks for a few seconds, to see who is alive and how fast pages come."
    )
    arguments = ("store", "job")

    options = (JSON,)

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        store = _store(opts)
        return lambda: self._show(store, opts)

    def _show(self, store: str, opts: argparse.Namespace) -> None:
        from mmcrawl.cluster.views.observing import Observer

        with Observer(store) as observer:
            views = _looked_at(
                observer, [opts.job] if opts.job else [job.name for job in observer.jobs()]
            )
        if opts.json:
            one = crawl_as_plain(observer.name, views[0]) if len(views) == 1 else None
            plain = one or jobs_as_plain(observer.name, [view.job for view in views])
            print(as_json(plain))
        elif len(views) == 1:
            console_of().print(crawl_tables(observer.name, views[0]))
        elif views:
            console_of().print(jobs_table(observer.name, [view.job for view in views]))
        else:
            print(f"There is no job in {observer.name}.")


def _looked_at(observer: Observer, jobs: Sequence[str]) -> list[CrawlView]:
    """Observe jobs for a few seconds."""
    end = time.monotonic() + _LONGEST_LOOK
    while True:
        views = [observer.look(job, time.monotonic()) for job in jobs]
        if all(view.is_settled for view in views) or time.monotonic() > end:
            return views
        time.sleep(_LOOK_AGAIN)


def _store(opts: argparse.Namespace) -> str:
    from mmcrawl.cluster.store import is_shared

    if not opts.store:
        raise ValueError("say which store, as -a store=FILE.db or -a store=mongodb://HOST/DATABASE")
    store = checked_store(opts.store)
    if not is_shared(store) and os.path.isfile(file_of(store)):
        raise ValueError(
            f"{file_of(store)} keeps a crawl of one process, begun without workers=: its panel and"
            " its table say how it goes"
        )
    return store


def jobs_table(store: str, jobs: Sequence[JobView]) -> RenderableType:
    pages = Column("pages", justify="right", no_wrap=True)
    columns = (folded("job"), folded("begun"), pages, folded("state"))
    table = Table(*columns, box=box.SIMPLE_HEAD, title=literal(store), title_justify="left")
    for job in jobs:
        table.add_row(literal(job.name), _time(job.started_at), f"{job.pages:,}", state_text(job))
    return table


def crawl_tables(store: str, crawl: CrawlView) -> RenderableType:
    """Return the workers of a job, and its progress."""
    shown: list[RenderableType] = [facts_table(_facts(store, crawl))]
    if crawl.workers:
        shown += [Text(""), _workers(crawl)]
    else:
        shown.append(Text("No worker is active.", "dim"))
    if crawl.partitions and crawl.job.finished_at is None:
        shown += [Text(""), _busiest(crawl)]
    return Group(*shown)


def state_text(job: JobView) -> Text:
    """Return the state of a job in words."""
    if job.finished_at is not None:
        words = f"finished {_time(job.finished_at)}"
    elif job.state == "stopped":
        words = f"stopped: {job.reason}" if job.reason else "stopped"
    else:
        words = _STATES[job.state]
    return Text(literal(words).plain, _STYLES.get(job.state, ""))


def _facts(store: str, crawl: CrawlView) -> Iterator[tuple[str, RenderableType]]:
    job, totals = crawl.job, crawl.totals
    media = ", ".join(f"{count:,} {kind}" for kind, count in totals.media.items())
    held = f" (+{totals.held:,} held)" if totals.held else ""
    rate = f"  ({_rate(crawl.pages_per_second)}/s)" if job.state in {"running", ""} else ""
    yield "job", Text(literal(job.name).plain, "bold")
    yield "store", literal(store)
    yield "state", state_text(job)
    yield "begun", _time(job.started_at)
    yield "pages", f"{totals.pages:,}{rate}"
    if crawl.partitions:
        yield "partitions", _partitions_text(crawl)
    if crawl.messages:
        yield "messages waiting", f"{crawl.messages:,}"
    yield "waiting", f"{totals.waiting:,}{held}"
    yield "media pages", f"{totals.media_pages:,}" + (f"  ({media})" if media else "")
    yield "harvest rate", f"{totals.harvest_rate:.0%} of the last 500"
    yield "errors", f"{totals.errors:,}"


def _partitions_text(crawl: CrawlView) -> Text:
    """Return how many partitions there are, and which of them nobody works on."""
    faulty = sum(bool(lease.fault) for lease in crawl.partitions.values())
    text = Text(f"{len(crawl.partitions):,}")
    if crawl.unowned:
        text.append(f", {crawl.unowned:,} without a worker", "yellow")
    if faulty:
        text.append(f", {faulty:,} in quarantine: they cannot be read", "bold red")
    return text


def _workers(crawl: CrawlView) -> Table:
    names = ("owned", "busy", "links", "pages", "pages/s")
    numbers = (Column(name, justify="right", no_wrap=True) for name in names)
    worker = Column("worker", overflow="fold", min_width=len("silent"))
    # The numbers leave little to a narrow terminal.
    table = Table(worker, *numbers, box=None, padding=(0, 1, 0, 0))
    for one in crawl.workers:
        table.add_row(
            Text.assemble(literal(one.name), " ", _life(one)),
            f"{len(one.partitions):,}",
            f"{one.busy:,}",
            f"{one.heartbeat.under_way:,}",
            f"{one.pages:,}",
            _rate(one.pages_per_second),
        )
    return table


def _busiest(crawl: CrawlView) -> Table:
    """Return the partitions with most to do, and those that cannot be read."""
    leases = sorted(
        crawl.partitions.values(), key=lambda one: (not one.fault, -one.busy, one.partition)
    )
    names = ("partition", "epoch", "busy", "pages")
    numbers = (Column(name, justify="right", no_wrap=True) for name in names)
    table = Table(*numbers, Column("owner", overflow="fold"), box=None, padding=(0, 1, 0, 0))
    for one in leases[:_BUSIEST]:
        owner = Text("in quarantine", "bold red") if one.fault else literal(one.owner or "nobody")
        table.add_row(f"{one.partition}", f"{one.epoch}", f"{one.busy:,}", f"{one.pages:,}", owner)
    return table


def _life(worker: WorkerView) -> Text:
    if worker.alive is None:
        return Text(_NOT_KNOWN)
    if worker.alive:
        late = worker.heartbeat.lag >= _LATE
        text = Text("alive", "green")
        return (
            text.append(f", writes {_duration(worker.heartbeat.lag)} late", "red") if late else text
        )
    since = f" for {_duration(worker.silent_seconds)}" if worker.silent_seconds else ""
    return Text(f"silent{since}", "bold red")


def _rate(pages_per_second: float | None) -> str:
    return _NOT_KNOWN if pages_per_second is None else f"{pages_per_second:.1f}"


def _time(seconds: float) -> str:
    return as_text(float(int(seconds)))


def _duration(seconds: float) -> str:
    """Return a time span as a person reads it.

    >>> _duration(75), _duration(7_500)
    ('1 min', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = int(seconds) // 60
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def jobs_as_plain(store: str, jobs: Sequence[JobView]) -> dict[str, Any]:
    return {"store": store, "jobs": [asdict(job) for job in jobs]}


def crawl_as_plain(store: str, crawl: CrawlView) -> dict[str, Any]:
    partitions = {
        partition: {name: getattr(lease, name) for name in _LEASE}
        for partition, lease in crawl.partitions.items()
    }
    workers = [
        {
            "name": one.name,
            "alive": one.alive,
            "silent_seconds": one.silent_seconds,
            "pages_per_second": one.pages_per_second,
            "partitions": sorted(one.partitions),
            "busy": one.busy,
            "pages": one.pages,
            "under_way": one.heartbeat.under_way,
            "lag": one.heartbeat.lag,
        }
        for one in crawl.workers
    ]
    return {
        "store": store,
        "job": asdict(crawl.job),
        "workers": workers,
        "partitions": partitions,
        "unowned": crawl.unowned,
        "messages": crawl.messages,
        "totals": asdict(crawl.totals),
        "pages_per_second": crawl.pages_per_second,
    }
