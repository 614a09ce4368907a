"""Runs an experiment from its plan to its folder: truth, runs, results; interrupted ones
continue.
"""

import json
import platform
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any, Self

from filelock import FileLock, Timeout
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

from mmcrawl.experiment.crawl import CrawlProcess
from mmcrawl.experiment.plan import Algorithm, ExperimentError, Plan
from mmcrawl.experiment.results import results_csv, results_of, results_tex, times_of, warnings
from mmcrawl.experiment.truth import Series, Truth, find_truth, read_series, series_of, write_series

_LINE_SECONDS = 10.0
_RATE_SECONDS = 5.0


@dataclass
class Row:
    """One crawl as it is shown.

    Attributes:
        pages, relevant: what it has so far; relevant is None before the truth is known.
    """

    name: str
    most: int = 0  # pages it may fetch at most, 0 if that is not known
    state: str = "waits"  # `waits`, `runs`, `done` or `kept`
    pages: int = 0
    relevant: int | None = 0
    seen: deque[tuple[float, int]] = field(default_factory=deque)

    def note(self) -> None:
        now = monotonic()
        self.seen.append((now, self.pages))
        while now - self.seen[0][0] > _RATE_SECONDS and len(self.seen) > 2:
            self.seen.popleft()

    @property
    def rate(self) -> float:
        """Pages a second over the last seconds."""
        if len(self.seen) < 2:
            return 0.0
        (since, before), (until, now) = self.seen[0], self.seen[-1]
        return (now - before) / (until - since) if until > since else 0.0

    def line(self) -> str:
        if not self.pages:
            return f"{self.name}: {self.state}"
        found = "" if self.relevant is None else f", {self.relevant} relevant"
        speed = f", {self.rate:.0f} pages/s" if self.state == "runs" else ""
        return f"{self.name}: {self.state}, {self.pages} pages{found}{speed}"


class Progress:
    """Shows rows while they change; a context manager."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rows: list[Row] = []
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._said = monotonic()

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def add(self, row: Row) -> Row:
        self._rows.append(row)
        return row

    def change(self, row: Row, state: str) -> None:
        row.state = state
        if self._live is None:
            self._console.print(row.line(), markup=False, highlight=False)
        self.tick()

    def warn(self, text: str) -> None:
        self._console.print(f"warning: {text}", style="yellow", markup=False, highlight=False)

    def tick(self) -> None:
        for row in self._rows:
            if row.state == "runs":
                row.note()
        if self._live is not None:
            self._live.update(self._table(), refresh=True)
        elif monotonic() - self._said >= _LINE_SECONDS:
            self._said = monotonic()
            for row in self._rows:
                if row.state == "runs":
                    self._console.print(row.line(), markup=False, highlight=False)

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("crawl")
        for name in ("", "pages", "of", "relevant", "pages/s"):
            table.add_column(name, justify="right")
        for row in self._shown():
            table.add_row(
                row.name,
                row.state,
                str(row.pages),
                str(row.most or ""),
                "" if row.relevant is None else str(row.relevant),
                f"{row.rate:.0f}" if row.state == "runs" else "",
                style="bold" if row.state == "runs" else "dim" if row.state == "waits" else "",
            )
        return table

    def _shown(self) -> list[Row]:
        """Return as many rows as fit the terminal, those that run among them."""
        room = max(self._console.height - 3, 3)
        if len(self._rows) <= room:
            return self._rows
        running = [n for n, row in enumerate(self._rows) if row.state == "runs"]
        first = max(0, min((running or [len(self._rows)])[0] - 2, len(self._rows) - room))
        return self._rows[first : first + room]


@contextmanager
def steps(console: Console) -> Iterator[Callable[[int, int, str], None]]:
    """Give the callback (done, all, what) of a measurement: a bar, or lines every ten seconds."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()
    said = -_LINE_SECONDS
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")

        def told(done: int, of: int, what: str) -> None:
            nonlocal said
            bar.update(task, completed=done, total=of, description=what)
            now = monotonic()
            if what and not console.is_terminal and now - said >= _LINE_SECONDS:
                said = now
                console.print(f"{done} of {of}: {what}", markup=False, highlight=False)

        yield told


