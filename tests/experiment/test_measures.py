"""Measures, against cases worked by hand."""

import pytest

from mmcrawl.experiment import measures
from mmcrawl.scoring import Pattern, generalise, url_parts
from tests.tables import each

YES, NO = True, False


def test_precision_and_recall_are_shares_of_fetched_and_of_wanted() -> None:
    assert measures.precision(984, 26872) == pytest.approx(0.0366, abs=1e-4)
    assert measures.recall(2048, 3059) == pytest.approx(0.670, abs=1e-3)


def test_recall_of_a_web_without_relevant_pages_is_undefined() -> None:
    assert measures.recall(0, 0) is None
    assert measures.precision(0, 0) is None
    assert measures.area([NO, NO], 0, 2) is None
    assert measures.area_share([NO], [], 0, 2) is None


def test_the_interval_of_recall_holds_95_percent_of_the_draws_of_three_sites_or_more() -> None:
    # all three draws are the one site that was found in 1 of 27 cases: 3.7 %, more than 2.5
    assert measures.recall_interval([0, 0, 5, 0], [5, 5, 5, 0]) == (0, 1)
    assert measures.recall_interval([0, 5, 0], [5, 5, 0]) is None  # the third has nothing to find


def test_a_run_that_stopped_early_stays_where_it_was() -> None:
    assert measures.found_after([NO, YES], 5).tolist() == [0, 0, 1, 1, 1, 1]


def test_area_is_the_mean_recall_over_all_pages_of_the_web() -> None:
    # recall after 1, 2, 3, 4 fetches of 4: 0, 1/2, 1/2, 1
    assert measures.area([NO, YES, NO, YES], 2, 4) == pytest.approx(0.5)
    # an oracle that has both after two: 1/2, 1, 1, 1
    assert measures.area([YES, YES], 2, 4) == pytest.approx(0.875)
    assert measures.area_share([NO, YES, NO, YES], [YES, YES], 2, 4) == pytest.approx(4 / 7)


@each("pages, share", [(592, 124), (1, 1), (50, 11)])
def test_pages_at_21_percent(pages: int, share: int) -> None:
    assert measures.pages_at_share(pages) == share


def test_layers_count_pages_and_relevant_pages() -> None:
    counted = measures.per_layer([2, 1, 2, 4], [YES, NO, NO, YES])
    assert counted == {1: (1, 0), 2: (2, 1), 4: (1, 1)}
    assert list(counted) == [1, 2, 4]


def test_patterns_count_pages_and_relevant_pages_those_without_come_last() -> None:
    counted = measures.per_pattern(["", "a", "b", "b", ""], [NO, YES, YES, YES, YES])
    assert list(counted.items()) == [("b", (2, 2)), ("a", (1, 1)), ("", (2, 1))]


@each(
    "urls",
    [
        ["http://h.test/c.php?id=1&k=a", "http://h.test/c.php?id=2&k=a"],
        ["http://h.test/a/1.htm", "http://h.test/a/b/2.htm"],
        ["http://h.test:8080/a/*/b", "http://h.test:8080/a/c/b"],
    ],
)
def test_a_pattern_is_read_as_it_was_written(urls: list[str]) -> None:
    pattern = generalise([url_parts(url) for url in urls])
    assert measures.pattern_of(str(pattern)) == pattern


def test_of_several_patterns_the_first_that_matches_counts() -> None:
    wide, narrow = Pattern("h.test", ("*", "*")), Pattern("h.test", ("a", "*"))
    assert measures.best_pattern("http://h.test/a/1", [wide, narrow]) is wide
    assert measures.best_pattern("http://h.test/a/1", [narrow, wide]) is narrow
    assert measures.best_pattern("http://h.test/a", [wide, narrow]) is None


def test_spread_of_repeats_leaves_out_what_is_undefined() -> None:
    assert measures.spread([3, None, 1]) == {"mean": 2, "min": 1, "max": 3}
    assert measures.spread([None]) == {"mean": None, "min": None, "max": None}
