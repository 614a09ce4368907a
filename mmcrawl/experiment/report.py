"""The report of an experiment as one HTML file: no other files, no hosts, light and dark.

Equal numbers give equal bytes: figures carry no dates, and names inside them are derived from the
figure's own.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from mmcrawl.experiment.laboratory import Outcome
from mmcrawl.experiment.measures import found_after, on_grid
from mmcrawl.experiment.truth import Series
from mmcrawl.frontier.urls import host_of

INK = "#1b1c1d"
"""Text, axes and the oracle; where a page is dark, figures in it turn it to the page's own ink."""

# Okabe and Ito's colours, without the yellow that vanishes on white.
_BLUE, _ORANGE, _GREEN, _PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_AMBER, _SKY, _GREY = "#E69F00", "#56B4E9", "#808488"

_SOLID: tuple[float, ...] = ()
_DASHED, _DOTTED = (5.0, 2.0), (1.0, 1.6)
_DASH_DOT, _LONG = (6.0, 1.8, 1.2, 1.8), (9.0, 2.5)


@dataclass(frozen=True, slots=True)
class Style:
    """Colour, dashes (lengths on and off in line widths, empty for none) and width of a line."""

    colour: str
    dashes: tuple[float, ...]
    width: float = 1.8


ORACLE = Style(INK, (1.0, 1.0), 1.1)

_KNOWN = {
    "breadth": Style(_GREY, _SOLID),
    "urlrule": Style(_BLUE, _SOLID, 2.2),
    "learned": Style(_ORANGE, _SOLID, 2.2),
    "tag-path": Style(_BLUE, _DASHED),
    "topicrank": Style(_GREEN, _SOLID),
    "shark-improved": Style(_PINK, _SOLID),
    "shark": Style(_PINK, _DASHED),
    "fish": Style(_AMBER, _SOLID),
    "pagerank": Style(_SKY, _SOLID),
    "weighted-pagerank": Style(_SKY, _DASHED),
    "topic-centric-pagerank": Style(_GREEN, _DASHED),
    "hits": Style(_AMBER, _DASHED),
}
_FREE = tuple(
    Style(colour, dashes)
    for dashes in (_DOTTED, _DASH_DOT, _LONG)
    for colour in (_BLUE, _ORANGE, _GREEN, _PINK, _AMBER, _SKY, _GREY)
)

_SIZE = (5.6, 4.0)
_POINTS = 800
_MOST_SITES, _SITES_A_ROW = 12, 3
_FIRST, _FIRST_SHARE = 20, 0.02  # pages that do not decide how high precision is drawn
_RC: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": INK,
    "grid.alpha": 0.13,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}

_Numbers = np.ndarray[Any, Any]
_Curve = tuple[_Numbers, _Numbers, _Numbers]


def styles_for(labels: Iterable[str]) -> dict[str, Style]:
    """Return a style for every label: the algorithm's own, or a free one, always the same."""
    free = cycle(_FREE)
    return {label: _KNOWN[label] if label in _KNOWN else next(free) for label in labels}


