"""Ranks as rows that programs read.

Another format is one :class:`Writer` more in :data:`WRITERS`; `scrapy rank` has an option for each.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from mmcrawl.rank.engines import Ranked

__all__ = ["COLUMNS", "WRITERS", "Writer", "rows_of"]

Row = dict[str, Any]

COLUMNS = ("place", "score", "times_average", "in_links", "version", "url")
"""Of each row: place from 1; score; score for each page's equal share; pages that link to it;
number of the version that was ranked; URL."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A format.

    Attributes:
        help: What it is, for the command's help.
        write: Writes rows of :data:`COLUMNS`.
    """

    help: str
    write: Callable[[Iterable[Row], BinaryIO], None]


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


def _write_json(rows: Iterable[Row], stream: BinaryIO) -> None:
    for row in rows:
        stream.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def _write_csv(rows: Iterable[Row], stream: BinaryIO) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    text.detach()


def _write_parquet(rows: Iterable[Row], stream: BinaryIO) -> None:
    from mmcrawl.rank.parquet import write_rows

    write_rows(rows, dict(zip(COLUMNS, _PARQUET, strict=True)), stream)


_PARQUET = ("int64", "double", "double", "int64", "int64", "string")

WRITERS: Mapping[str, Writer] = {
    "json": Writer("a line of JSON for each page", _write_json),
    "csv": Writer("CSV with a line of names", _write_csv),
    "parquet": Writer("a Parquet file, for > FILE", _write_parquet),
}
"""All formats, by the name of their option."""
