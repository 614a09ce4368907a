"""One figure of the gate, and when it is worse than the one that was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

SHARE = 0.02
Verdict = Literal["", "better", "WORSE", "new", "no data"]


@dataclass(frozen=True)
class Row:
    """A figure.

    Attributes:
        name: what was measured, once in its group.
        value: None where it cannot be measured here.
        better: whether more of it is better, or less.
        bound: the share by which it may be worse than the one kept; None for a figure that says
            something of the machine only and is never judged.
        most: what it should come down to, where there is a budget.
    """

    name: str
    value: float | None
    better: Literal["more", "less"] = "more"
    bound: float | None = SHARE
    most: float | None = None

    def change(self, kept: float | None) -> float | None:
        """Return how much larger it is than the one kept, as a share; None if one is missing."""
        if self.value is None or kept is None:
            return None
        if self.value == kept:
            return 0.0
        return (self.value - kept) / abs(kept) if kept else float("inf")

    def verdict(self, kept: float | None) -> Verdict:
        """Say how it stands beside the one kept."""
        if self.value is None:
            return "no data"
        if kept is None:
            return "new"
        change = self.change(kept) or 0.0
        loss = change if self.better == "less" else -change
        if self.bound is None or abs(loss) <= self.bound:
            return ""
        return "WORSE" if loss > 0 else "better"


def figure(value: float | None) -> str:
    """Write a figure with four significant digits, large ones whole.

    >>> figure(0.123456), figure(12345.6), figure(None)
    ('0.1235', '12346', 'no data')
    """
    if value is None:
        return "no data"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def read_kept(file: Path) -> dict[str, dict[str, float]]:
    """Return the figures that were kept, by group and name."""
    found: dict[str, dict[str, float]] = {}
    group: dict[str, float] = {}
    if not file.is_file():
        return found
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            group = found.setdefault(line[3:].strip(), {})
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[1] not in ("value", "no data") and cells[1][:3] != "---":
            group[cells[0]] = float(cells[1])
    return found


def write_kept(file: Path, head: str, taken: Mapping[str, tuple[str, list[Row]]]) -> None:
    """Replace the groups that were measured in the kept table; the others stay as they are.

    A figure that could not be measured keeps its value.
    """
    before = read_kept(file)
    sections = _sections(file)
    for group, (source, rows) in taken.items():
        known = before.get(group, {})
        whole = [replace(r, value=known.get(r.name)) if r.value is None else r for r in rows]
        sections[group] = "\n".join([source, "", *_table(whole)])
    text = "\n\n".join([head.strip(), *(f"## {name}\n\n{sections[name]}" for name in sections)])
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".part")
    draft.write_text(text + "\n", encoding="utf-8")
    draft.replace(file)


def _sections(file: Path) -> dict[str, str]:
    if not file.is_file():
        return {}
    _, *parts = file.read_text(encoding="utf-8").split("\n## ")
    return {name: body.strip() for name, _, body in (part.partition("\n") for part in parts)}


def _table(rows: list[Row]) -> Iterator[str]:
    yield "| figure | value | better | may be worse by | at most |"
    yield "|---|---|---|---|---|"
    for row in rows:
        bound = "not judged" if row.bound is None else f"{row.bound:.1%}".replace(".0%", "%")
        most = "" if row.most is None else figure(row.most)
        yield f"| {row.name} | {figure(row.value)} | {row.better} | {bound} | {most} |"
