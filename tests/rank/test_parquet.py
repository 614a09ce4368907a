"""Pages, blocks and links as Parquet files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path

import pytest

from mmcrawl.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank import BlockRecord, LinkRecord, PageRecord, Reading, ReadPage
from tests.rank.conftest import Keep
from tests.rank.graphs import read_page

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")

from mmcrawl.rank import COLUMNS, write_export  # noqa: E402

PAGE = '<p>A lever is a beam on a pivot.</p><a href="/b">the pulley</a><a href="/c">杠杆</a>'


def rows_of(folder: Path, name: str) -> list[tuple[object, ...]]:
    return [
        tuple(row.values()) for row in parquet.read_table(folder / f"{name}.parquet").to_pylist()
    ]


def assert_exported(folder: Path, pages: list[ReadPage]) -> None:
    """Compare the rows of an export with the records they were made of."""
    assert rows_of(folder, "pages") == [astuple(page.page) for page in pages]
    assert rows_of(folder, "blocks") == [astuple(b) for page in pages for b in page.blocks]
    assert rows_of(folder, "links") == [astuple(link) for page in pages for link in page.links]


def test_what_is_read_back_is_what_was_written(
    archive: Archive, keep: Keep, tmp_path: Path
) -> None:
    keep("http://h.test/a", PAGE, time=5.0)
    keep("http://h.test/b", PAGE)
    text = "杠杆 \U0001f600 \0 \u202e"
    odd = ReadPage(
        PageRecord(2, "http://h.test/2", "h.test", 2**40, 1.25, 203, "zh-cn", text, 2**33),
        (BlockRecord(2, -1, 0, "", 1 / 3, 2**33, 0, 2**34, text),),
        (LinkRecord(2, -1, -1, "mailto:" + text, text),),
    )
    pages = [*Reading(archive), odd]
    assert sum(len(page.links) for page in pages) == 5
    write_export(pages, tmp_path / "export")
    assert_exported(tmp_path / "export", pages)


def test_pages_are_written_by_row_groups(tmp_path: Path) -> None:
    pages = [read_page(n, [(n, "topic", [0, n]), (1, "image", [])] * (n % 3)) for n in range(9)]

    def read() -> Iterator[ReadPage]:
        yield from pages
        assert (tmp_path / "pages.parquet.part").stat().st_size > 1_000  # not held in memory

    export = write_export(read(), tmp_path, row_group=4)
    assert_exported(tmp_path, pages)
    assert export.rows == {"pages": 9, "blocks": 18, "links": 18}
    assert parquet.ParquetFile(tmp_path / "links.parquet").num_row_groups == 5


def test_columns_are_those_documented(tmp_path: Path) -> None:
    write_export([], tmp_path, facts=lambda: {"at": None})
    noted = parquet.read_metadata(tmp_path / "pages.parquet").metadata[b"mmcrawl"]
    assert json.loads(noted) == {"format": 1, "at": None}
    text = (Path(__file__).parents[2] / "docs" / "parquet.md").read_text(encoding="utf-8")
    for name, columns in COLUMNS.items():
        schema = parquet.read_schema(tmp_path / f"{name}.parquet")
        assert {field.name: str(field.type) for field in schema} == dict(columns)
        assert not any(field.nullable for field in schema)
        section = text.partition(f"\n## `{name}.parquet`\n")[2].partition("\n## ")[0]
        for column, kind in columns.items():
            assert f"| `{column}` | {kind} |" in section


def test_a_failed_export_leaves_nothing_and_other_files_are_let_be(tmp_path: Path) -> None:
    def pages():
        yield read_page(0, [(1, "topic", [])])
        raise RuntimeError("the archive fails")

    with pytest.raises(RuntimeError):
        write_export(pages(), tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").touch()
    with pytest.raises(RankError, match="is not empty; name a new one"):
        write_export([], tmp_path)
