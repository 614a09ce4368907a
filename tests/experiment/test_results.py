"""The sentences a report begins with, from numbers written by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.experiment import FORMAT, Change, ExperimentError, compare, says
from tests.tables import each


def results(**algorithms: tuple[float, float]) -> dict[str, Any]:
    """Return results with the area share and the recall at 21 % of some algorithms."""
    rows = [
        {
            "label": name,
            "algo": name,
            "media_area_share": {"mean": area},
            "media_recall_at_share": {"mean": recall},
            "fetched": {"max": 50},
            "ended": ["finished"],
        }
        for name, (area, recall) in algorithms.items()
    ]
    return {
        "truth": {"pages": 100, "relevant": 5, "media": 10},
        "share": 0.21,
        "pages_at_share": 21,
        "area_pages": 100,
        "algorithms": rows,
    }


def test_the_best_is_named_and_compared_with_breadth() -> None:
    said = says(results(fish=(0.6, 0.5), breadth=(0.3, 0.1), shark=(0.7, 0.6)))
    assert said == (
        "shark comes nearest to the oracle: the area under its recall of distinct media is 70% of"
        " the oracle's. After 21% of the web (21 pages), it had found 60% of the 10 media, breadth"
        " 10%."
    )


def test_runs_that_stopped_too_early_are_named() -> None:
    short = results(breadth=(0.5, 0.2), shark=(0.7, 0.3))
    for row in short["algorithms"]:
        row |= {"ended": ["max_pages"], "fetched": {"max": 9}}
    assert says(short).endswith("Stopped by the budget before that: breadth, shark.")


def test_nothing_is_claimed_of_a_web_without_relevant_pages() -> None:
    truth = {"pages": 100, "relevant": 0, "rejected": 0, "rejected_titles": []}
    said = says(results(breadth=(0, 0)) | {"truth": truth})
    assert said.startswith("None of the 100 pages of this web is relevant, so recall is")
    assert said.endswith(
        "No page has media of its own; give other seeds, or other kinds with --media."
    )


def test_what_the_topic_rejected_is_told_if_it_rejected_everything() -> None:
    truth = {"pages": 100, "relevant": 0, "rejected": 7, "rejected_titles": ["Sailing", "Songs"]}
    said = says(results(breadth=(0, 0)) | {"truth": truth})
    assert "rejected all of the 7 pages with media; nearest to it came “Sailing”, “Songs”." in said
    assert "--task any-media" in said


def test_a_budget_with_which_nothing_can_be_found_is_told() -> None:
    budget = results(shark=(0.7, 0.6)) | {"area_pages": 30}
    assert "media up to the budget of 30 pages is 70% of the oracle's" in says(budget)
    small = results(shark=(0.7, 0.0)) | {"area_pages": 2}
    small["algorithms"][0]["media_area_share"] = {"mean": None}
    assert says(small).startswith("The budget of 2 pages is too small: even the oracle finds no")


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
