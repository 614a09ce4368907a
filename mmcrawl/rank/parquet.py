"""An archive's pages, blocks and links as Parquet files, written and read back.

The three kinds of records of :mod:`mmcrawl.rank.records` are the rows of ``pages.parquet``,
``blocks.parquet`` and ``links.parquet``, in order of pages; ``bodies.parquet``, if wished, holds
the pages as received. docs/parquet.md describes the columns. Written is a row group at a time, so
that memory does not grow with the archive. ``pages.parquet`` gets its name last: a folder without
it is no export.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from functools import cache
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from mmcrawl.errors import RankError
from mmcrawl.rank.records import BlockRecord, Body, LinkRecord, PageRecord, ReadPage

FORMAT = 1
_KEY = b"mmcrawl"
_ROWS = 100_000  # of a row group
_READ_ROWS = 10_000
_CHARACTERS = 32_000_000  # of texts in it, whichever comes first

_TYPE_NAMES = {"int": "int64", "float": "double", "str": "string", "bytes": "binary"}
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
    "bodies": _columns(Body),
}
"""Columns of each file and their Arrow types; none is ever null."""

_SIZED = ("string", "binary")
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Export:
    """What was exported.

    Attributes:
        rows: Of each file.
        stored_bytes: Of all files.
    """

    rows: dict[str, int]
    stored_bytes: int


def write_export(
    pages: Iterable[ReadPage],
    folder: str | Path,
    *,
    body_of: Callable[[PageRecord], Body] | None = None,
    facts: Callable[[], Mapping[str, Any]] = dict,
    row_group: int = _ROWS,
) -> Export:
    """Write pages, blocks and links.

    Args:
        pages: In order of their ids, as :class:`mmcrawl.rank.Reading` yields them.
        folder: New or empty.
        body_of: Gives the body of a page, for ``bodies.parquet``; without, there is none.
        facts: Called when all is written; its result is kept with the pages, as JSON.
        row_group: Most rows that are held in memory, of each file.

    Raises:
        RankError: pyarrow is missing, the folder is not empty, or cannot be written.
    """
    _pyarrow()
    folder = Path(folder)
    names = [name for name in COLUMNS if name != "bodies" or body_of is not None]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise RankError(f"folder {folder} is not empty; name a new one")
        files = {name: _Table(folder, name, row_group) for name in names}
        with _written(files.values()):
            for read in pages:
                files["pages"].add(read.page)
                for block in read.blocks:
                    files["blocks"].add(block)
                for link in read.links:
                    files["links"].add(link)
                if body_of is not None:
                    files["bodies"].add(body_of(read.page))
            files["pages"].note(json.dumps({"format": FORMAT, **facts()}))
        for name in reversed(names):
            os.replace(files[name].path, folder / f"{name}.parquet")
    except OSError as error:
        raise RankError(f"{folder} cannot be written ({error.strerror or error})") from error
    size = sum((folder / f"{name}.parquet").stat().st_size for name in names)
    return Export({name: files[name].rows for name in names}, size)


def read_export(folder: str | Path) -> Iterator[ReadPage]:
    """Yield what was written, page by page, in the order it was written.

    Raises:
        RankError: pyarrow is missing, or the folder holds no whole export of this format.
    """
    export_facts(folder)
    try:
        blocks = _Grouped(_rows(folder, "blocks", BlockRecord), lambda block: block.page)
        links = _Grouped(_rows(folder, "links", LinkRecord), lambda link: link.source)
        for page in _rows(folder, "pages", PageRecord):
            yield ReadPage(page, blocks.of(page.id), links.of(page.id))
        if blocks.left or links.left:
            raise RankError(f"{folder} is damaged: blocks or links are of no page; export anew")
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise RankError(f"{folder} cannot be read ({_first_line(error)}); export anew") from error


def export_facts(folder: str | Path) -> dict[str, Any]:
    """Return what is known of an export: its format and what was said when it was written.

    Raises:
        RankError: pyarrow is missing, or the folder holds no export, or one of another format.
    """
    parquet = _pyarrow().parquet
    path = Path(folder) / "pages.parquet"
    if not path.is_file():
        raise RankError(
            f"{folder} holds no export (pages.parquet is missing); `scrapy archive export-parquet"
            " FOLDER` writes one"
        )
    try:
        facts: dict[str, Any] = json.loads((parquet.read_metadata(path).metadata or {})[_KEY])
    except (OSError, ValueError, KeyError) as error:
        raise RankError(f"{path} is no export of mmcrawl, or damaged; export anew") from error
    if facts.get("format") != FORMAT:
        raise RankError(f"{path} is of another version of mmcrawl; export anew")
    return facts


def record_batches(name: str, records: Iterable[Any]) -> Iterator[Any]:
    """Yield records as one Arrow batch with the columns of a file; none if there are no records.

    Args:
        name: Of the file, a key of :data:`COLUMNS`.
        records: Of that kind.
    """
    rows = [attrgetter(*COLUMNS[name])(record) for record in records]
    if rows:
        schema = _schema(COLUMNS[name])
        yield _pyarrow().RecordBatch.from_arrays(_arrays(rows, schema), schema=schema)


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
    arrow, schema = _pyarrow(), _schema(columns)
    with arrow.parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        values = (tuple(row[name] for name in columns) for row in rows)
        while batch := list(islice(values, _READ_ROWS)):
            writer.write_batch(arrow.RecordBatch.from_arrays(_arrays(batch, schema), schema=schema))


class _Table:
    """Gathers rows of a file, and writes them a row group at a time."""

    def __init__(self, folder: Path, name: str, row_group: int) -> None:
        arrow = _pyarrow()
        self.path = folder / f"{name}.parquet.part"
        self.rows = 0
        self._row_group = row_group
        self._texts = [i for i, kind in enumerate(COLUMNS[name].values()) if kind in _SIZED]
        self._values_of = attrgetter(*COLUMNS[name])
        self._schema = _schema(COLUMNS[name])
        self._writer = arrow.parquet.ParquetWriter(self.path, self._schema, compression="zstd")
        self._held: list[tuple[Any, ...]] = []
        self._characters = 0

    def add(self, record: Any) -> None:
        row = self._values_of(record)
        self._held.append(row)
        self._characters += sum(len(row[i]) for i in self._texts)
        if len(self._held) >= self._row_group or self._characters >= _CHARACTERS:
            self.flush()

    def note(self, text: str) -> None:
        self._writer.add_key_value_metadata({_KEY: text.encode()})

    def close(self) -> None:
        self._writer.close()

    def flush(self) -> None:
        if not self._held:
            return
        arrow = _pyarrow()
        table = arrow.Table.from_arrays(_arrays(self._held, self._schema), schema=self._schema)
        self._writer.write_table(table, row_group_size=len(self._held))
        self.rows += len(self._held)
        self._held, self._characters = [], 0


@contextmanager
def _written(tables: Iterable[_Table]) -> Iterator[None]:
    """Write what the tables still hold, and close them; remove those of an export that failed."""
    with ExitStack() as files, ExitStack() as failed:
        for table in tables:
            failed.callback(table.path.unlink, missing_ok=True)
            failed.callback(table.close)
            files.callback(table.close)
        yield
        for table in tables:
            table.flush()
        failed.pop_all()


class _Grouped(Generic[_Record]):
    """Rows in order of pages, taken a page at a time."""

    def __init__(self, rows: Iterator[_Record], page_of: Callable[[_Record], int]) -> None:
        self._rows = rows
        self._page_of = page_of
        self._next = next(rows, None)

    @property
    def left(self) -> bool:
        """Whether there are rows of pages that were not asked for."""
        return self._next is not None

    def of(self, page: int) -> tuple[_Record, ...]:
        found = []
        while self._next is not None and self._page_of(self._next) == page:
            found.append(self._next)
            self._next = next(self._rows, None)
        return tuple(found)


def _rows(folder: str | Path, name: str, record: Callable[..., _Record]) -> Iterator[_Record]:
    path = Path(folder) / f"{name}.parquet"
    with _pyarrow().parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_READ_ROWS, columns=list(COLUMNS[name])):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield record(*row)


def _schema(columns: Mapping[str, str]) -> Any:
    arrow = _pyarrow()
    types = {name: arrow.type_for_alias(kind) for name, kind in columns.items()}
    return arrow.schema([arrow.field(name, kind, False) for name, kind in types.items()])


def _arrays(rows: list[tuple[Any, ...]], schema: Any) -> list[Any]:
    columns = zip(*rows, strict=True)
    return [_array(list(column), kind) for column, kind in zip(columns, schema, strict=True)]


def _array(values: list[Any], kind: Any) -> Any:
    arrow = _pyarrow()
    try:
        return arrow.array(values, kind.type)
    except UnicodeEncodeError:  # half of a character that UTF-16 writes as two
        return arrow.array([v.encode("utf-8", "replace").decode() for v in values], kind.type)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


@cache
def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise RankError("Parquet needs pyarrow: pip install 'mmcrawl[parquet]'") from error
    return pyarrow
