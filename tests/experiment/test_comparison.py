"""The differences of two experiments, from files written by hand."""

import json
from pathlib import Path

import pytest

from mmcrawl.experiment import FORMAT, Change, ExperimentError, compare
from tests.tables import each


def folder(path: Path, recall: dict[str, float | None], web: str = "a", form: int = FORMAT) -> Path:
    """Write the results of an experiment in which every measure is the recall."""
    path.mkdir()
    names = ("recall", "precision", "recall_at_share", "area_share")
    rows = [{"label": a, **{n: {"mean": r} for n in names}} for a, r in recall.items()]
    results = {"format": form, "experiment": {"web_digest": web}, "algorithms": rows}
    times = {"algorithms": [{"label": a, "pages_per_minute": {"mean": 600}} for a in recall]}
    (path / "results.json").write_text(json.dumps(results))
    (path / "times.json").write_text(json.dumps(times))
    return path


def test_differences_per_algorithm_and_those_that_are_missing(tmp_path: Path) -> None:
    first = folder(tmp_path / "1", {"breadth": 0.25, "fish": 0.5, "m": None})
    second = folder(tmp_path / "2", {"shark": 0.5, "breadth": 0.75, "m": 1}, web="b")
    comparison = compare(first, second)
    assert list(comparison.algorithms) == ["breadth", "m"]
    assert comparison.algorithms["m"]["recall"].difference is None
    assert comparison.algorithms["breadth"]["recall"].difference == 0.5
    assert comparison.algorithms["breadth"]["pages_per_second"] == Change(10, 10)
    assert comparison.missing == (["shark"], ["fish"])
    assert comparison.other_inputs == ["web_digest"]


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    old = folder(tmp_path / "old", {"a": 1.0}, form=0)
    with pytest.raises(ExperimentError, match="another version"):
        compare(old, old)


@each(
    "results",
    [
        {},
        {"experiment": {}, "algorithms": [{"label": "a"}]},
        {"experiment": {}, "algorithms": 3},
    ],
)
def test_results_that_are_not_whole_are_refused(tmp_path: Path, results: dict[str, object]) -> None:
    broken = folder(tmp_path / "broken", {"a": 1.0})
    (broken / "results.json").write_text(json.dumps({"format": FORMAT, **results}))
    with pytest.raises(ExperimentError, match="broken are not whole") as caught:
        compare(broken, broken)
    assert "\n" not in str(caught.value)
