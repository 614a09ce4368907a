"""One HTML file that tells all of an experiment: no other files, no hosts, light and dark.

The same numbers give the same bytes: figures carry no dates, and names inside them are derived from
the figure's own.
"""

import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.figure import Figure

from mmcrawl.experiment.figures import INK, draw_figures, styles_for
from mmcrawl.experiment.laboratory import Outcome

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
