"""When a page is due again."""

from collections.abc import Collection, Iterator
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.archive import DAY, NO_ANSWER, Pair, RevisitRules, Visit, change_rate, due, next_visit
from tests.tables import each

RULES = RevisitRules(default=DAY, shortest=3_600, longest=30 * DAY)
URL = "http://a.test/"


def visits(*found: bool | int, every: float = DAY) -> list[Visit]:
    """A first visit, then one for each value: whether it changed, or its status."""
    made = [Visit(0.0, True, 1, 200)]
    for number, value in enumerate(found, 1):
        is_status = not isinstance(value, bool)
        made.append(Visit(number * every, value is True, 1, value if is_status else 200))
    return made


class Visited(dict[str, list[Visit]]):
    """What is asked of an archive; each version changed the text of the one before."""

    def urls(self) -> Iterator[str]:
        return iter(self)

    def visits(self, url: str) -> list[Visit]:
        return self[url]

    def changed_kinds(self, url: str, pairs: Collection[Pair]) -> dict[Pair, frozenset[str]]:
        return dict.fromkeys(pairs, frozenset({"topic"}))


@each("n, x", [(1, 0), (1, 1), (5, 0), (5, 2), (5, 5), (100, 37)])
@each("length", [1.0, 90.0, DAY])
def test_at_equal_intervals_the_rate_is_that_of_cho_and_garcia_molina(n, x, length):
    rate = change_rate([(length, number < x) for number in range(n)])
    assert rate * length == pytest.approx(-log((n - x + 0.5) / (n + 0.5)))


@given(st.lists(st.tuples(st.floats(1e-3, 1e9), st.booleans()), min_size=1, max_size=60))
def test_the_rate_is_a_number_whatever_the_intervals(intervals: list[tuple[float, bool]]) -> None:
    rate = change_rate(intervals)
    assert 0 <= rate < 1e6
    assert (rate == 0) == (not any(change for _, change in intervals))


def test_a_page_visited_once_has_the_default_interval() -> None:
    answer = next_visit(URL, visits(), RULES)
    assert answer.next_visit == DAY
    assert answer.rate is None
    assert answer.why == "Visited once: again after 1 day."


def test_the_interval_is_the_time_in_which_one_change_is_expected() -> None:
    answer = next_visit(URL, visits(True, False, True, False), RULES)
    rate = -log(2.5 / 4.5)
    assert answer.rate == pytest.approx(rate)
    assert answer.next_visit - answer.last_visit == pytest.approx(DAY / rate)
    assert answer.why.startswith("Changed at 2 of 4 visits")


def test_a_page_that_never_changes_waits_at_most_twice_as_long_each_time() -> None:
    found, at = visits(), 0.0
    spans = []
    for _ in range(12):
        at = next_visit(URL, found, RULES).next_visit
        spans.append(at - found[-1].time)
        found.append(Visit(at, False, 1, 304))
    assert spans[:5] == [DAY, 2 * DAY, 4 * DAY, 8 * DAY, 16 * DAY]
    assert set(spans[5:]) == {30 * DAY}


@given(st.lists(st.booleans(), max_size=40), st.floats(1.0, 1e8))
def test_intervals_stay_within_their_bounds(found: list[bool], every: float) -> None:
    answer = next_visit(URL, visits(*found, every=every), RULES)
    assert RULES.shortest <= answer.next_visit - answer.last_visit + 1e-3
    assert answer.next_visit - answer.last_visit <= RULES.longest + 1e-3


@each("status", [404, 410])
def test_pages_that_are_gone_are_visited_less_and_less(status: int) -> None:
    spans = []
    for n in range(1, 8):
        answer = next_visit(URL, visits(*[status] * n), RULES)
        spans.append((answer.next_visit - answer.last_visit) / DAY)
    assert spans == [2, 4, 8, 16, 30, 30, 30]
    assert answer.why == "Gone, as found 7 times in a row: again after 30 days."


@each("status", [NO_ANSWER, 500, 503, 429, 403])
def test_failures_are_no_observation_and_are_tried_again_later_and_later(status: int) -> None:
    steady = next_visit(URL, visits(True, False), RULES)
    disturbed = next_visit(URL, visits(True, False, status), RULES)
    assert disturbed.rate == steady.rate
    spans = []
    for n in range(1, 5):
        answer = next_visit(URL, visits(True, False, *[status] * n), RULES)
        spans.append(answer.next_visit - answer.last_visit)
    assert spans == [3_600, 7_200, 14_400, 28_800]
    assert answer.why == "No good answer 4 times in a row: again after 8 hours."


def test_the_most_overdue_comes_first_and_what_is_not_due_not_at_all() -> None:
    archive = Visited(
        {
            "http://late.test/": [Visit(5 * DAY, True, 1, 200)],
            "http://early.test/": [Visit(2 * DAY, True, 1, 200)],
            "http://not-yet.test/": [Visit(9.5 * DAY, True, 1, 200)],
            "dns:late.test": [Visit(0.0, True, 1, 200)],
            "http://purged.test/": [],
        }
    )
    found = due(archive, 10 * DAY, RULES)
    assert [item.url for item in found] == ["http://early.test/", "http://late.test/"]
    assert found[0].last_visit == 2 * DAY
    assert found[0].next_visit == 3 * DAY


def test_an_older_version_found_again_is_a_change() -> None:
    found = [(0.0, True, 1), (1.0, True, 2), (2.0, False, 1), (3.0, False, 1)]
    seen = [Visit(day * DAY, changed, version, 200) for day, changed, version in found]
    assert next_visit(URL, seen, RULES).why.startswith("Changed at 2 of 3 visits")


def test_visits_at_the_same_time_do_no_harm() -> None:
    twice = [Visit(0.0, True, 1, 200), Visit(0.0, True, 2, 200)]
    assert next_visit(URL, twice, RULES).rate is None
