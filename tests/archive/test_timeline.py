"""What was seen of a page at a time, in whatever order it was stored."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmcrawl.archive import Capture, is_answer
from mmcrawl.errors import StoreError
from tests.databases import file_uri

uri = file_uri

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


def assert_same(archive, model, url, since=0):
    for time in range(since, 10):
        wanted = model.at(time)
        if wanted is not None:
            assert archive.rebuild(archive.get(url, float(time))).body == wanted[1].encode()
        elif model.seen:
            with pytest.raises(StoreError, match="not stored yet"):
                archive.get(url, float(time))


_pages = itertools.count()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STORED | NOTED, max_size=12), before=TIMES)
def test_a_time_gives_what_the_last_event_up_to_it_saw_also_after_a_purge(archive, steps, before):
    url, model = f"http://h.test/{next(_pages)}", Model()
    for step in steps:
        apply(archive, model, url, step)
    assert_same(archive, model, url)
    # Storing again what was seen last at its time changes nothing.
    visits = [(v.time, v.version) for v in archive.visits(url)]
    for what, time, value in steps:
        if what == "store" and model.at(time) == (time, value):
            assert archive.store(Capture(url, value.encode(), time)).version is None
    assert [(v.time, v.version) for v in archive.visits(url)] == visits
    if model.seen:
        assert archive.rebuild(archive.get(url)).body == model.at(9)[1].encode()
        archive.purge(url=url, before=before)
        assert_same(archive, model, url, int(before))
        assert archive.check().faults == ()


URL = "http://h.test/"


def test_all_targets_of_a_redirect_in_one_second_are_kept(archive):
    def answer(target):
        return Capture(URL, b"", 5.0, 302, (("Location", target),))

    versions = [archive.store(answer(target)).version for target in ("/a", "/b", "/a")]
    assert [version.number for version in versions] == [1, 2, 3]
    assert archive.get(URL, 5.0).header("location") == "/a"
    assert archive.store(answer("/a")).version is None
