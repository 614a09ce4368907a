"""Rows of ranks in formats that programs read.

Another format is one :class:`Writer` more in :data:`WRITERS`; `scrapy rank` has an option for each.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

from mmcrawl.text.spreadsheets import CsvWriter

Rows = Iterable[dict[str, Any]]


class Writer(NamedTuple):
    """A format.

    Attributes:
        help: What it is, for the command's help.
        write: Writes rows with some columns, which come with their types in Parquet.
    """

    help: str
    write: Callable[[Rows, Mapping[str, str], BinaryIO], None]


def _write_json(rows: Rows, columns: Mapping[str, str], stream: BinaryIO) -> None:
    for row in rows:
        line = json.dumps({name: row[name] for name in columns}, ensure_ascii=False)
        stream.write(line.encode("utf-8", "replace") + b"\n")


def _write_csv(rows: Rows, columns: Mapping[str, str], stream: BinaryIO) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
    writer = CsvWriter(text)
    writer.writerow(columns)
    writer.writerows([row[name] for name in columns] for row in rows)
    text.detach()


def _write_parquet(rows: Rows, columns: Mapping[str, str], stream: BinaryIO) -> None:
    from mmcrawl.rank.parquet import write_rows  # pyarrow may not be there

    write_rows(rows, columns, stream)


WRITERS: Mapping[str, Writer] = {
    "json": Writer("a line of JSON for each", _write_json),
    "csv": Writer("CSV with a line of names", _write_csv),
    "parquet": Writer("a Parquet file, for > FILE", _write_parquet),
}
"""All formats, by the name of their option."""
