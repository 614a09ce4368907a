"""`scrapy workers`: the shared crawls of a store, and who works on them."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Column, Table
from rich.text import Text
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from mmcrawl.archive.model import as_text
from mmcrawl.commands.base import MmcrawlCommand, console_of
from mmcrawl.commands.terminal.crawl import facts_table, folded, literal, sentence
from mmcrawl.crawl.spider_params import checked_store
from mmcrawl.errors import StoreError
from mmcrawl.store.uris import file_of

if TYPE_CHECKING:  # the driver of MongoDB is slow to load
    from mmcrawl.cluster.views.observing import (
        CrawlView,
        JobView,
        Observation,
        Observer,
        WorkerView,
    )

_NOT_KNOWN = "…"
_LATE = 5.0  # seconds; reports that wait for longer are told of
_STATES = {
    "running": "running",
    "starting": "started; no worker yet",
    "silent": "no worker responds; the same command resumes",
    "": _NOT_KNOWN,
}
_STYLES = {"running": "green", "silent": "bold red", "finished": "", "stopped": "yellow"}

_AGAIN = 2.0  # seconds until what is watched is drawn anew
_LOOK_AGAIN, _LONGEST_LOOK = 0.25, 5.0
"""Seconds between two looks where one is not enough, and after which no more is found out."""


class Command(MmcrawlCommand, ScrapyCommand):
    """Show the workers of a crawl."""

    name = "workers"
    working = ""
    interrupted = ""
    usage = "-a store=STORE [-a job=NAME] [--watch|--json]"
    details = (
        "Without a job, the jobs of the store; the workers at once if there is only one. It"
        " looks for a few seconds, to see who is alive and how fast pages come."
    )
    arguments = ("store", "job")

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--watch", action="store_true", help="redraw every 2 seconds, until Ctrl-C")
        add("--json", action="store_true", help="for programs: one JSON object")

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        if opts.watch and opts.json:
            raise UsageError("give either --watch or --json")
        store = _store(opts)
        return lambda: self._show(store, opts)

    def _show(self, store: str, opts: argparse.Namespace) -> None:
        from mmcrawl.cluster.views.observing import Observer

        with Observer(store) as observer:
            sight = _Sight(observer, opts.job)
            if opts.watch:
                with suppress(KeyboardInterrupt):
                    self._watch(sight, console_of())
                return
            sight.look_until_known()
            if opts.json:
                print(json.dumps(sight.plain(), ensure_ascii=False))
            else:
                console_of().print(sight.drawn())

    def _watch(self, sight: _Sight, console: Console) -> None:
        """Draw again and again; a server that goes away later is waited for."""
        sight.look()
        live = Live(sight.drawn(), console=console, auto_refresh=False)
        with live if console.is_terminal else nullcontext():
            while True:
                if console.is_terminal:
                    live.update(sight.drawn(), refresh=True)
                else:  # one picture after the other: a file cannot be drawn over
                    console.print(sight.drawn())
                time.sleep(_AGAIN)
                try:
                    sight.look()
                    sight.problem = ""
                except StoreError as error:
                    sight.problem = str(error)


class _Sight:
    """What is looked at: one job, or all of the store."""

    def __init__(self, observer: Observer, job: str) -> None:
        self.problem = ""
        self._observer = observer
        self._job = job
        self._seen: dict[str, Observation] = {}
        self._names: Sequence[str] = ()

    def look(self) -> None:
        from mmcrawl.cluster.views.observing import Observation

        self._names = [self._job] if self._job else self._observer.jobs()
        for name in self._names:
            observation = self._seen.setdefault(name, Observation(name))
            self._observer.look(observation, time.monotonic())

    def look_until_known(self) -> None:
        """Look until all is found out that a few seconds tell."""
        end = time.monotonic() + _LONGEST_LOOK
        self.look()
        while time.monotonic() < end and not all(self._seen[n].is_settled for n in self._names):
            time.sleep(_LOOK_AGAIN)
            self.look()

    def drawn(self) -> RenderableType:
        views = [self._seen[name].view for name in self._names]
        store = self._observer.name
        if not views:
            return literal(f"There is no job in {store}.")
        if len(views) == 1:
            shown = crawl_tables(store, views[0])
        else:
            shown = jobs_table(store, [view.job for view in views])
        return Group(shown, literal(sentence(self.problem))) if self.problem else shown

    def plain(self) -> dict[str, Any]:
        views = [self._seen[name].view for name in self._names]
        if len(views) == 1:
            return crawl_as_plain(self._observer.name, views[0])
        return jobs_as_plain(self._observer.name, [view.job for view in views])


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
    """Return who works on a job, and where it stands."""
    parts: list[RenderableType] = [facts_table(_facts(store, crawl))]
    if crawl.workers:
        parts += [Text(""), _workers(crawl)]
    else:
        parts.append(Text("No worker is active.", "dim"))
    return Group(*parts)


def state_text(job: JobView) -> Text:
    """Return in words whether a job goes on."""
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
    if crawl.workers:
        yield "parts", _parts(crawl)
    if crawl.mail:
        yield "mail waiting", f"{crawl.mail:,}"
    yield "waiting", f"{totals.waiting:,}{held}"
    yield "media pages", f"{totals.media_pages:,}" + (f"  ({media})" if media else "")
    yield "harvest rate", f"{totals.harvest_rate:.0%} of the last 500"
    yield "errors", f"{totals.errors:,}"


def _parts(crawl: CrawlView) -> Text:
    """Return how many parts there are, and which of them nobody works on."""
    aside = len({part for worker in crawl.workers for part in worker.sign.aside})
    text = Text(f"{crawl.parts:,}")
    if crawl.unowned:
        text.append(f", {crawl.unowned:,} without a worker", "yellow")
    if aside:
        text.append(f", {aside:,} set aside: they cannot be read", "bold red")
    return text


def _workers(crawl: CrawlView) -> Table:
    names = ("parts", "busy", "links", "pages", "pages/s")
    numbers = (Column(name, justify="right", no_wrap=True) for name in names)
    worker = Column("worker", overflow="fold", min_width=len("silent"))
    # The numbers leave little to a narrow terminal.
    table = Table(worker, *numbers, box=None, padding=(0, 1, 0, 0))
    for one in crawl.workers:
        sign = one.sign
        table.add_row(
            Text.assemble(literal(one.name), " ", _life(one)),
            f"{len(sign.parts):,}",
            f"{sign.active:,}",
            f"{sign.under_way:,}",
            f"{sign.pages:,}",
            _rate(one.pages_per_second),
        )
    return table


def _life(worker: WorkerView) -> Text:
    if worker.alive is None:
        return Text(_NOT_KNOWN)
    if worker.alive:
        late = worker.sign.lag >= _LATE
        text = Text("alive", "green")
        return text.append(f", writes {_duration(worker.sign.lag)} late", "red") if late else text
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
    workers = [_worker_as_plain(worker) for worker in crawl.workers]
    return {"store": store, **asdict(crawl), "workers": workers}


def _worker_as_plain(worker: WorkerView) -> dict[str, Any]:
    sign = worker.sign
    told = {name: getattr(sign, name) for name in ("active", "under_way", "pages", "lag", "aside")}
    plain = {name: value for name, value in asdict(worker).items() if name != "sign"}
    return {**plain, "parts": sorted(sign.parts), "epochs": sign.parts, **told}
