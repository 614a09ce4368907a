"""Ranks as rows that programs read.

Another format is one :class:`Writer` more in :data:`WRITERS`; `scrapy rank` has an option for each.

How ranks are distributed, as a figure.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from mmcrawl.errors import RankError
from mmcrawl.rank.pages import Ranked
from mmcrawl.rank.results import RankedPages

__all__ = [
    "COLUMNS",
    "FORMATS",
    "WRITERS",
    "Writer",
    "draw_distribution",
    "rows_of",
]

Row = dict[str, Any]

COLUMNS: Mapping[str, str] = {
    "place": "int64",
    "score": "double",
    "times_average": "double",
    "in_links": "int64",
    "version": "int64",
    "url": "string",
}
"""Of each row, with its type in Parquet: place from 1; score; score for each page's equal share;
pages that link to it; number of the version that was ranked; URL."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A format.

    Attributes:
        help: What it is, for the command's help.
        write: Writes rows of some columns, as :data:`COLUMNS` are.
    """

    help: str
    write: Callable[[Iterable[Row], Mapping[str, str], BinaryIO], None]


def rows_of(ranked: Ranked, top: int | None = None) -> Iterator[Row]:
    """Yield the pages from the highest rank on, the first `top` or all."""
    pages = ranked.pages
    count = len(pages.urls)
    for place, page in enumerate(pages.order()[:top].tolist(), start=1):
        score = float(pages.scores[page])
        values = (
            place,
            score,
            score * count,
            int(ranked.in_links[page]),
            int(pages.versions[page]),
            pages.urls[page],
        )
        yield dict(zip(COLUMNS, values, strict=True))


def _write_json(rows: Iterable[Row], columns: Mapping[str, str], stream: BinaryIO) -> None:
    for row in rows:
        line = json.dumps({name: row[name] for name in columns}, ensure_ascii=False)
        stream.write(line.encode("utf-8", "replace") + b"\n")


def _write_csv(rows: Iterable[Row], columns: Mapping[str, str], stream: BinaryIO) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
    writer = csv.DictWriter(text, list(columns))
    writer.writeheader()
    writer.writerows(rows)
    text.detach()


def _write_parquet(rows: Iterable[Row], columns: Mapping[str, str], stream: BinaryIO) -> None:
    from mmcrawl.rank.parquet import write_rows

    write_rows(rows, columns, stream)


WRITERS: Mapping[str, Writer] = {
    "json": Writer("a line of JSON for each", _write_json),
    "csv": Writer("CSV with a line of names", _write_csv),
    "parquet": Writer("a Parquet file, for > FILE", _write_parquet),
}
"""All formats, by the name of their option."""


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

    Args:
        pages: At least one.
        path: Ends with one of :data:`FORMATS`.

    Raises:
        RankError: the ending is another.
        OSError: the file cannot be written.
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
