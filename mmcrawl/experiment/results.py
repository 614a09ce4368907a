"""The results of an experiment, as plain data: `results.json` and `times.json`, and a CSV file.

`results.json` holds everything that the same inputs reproduce byte for byte; `times.json` holds
clock times. Values of several repeats are `{"mean": …, "min": …, "max": …}`; an undefined measure
is null.
"""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from mmcrawl.experiment.measures import (
    PUBLISHED_SHARE,
    area,
    area_share,
    found_after,
    pages_at_share,
    per_layer,
    per_pattern,
    precision,
    recall,
    spread,
)
from mmcrawl.experiment.plan import Algorithm, ExperimentError, Plan
from mmcrawl.experiment.truth import Series, Truth
from mmcrawl.text.writing import CsvWriter

_MEASURES = ("recall", "precision", "recall_at_share", "area_share")


@dataclass(frozen=True, slots=True)
class Change:
    """A measure of an algorithm in both experiments; None where it is undefined."""

    before: float | None
    after: float | None

    @property
    def difference(self) -> float | None:
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


@dataclass(frozen=True)
class Comparison:
    """The differences of two experiments.

    Attributes:
        algorithms: for each label that both have, its measures by name; pages/s among them.
    """

    algorithms: dict[str, dict[str, Change]]
    missing: tuple[list[str], list[str]]
    other_inputs: list[str]  # what besides the algorithms was not the same, e.g. `web`


def compare(first: Path, second: Path) -> Comparison:
    """Return the differences of the experiments in two folders."""
    (old, before), (new, after) = _read(first), _read(second)
    labels = [row for row in before if row in after]
    inputs = ("mmcrawl", "code", "web_digest", "topic_digest", "seeds", "media", "limits", "budget")
    return Comparison(
        algorithms={
            label: {name: Change(before[label][name], after[label][name]) for name in before[label]}
            for label in labels
        },
        missing=(
            [label for label in after if label not in before],
            [label for label in before if label not in after],
        ),
        other_inputs=[name for name in inputs if old.get(name) != new.get(name)],
    )


_Measures = dict[str, dict[str, float | None]]


