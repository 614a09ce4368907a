"""Formats texts for display and for files: terminal, XML and CSV."""

import csv
import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO, cast

from lxml import etree

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Return a text without the characters that XML 1.0 has no way to write (section 2.2).

    >>> xml_text(chr(11) + 'ab')
    'ab'
    """
    return _FORBIDDEN.sub("", text)


def xml_document(root: etree._Element) -> bytes:
    """Return a document as UTF-8, with its declaration."""
    document = etree.tostring(root, encoding="utf-8", xml_declaration=True, pretty_print=True)
    return cast("bytes", document)


def printable(text: str, longest: int | None = None) -> str:
    """Return words to show: white space collapsed, cut, controls of terminal and bidi replaced."""
    text = " ".join((text if longest is None else text[: 4 * longest]).split())
    if longest is not None and len(text) > longest:
        text = text[: longest - 1].rstrip() + "…"
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def size_of(count: int) -> str:
    """Return a number of bytes as a person reads it.

    >>> size_of(3_460_000), size_of(3 * 10**12)
    ('3.5 MB', '3.0 TB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def counted(number: int, what: str) -> str:
    """Return a number of things.

    >>> counted(1, "page"), counted(2_000, "page")
    ('1 page', '2,000 pages')
    """
    return f"{number:,} {what}{'s' * (number != 1)}"


def time_left(count: int, per_second: float) -> str:
    """Return the time left at a speed.

    >>> time_left(600, 2.0), time_left(5, 2.0)
    ('about 5 min left', 'less than 1 min left')
    """
    minutes = count / per_second / 60
    return f"about {minutes:.0f} min left" if minutes >= 1 else "less than 1 min left"


# -- the program ----------------------------------------------------------------------------------

# `scrapy` in a project and `mmcrawl` elsewhere take the same commands. A sentence that names one is
# written for `scrapy` and shown with the program that was called.

_COMMAND = re.compile(r"\bscrapy(?= [a-z<]|\")")


def program() -> str:
    return "mmcrawl" if Path(sys.argv[0]).stem == "mmcrawl" else "scrapy"


def as_called(text: str) -> str:
    """Return a text in which the commands are those of the program that was called.

    >>> as_called("`scrapy topic list` shows all topics")
    '`scrapy topic list` shows all topics'
    """
    return _COMMAND.sub(program(), text)


# -- spreadsheets ---------------------------------------------------------------------------------

# A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, and a page
# can be titled ``=HYPERLINK(…)``. Such a text gets an apostrophe before it, since cells of CSV have
# no type: https://owasp.org/www-community/attacks/CSV_Injection


_SIGNS = frozenset("=+-@\u2212")  # after full-width and small forms were made plain
_UNSEEN = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me"))
_NUMBER = re.compile(r"-\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,4})?")


def harmless(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula.

    What does not show (spaces, byte order marks, direction marks, controls) may stand before the
    sign. A negative number stays one.

    >>> harmless("=1+1"), harmless("\ufeff ＝1"), harmless("a=1"), harmless(-1), harmless("-1.5")
    ("'=1+1", "'\ufeff ＝1", 'a=1', -1, '-1.5')
    """
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    first = next((c for c in cell if unicodedata.category(c) not in _UNSEEN), "")
    is_formula = cell[:1] in ("\t", "\r", "\n") or unicodedata.normalize("NFKC", first) in _SIGNS
    return f"'{cell}" if is_formula else cell


class CsvWriter:
    """What `csv.writer` does, with cells that are `harmless`; open `stream` with newline=""."""

    def __init__(self, stream: TextIO, **options: Any) -> None:
        self._writer = csv.writer(stream, **options)

    def writerow(self, row: Iterable[Any]) -> None:
        """Write a row."""
        self._writer.writerow([harmless(cell) for cell in row])

    def writerows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write some rows."""
        for row in rows:
            self.writerow(row)
