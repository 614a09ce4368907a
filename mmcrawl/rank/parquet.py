"""An archive's pages, blocks and links as Parquet files.

The three kinds of records of :mod:`mmcrawl.rank.records` are the rows of ``pages.parquet``,
``blocks.parquet`` and ``links.parquet``, in order of pages; docs/parquet.md describes the columns.
A row group is written at a time, so that memory does not grow with the archive. ``pages.parquet``
gets its name last: a folder without it is no export.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

from mmcrawl.errors import RankError
from mmcrawl.rank.records import BlockRecord, LinkRecord, PageRecord, ReadPage

_ROWS = 100_000  # of a row group
_CHARACTERS = 32_000_000  # of texts in it, whichever comes first
_TYPE_NAMES = {"int": "int64", "float": "double", "str": "string"}
_SMALL = frozenset({"status", "number", "level", "block"})  # numbers that fit 32 bits


def _columns(record: Any) -> dict[str, str]:
    return {
        one.name: "int32" if one.name in _SMALL else _TYPE_NAMES[str(one.type)]
        for one in fields(record)
    }


COLUMNS: Mapping[str, Mapping[str, str]] = {
    "pages": _columns(PageRecord),
    "blocks": _columns(BlockRecord),
    "links": _columns(LinkRecord),
}
"""Columns of each file and their Arrow types; none is ever null."""


@dataclass(frozen=True, slots=True)
class Export:
    """What was exported: the rows of each file, and the bytes of all files."""

    rows: dict[str, int]
    stored_bytes: int


def write_export(
    pages: Iterable[ReadPage],
    folder: str | Path,
    *,
    facts: Callable[[], Mapping[str, Any]] = dict,
    row_group: int = _ROWS,
) -> Export:
    """Write pages, blocks and links.

    Args:
        pages: In order of their ids, as :class:`mmcrawl.rank.Reading` yields them.
        folder: New or empty.
        facts: Called when all is written; its result is kept with the pages, as JSON.
        row_group: Most rows that are held in memory, of each file.

    Raises:
        RankError: pyarrow is missing, the folder is not empty, or cannot be written.
    """
    _pyarrow()
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise RankError(f"folder {folder} is not empty; name a new one")
        with ExitStack() as failed:
            files = {name: _Table(folder, name, row_group) for name in COLUMNS}
            for file in files.values():
                failed.callback(file.path.unlink, missing_ok=True)
                failed.callback(file.writer.close)
            for read in pages:
                files["pages"].add(read.page)
                for block in read.blocks:
                    files["blocks"].add(block)
                for link in read.links:
                    files["links"].add(link)
            noted = json.dumps({"format": 1, **facts()}).encode()
            files["pages"].writer.add_key_value_metadata({b"mmcrawl": noted})
            for file in files.values():
                file.flush()
                file.writer.close()
            failed.pop_all()
        for name in reversed(list(COLUMNS)):
            os.replace(files[name].path, folder / f"{name}.parquet")
    except OSError as error:
        raise RankError(f"{folder} cannot be written ({error.strerror or error})") from error
    size = sum((folder / f"{name}.parquet").stat().st_size for name in COLUMNS)
    return Export({name: files[name].rows for name in COLUMNS}, size)


def write_rows(
    rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str], stream: IO[bytes]
) -> None:
    """Write rows of another kind as a Parquet file.

    Args:
        rows: Values by column.
        columns: Their types, as in :data:`COLUMNS`.
        stream: Where to; it need not be a file.

    Raises:
        RankError: pyarrow is missing.
    """
    with _pyarrow().parquet.ParquetWriter(stream, _schema(columns), compression="zstd") as writer:
        values = (tuple(row[name] for name in columns) for row in rows)
        while batch := list(islice(values, _ROWS)):
            writer.write_table(_table(batch, writer.schema))


class _Table:
    """Gathers rows of a file, and writes them a row group at a time."""

    def __init__(self, folder: Path, name: str, row_group: int) -> None:
        schema = _schema(COLUMNS[name])
        self.path = folder / f"{name}.parquet.part"
        self.writer = _pyarrow().parquet.ParquetWriter(self.path, schema, compression="zstd")
        self.rows = 0
        self._row_group = row_group
        self._values_of = attrgetter(*COLUMNS[name])
        self._texts = [i for i, kind in enumerate(COLUMNS[name].values()) if kind == "string"]
        self._held: list[tuple[Any, ...]] = []
        self._characters = 0

    def add(self, record: Any) -> None:
        row = self._values_of(record)
        self._held.append(row)
        self._characters += sum(len(row[i]) for i in self._texts)
        if len(self._held) >= self._row_group or self._characters >= _CHARACTERS:
            self.flush()

    def flush(self) -> None:
        if self._held:
            self.writer.write_table(_table(self._held, self.writer.schema))
            self.rows += len(self._held)
            self._held, self._characters = [], 0


def _schema(columns: Mapping[str, str]) -> Any:
    arrow = _pyarrow()
    types = {name: arrow.type_for_alias(kind) for name, kind in columns.items()}
    return arrow.schema([arrow.field(name, kind, False) for name, kind in types.items()])


def _table(rows: list[tuple[Any, ...]], schema: Any) -> Any:
    arrays = [
        _array(list(column), field.type)
        for column, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return _pyarrow().Table.from_arrays(arrays, schema=schema)


def _array(values: list[Any], kind: Any) -> Any:
    arrow = _pyarrow()
    try:
        return arrow.array(values, kind)
    except UnicodeEncodeError:  # half of a character that UTF-16 writes as two
        return arrow.array([v.encode("utf-8", "replace").decode() for v in values], kind)


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise RankError("Parquet needs pyarrow: pip install 'mmcrawl[parquet]'") from error
    return pyarrow