_POLL_SECONDS = 0.1
_PLAN = "experiment.json"


@dataclass(frozen=True)
class Outcome:
    """The results of an experiment."""

    results: dict[str, Any]  # see `mmcrawl.experiment.results`
    times: dict[str, Any]  # the same for what a clock measured
    truth: Truth
    runs: dict[str, list[Series]]  # the runs of each algorithm, by label, the best first


@dataclass
class _Run:
    algorithm: Algorithm
    repeat: int
    row: Row
    series: Series | None = None
    crawl: CrawlProcess | None = None
    seen: set[int] = field(default_factory=set)

    @property
    def name(self) -> str:
        return f"{self.algorithm.file_name}-{self.repeat}"


def run_experiment(
    plan: Plan, out: Path, *, cache: Path, parallel: int = 1, console: Console | None = None
) -> Outcome:
    """Run an experiment, or the rest of an interrupted one; write everything but the report.

    Args:
        out: folder of this experiment alone.
        cache: folder of truths, shared by experiments.
        parallel: runs at once; with more than 1 they take time from each other.

    Raises:
        ExperimentError: the folder cannot be used.
        CrawlError: a crawl failed.
    """
    with output_folder(out, plan), Progress(console or Console(stderr=True)) as progress:
        truth = _find_truth(plan, cache, progress)
        runs = _runs_of(plan, out, truth, progress)
        _make(runs, plan, out, truth, parallel=parallel, progress=progress)
        by_label: dict[str, list[Series]] = {a.label: [] for a in plan.algorithms}
        for run in runs:
            if run.series is not None:
                by_label[run.algorithm.label].append(run.series)
        results = results_of(plan, truth, by_label)
        times = times_of(plan, by_label, _started_with(out))
        write_json(out / "results.json", results)
        write_json(out / "times.json", times)
        (out / "results.csv").write_text(results_csv(results), encoding="utf-8")
        (out / "results.tex").write_text(results_tex(results), encoding="utf-8")
    ranked = {row["label"]: by_label[row["label"]] for row in results["algorithms"]}
    return Outcome(results, times, truth, ranked)


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


# -- the folder -------------------------------------------------------------------------------


@contextmanager
def output_folder(out: Path, plan: Plan) -> Iterator[None]:
    """Hold the folder of an experiment, which is made now or was made by the same plan."""
    try:
        present = sorted(out.iterdir()) if out.exists() else []
        if present and not (out / _PLAN).is_file():
            raise ExperimentError(
                f"the folder {out} holds other files ({present[0].name}); name another with --out"
            )
        for name in ("runs", "raw"):
            (out / name).mkdir(parents=True, exist_ok=True)
        held = FileLock(out / "runs" / ".lock", timeout=0).acquire()
    except Timeout:
        raise ExperimentError(
            f"the folder {out} is in use by another experiment; wait for it, or name another"
        ) from None
    except OSError as error:
        raise ExperimentError(
            f"the folder {out} cannot be written: {error.strerror or error}; name another with"
            " --out"
        ) from error
    with held:
        _reserve(out, plan)
        yield


def _reserve(out: Path, plan: Plan) -> None:
    new = json.loads(json.dumps(plan.identity()))
    try:
        old = dict(json.loads((out / _PLAN).read_text(encoding="utf-8")))
    except FileNotFoundError:
        write_json(out / _PLAN, {**new, "made": _made_with()})
        return
    except (TypeError, ValueError):
        raise ExperimentError(
            f"{out / _PLAN} cannot be read; name another folder with --out"
        ) from None
    different = [key for key in new if old.get(key) != new[key]]
    if different and set(different) <= {"mmcrawl", "code"}:
        raise ExperimentError(
            f"the experiment in the folder {out} was made by another version of mmcrawl; name"
            " another with --out, or delete it"
        )
    if different:
        key = next(key for key in different if key != "code")
        raise ExperimentError(
            f"the folder {out} holds another experiment ({key} was {_short(old.get(key))}, now"
            f" {_short(new[key])}); name another with --out"
        )


