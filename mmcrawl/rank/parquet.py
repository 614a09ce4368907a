"""An archive's pages, blocks and links as Parquet files.

The three kinds of records of :mod:`mmcrawl.rank.records` are the rows of ``pages.parquet``,
``blocks.parquet`` and ``links.parquet``, in order of pages; docs/parquet.md describes the columns.
A row group is written at a time, so that memory does not grow with the archive. ``pages.parquet``
gets its name last: a folder without it is no export.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from mmcrawl.errors import RankError
from mmcrawl.rank.records import BlockRecord, LinkRecord, PageRecord, ReadPage
from mmcrawl.store.durable import put_in_place

_ROWS = 50_000  # of a row group
_TYPE_NAMES = {"int": "int64", "float": "double", "str": "string"}
_SMALL = frozenset({"status", "number", "level", "block"})  # numbers that fit 32 bits


COLUMNS: Mapping[str, Mapping[str, str]] = {
    name: {
        one.name: "int32" if one.name in _SMALL else _TYPE_NAMES[str(one.type)]
        for one in fields(record)
    }
    for name, record in (("pages", PageRecord), ("blocks", BlockRecord), ("links", LinkRecord))
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
    """Write pages in order of ids, with blocks and links; at last `facts` as JSON."""
    folder = Path(folder)
    parts = {name: folder / f"{name}.parquet.part" for name in COLUMNS}
    _pyarrow()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise RankError(f"folder {folder} is not empty; name a new one")
        with ExitStack() as failed, ExitStack() as opened:
            files = []
            for name, part in parts.items():
                failed.callback(part.unlink, missing_ok=True)
                rows = _Rows(part, COLUMNS[name], attrgetter(*COLUMNS[name]), row_group)
                files.append(opened.enter_context(rows))
            for read in pages:
                found = (read.page,), read.blocks, read.links
                for file, records in zip(files, found, strict=True):
                    for record in records:
                        file.add(record)
            noted = json.dumps({"format": 1, **facts()}).encode()
            files[0].writer.add_key_value_metadata({b"mmcrawl": noted})
            opened.close()
            failed.pop_all()
        size = sum(part.stat().st_size for part in parts.values())
        for name, part in reversed(parts.items()):
            put_in_place(part, folder / f"{name}.parquet")
    except OSError as error:
        raise RankError(f"{folder} cannot be written ({error.strerror or error})") from error
    return Export({name: file.count for name, file in zip(parts, files, strict=True)}, size)


class _Rows:
    """Gathers the rows of a file, and writes them a row group at a time. A context manager."""

    def __init__(
        self,
        target: Path,
        columns: Mapping[str, str],
        values: Callable[[Any], tuple[Any, ...]],
        row_group: int,
    ) -> None:
        arrow = _pyarrow()
        types = [arrow.field(n, arrow.type_for_alias(k), False) for n, k in columns.items()]
        self.writer = arrow.parquet.ParquetWriter(target, arrow.schema(types), compression="zstd")
        self.count = 0
        self._values, self._row_group = values, row_group
        self._held: list[tuple[Any, ...]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()
        self.writer.close()

    def add(self, row: Any) -> None:
        self._held.append(self._values(row))
        if len(self._held) >= self._row_group:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            schema, columns = self.writer.schema, zip(*self._held, strict=True)
            arrays = [_array(list(c), f.type) for c, f in zip(columns, schema, strict=True)]
            self.writer.write_table(_pyarrow().Table.from_arrays(arrays, schema=schema))
            self.count += len(self._held)
            self._held = []


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
