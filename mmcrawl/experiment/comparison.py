"""Two experiments side by side: what changed for each algorithm."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmcrawl.experiment.plan import ExperimentError
from mmcrawl.experiment.results import FORMAT

_MEASURES = ("recall", "precision", "recall_at_share", "area_share")


@dataclass(frozen=True, slots=True)
class Change:
    """A measure of an algorithm in both experiments; None where it is undefined."""

    before: float | None
    after: float | None

    @property
    def difference(self) -> float | None:
        """How much larger it is in the second experiment."""
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


@dataclass(frozen=True)
class Comparison:
    """What two experiments differ in.

    Attributes:
        algorithms: for each label that both have, its measures by name; pages/s among them.
        missing: for each experiment the labels it lacks.
        other_inputs: what besides the algorithms was not the same, e.g. `web`.
    """

    algorithms: dict[str, dict[str, Change]]
    missing: tuple[list[str], list[str]]
    other_inputs: list[str]


def compare(first: Path, second: Path) -> Comparison:
    """Return the differences of the experiments in two folders.

    Raises:
        ExperimentError: a folder holds no finished experiment.
    """
    (old, before), (new, after) = _read(first), _read(second)
    labels = [row for row in before if row in after]
    inputs = ("mmcrawl", "code", "web_digest", "topic_digest", "seeds", "media", "limits", "budget")
    return Comparison(
        algorithms={
            label: {name: Change(before[label][name], after[label][name]) for name in before[label]}
            for label in labels
        },
        missing=(
            [label for label in after if label not in before],
            [label for label in before if label not in after],
        ),
        other_inputs=[name for name in inputs if old.get(name) != new.get(name)],
    )


_Measures = dict[str, dict[str, float | None]]


def _read(folder: Path) -> tuple[dict[str, Any], _Measures]:
    """Return what an experiment was made with, and the measures of each of its algorithms."""
    results, times = _load(folder / "results.json"), _load(folder / "times.json")
    if results.get("format") != FORMAT:
        raise ExperimentError(
            f"{folder} was written by another version of mmcrawl; run the experiment again"
        )
    try:
        return dict(results["experiment"]), _measures(results["algorithms"], times["algorithms"])
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ExperimentError(
            f"the results in {folder} are not whole ({error}); run the experiment again"
        ) from None


def _measures(rows: list[Any], times: list[Any]) -> _Measures:
    speeds = {row["label"]: row["pages_per_minute"]["mean"] for row in times}
    measures: _Measures = {}
    for row in rows:
        minute = speeds.get(row["label"])
        measures[row["label"]] = {name: row[name]["mean"] for name in _MEASURES}
        measures[row["label"]]["pages_per_second"] = None if minute is None else minute / 60
    return measures


def _load(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExperimentError(
            f"{path.parent} holds no finished experiment ({path.name} is missing)"
        ) from None
    except (OSError, ValueError) as error:
        raise ExperimentError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise ExperimentError(f"{path} is no result of an experiment")
    return value
