"""A row or a line for each medium: CSV, workbooks and JSON Lines."""

import io
import json
import shutil
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile

from mmcrawl.errors import CollectionError
from mmcrawl.text.writing import CsvWriter, xml_text
from mmcrawl.works.exporting.exporter import Shipment, whole_file
from mmcrawl.works.model import Work, WorkFile

Cell = str | int | float | datetime | None

COLUMNS = (
    *("work", "title", "kind", "creator", "date", "languages", "topic", "level"),
    *("licence", "licence_url", "licence_evidence", "licence_scope", "licence_page"),
    *("file", "type", "bytes", "seconds", "sha256", "state"),
    *("page", "page_title", "block", "found_at", "pages"),
    *("caption", "poster", "subtitles", "title_from", "corrected"),
    *("tags", "note", "rating"),
)
_LONGEST_CELL = 32_767  # characters, of the format
_MOST_ROWS = 1_048_576 - 1
_WIDTHS = {"title": 50, "file": 60, "page": 60, "page_title": 40, "caption": 60, "found_at": 19}


def rows(work: Work) -> list[tuple[Cell, ...]]:
    """Return a row for each file of a work, its cells in the order of `COLUMNS`."""
    return [_row(work, file) for file in work.files]


def _row(work: Work, file: WorkFile) -> tuple[Cell, ...]:
    licence, page = work.licence, work.pages[0] if work.pages else None
    evidence = licence.evidence if licence else None
    return (
        *(work.id, work.title, work.kind, work.creator, work.date),
        *("; ".join(work.languages), work.topic, work.level),
        *((licence.code, licence.url) if licence else ("", "")),
        *((evidence.said, evidence.scope, evidence.page) if evidence else ("", "", "")),
        *(file.url, file.mime, file.size or None, file.duration or None, file.digest, file.state),
        *((page.url, page.title, page.block) if page else ("", "", "")),
        _time(page.time) if page else None,
        len(work.pages),
        *(work.caption, work.poster, "; ".join(one.url for one in work.subtitles)),
        *(work.title_source, "; ".join(work.corrected)),
        *("; ".join(work.tags), work.note, work.rating or None),
    )


def _time(seconds: float) -> datetime | None:
    """Return a time in UTC, without its zone, which spreadsheets do not have."""
    if seconds <= 0:
        return None
    return datetime.fromtimestamp(int(seconds), UTC).replace(tzinfo=None)


class Csv:
    summary = "a table with a row for each medium, for spreadsheets"
    suffix = ".csv"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_file(target) as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
            writer = CsvWriter(text)
            writer.writerow(COLUMNS)

            def write(work: Work) -> None:
                writer.writerows([[_written(cell) for cell in row] for row in rows(work)])

            problems = shipment.each(write)
            text.detach()
        return problems


def _written(cell: Cell) -> Cell:
    if isinstance(cell, datetime):
        return cell.strftime("%Y-%m-%d %H:%M:%S")
    return cell


class JsonLines:
    summary = "a line of JSON for each work, with all that is known"
    suffix = ".jsonl"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_file(target) as stream:

            def write(work: Work) -> None:
                line = json.dumps(work.as_plain(), ensure_ascii=False, allow_nan=False)
                stream.write(line.encode("utf-8", "replace") + b"\n")

            return shipment.each(write)


class Xlsx:
    summary = "the same table as a workbook of Excel (needs mmcrawl[collect])"
    suffix = ".xlsx"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        if find_spec("openpyxl") is None:
            raise CollectionError("xlsx needs openpyxl: pip install 'mmcrawl[collect]'")
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.styles import Font
        from openpyxl.utils import get_column_letter

        table: list[tuple[Cell, ...]] = []  # openpyxl cannot give up a sheet that is begun
        problems = shipment.each(lambda work: table.extend(rows(work)))
        book = Workbook(write_only=True)
        sheet = book.create_sheet("works")
        sheet.freeze_panes = "C2"
        for number, name in enumerate(COLUMNS, 1):
            sheet.column_dimensions[get_column_letter(number)].width = _WIDTHS.get(name, 16)
        head = []
        for name in COLUMNS:
            cell = WriteOnlyCell(sheet, name)
            cell.font = Font(bold=True)
            head.append(cell)
        sheet.append(head)
        for row in table[:_MOST_ROWS]:
            cells = []
            for value in row:
                cell = WriteOnlyCell(sheet, _writable(value))
                if isinstance(value, str):
                    cell.data_type = "s"  # also what begins with "=": no formula
                cells.append(cell)
            sheet.append(cells)
        sheet.auto_filter.ref = f"A1:{get_column_letter(len(COLUMNS))}1"
        with TemporaryFile() as made:  # openpyxl cannot give up a file that is begun
            book.save(made)
            made.seek(0)
            with whole_file(target) as stream:
                shutil.copyfileobj(made, stream)
        if (left_out := len(table) - _MOST_ROWS) > 0:
            too_many = f"a sheet has {_MOST_ROWS:,}; export to csv"
            problems.append(f"{left_out:,} rows are left out: {too_many}")
        return problems


def _writable(value: Cell) -> Cell:
    return xml_text(value)[:_LONGEST_CELL] if isinstance(value, str) else value
