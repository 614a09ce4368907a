"""An archive's pages, blocks and links as Parquet files.

The three kinds of records of :mod:`mmcrawl.rank.records` are the rows of ``pages.parquet``,
``blocks.parquet`` and ``links.parquet``, in order of pages; docs/parquet.md describes the columns.
A row group is written at a time, so that memory does not grow with the archive. ``pages.parquet``
gets its name last: a folder without it is no export.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Self

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
        facts: Called when all is written; its result is kept with the pages, as JSON.
    """
    folder = Path(folder)
    paths = {name: folder / f"{name}.parquet.part" for name in COLUMNS}
    _pyarrow()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise RankError(f"folder {folder} is not empty; name a new one")
        with ExitStack() as failed, ExitStack() as opened:
            files = {}
            for name, path in paths.items():
                failed.callback(path.unlink, missing_ok=True)
                files[name] = opened.enter_context(_Rows(path, COLUMNS[name], row_group))
            values = {name: attrgetter(*columns) for name, columns in COLUMNS.items()}
            for read in pages:
                found = (read.page,), read.blocks, read.links
                for name, records in zip(COLUMNS, found, strict=True):
                    for record in records:
                        files[name].add(values[name](record))
            noted = json.dumps({"format": 1, **facts()}).encode()
            files["pages"].writer.add_key_value_metadata({b"mmcrawl": noted})
            opened.close()
            failed.pop_all()
        for name in reversed(list(COLUMNS)):
            os.replace(paths[name], folder / f"{name}.parquet")
    except OSError as error:
        raise RankError(f"{folder} cannot be written ({error.strerror or error})") from error
    size = sum((folder / f"{name}.parquet").stat().st_size for name in COLUMNS)
    return Export({name: files[name].count for name in COLUMNS}, size)


def write_rows(
    rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str], stream: IO[bytes]
) -> None:
    """Write rows of another kind as a Parquet file."""
    with _Rows(stream, columns, _ROWS) as file:
        for row in rows:
            file.add(tuple(row[name] for name in columns))


class _Rows:
    """Gathers the rows of a file, and writes them a row group at a time. A context manager."""

    def __init__(
        self, target: Path | IO[bytes], columns: Mapping[str, str], row_group: int
    ) -> None:
        arrow = _pyarrow()
        types = [(name, arrow.type_for_alias(kind)) for name, kind in columns.items()]
        schema = arrow.schema([arrow.field(name, kind, False) for name, kind in types])
        self.writer = arrow.parquet.ParquetWriter(target, schema, compression="zstd")
        self.count = 0
        self._row_group = row_group
        self._texts = [i for i, kind in enumerate(columns.values()) if kind == "string"]
        self._held: list[tuple[Any, ...]] = []
        self._characters = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()
        self.writer.close()

    def add(self, row: tuple[Any, ...]) -> None:
        self._held.append(row)
        self._characters += sum(len(row[i]) for i in self._texts)
        if len(self._held) >= self._row_group or self._characters >= _CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            schema, columns = self.writer.schema, zip(*self._held, strict=True)
            arrays = [_array(list(c), f.type) for c, f in zip(columns, schema, strict=True)]
            self.writer.write_table(_pyarrow().Table.from_arrays(arrays, schema=schema))
            self.count += len(self._held)
            self._held, self._characters = [], 0


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
