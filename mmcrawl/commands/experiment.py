"""`scrapy experiment`: compares algorithms on a stored web, in tables and figures."""

import argparse
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text
from scrapy.commands import ScrapyCommand

from mmcrawl.commands.base import MmcrawlCommand, Option, console_of, whole
from mmcrawl.commands.terminal.tables import folded, right
from mmcrawl.errors import MmcrawlError
from mmcrawl.experiment.crawl import CrawlError
from mmcrawl.experiment.laboratory import Outcome, run_experiment, steps
from mmcrawl.experiment.measures import PUBLISHED_SHARE, Spread
from mmcrawl.experiment.plan import RANDOM_RUNS, SHARED, ExperimentError, Plan, algorithms_of
from mmcrawl.experiment.presets import CRAWLS, LABELLED, yang2009
from mmcrawl.experiment.presets.tables import PaperTable, reserve, write_tables
from mmcrawl.experiment.presets.yang2009 import ALGORITHMS
from mmcrawl.experiment.results import Change, Comparison, compare
from mmcrawl.scoring.registry import algorithm_names
from mmcrawl.topic.loading import ANYTHING

_NEEDED = ("matplotlib", "jinja2")
_CACHE = ".mmcrawl-truth"
_CRAWLING = ("web", *SHARED, "algos", "task", "budget", "runs", "parallel")
_NONE = "–"
_SHOWN = {
    "media\narea": "media_area_share",
    f"media\nat {PUBLISHED_SHARE:.0%}": "media_recall_at_share",
    "media\nrecall": "media_recall",
    "pages\narea": "area_share",
    f"pages\nat {PUBLISHED_SHARE:.0%}": "recall_at_share",
    "pages\nrecall": "recall",
    "precision": "precision",
}
"""Columns: the area as a share of the oracle's, and recall; of distinct media, and of pages."""
_COMPARED = {
    "recall": "recall",
    "precision": "precision",
    "recall_at_share": f"recall at {PUBLISHED_SHARE:.0%}",
    "area_share": "area share",
    "pages_per_second": "pages/s",
}


def _budget(text: str) -> float:
    """Return a number of pages, or a share below 1 of them; 0 for all."""
    try:
        if not text.endswith("%"):
            return whole(text)
        return whole(text[:-1], most=100) % 100 / 100
    except ValueError:
        wanted = "a whole number from 1, or a share from 1% to 100%"
        raise ValueError(f"give {wanted}, not {text!r}") from None


class Command(MmcrawlCommand, ScrapyCommand):
    """Compare algorithms on a stored web, or two such experiments."""

    name = "experiment"
    working = ""
    arguments = ("web", *SHARED)
    interrupted = "stopped; the same command resumes"

    options = (
        Option(
            "--algos",
            default="all",
            metavar="A,B:NAME=VALUE;NAME=VALUE,…",
            help="algorithms with their parameters (default: all)",
        ),
        Option(
            "--task",
            choices=("topic", "any-media"),
            default="topic",
            help="which pages count: those on the topic (default), or all with media of their own",
        ),
        Option(
            "--budget",
            type=_budget,
            default=0,
            metavar="N|N%%",
            help="maximum pages of a run, or a share of the reachable ones (default: all)",
        ),
        Option(
            "--runs",
            type=whole,
            default=0,
            metavar="N",
            help=f"runs of each algorithm (default: {RANDOM_RUNS} with other seeds where"
            " chance has a part in it, else 1)",
        ),
        Option(
            "--parallel",
            type=whole,
            default=1,
            metavar="N",
            help="runs at once (default: 1, for true times)",
        ),
        Option("--out", metavar="DIR", help="default: experiment[-PRESET]"),
        Option(
            "--preset",
            choices=(CRAWLS, *LABELLED),
            help="an experiment of one of the papers, its tables beside what they come to"
            f" here: {CRAWLS} compares crawls, the others measure on labelled data",
        ),
        Option("--data", metavar="DIR", help="labelled data for a preset"),
        Option("--compare", nargs=2, metavar="DIR", help="how two experiments differ"),
    )

    def code_of(self, error: MmcrawlError) -> int:
        return 1 if isinstance(error, CrawlError) else 2

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        out = opts.out or f"experiment{f'-{opts.preset}' if opts.preset else ''}"
        opts.out = Path(os.path.expanduser(out))
        if opts.compare:
            first, second = map(Path, opts.compare)
            return lambda: console_of().print(_differences(compare(first, second), first, second))
        if opts.preset in LABELLED:
            unsaid = self.parser_of(self.chosen).parse_args([])
            given = [name for name in _CRAWLING if getattr(opts, name) != getattr(unsaid, name)]
            if given:
                option = given[0].replace("_", "-")
                raise ExperimentError(
                    f"--preset {opts.preset} takes --data and --out; leave out --{option}"
                )
            return _labelled(opts)
        if opts.data:
            raise ExperimentError(f"--data is for --preset {' or '.join(LABELLED)}")
        cache = opts.out.absolute().parent / _CACHE
        webs = yang2009.webs_of(opts.web) if opts.preset == CRAWLS else {"": opts.web}
        plans = {opts.out / folder: _plan(opts, web) for folder, web in webs.items()}
        do = partial(run_experiment, cache=cache, parallel=opts.parallel)
        if len(plans) > 1:
            return lambda: _on_webs(plans, opts, do)
        [(out, plan)] = plans.items()
        return lambda: _experiment(plan, out, opts, do)


