"""Pages, blocks and links as Parquet files."""

from __future__ import annotations

import json
from dataclasses import astuple
from pathlib import Path

import pytest

from mmcrawl.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank import BlockRecord, LinkRecord, PageRecord, Reading, ReadPage
from tests.rank.conftest import Keep
from tests.rank.graphs import read_page
from tests.tables import each

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


def odd_page(number: int, text: str) -> ReadPage:
    url = f"http://h.test/{number}"
    return ReadPage(
        PageRecord(number, url, "h.test", 2**40, 1.25, 203, "zh-cn", text, 2**33),
        (BlockRecord(number, -1, 0, "", 1 / 3, 2**33, 0, 2**34, text),),
        (LinkRecord(number, -1, -1, "mailto:" + text, text),),
    )


def test_what_is_read_back_is_what_was_written(
    archive: Archive, keep: Keep, tmp_path: Path
) -> None:
    keep("http://h.test/a", PAGE, time=5.0)
    keep("http://h.test/b", PAGE)
    keep("http://h.test/c")
    pages = list(Reading(archive))
    assert sum(len(page.links) for page in pages) == 4
    write_export(pages, tmp_path / "export")
    assert_exported(tmp_path / "export", pages)


@each("row_group", [1, 3, 100])
def test_row_groups_change_nothing(tmp_path: Path, row_group: int) -> None:
    pages = [read_page(n, [(n, "topic", [0, n]), (1, "image", [])] * (n % 3)) for n in range(9)]
    export = write_export(pages, tmp_path, row_group=row_group)
    assert_exported(tmp_path, pages)
    assert export.rows == {"pages": 9, "blocks": 18, "links": 18}
    assert parquet.ParquetFile(tmp_path / "links.parquet").num_row_groups == -(-18 // row_group)


def test_no_more_than_a_row_group_is_held(tmp_path: Path) -> None:
    def pages():
        for number in range(200):
            yield read_page(number, [(1, "topic", [0])])
        size = (tmp_path / "pages.parquet.part").stat().st_size
        assert size > 4_000  # all but the last rows are on the disk by now

    write_export(pages(), tmp_path, row_group=10)


def test_large_numbers_and_all_characters_are_kept(tmp_path: Path) -> None:
    pages = [odd_page(0, ""), odd_page(1, "杠杆 \U0001f600 \0 \u202e")]
    write_export(pages, tmp_path)
    assert_exported(tmp_path, pages)


def test_columns_are_those_documented(tmp_path: Path) -> None:
    write_export([], tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "parquet.md").read_text(encoding="utf-8")
    for name, columns in COLUMNS.items():
        schema = parquet.read_schema(tmp_path / f"{name}.parquet")
        assert {field.name: str(field.type) for field in schema} == dict(columns)
        assert not any(field.nullable for field in schema)
        section = text.partition(f"\n## `{name}.parquet`\n")[2].partition("\n## ")[0]
        for column, kind in columns.items():
            assert f"| `{column}` | {kind} |" in section


def test_an_empty_export_is_one(tmp_path: Path) -> None:
    write_export([], tmp_path, facts=lambda: {"at": None})
    assert_exported(tmp_path, [])
    noted = parquet.read_metadata(tmp_path / "pages.parquet").metadata[b"mmcrawl"]
    assert json.loads(noted) == {"format": 1, "at": None}


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    def pages():
        yield read_page(0, [(1, "topic", [])])
        raise RuntimeError("the archive fails")

    with pytest.raises(RuntimeError):
        write_export(pages(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(RankError, match="is not empty; name a new one"):
        write_export([], tmp_path)
