"""What was seen of a page at a time, in whatever order it was stored."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmcrawl.archive import Capture, is_answer
from mmcrawl.errors import StoreError

TIMES = st.integers(0, 8).map(float)
STORED = st.tuples(st.just("store"), TIMES, st.sampled_from("ABC"))
NOTED = st.tuples(st.just("note"), TIMES, st.sampled_from([304, 200, 503, 0]))


class Model:
    """What was seen, and when, in the order of storing."""

    def __init__(self):
        self.seen = []

    def at(self, time):
        """Return what was seen last up to a time, of several at once what was stored last."""
        return next(
            (seen for seen in sorted(self.seen, key=lambda s: -s[0]) if seen[0] <= time), None
        )

    def store(self, time, body):
        if self.at(time) != (time, body):
            self.seen.insert(0, (time, body))

    def note(self, time, status):
        """Return whether it could be noted; a failure saw nothing."""
        last = self.at(time)
        if last is not None and last[0] != time and is_answer(status):
            self.seen.insert(0, (time, last[1]))
        return last is not None


def apply(archive, model, url, step):
    what, time, value = step
    if what == "store":
        archive.store(Capture(url, value.encode(), time))
        model.store(time, value)
    elif model.note(time, value):
        archive.note_unchanged(url, time, value)
    else:
        with pytest.raises(StoreError, match=r"no version before|is not in archive"):
            archive.note_unchanged(url, time, value)


def assert_same(archive, model, url):
    for time in range(10):
        wanted = model.at(time)
        if wanted is not None:
            assert archive.rebuild(archive.get(url, float(time))).body == wanted[1].encode()
        elif model.seen:
            with pytest.raises(StoreError, match="not stored yet"):
                archive.get(url, float(time))
    if model.seen:
        assert archive.rebuild(archive.get(url)).body == model.at(9)[1].encode()


_pages = itertools.count()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STORED | NOTED, max_size=12))
def test_a_time_gives_what_the_last_event_up_to_it_saw(archive, steps):
    url, model = f"http://h.test/{next(_pages)}", Model()
    for step in steps:
        apply(archive, model, url, step)
    assert_same(archive, model, url)
    # Storing again what was seen last at its time changes nothing.
    before = archive.visits(url)
    for what, time, value in steps:
        if what == "store" and model.at(time) == (time, value):
            assert archive.store(Capture(url, value.encode(), time)).version is None
    assert [(v.time, v.version) for v in archive.visits(url)] == [
        (v.time, v.version) for v in before
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STORED | NOTED, max_size=12), before=TIMES)
def test_a_purge_leaves_what_was_seen_from_its_time_on(archive, steps, before):
    url, model = f"http://h.test/{next(_pages)}", Model()
    for step in steps:
        apply(archive, model, url, step)
    if not model.seen:
        return
    archive.purge(url=url, before=before)
    for time in range(int(before), 10):
        wanted = model.at(time)
        if wanted is not None:
            assert archive.rebuild(archive.get(url, float(time))).body == wanted[1].encode()
    assert archive.check().faults == ()


URL = "http://h.test/"


def test_a_visit_says_what_it_saw_also_beside_a_capture_that_is_stored_late(archive):
    archive.store(Capture(URL, b"A", 1.0))
    archive.note_unchanged(URL, 10.0)
    late = archive.store(Capture(URL, b"B", 5.0)).version
    assert [archive.get(URL, at).number for at in (1.0, 5.0, 9.9, 10.0, None)] == [1, 2, 2, 1, 1]
    assert archive.store(Capture(URL, b"A", 12.0)).version is None
    assert archive.store(Capture(URL, b"B", 13.0)).version.number == late.number + 1


def test_a_visit_at_the_time_of_a_version_is_what_was_seen_next_before_it(archive):
    archive.store(Capture(URL, b"A", 1.0))
    archive.note_unchanged(URL, 5.0)
    archive.store(Capture(URL, b"B", 5.0))
    assert [(visit.time, visit.version) for visit in archive.visits(URL)] == [
        (1.0, 1),
        (5.0, 1),
        (5.0, 2),
    ]
    archive.store(Capture(URL, b"C", 2.0))
    assert archive.store(Capture(URL, b"A", 3.0)).version is None  # as the visit saw
    assert archive.get(URL, 5.0).number == 2


def test_a_failure_within_a_second_of_a_visit_does_not_hide_it(archive):
    archive.store(Capture(URL, b"A", 1.0))
    archive.note_unchanged(URL, 6.2)
    archive.note_unchanged(URL, 6.5, 503)
    archive.store(Capture(URL, b"B", 5.0))
    assert archive.get(URL).number == 1


def test_a_visit_that_met_a_failure_saw_nothing(archive):
    archive.store(Capture(URL, b"A", 1.0))
    for time, status in ((6.0, 0), (7.0, 503), (8.0, 429)):
        archive.note_unchanged(URL, time, status)
    archive.store(Capture(URL, b"B", 5.0))
    assert archive.get(URL).number == 2
    assert [visit.status for visit in archive.visits(URL)] == [200, 200, 0, 503, 429]


def test_all_targets_of_a_redirect_in_one_second_are_kept(archive):
    def answer(target):
        return Capture(URL, b"", 5.0, 302, (("Location", target),))

    versions = [archive.store(answer(target)).version for target in ("/a", "/b", "/a")]
    assert [version.number for version in versions] == [1, 2, 3]
    assert archive.get(URL, 5.0).header("location") == "/a"
    assert archive.store(answer("/a")).version is None


@pytest.mark.parametrize("chance", range(4))
def test_the_version_at_a_time_is_found_among_many_with_numbers_gone(archive, chance):
    chosen = random.Random(chance)
    times = sorted(chosen.sample(range(1_000), 40))
    archive.store_many([Capture(URL, str(time).encode(), float(time)) for time in times])
    backend = archive._backend
    gone = chosen.sample(range(1, 41), 12)
    backend.remove_versions(1, gone)
    left = [time for number, time in enumerate(times, 1) if number not in gone]
    for time in (-1, *range(0, 1_001, 7), *times):
        at, after = backend.version_at(1, time), backend.version_after(1, time)
        assert (at and at.time) == max((t for t in left if t <= time), default=None)
        assert (after and after.time) == min((t for t in left if t > time), default=None)
    assert backend.version_at(1, None).time == left[-1]