def _on_webs(plans: dict[Path, Plan], opts: argparse.Namespace, do: Callable[..., Outcome]) -> None:
    """Run a preset on several webs, each in its own folder, and show the results of all."""
    reserve(opts.out, others=[folder.name for folder in plans])
    outcomes = (do(plan, folder) for folder, plan in plans.items())
    _show([yang2009.over_webs(opts.web, outcomes)], opts.out)


def _experiment(
    plan: Plan, out: Path, opts: argparse.Namespace, do: Callable[..., Outcome]
) -> None:
    outcome = do(plan, out)
    console_of().print(_summary(outcome), _report(outcome, out))
    if opts.preset == CRAWLS:
        _show(yang2009.tables(plan, outcome), out)
    if not outcome.truth.relevant:
        raise ExperimentError(
            f"no page of the web {plan.web} is relevant to {plan.topic_title}, so recall is"
            " undefined; the report tells only pages and times"
        )


def _report(outcome: Outcome, out: Path) -> Text:
    """Write the report, if matplotlib is installed; return a sentence about it."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        return Text(
            f"\nResults: {out / 'results.json'}. For a report with figures install"
            f" {' and '.join(missing)} (pip install 'mmcrawl[experiment]') and run the same command"
            " again; nothing is crawled again."
        )
    from mmcrawl.experiment.report import write_report

    return Text(f"\nReport: {write_report(outcome, out)}", style="bold")


def _labelled(opts: argparse.Namespace) -> Callable[[], None]:
    """Return a function that measures on labelled data."""
    data = Path(os.path.expanduser(opts.data)) if opts.data else None
    preset = import_module(f"mmcrawl.experiment.presets.{opts.preset}")

    def measure() -> None:
        reserve(opts.out)
        try:
            with steps(Console(stderr=True)) as told:
                _show(preset.tables(data, told), opts.out)
        finally:
            with suppress(OSError):  # a folder that nothing was written to
                opts.out.rmdir()

    return measure


def _show(tables: Iterable[PaperTable], out: Path) -> None:
    """Print the tables of a paper as they come, and write them to a folder."""
    console, shown = console_of(), []
    for table in tables:
        grid = Table(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
        for number, column in enumerate(table.columns):
            grid.add_column(column, justify="right" if number else "left", overflow="fold")
        for row in table.rows:
            grid.add_row(*map(Text, row))
        console.print(grid, Text(table.note, style="dim"), "")
        shown.append(table)
    console.print(f"Tables: {write_tables(shown, out)}", style="bold", markup=False)


def _plan(opts: argparse.Namespace, web: str) -> Plan:
    settings = dict(pair.split("=", 1) for pair in opts.set)
    if opts.task == "any-media":
        if opts.topic or opts.keywords.strip() not in ("", ANYTHING):
            raise ExperimentError("--task any-media is about no topic; leave out the topic's words")
        opts.keywords = ANYTHING
    preset = opts.preset == CRAWLS
    if preset and opts.algos != "all":
        raise ExperimentError(f"--preset {CRAWLS} has algorithms of its own; leave out --algos")
    plan = Plan(
        web=web or "demo",
        arguments={name: value for name in SHARED if (value := getattr(opts, name))},
        algorithms=ALGORITHMS if preset else algorithms_of(opts.algos, algorithm_names()),
        budget=opts.budget,
        runs=opts.runs,
        settings=settings,
    )
    plan.check()
    return plan


def _summary(outcome: Outcome) -> RenderableType:
    rows = outcome.results["algorithms"]
    speeds = {row["label"]: row["pages_per_minute"]["mean"] for row in outcome.times["algorithms"]}
    columns = {title: [_share(row[name]) for row in rows] for title, name in _SHOWN.items()}
    columns["pages"] = [f"{row['fetched']['mean']:g}" for row in rows]
    columns["pages/s"] = [f"{(speeds[row['label']] or 0) / 60:.0f}" for row in rows]
    alike = {t: c[0] for t, c in columns.items() if len(rows) > 1 and len(set(c)) == 1}
    alike.pop("media\narea", None)  # by which rows are ranked
    shown = [title for title in columns if title not in alike]
    numbers = (Column(title, justify="right", no_wrap=True) for title in shown)
    table = Table(folded("algorithm"), *numbers, box=box.SIMPLE_HEAD)
    for number, row in enumerate(rows):
        table.add_row(Text(row["label"]), *(columns[title][number] for title in shown))
    told = ", ".join(
        f"{' '.join(title.split())} {value}" for title, value in alike.items() if value != _NONE
    )
    parts = [Text(f"All rows: {told}.\n")] if told else []
    return Group(table, *parts, Text(outcome.results["says"]))


def _differences(comparison: Comparison, first: Path, second: Path) -> RenderableType:
    table = Table("algorithm", *map(right, _COMPARED.values()), box=box.SIMPLE_HEAD)
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
        return _NONE
    if name == "pages_per_second":
        return f"{change.after:.0f} ({change.difference:+.0f})"
    return f"{change.after:.1%} ({100 * change.difference:+.1f})"


def _share(value: Spread) -> str:
    """Return a mean and, where runs differ, the least and largest."""
    mean, least, most = value["mean"], value["min"], value["max"]
    if mean is None or least is None or most is None:
        return _NONE
    return f"{mean:.1%}" + (f" ({100 * least:.0f}–{100 * most:.0f})" if most > least else "")
