"""A workbook for Excel and LibreOffice, with dates, numbers and texts as such."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile

from mmcrawl.collecting.exporting.exporter import Shipment, whole_file
from mmcrawl.collecting.exporting.table import COLUMNS, Cell, rows
from mmcrawl.errors import CollectionError
from mmcrawl.text.xml import xml_text

_LONGEST_CELL = 32_767  # characters, of the format
_MOST_ROWS = 1_048_576 - 1
_WIDTHS = {"title": 50, "file": 60, "page": 60, "page_title": 40, "caption": 60, "found_at": 19}


class Xlsx:
    """An `Exporter`."""

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
