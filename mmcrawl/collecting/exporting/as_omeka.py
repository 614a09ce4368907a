"""For Omeka: a table of items in Dublin Core, and their files, which its server takes in.

Omeka S reads the table by its module CSV Import, the files by File Sideload, from the folder that
this module is told.
"""

import csv
from collections import defaultdict
from pathlib import Path

from mmcrawl.collecting.exporting.dublin_core import dublin_core
from mmcrawl.collecting.exporting.exporter import Shipment, whole_folder
from mmcrawl.collecting.exporting.held_files import HeldFiles, files_in
from mmcrawl.collecting.works.model import Work

SEPARATOR = "|"
"""Between values of one cell; it is told to the importer."""

_TERMS = (
    *("title", "creator", "issued", "abstract", "language", "subject", "audience", "type"),
    *("format", "extent", "identifier", "source", "rights", "license", "relation"),
)


class Omeka:
    """An `Exporter`."""

    summary = "for Omeka S: items.csv in Dublin Core, and the files for its File Sideload"
    suffix = ""

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_folder(target) as folder:
            held = HeldFiles(shipment, files_in(folder))
            # Without byte order mark, and formulas as they are: an importer, no spreadsheet,
            # reads it.
            with (folder / "items.csv").open(
                "w", encoding="utf-8", errors="replace", newline=""
            ) as stream:
                table = csv.writer(stream)
                table.writerow((*(f"dcterms:{term}" for term in _TERMS), "file"))
                for work in shipment.works:
                    files = [path for _, path in held.copied_of(work, "files/")]
                    names = [path.removeprefix("files/") for path in files]
                    table.writerow((*_cells(work), _joined(names)))
        return held.missing


def _cells(work: Work) -> list[str]:
    values = defaultdict(list)
    for term, value in dublin_core(work):
        values[term].append(value)
    return [_joined(values[term]) for term in _TERMS]


def _joined(values: list[str]) -> str:
    return SEPARATOR.join(value.replace(SEPARATOR, "/") for value in values)