def draw_figures(outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    """Yield every figure of an experiment with the name of its files."""
    with rc_context(_RC):
        defined = bool(outcome.truth.relevant)
        if defined:
            yield "recall-by-pages", _by_pages(outcome, "recall")
        yield "precision-by-pages", _by_pages(outcome, "precision")
        if defined:
            yield "recall-by-time", _by_time(outcome, "recall")
            if len({host_of(url) for url in outcome.truth.urls}) > 1:
                yield "recall-by-site", _by_site(outcome)
        yield "precision-by-time", _by_time(outcome, "precision")
        if defined and outcome.results["oracle"]["found"]:
            yield "area-share", _areas(outcome)
        yield "pages-by-layer", _by_layer(outcome, "pages")
        if defined:
            yield "relevant-by-layer", _by_layer(outcome, "relevant")


# -- curves -------------------------------------------------------------------------------------


def _by_pages(outcome: Outcome, measure: str) -> Figure:
    figure, axes = _axes("pages fetched", measure)
    truth, results = outcome.truth, outcome.results
    wanted = len(truth.relevant)
    styles = styles_for(outcome.runs)
    if wanted:
        best = truth.best[: results["area_pages"]]
        end = results["area_pages"] if measure == "recall" else len(best)
        pages = np.arange(end + 1)
        values = _values(found_after(best, end), pages, measure, wanted)
        _line(axes, (pages, values, values), ORACLE, values)
    highest = 0.0
    for label, runs in outcome.runs.items():
        values = _curve(axes, [run.relevant for run in runs], styles[label], measure, wanted)
        highest = _highest(values, highest)
    _scale(axes, measure, highest)
    share = results["pages_at_share"]
    axes.axvline(share, color=INK, linewidth=0.7, alpha=0.6)
    axes.annotate(
        f"{results['share']:.0%} of the web",
        (share, 1),
        (0, 1),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=8,
    )
    longest = max((len(run) for runs in outcome.runs.values() for run in runs), default=0)
    axes.set_xlim(0, max(longest, 1.08 * share))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    _legend(figure, styles, "line and oracle" if wanted else "line")
    return figure


def _curve(
    axes: Axes, runs: Sequence[Sequence[bool]], style: Style, measure: str, wanted: int
) -> _Numbers:
    """Draw runs against pages; return values, runs by pages, constant once a run stopped."""
    longest = max(map(len, runs), default=0)
    pages = np.arange(longest + 1)
    found = np.array([found_after(run, longest) for run in runs])
    values = _values(found, pages, measure, wanted)
    _line(axes, (pages, values.min(0), values.max(0)), style, values.mean(0))
    return values


def _by_site(outcome: Outcome) -> Figure:
    """Draw the recall of each site against its own pages; of those with most relevant pages."""
    truth, styles = outcome.truth, styles_for(outcome.runs)
    verdicts = zip(truth.urls, truth.judge(truth.kinds), strict=True)
    wanted = Counter(host_of(url) for url, relevant in verdicts if relevant)
    sites = wanted.most_common(_MOST_SITES)
    rows = -(-len(sites) // _SITES_A_ROW)
    figure = Figure(layout="constrained")
    for number, (host, count) in enumerate(sites, 1):
        axes = figure.add_subplot(rows, _SITES_A_ROW, number, ylim=(0, 1.02))
        axes.set_title(host, fontsize=8)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        for label, runs in outcome.runs.items():
            pairs = (zip(run.url, run.relevant, strict=True) for run in runs)
            own = [[found for url, found in run if host_of(url) == host] for run in pairs]
            _curve(axes, own, styles[label], "recall", count)
    _legend(figure, styles)
    figure.set_size_inches(_SIZE[0], figure.get_size_inches()[1] + 1.7 * rows - _SIZE[1])
    return figure


def _by_time(outcome: Outcome, measure: str) -> Figure:
    figure, axes = _axes("seconds", measure)
    wanted = len(outcome.truth.relevant)
    styles = styles_for(outcome.runs)
    highest = 0.0
    for label, runs in outcome.runs.items():
        end = max((run.seconds[-1] for run in runs if run.seconds), default=0.0)
        grid = np.linspace(0, end, _POINTS // 2)
        values = np.array([_at_times(run, grid, measure, wanted) for run in runs])
        _line(axes, (grid, values.min(0), values.max(0)), styles[label], values.mean(0))
        highest = _highest(values, highest)
    _scale(axes, measure, highest)
    axes.set_xlim(left=0)
    _legend(figure, styles)
    return figure


def _at_times(run: Series, grid: _Numbers, measure: str, wanted: int) -> _Numbers:
    found = found_after(run.relevant, len(run))
    values = _values(found, np.arange(len(run) + 1), measure, wanted)
    return on_grid(run.seconds, values[1:].tolist(), grid)


def _values(found: _Numbers, pages: _Numbers, measure: str, wanted: int) -> _Numbers:
    values: _Numbers = found / (wanted if measure == "recall" else np.maximum(pages, 1))
    return values


def _highest(values: _Numbers, before: float) -> float:
    """Return the largest value after the first pages, where one hit is a precision of 100 %."""
    start = min(max(_FIRST, int(_FIRST_SHARE * values.shape[1])), values.shape[1] - 1)
    return max(before, float(values[:, start:].max()))


def _scale(axes: Axes, measure: str, highest: float) -> None:
    """Give the room to what algorithms reach: on a rare topic precision is a few per cent."""
    if measure == "precision" and highest:
        axes.set_ylim(0, min(1.02, 1.1 * highest))


def _line(axes: Axes, band: _Curve, style: Style, middle: _Numbers) -> None:
    x, low, high = band
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), _POINTS)).astype(int))
    x, low, high, middle = x[kept], low[kept], high[kept], middle[kept]
    if (high > low).any():
        axes.fill_between(x, low, high, color=style.colour, alpha=0.2, linewidth=0)
    (line,) = axes.plot(x, middle, color=style.colour, linewidth=style.width)
    if style.dashes:
        line.set_dashes(style.dashes)


