"""What all lists have: values by which they are narrowed, and the whole of them as a table."""

import io
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar
from urllib.parse import quote

from starlette.responses import Response

from mmcrawl.browse.arguments import Arguments
from mmcrawl.text.writing import CsvWriter

_T = TypeVar("_T")
_MOST_VALUES = 12  # of a facet


def facets_of(
    counts: Mapping[str, Mapping[str, int]], given: Mapping[str, str]
) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return the values of each facet with their counts, the most frequent first.

    A facet of which all entries have the same value narrows nothing, and is left out.

    Args:
        counts: How many entries each value of each facet has.
        given: What the list is narrowed by; such a value is always among those returned.
    """
    facets = []
    for name, values in counts.items():
        ranked = sorted(((v, n) for v, n in values.items() if v), key=lambda each: -each[1])
        chosen = [each for each in ranked[_MOST_VALUES:] if each[0] == given.get(name)]
        found = ranked[:_MOST_VALUES] + chosen
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
    """Return all rows as CSV that spreadsheets open; columns are named by what heads them."""
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