def _made_with() -> dict[str, str]:
    """Return when an experiment began, and the versions of the packages behind its figures."""
    packages = ("scrapy", "numpy", "scikit-learn", "jieba", "lxml")
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _started_with(out: Path) -> list[int]:
    path = out / "runs" / "parallel.json"
    try:
        return list(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, TypeError, ValueError):
        return [1]


def _note_parallel(out: Path, parallel: int) -> None:
    path = out / "runs" / "parallel.json"
    before = _started_with(out) if path.exists() else []
    path.write_text(json.dumps([*before, parallel]))


# -- truth and runs ---------------------------------------------------------------------------


def _find_truth(plan: Plan, cache: Path, progress: Progress) -> Truth:
    row = progress.add(Row("truth", relevant=None))

    def wait(crawl: CrawlProcess) -> None:
        progress.change(row, "runs")
        while not crawl.ended():
            row.pages += len(crawl.new_pages())
            progress.tick()
            time.sleep(_POLL_SECONDS)

    truth = find_truth(plan, cache, wait)
    made = row.state == "runs"
    row.pages, row.relevant = len(truth), len(truth.relevant)
    if not row.pages:
        reasons = ", ".join(truth.errors) or "no answer"
        raise ExperimentError(
            f"no page of the web {plan.web} can be fetched from its seeds ({reasons});"
            " give others with --seeds"
        )
    progress.change(row, "done" if made else "kept")
    for warning in warnings(plan, truth):
        progress.warn(warning)
    return truth


def _runs_of(plan: Plan, out: Path, truth: Truth, progress: Progress) -> list[_Run]:
    """Return all runs, first the first of every algorithm; those that are complete with series."""
    most = min(plan.most_pages(len(truth)) or len(truth), len(truth))
    runs = []
    for repeat in range(1, max(map(plan.runs_of, plan.algorithms)) + 1):
        for algorithm in (a for a in plan.algorithms if repeat <= plan.runs_of(a)):
            once = plan.runs_of(algorithm) == 1
            name = algorithm.label if once else f"{algorithm.label}  {repeat}"
            run = _Run(algorithm, repeat, progress.add(Row(name, most)))
            run.series = read_series(out / "raw" / run.name)
            if run.series is not None:
                run.row.pages, run.row.relevant = len(run.series), run.series.found
                progress.change(run.row, "kept")
            runs.append(run)
    return runs


def _make(
    runs: list[_Run], plan: Plan, out: Path, truth: Truth, *, parallel: int, progress: Progress
) -> None:
    """Do the missing runs, several at once."""
    left = [run for run in runs if run.series is None]
    if left:
        _note_parallel(out, parallel)
    under_way: list[_Run] = []
    try:
        while left or under_way:
            while left and len(under_way) < parallel:
                under_way.append(_start(left.pop(0), plan, out, truth, progress))
            for run in list(under_way):
                if _is_over(run, truth):
                    _finish(run, out, truth, progress)
                    under_way.remove(run)
            progress.tick()
            time.sleep(_POLL_SECONDS)
    finally:
        for run in under_way:
            if run.crawl is not None:
                run.crawl.stop()


def _start(run: _Run, plan: Plan, out: Path, truth: Truth, progress: Progress) -> _Run:
    most = plan.most_pages(len(truth))
    arguments = plan.spider_arguments(run.algorithm, run.repeat, most)
    run.crawl = CrawlProcess(out / "runs" / run.name, arguments, plan.crawl_settings)
    progress.change(run.row, "runs")
    return run


def _is_over(run: _Run, truth: Truth) -> bool:
    if run.crawl is None:
        return True
    over = run.crawl.ended()
    for _, url in run.crawl.new_pages():
        run.row.pages += 1
        kind = truth.kind_of_url(url)
        if kind is not None and kind in truth.relevant:
            run.seen.add(kind)
    run.row.relevant = len(run.seen)
    return over


def _finish(run: _Run, out: Path, truth: Truth, progress: Progress) -> None:
    if run.crawl is None:
        return
    files = run.crawl.files
    run.series = series_of(run.algorithm.label, run.repeat, files.store, files.clock, truth)
    write_series(run.series, out / "raw" / run.name)
    run.row.pages, run.row.relevant = len(run.series), run.series.found
    progress.change(run.row, "done")
