"""What all lists have: values by which they are narrowed, and the whole of them as a table."""

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote

from starlette.responses import Response

from mmcrawl.browse.arguments import Arguments
from mmcrawl.text.writing import CsvWriter

_T = TypeVar("_T")
_MOST_VALUES = 12  # of a facet
MOST_ROWS = 1_000
"""Rows of a table that have to be read from the archive one by one."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a facet: its label, the address of the list with it, and its entries."""

    label: str
    address: str
    number: int
    is_chosen: bool


def facets_of(
    arguments: Arguments,
    path: str,
    given: Mapping[str, str],
    counts: Mapping[str, Mapping[str, int]],
    groups: Mapping[str, str] | None = None,
) -> list[tuple[str, list[Choice]]]:
    """Return the values of each facet, the most frequent first; the chosen one clears it.

    One that all entries have narrows nothing, and is left out.

    Args:
        path, given: The list, and what it is narrowed by.
        counts: How many entries each value of each facet has.
        groups: Begin of the names of the sentences that say the values of a facet, where that is
            not the name of the facet.
    """
    words = arguments.words
    facets = []
    for name, values in counts.items():
        found: list[Choice] = []
        for value, number in sorted(values.items(), key=lambda item: -item[1]):
            is_chosen = given.get(name) == value
            if not value or (len(found) >= _MOST_VALUES and not is_chosen):
                continue
            group = (groups or {}).get(name, name)
            label = words.topic(value) if name == "topic" else words.maybe(f"{group}.{value}")
            asked = {**given, name: "" if is_chosen else value}
            found.append(Choice(label, arguments.to(path, **asked), number, is_chosen))
        if len(found) > 1 or name in given or (found and values.get("")):
            facets.append((name, found))
    return facets


def wants_table(arguments: Arguments) -> bool:
    """Return whether the whole list is asked for, as a table."""
    return arguments.values.get("as") == "csv"


def table(
    arguments: Arguments,
    name: str,
    columns: Mapping[str, Callable[[_T], object]],
    rows: Iterable[_T],
) -> Response:
    """Return a list as CSV that spreadsheets open.

    Args:
        name: Of the file.
        columns: By the sentence that heads one: what stands in it.
        rows: All entries.
    """
    stream = io.StringIO(newline="")
    writer = CsvWriter(stream)
    writer.writerow([arguments.words(heading) for heading in columns])
    for row in rows:
        cells = [read(row) for read in columns.values()]
        writer.writerow([", ".join(cell) if isinstance(cell, tuple) else cell for cell in cells])
    return Response(
        stream.getvalue().encode("utf-8-sig", "replace"),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f"attachment; filename*=utf-8''{quote(name)}.csv"},
    )
