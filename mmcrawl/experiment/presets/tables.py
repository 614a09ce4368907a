"""Tables of the papers beside what was measured here, for people and programs."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path

from mmcrawl.experiment.laboratory import write_json
from mmcrawl.experiment.plan import ExperimentError
from mmcrawl.experiment.results import latex_table

Told = Callable[[int, int, str], object]
"""Is told how far a measurement is: steps done, steps in all, and what is being measured."""

_NAME = "tables"


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper beside what was measured here.

    Attributes:
        title: which table it is, and of what.
        columns: names of the columns; the first is that of the rows' names.
        rows: cells as they are shown, each row as long as `columns`.
        note: what a reader has to know: the data, misprints, what was done otherwise.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def percent(share: float | None) -> str:
    """Return a share as a cell of a table; a dash where there is none, or no number."""
    return "–" if share is None or isnan(share) else f"{share:.1%}"


def claim(out: Path) -> None:
    """Make the folder that tables go to, or take one that held tables of before.

    Raises:
        ExperimentError: it holds other files, or cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        others = [path.name for path in sorted(out.iterdir()) if path.stem != _NAME]
    except OSError as error:
        raise ExperimentError(
            f"the folder {out} cannot be written: {error.strerror or error}; name another with"
            " --out"
        ) from error
    if others:
        raise ExperimentError(
            f"the folder {out} holds other files ({others[0]}); name another with --out"
        )


def write_tables(tables: Sequence[PaperTable], out: Path) -> Path:
    """Write tables.json, tables.tex and tables.md to a folder; return the path of the last."""
    write_json(out / f"{_NAME}.json", [asdict(table) for table in tables])
    latex = [f"% {t.title}\n{latex_table(t.columns, t.rows)}" for t in tables]
    (out / f"{_NAME}.tex").write_text("\n".join(latex), encoding="utf-8")
    page = out / f"{_NAME}.md"
    page.write_text("\n".join(map(_markdown, tables)), encoding="utf-8")
    return page


def _markdown(table: PaperTable) -> str:
    rows = [table.columns, ("---", *("---:" for _ in table.columns[1:])), *table.rows]
    lines = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    note = ["", table.note] if table.note else []
    return "\n".join([f"## {table.title}", "", *lines, *note, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