def _axes(x: str, y: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if y in {"recall", "precision"}:
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    return figure, axes


def _legend(figure: Figure, styles: dict[str, Style], kind: str = "line") -> None:
    shown = {**styles, "oracle": ORACLE} if kind == "line and oracle" else styles
    handles: list[Artist] = [
        Patch(**_fill(s))
        if kind == "bar"
        else Line2D([], [], color=s.colour, linewidth=s.width, dashes=s.dashes or (1, 0))
        for s in shown.values()
    ]
    columns = 3 if max(map(len, shown)) <= 24 else 1
    extra = -(-len(shown) // columns) * 0.18
    figure.set_size_inches(_SIZE[0], _SIZE[1] - 0.3 + extra)
    length = 1.0 if kind == "bar" else 2.6
    figure.legend(
        handles, list(shown), loc="outside lower center", ncols=columns, handlelength=length
    )


# -- bars ---------------------------------------------------------------------------------------


def _areas(outcome: Outcome) -> Figure:
    rows = sorted(outcome.results["algorithms"], key=lambda row: row["area_share"]["mean"])
    styles = styles_for(outcome.runs)
    figure = Figure(figsize=(_SIZE[0], 0.8 + 0.32 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        share = row["area_share"]
        axes.barh(place, share["mean"], 0.66, **_fill(styles[row["label"]]))
        if share["max"] > share["min"]:
            axes.plot([share["min"], share["max"]], [place, place], color=INK, linewidth=1.2)
        axes.annotate(
            f"{share['mean']:.0%}",
            (share["max"], place),
            (4, 0),
            textcoords="offset points",
            va="center",
        )
    axes.set_yticks(range(len(rows)), [row["label"] for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlim(0, max(1.0, *(row["area_share"]["max"] for row in rows)) * 1.08)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("area under recall, share of the oracle's")
    return figure


def _fill(style: Style) -> dict[str, Any]:
    """Return how a bar is filled: an algorithm whose line is dashed has a pale one with an edge."""
    if not style.dashes:
        return {"color": style.colour}
    return {"facecolor": (style.colour, 0.3), "edgecolor": style.colour, "linewidth": 1.0}


def _by_layer(outcome: Outcome, what: str) -> Figure:
    """Draw for every layer what the web has (pale, behind) and what each algorithm fetched."""
    word = "pages" if what == "pages" else "relevant pages"
    figure, axes = _axes("physical layer", word)
    layers = outcome.results["truth"]["layers"]
    places = np.arange(len(layers))
    axes.bar(places, [row[what] for row in layers.values()], 0.92, color=INK, alpha=0.13)
    styles = styles_for(outcome.runs)
    rows: Sequence[dict[str, Any]] = outcome.results["algorithms"]
    width = 0.84 / len(rows)
    for number, row in enumerate(rows):
        own = row["layers"]
        heights = [own.get(layer, {}).get(what, 0) for layer in layers]
        middles = places - 0.42 + (number + 0.5) * width
        axes.bar(middles, heights, width * 0.88, **_fill(styles[row["label"]]))
    axes.set_xticks(places, list(layers))
    axes.grid(visible=False, axis="x")
    _legend(figure, styles, "bar")
    return figure


_MOST_PATTERNS = 15


def write_report(outcome: Outcome, out: Path) -> Path:
    """Write `report.html`, and the figures to `figures/`; return the path of the report."""
    folder = out / "figures"
    folder.mkdir(exist_ok=True)
    drawn = {}
    for name, figure in draw_figures(outcome):
        _write_figure(name, figure, folder)
        drawn[name] = Markup(_inline_svg(name, figure))  # noqa: S704 - made here, labels escaped
    page = out / "report.html"
    page.write_text(_render(outcome, drawn), encoding="utf-8")
    return page


def _write_figure(name: str, figure: Figure, folder: Path) -> None:
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        figure.savefig(
            folder / f"{name}.png", dpi=200, facecolor="white", metadata={"Software": None}
        )


def _inline_svg(name: str, figure: Figure) -> str:
    """Return a figure as an `<svg>` element whose ink is the colour of the text around it."""
    data = BytesIO()
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(data, format="svg", metadata={"Date": None})
    text = data.getvalue().decode("utf-8")
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    width, height = (72 * inches for inches in figure.get_size_inches())
    text = re.sub(r'<svg [^>]*viewBox="[^"]*"[^>]*>', "", text, count=1, flags=re.DOTALL)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        f' viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{name}">'
    )
    return (head + text).replace(INK, "currentColor")


def _render(outcome: Outcome, figures: Mapping[str, Markup]) -> str:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": _number,
        "share": _share,
        "spread": _spread,
        "spread_share": _spread_share,
    }
    source = files("mmcrawl.experiment").joinpath("report.html.j2").read_text(encoding="utf-8")
    times = {row["label"]: row for row in outcome.times["algorithms"]}
    rows = outcome.results["algorithms"]
    return environment.from_string(source).render(
        **outcome.results,
        rows=rows,
        times=times,
        machine=outcome.times["machine"],
        parallel=outcome.times["parallel"],
        figures=figures,
        styles=styles_for(outcome.runs),
        most_patterns=_MOST_PATTERNS,
        most_runs=max(len(runs) for runs in outcome.runs.values()),
        best=_extremes(rows, max),
        worst=_extremes(rows, min),
        endings={row["label"]: _ending(row, outcome.results["truth"]["pages"]) for row in rows},
    )


def _extremes(
    rows: list[dict[str, Any]], choose: Callable[[list[float]], float]
) -> dict[str, float | None]:
    """Return the best, or the worst, value of each measure in which more is better."""
    names = ["relevant", "precision", "recall", "recall_at_share", "area_share"]
    names += ["media_recall_at_share", "media_area_share"]
    values = {name: [row[name]["mean"] for row in rows] for name in names}
    known = {name: [v for v in column if v is not None] for name, column in values.items()}
    return {name: choose(column) if column else None for name, column in known.items()}


def _ending(row: Mapping[str, Any], pages: int) -> str:
    """Return why runs ended that did not take all there is or all they might; "" for others."""
    others = [reason for reason in row["ended"] if reason not in {"finished", "max_pages"}]
    if "finished" in row["ended"] and row["fetched"]["min"] < pages:
        others.insert(0, "no link left that it follows")
    return ", ".join(others)


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}".replace(",", "\u202f")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _spread(value: Mapping[str, float | None], digits: int = 0) -> str:
    return _with_range(*(_number(value[part], digits) for part in ("mean", "min", "max")))


def _spread_share(value: Mapping[str, float | None]) -> str:
    return _with_range(*(_share(value[part]) for part in ("mean", "min", "max")))


def _with_range(mean: str, least: str, largest: str) -> str:
    return mean if least == largest else f"{mean} ({least}–{largest})"
