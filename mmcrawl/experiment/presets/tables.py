"""Tables of the papers beside our measurements, for people and programs."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path

from mmcrawl.experiment.laboratory import write_json
from mmcrawl.experiment.plan import ExperimentError
from mmcrawl.experiment.results import table_text

Told = Callable[[int, int, str], object]
"""Called with the progress of a measurement: steps done, steps in all, what is measured."""

_NAME = "tables"


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper beside what was measured here."""

    title: str  # which table it is, and of what
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # cells as they are shown, each row as long as `columns`
    note: str = ""  # what a reader has to know: the data, misprints, what was done otherwise


def percent(share: float | None) -> str:
    """Return a share as a cell of a table; a dash where there is none, or no number."""
    return "–" if share is None or isnan(share) else f"{share:.1%}"


def reserve(out: Path, others: Sequence[str] = ()) -> None:
    """Create the folder for tables, or use one of earlier tables; else an ExperimentError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        strange = [path.name for path in sorted(out.iterdir()) if path.stem != _NAME]
        strange = [name for name in strange if name not in others]
    except OSError as error:
        raise ExperimentError(
            f"the folder {out} cannot be written: {error.strerror or error}; name another with"
            " --out"
        ) from error
    if strange:
        raise ExperimentError(
            f"the folder {out} holds other files ({strange[0]}); name another with --out"
        )


def write_tables(tables: Sequence[PaperTable], out: Path) -> Path:
    """Write tables.json, tables.tex and tables.md to a folder; return the path of the last."""
    write_json(out / f"{_NAME}.json", [asdict(table) for table in tables])
    for ending, title, note in (("tex", "% {}\n", "% {}\n"), ("md", "## {}\n\n", "\n{}\n")):
        written = [
            title.format(table.title)
            + table_text(ending, table.columns, table.rows)
            + (note.format(table.note) if table.note else "")
            for table in tables
        ]
        page = out / f"{_NAME}.{ending}"
        page.write_text("\n".join(written), encoding="utf-8")
    return page
