"""What a person sees of shared crawls: the jobs of a store, and who works on one of them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mmcrawl.archive.model import as_text
from mmcrawl.sharing.views.observing import CrawlView, JobView, WorkerView
from mmcrawl.terminal.crawl import literal

_NOT_KNOWN = "…"
_LATE = 5.0  # seconds; reports that wait for longer are told of
_STATES = {
    "running": "running",
    "starting": "begun; no worker yet",
    "silent": "no sign of a worker; the same command goes on",
    "": _NOT_KNOWN,
}
_STYLES = {"running": "green", "silent": "bold red", "finished": "", "stopped": "yellow"}


def jobs_table(store: str, jobs: Sequence[JobView]) -> RenderableType:
    """Return the jobs of a store."""
    table = Table(box=box.SIMPLE_HEAD, title=literal(store), title_justify="left")
    table.add_column("job", overflow="fold")
    table.add_column("begun", overflow="fold")
    table.add_column("pages", justify="right", no_wrap=True)
    table.add_column("state", overflow="fold")
    for job in jobs:
        table.add_row(literal(job.name), _time(job.started_at), f"{job.pages:,}", state_text(job))
    return table


def crawl_tables(store: str, crawl: CrawlView) -> RenderableType:
    """Return who works on a job, and where it stands."""
    parts: list[RenderableType] = [_facts(store, crawl)]
    if crawl.workers:
        parts += [Text(""), _workers(crawl)]
    else:
        parts.append(Text("Nobody works on it.", "dim"))
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


def _facts(store: str, crawl: CrawlView) -> Table:
    job, totals = crawl.job, crawl.totals
    media = ", ".join(f"{count:,} {kind}" for kind, count in totals.media.items())
    held = f" (+{totals.held:,} held)" if totals.held else ""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("job", Text(literal(job.name).plain, "bold"))
    table.add_row("store", literal(store))
    table.add_row("state", state_text(job))
    table.add_row("begun", _time(job.started_at))
    rate = f"  ({_rate(crawl.pages_per_second)}/s)" if job.state in {"running", ""} else ""
    table.add_row("pages", f"{totals.pages:,}{rate}")
    if crawl.workers:
        table.add_row("parts", _parts(crawl))
    if crawl.mail:
        table.add_row("mail waiting", f"{crawl.mail:,}")
    table.add_row("waiting", f"{totals.waiting:,}{held}")
    table.add_row("media pages", f"{totals.media_pages:,}" + (f"  ({media})" if media else ""))
    table.add_row("harvest rate", f"{totals.harvest_rate:.0%} of the last 500")
    table.add_row("errors", f"{totals.errors:,}")
    return table


def _parts(crawl: CrawlView) -> Text:
    """Return how many parts there are, and which of them nobody works on."""
    aside = len({part for worker in crawl.workers for part in worker.sign.aside})
    text = Text(f"{crawl.parts:,}")
    if crawl.unowned:
        text.append(f", {crawl.unowned:,} with nobody", "yellow")
    if aside:
        text.append(f", {aside:,} set aside: they cannot be read", "bold red")
    return text


def _workers(crawl: CrawlView) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))  # the numbers leave little to a narrow terminal
    table.add_column("worker", overflow="fold", min_width=len("silent"))
    for name in ("parts", "busy", "links", "pages", "pages/s"):
        table.add_column(name, justify="right", no_wrap=True)
    for worker in crawl.workers:
        sign = worker.sign
        table.add_row(
            Text.assemble(literal(worker.name), " ", _life(worker)),
            f"{len(sign.parts):,}",
            f"{sign.active:,}",
            f"{sign.under_way:,}",
            f"{sign.pages:,}",
            _rate(worker.pages_per_second),
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
    """Return the jobs of a store as plain data."""
    return {"store": store, "jobs": [asdict(job) for job in jobs]}


def crawl_as_plain(store: str, crawl: CrawlView) -> dict[str, Any]:
    """Return a job and those who work on it as plain data."""
    workers = [_worker_as_plain(worker) for worker in crawl.workers]
    return {"store": store, **asdict(crawl), "workers": workers}


def _worker_as_plain(worker: WorkerView) -> dict[str, Any]:
    sign = worker.sign
    told = {name: getattr(sign, name) for name in ("active", "under_way", "pages", "lag", "aside")}
    plain = {name: value for name, value in asdict(worker).items() if name != "sign"}
    return {**plain, "parts": sorted(sign.parts), **told}
