"""CSV that spreadsheets open rightly: UTF-8 with a byte order mark, dates as they read them."""

import io
from datetime import datetime
from pathlib import Path

from mmcrawl.collecting.exporting.exporter import Shipment, whole_file
from mmcrawl.collecting.exporting.table import COLUMNS, Cell, rows
from mmcrawl.collecting.works.model import Work
from mmcrawl.text.spreadsheets import CsvWriter


class Csv:
    """An `Exporter`."""

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
