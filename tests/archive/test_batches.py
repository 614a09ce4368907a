"""Many visits stored at once: as if one after the other, and with hardly more work than for one."""

import itertools
import os
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mmcrawl.archive import Capture, Unchanged, open_archive
from mmcrawl.archive.format import look_up
from tests.warm import python

URL = "http://physics.test/levers.html"

_names = itertools.count()


def seen(archive, url):
    """Return all that is known of a URL, but how its versions are numbered and stored."""
    versions = {version.number: version for version in archive.versions(url)}
    bodies = {number: archive.rebuild(version).body for number, version in versions.items()}
    return [
        (visit.time, visit.changed, bodies[visit.version], visit.status, visit.version)
        for visit in archive.visits(url)
    ]


def captures(count, time=1.0, url="http://h.test/{}", text=""):
    filler = "".join(f"<div><p>Paragraph {n} of a template.</p></div>" for n in range(60))
    return [
        Capture(
            url.format(n), f"{filler}<p>{n} {text}</p>".encode(), time, content_type="text/html"
        )
        for n in range(count)
    ]


# -- the same as one by one -------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.integers(0, 8).map(float),
            st.sampled_from(["A", "B", "C", 304, 503]),
        ),
        max_size=10,
    ),
    st.integers(0, 4),
)
@example([("a", 1.0, "A"), ("a", 0.0, 304), ("a", 1.0, 304)], 0)
@example([("a", 1.0, "A"), ("a", 0.0, 304), ("a", 1.0, "A")], 0)
def test_a_batch_is_kept_as_its_visits_would_be_one_by_one(in_a_file, steps, before):
    archive = in_a_file

    def visits(name):
        for page, when, what in steps:
            url = f"http://{name}.test/{page}"
            whole = isinstance(what, str)
            yield Capture(url, what.encode(), when) if whole else Unchanged(url, when, what)

    one, many = (f"{name}{next(_names)}" for name in ("one", "many"))
    single = [archive.store_many([visit])[0] for visit in visits(one)]
    listed = list(visits(many))
    batch = archive.store_many(listed[:before]) + archive.store_many(listed[before:])
    assert [s.noted for s in batch] == [s.noted for s in single]
    assert [s.version and s.version.number for s in batch] == [
        s.version and s.version.number for s in single
    ]
    for page in "ab":
        urls = [f"http://{name}.test/{page}" for name in (one, many)]
        assert seen(archive, urls[0]) == seen(archive, urls[1])


def test_a_batch_of_one_host_shares_a_segment_until_that_is_full(in_a_file, monkeypatch):
    archive = in_a_file
    monkeypatch.setattr("mmcrawl.archive.format.writing.LARGEST_BATCH", 200_000)
    large = [Capture(f"http://h.test/large{n}", os.urandom(60_000), 1.0) for n in range(3)]
    stored = archive.store_many([*captures(9), *large])
    report = archive.check()
    assert (report.segments, report.clean) == (2, True)
    assert all(s.version for s in stored)
    for capture in (*captures(9), *large):
        assert archive.rebuild(archive.get(capture.url)) == capture


def test_each_page_of_a_batch_has_its_own_level(in_a_file):
    archive = in_a_file
    stored = archive.store_many(captures(3), levels=[1, None, 2])
    default = archive.store(captures(1, url="http://other.test/")[0]).version.level
    assert [s.version.level for s in stored] == [1, default, 2]
    stored = archive.store_many(captures(3, 2.0, text="new"), levels=[None, 3, None])
    assert [s.version.level for s in stored] == [1, 3, 2]
    with pytest.raises(ValueError, match="level must be from 1"):
        archive.store_many(captures(2, 3.0), levels=[1, 0])
    for levels in ([1], []):
        with pytest.raises(ValueError, match="shorter"):
            archive.store_many(captures(2, 3.0), levels=levels)
    assert all(len(archive.visits(f"http://h.test/{n}")) == 2 for n in range(3))


# -- others write at the same time ------------------------------------------------------------


def test_a_number_that_another_took_first_is_not_overwritten(uri, page, monkeypatch):
    """The other writes between looking up and writing, as a store without locks lets it."""
    if uri.startswith("sqlite"):
        pytest.skip("SQLite locks")
    with open_archive(uri) as archive, open_archive(uri) as other:
        archive.store(page("0", time=0.0))
        raced = []

        def look_up_late(*given):
            standings = look_up(*given)
            if not raced:
                raced.append(True)
                other.store_many([page("x", time=1.0), page("y", time=2.0)])
            return standings

        monkeypatch.setattr("mmcrawl.archive.format.writing.look_up", look_up_late)
        batch = [page("a", time=3.0), page("a", time=4.0), page("b", time=5.0), page("b", time=6.0)]
        stored = archive.store_many([*batch, *captures(3)])
        assert raced
        numbers = [s.version and s.version.number for s in stored[:4]]
        assert numbers[1] is None
        assert numbers[3] is None
        kept = [archive.rebuild(version) for version in archive.versions(URL)]
        wanted = [page("0", time=0.0), page("x", time=1.0), page("y", time=2.0), batch[0], batch[2]]
        assert sorted(kept, key=lambda c: c.time) == wanted
        assert {v.time: v.version for v in archive.visits(URL) if not v.changed} == {
            4.0: numbers[0],
            6.0: numbers[2],
        }
        report = archive.check()
        assert (report.faults, report.orphans) == ((), 0)  # nothing had been written yet


STORE = """
import random, sys, time
from mmcrawl.archive import Capture, Unchanged, open_archive
archive, name = open_archive(sys.argv[1]), sys.argv[2]
for n in range(1, 9):
    bodies = {k: random.Random(k).randbytes(9_000) for k in range(n, n + 9)}
    batch = [Capture(f"http://a.test/{k}", body, 1.0) for k, body in bodies.items()]
    for k in range(3):
        batch.append(Capture("http://a.test/both", f"{name} {n} {k}".encode(), n + k / 10))
    batch.append(Unchanged("http://a.test/both", n + 0.5))
    archive.store_many(batch)
    print(n, flush=True)
time.sleep(600)  # until it is killed: on a busy machine that may be long
"""


def test_processes_that_store_the_same_pages_in_batches_and_are_killed(uri):
    open_archive(uri).close()
    processes = [
        subprocess.Popen([python(), "-c", STORE, uri, name], stdout=subprocess.PIPE, text=True)
        for name in "xyz"
    ]
    heard = [[process.stdout.readline() for _ in range(4)] for process in processes]
    for process, lines in zip(processes, heard, strict=True):
        process.kill()
        lines.extend(process.communicate()[0].splitlines(keepends=True))
    last = [sum(line.endswith("\n") for line in lines) for lines in heard]
    with open_archive(uri) as archive:
        report = archive.check()
        assert report.faults == ()
        versions = archive.versions("http://a.test/both")
        assert [v.number for v in versions] != []
        assert len({v.number for v in versions}) == len(versions)
        bodies = [archive.rebuild(version).body.decode() for version in versions]
        assert len(set(bodies)) == len(bodies)
        for name, count in zip("xyz", last, strict=True):
            told = {f"{name} {n} {k}" for n in range(1, count + 1) for k in range(3)}
            assert told <= set(bodies)
        for page in range(1, max(last) + 9):
            assert len(archive.versions(f"http://a.test/{page}")) == 1
        archive.pack()
        assert archive.check(repair=True).faults == ()
        assert (archive.check().faults, archive.check().orphans) == ((), 0)
