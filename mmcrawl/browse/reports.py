"""Reports of experiments: folders with a report and its results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MOST = 200  # folders that are looked into
_LARGEST_RESULTS = 20 << 20  # characters; of a larger one only the report is shown


@dataclass(frozen=True, slots=True)
class Report:
    """A report.

    Attributes:
        name: In addresses: the folder, by name.
        folder: Where it is.
        time: When it was written, Unix seconds.
        web, topic: What the experiment was about.
        rows: For each algorithm its label, pages fetched, recall and precision, as far as told.
    """

    name: str
    folder: Path
    time: float
    web: str
    topic: str
    rows: tuple[dict[str, Any], ...]


def reports_in(folders: Sequence[Path]) -> list[Report]:
    """Return the reports in some folders, or one level below, those written last first."""
    places = [place for folder in folders for place in (folder, *_inside(folder))]
    found: dict[str, Report] = {}
    for place in places[:_MOST]:
        file = place / "report.html"
        if file.is_file():
            name = place.resolve().name
            while name in found:
                name += "~"
            found[name] = _read(name, place, file.stat().st_mtime)
    return sorted(found.values(), key=lambda report: -report.time)


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(place for place in folder.iterdir() if place.is_dir())[:_MOST]
    except OSError:
        return []


def _read(name: str, folder: Path, time: float) -> Report:
    file = folder / "results.json"
    try:
        with file.open(encoding="utf-8") as opened:
            results = json.loads(opened.read(_LARGEST_RESULTS))
        experiment = results["experiment"]
        rows = tuple(_row(row) for row in results["algorithms"])
        return Report(
            name, folder, time, str(experiment["web"]), str(experiment.get("topic", "")), rows
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return Report(name, folder, time, "", "", ())  # the report itself can be read still


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "label": str(row["label"]),
        "fetched": _mean(row.get("fetched")),
        "recall": _mean(row.get("recall")),
        "precision": _mean(row.get("precision")),
    }


def _mean(value: Any) -> float | None:
    if isinstance(value, dict):
        value = value.get("mean")
    return float(value) if isinstance(value, int | float) else None
