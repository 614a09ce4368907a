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

from mmcrawl.rank.pages import Ranked

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