def _read(folder: Path) -> tuple[dict[str, Any], _Measures]:
    results, times = _load(folder / "results.json"), _load(folder / "times.json")
    if results.get("format") != FORMAT:
        raise ExperimentError(
            f"{folder} was written by another version of mmcrawl; run the experiment again"
        )
    try:
        return dict(results["experiment"]), _read_measures(
            results["algorithms"], times["algorithms"]
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ExperimentError(
            f"the results in {folder} are not whole ({error}); run the experiment again"
        ) from None


def _read_measures(rows: list[Any], times: list[Any]) -> _Measures:
    speeds = {row["label"]: row["pages_per_minute"]["mean"] for row in times}
    measures: _Measures = {}
    for row in rows:
        minute = speeds.get(row["label"])
        measures[row["label"]] = {name: row[name]["mean"] for name in _MEASURES}
        measures[row["label"]]["pages_per_second"] = None if minute is None else minute / 60
    return measures


def _load(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExperimentError(
            f"{path.parent} holds no finished experiment ({path.name} is missing)"
        ) from None
    except (OSError, ValueError) as error:
        raise ExperimentError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise ExperimentError(f"{path} is no result of an experiment")
    return value


FORMAT = 3
_FEW = 5  # hosts and titles that are named
_MANY_LINKS, _MANY_SHARE = 10, 0.05  # to a host that is no seed's
_SPREADS = (
    "fetched",
    "relevant",
    "precision",
    "recall",
    "recall_at_share",
    "area",
    "area_share",
    "media",
    "media_recall",
    "media_recall_at_share",
    "media_area_share",
)
_TIME_SPREADS = ("seconds", "cpu_seconds", "pages_per_minute")
_ESCAPED = {
    "md": {"|": r"\|", "\n": " "},
    "tex": {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "–": "--",
        "\n": " ",
    },
}


def results_of(plan: Plan, truth: Truth, runs: Mapping[str, Sequence[Series]]) -> dict[str, Any]:
    """Return everything that does not depend on a clock."""
    end = min(plan.most_pages(len(truth)) or len(truth), len(truth))
    best = truth.best[:end]
    algorithms = [_algorithm(plan, a, runs[a.label], truth, end) for a in plan.algorithms]
    algorithms.sort(key=lambda row: row["media_area_share"]["mean"] or 0.0, reverse=True)
    results: dict[str, Any] = {
        "format": FORMAT,
        "experiment": {"web": plan.web, **plan.identity(), "scrapy": version("scrapy")},
        "truth": _truth(truth),
        "share": PUBLISHED_SHARE,
        "pages_at_share": pages_at_share(len(truth)),
        "area_pages": end,
        "oracle": {
            "pages": len(best),
            "found": sum(best),
            "area": area(best, len(truth.relevant), end),
            "recall_at_share": _recall_at_share(best, len(truth.relevant), truth),
            "media": sum(truth.best_media[:end]),
            "media_recall_at_share": _recall_at_share(truth.best_media, truth.all_media, truth),
        },
        "warnings": warnings(plan, truth),
        "algorithms": algorithms,
    }
    return results | {"says": says(results)}


def _truth(truth: Truth) -> dict[str, Any]:
    first = [kind == number for number, kind in enumerate(truth.kinds)]
    counts = [own and n in truth.relevant for n, own in enumerate(first)]
    return {
        "pages": len(truth),
        "distinct": sum(first),
        "relevant": len(truth.relevant),
        "media": truth.all_media,
        "rejected": len(truth.rejected),
        "rejected_titles": list(dict.fromkeys(truth.rejected))[:_FEW],
        "links": len(truth.graph.targets),
        "layers": _named(per_layer(truth.layers, counts)),
        "errors": truth.errors,
        "trapped": truth.trapped,
    }


def _algorithm(
    plan: Plan, algorithm: Algorithm, runs: Sequence[Series], truth: Truth, end: int
) -> dict[str, Any]:
    measured = [
        {"seed": plan.seed_of(algorithm, run.repeat), **_measures(run, truth, end)} for run in runs
    ]
    first = runs[0]
    return {
        "label": algorithm.label,
        "algo": algorithm.name,
        "parameters": dict(algorithm.parameters),
        **{name: spread(run[name] for run in measured) for name in _SPREADS},
        "ended": sorted({run.reason for run in runs}),
        "unknown": max(run.unknown for run in runs),
        "layers": _named(per_layer(first.layer, first.relevant)),
        "patterns": {
            pattern: {"pages": pages, "relevant": found, "share": recall(found, first.found)}
            for pattern, (pages, found) in per_pattern(first.pattern, first.relevant).items()
        }
        if any(first.pattern)
        else {},
        "errors": first.errors,
        "runs": measured,
    }


def _measures(run: Series, truth: Truth, end: int) -> dict[str, Any]:
    wanted, media = len(truth.relevant), truth.all_media
    return {
        "repeat": run.repeat,
        "fetched": len(run),
        "relevant": run.found,
        "precision": precision(run.found, len(run)),
        "recall": recall(run.found, wanted),
        "recall_at_share": _recall_at_share(run.relevant, wanted, truth),
        "area": area(run.relevant, wanted, end),
        "area_share": area_share(run.relevant, truth.best, wanted, end),
        "media": sum(run.media),
        "media_recall": recall(sum(run.media), media),
        "media_recall_at_share": _recall_at_share(run.media, media, truth),
        "media_area_share": area_share(run.media, truth.best_media, media, end),
    }


def _recall_at_share(series: Sequence[int], wanted: int, truth: Truth) -> float | None:
    pages = pages_at_share(len(truth))
    return recall(int(found_after(series, pages)[-1]), wanted)


def warnings(plan: Plan, truth: Truth) -> list[str]:
    """Return what is amiss with the web, whatever is compared on it: hosts that stay closed."""
    many = max(_MANY_LINKS, _MANY_SHARE * len(truth))
    said = [
        f"No link to {host} was followed; give --sites anywhere."
        for host in sorted(plan.entries - truth.hosts.keys())
    ]
    said += [
        f"Nothing could be fetched from {host} ({links} link{'s' * (links != 1)}: {why})."
        for host, (links, why) in sorted(truth.hosts.items(), key=lambda host: -host[1][0])
        if why and (host in plan.entries or links >= many)
    ]
    more = len(said) - _FEW
    return said[:_FEW] + ([f"The same is true of {more} more."] if more > 0 else [])


def _named(layers: Mapping[int, tuple[int, int]]) -> dict[str, dict[str, int]]:
    return {
        str(layer): {"pages": pages, "relevant": found} for layer, (pages, found) in layers.items()
    }


def times_of(
    plan: Plan, runs: Mapping[str, Sequence[Series]], parallel: Sequence[int]
) -> dict[str, Any]:
    """Return the figures of the clock and machine, with `parallel` runs of each start."""
    return {
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "processors": os.cpu_count(),
            "python": platform.python_version(),
        },
        "parallel": sorted(set(parallel)),
        "algorithms": [_times(a.label, runs[a.label]) for a in plan.algorithms],
    }


def _times(label: str, runs: Sequence[Series]) -> dict[str, Any]:
    measured = []
    for run in runs:
        seconds = run.seconds[-1] if run.seconds else 0.0
        measured.append(
            {
                "repeat": run.repeat,
                "seconds": seconds,
                "cpu_seconds": run.cpu_seconds[-1] if run.cpu_seconds else 0.0,
                "pages_per_minute": 60 * len(run) / seconds if seconds else None,
            }
        )
    spreads = {name: spread(run[name] for run in measured) for name in _TIME_SPREADS}
    return {"label": label, **spreads, "runs": measured}


def results_csv(results: Mapping[str, Any]) -> str:
    """Return one row for each algorithm: mean, least and largest of every measure."""
    text = StringIO()
    writer = CsvWriter(text, lineterminator="\n")
    parts = [(name, part) for name in _SPREADS for part in ("mean", "min", "max")]
    names = [name if part == "mean" else f"{name}_{part}" for name, part in parts]
    writer.writerow(("algorithm", "repeats", *names))
    for row in results["algorithms"]:
        values = (row[name][part] for name, part in parts)
        writer.writerow((row["label"], len(row["runs"]), *map(_rounded, values)))
    return text.getvalue()


def results_tex(results: Mapping[str, Any]) -> str:
    """Return a LaTeX table of means in percent, with ranges, for `\\usepackage{booktabs}`."""
    at = f"at {results['share']:.0%}"
    columns = {"media_area_share": "media: area", "media_recall_at_share": f"media {at}"}
    columns |= {"area_share": "pages: area", "recall_at_share": f"pages {at}"}
    columns |= {"recall": "recall", "precision": "precision"}
    rows = [
        [row["label"], *(_tex_cell(row[name]) for name in columns)] for row in results["algorithms"]
    ]
    return table_text("tex", ["algorithm", *columns.values()], rows)


def _tex_cell(value: Mapping[str, float | None]) -> str:
    mean, least, most = (value[part] for part in ("mean", "min", "max"))
    if mean is None or least is None or most is None:
        return "–"
    return f"{mean:.1%}" + (f" ({100 * least:.1f}–{100 * most:.1f})" if most > least else "")


def table_text(ending: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for `md` or `tex` (booktabs), the first column to the left, others right."""
    escaped, others = str.maketrans(_ESCAPED[ending]), len(columns) - 1
    cells = [[cell.translate(escaped) for cell in row] for row in (columns, *rows)]
    if ending == "md":
        head, *body = [f"| {' | '.join(row)} |" for row in cells]
        lines = [head, "| --- |" + " ---: |" * others, *body]
    else:
        head, *body = [" & ".join(row) + r" \\" for row in cells]
        opening = [rf"\begin{{tabular}}{{l{'r' * others}}}", r"\toprule"]
        lines = [*opening, head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, ""])


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def says(results: Mapping[str, Any]) -> str:
    """Return a summary of the figures in a few sentences."""
    rows, truth = results["algorithms"], results["truth"]
    if not truth["relevant"]:
        return (
            f"None of the {truth['pages']} pages of this web is relevant, so recall is undefined;"
            f" the tables tell only what was fetched. {_rejected(truth)}"
        )
    if any(row["media_area_share"]["mean"] is None for row in rows):
        return (
            f"The budget of {results['area_pages']} pages is too small: even the oracle finds no"
            " relevant page with it."
        )
    area = {row["label"]: row["media_area_share"]["mean"] for row in rows}
    at_share = {row["label"]: row["media_recall_at_share"]["mean"] for row in rows}
    ahead, quick = max(area, key=area.__getitem__), max(area, key=lambda n: (at_share[n], area[n]))
    share = f"{results['share']:.0%} of the web ({results['pages_at_share']} pages)"
    budget = results["area_pages"] < truth["pages"]
    within = f" up to the budget of {results['area_pages']} pages" if budget else ""
    text = (
        f"{ahead} comes nearest to the oracle: the area under its recall of distinct media{within}"
        f" is {area[ahead]:.0%} of the oracle's. After {share}, {'it' if quick == ahead else quick}"
        f" had found {at_share[quick]:.0%} of the {truth['media']} media"
    )
    if others := [row for row in rows if row["label"] != quick]:
        breadth = [row["label"] for row in others if row["algo"] == "breadth"]
        compared = [*breadth, max((row["label"] for row in others), key=at_share.__getitem__)][0]
        text += f", {compared} {at_share[compared]:.0%}"
    short = [
        r["label"]
        for r in rows
        if "max_pages" in r["ended"] and r["fetched"]["max"] < results["pages_at_share"]
    ]
    return (
        text + "." + (f" Stopped by the budget before that: {', '.join(short)}." if short else "")
    )


def _rejected(truth: Mapping[str, Any]) -> str:
    """Return what of the media pages is not on topic, and what can be done."""
    if not truth["rejected"]:
        return "No page has media of its own; give other seeds, or other kinds with --media."
    titles = ", ".join(f"“{title[:60]}”" for title in truth["rejected_titles"])
    return (
        f"The topic rejected all of the {truth['rejected']} pages with media; nearest to it came"
        f" {titles}. Give words of such pages with --keywords, or count them all with"
        " --task any-media."
    )
