"""How ranks are distributed, as a figure."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from mmcrawl.errors import RankError
from mmcrawl.rank.results import RankedPages

FORMATS = (".png", ".svg", ".pdf")

_INK, _BLUE = "#1b1c1d", "#0072B2"
_POINTS = 2_000
_RC: Any = {
    "font.family": "DejaVu Sans",
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.15,
    "svg.hashsalt": "rank",
}


def draw_distribution(pages: RankedPages, path: Path) -> None:
    """Draw the pages from the highest rank to the lowest, both axes logarithmic, into a file.

    The same ranks give the same bytes: the file carries no date.
    """
    if path.suffix.lower() not in FORMATS:
        raise RankError(f"figure {path}: end the name with {', '.join(FORMATS)}")
    scores = -np.sort(-pages.scores) * len(pages.scores)
    places = np.unique(np.geomspace(1, len(scores), _POINTS).astype(int))
    shown = places[scores[places - 1] > 0]
    with rc_context(_RC):
        figure = Figure(figsize=(5.6, 4.0), layout="constrained")
        axes = figure.add_subplot()
        axes.loglog(shown, scores[shown - 1], color=_BLUE, linewidth=1.6, marker=".", markersize=3)
        axes.axhline(1, color=_INK, linewidth=0.7, alpha=0.6)
        axes.set_xlabel("place")
        axes.set_ylabel("rank, times the average")
        axes.set_title(f"{pages.method}: {len(scores):,} pages", fontsize=10)
        figure.savefig(path, dpi=200, metadata=_undated(path.suffix.lower()))


def _undated(suffix: str) -> dict[str, None]:
    return (
        {"CreationDate": None}
        if suffix == ".pdf"
        else {"Software" if suffix == ".png" else "Date": None}
    )
