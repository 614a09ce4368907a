"""`scrapy experiment`: which algorithm finds the most on a stored web, in tables and figures."""

import argparse
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from scrapy.commands import ScrapyCommand

from mmcrawl.commands.base import MmcrawlCommand, console_of, ended_by_signal, whole
from mmcrawl.errors import MmcrawlError
from mmcrawl.experiment.comparison import Change, Comparison, compare
from mmcrawl.experiment.crawl import CrawlError
from mmcrawl.experiment.laboratory import Outcome, run_experiment
from mmcrawl.experiment.measures import PUBLISHED_SHARE
from mmcrawl.experiment.plan import SHARED, ExperimentError, Plan, algorithms_of
from mmcrawl.scoring.registry import algorithm_names

_NEEDED = ("matplotlib", "jinja2")
_CACHE = ".mmcrawl-truth"
_COMPARED = {
    "recall": "recall",
    "precision": "precision",
    "recall_at_share": f"recall at {PUBLISHED_SHARE:.0%}",
    "area_share": "area share",
    "pages_per_second": "pages/s",
}


class Command(MmcrawlCommand, ScrapyCommand):
    """Compare algorithms on a stored web, or two such experiments."""

    name = "experiment"
    usage = "[options] | --compare DIR1 DIR2"
    summary = "Compare algorithms on a stored web; writes tables, figures and a report"
    arguments = ("web", *SHARED, "max_pages")
    interrupted = "stopped; run the same command to go on"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add(
            "--algos",
            default="all",
            metavar="A,B:NAME=VALUE;NAME=VALUE,…",
            help="algorithms with their parameters (default: all)",
        )
        add("--repeat", default="1", metavar="N", help="runs of each algorithm (default: 1)")
        add(
            "--parallel", default="1", metavar="N", help="runs at once (default: 1, for true times)"
        )
        add("--out", default="experiment", metavar="DIR", help="folder to write to")
        add("--cache", default="", metavar="DIR", help="folder of truths (default: beside --out)")
        add("--compare", nargs=2, metavar="DIR", help="show how two experiments differ")

    def code_of(self, error: MmcrawlError) -> int:
        return 1 if isinstance(error, CrawlError) else 2

    def prepared(self, args: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        if opts.compare:
            first, second = map(Path, opts.compare)
            return lambda: console_of().print(_differences(compare(first, second), first, second))
        missing = [name for name in _NEEDED if find_spec(name) is None]
        if missing:
            raise ExperimentError(
                f"the report needs {' and '.join(missing)}; install it with"
                " pip install 'mmcrawl[experiment]'"
            )
        plan, parallel = _plan(opts), whole(opts.parallel, "--parallel")
        return lambda: _experiment(plan, opts, parallel)


def _experiment(plan: Plan, opts: argparse.Namespace, parallel: int) -> None:
    from mmcrawl.experiment.report import write_report

    out = Path(os.path.expanduser(opts.out))
    cache = Path(os.path.expanduser(opts.cache)) if opts.cache else out.absolute().parent / _CACHE
    with ended_by_signal():
        outcome = run_experiment(plan, out, cache=cache, parallel=parallel)
    report = write_report(outcome, out)
    console_of().print(_summary(outcome, report))
    if not outcome.truth.relevant:
        raise ExperimentError(
            f"no page of the web {plan.web} is relevant to {plan.topic_title}, so recall is"
            " undefined; the report tells only pages and times"
        )


def _plan(opts: argparse.Namespace) -> Plan:
    settings = dict(pair.split("=", 1) for pair in opts.set)
    plan = Plan(
        web=opts.web or "demo",
        arguments={name: value for name in SHARED if (value := getattr(opts, name))},
        algorithms=algorithms_of(opts.algos, algorithm_names()),
        budget=whole(opts.max_pages, "--max-pages") if opts.max_pages else 0,
        repeat=whole(opts.repeat, "--repeat"),
        settings=settings,
    )
    plan.check()
    return plan


def _summary(outcome: Outcome, report: Path) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("algorithm")
    for name in (
        "pages",
        "relevant",
        "precision",
        "recall",
        f"at {PUBLISHED_SHARE:.0%}",
        "area share",
        "pages/s",
    ):
        table.add_column(name, justify="right")
    times = {row["label"]: row["pages_per_minute"]["mean"] for row in outcome.times["algorithms"]}
    for row in outcome.results["algorithms"]:
        minute = times[row["label"]]
        shares = (row[n]["mean"] for n in ("precision", "recall", "recall_at_share", "area_share"))
        table.add_row(
            Text(row["label"]),
            f"{row['fetched']['mean']:g}",
            f"{row['relevant']['mean']:g}",
            *map(_percent, shares),
            "" if minute is None else f"{minute / 60:.0f}",
        )
    return Group(table, Text(outcome.results["says"]), Text(f"\nReport: {report}", style="bold"))


def _differences(comparison: Comparison, first: Path, second: Path) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("algorithm")
    for title in _COMPARED.values():
        table.add_column(title, justify="right")
    for label, measures in comparison.algorithms.items():
        cells = (_change(name, measures[name]) for name in _COMPARED)
        table.add_row(Text(label), *cells)
    parts: list[RenderableType] = [Text(f"From {first} to {second}"), table]
    parts += [
        Text(f"Not in {folder}: {', '.join(labels)}")
        for folder, labels in zip((first, second), comparison.missing, strict=True)
        if labels
    ]
    if comparison.other_inputs:
        parts.append(Text(f"Not the same: {', '.join(comparison.other_inputs)}", style="bold"))
    return Group(*parts)


def _change(name: str, change: Change) -> str:
    if change.difference is None or change.after is None:
        return "–"
    if name == "pages_per_second":
        return f"{change.after:.0f} ({change.difference:+.0f})"
    return f"{change.after:.1%} ({100 * change.difference:+.1f})"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
