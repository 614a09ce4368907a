"""What a visit came with that found the same bytes again, and visits that are stored late."""

import itertools
import sqlite3
from contextlib import closing
from dataclasses import replace

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mmcrawl.archive import Capture, RevisitRules, Unchanged, due, open_archive
from mmcrawl.archive.warc import export_warc, import_warc
from tests.databases import file_uri

uri = file_uri

URL = "http://physics.test/levers.html"
_names = itertools.count()


def with_headers(page, time, *headers, **more):
    """Return a capture of the same page with headers of its own."""
    typed = (("Content-Type", "text/html; charset=utf-8"), *headers)
    return page(time=time, headers=typed, **more)


def etags(archive, *times):
    return [archive.get(URL, at=time).header("etag") for time in times]


def test_a_time_shows_the_headers_of_the_last_visit_that_had_some(archive, page):
    archive.store(with_headers(page, 1.0, ("ETag", "a"), ("Date", "one")))
    again = archive.store(with_headers(page, 5.0, ("ETag", "b"), ("Date", "five"), reason="Fine"))
    assert again.version is None
    archive.note_unchanged(URL, 7.0)
    archive.store(with_headers(page, 9.0, ("ETag", "a"), ("Date", "one")))
    assert etags(archive, 1.0, 4.0, 5.0, 7.0, 8.0, 9.0, None) == list("aabbbaa")
    found = archive.get(URL, at=6.0)
    assert (found.number, found.time, found.reason) == (1, 1.0, "Fine")
    assert archive.rebuild(found) == replace(
        with_headers(page, 1.0, ("ETag", "b"), ("Date", "five")), reason="Fine"
    )
    assert [version.header("etag") for version in archive.versions(URL)] == ["a"]
    told = [(v.time, v.changed, f.header("etag")) for v, f in archive.found(URL)]
    assert told == [(1.0, True, "a"), (5.0, False, "b"), (7.0, False, "b"), (9.0, False, "a")]
    archive.pack()
    archive.pack()
    assert etags(archive, 1.0, 5.0, 9.0) == list("aba")


def test_bytes_of_another_type_or_encoding_are_another_version(archive):
    def stored(time, content_type):
        headers = (("Content-Type", content_type),) if content_type else ()
        return archive.store(Capture(URL, b"<p>caf\xe9</p>", time, headers=headers)).version

    assert stored(1.0, "text/html; charset=iso-8859-1").number == 1
    assert stored(2.0, "Text/HTML;charset=ISO-8859-1") is None
    assert stored(3.0, "") is None
    assert stored(4.0, "text/html; charset=koi8-r").encoding == "koi8-r"
    assert stored(5.0, "application/xhtml+xml; charset=koi8-r").number == 3


def test_what_was_captured_late_and_seen_next_is_no_version(archive, page):
    for time, text in ((10.0, "a"), (20.0, "b")):
        archive.store(page(text, time=time))
    early = replace(page("a", time=5.0), headers=(("ETag", "early"),))
    assert archive.store(early).version is None
    assert archive.store(page("b", time=15.0)).version is None
    assert archive.store(page("a", time=12.0)).version is None
    assert archive.store(page("b", time=12.5)).version is None
    archive.note_unchanged(URL, 6.0)
    assert [version.number for version in archive.versions(URL)] == [1, 2]
    times = (5.0, 6.0, 10.0, 12.0, 12.5, 15.0, 25.0)
    assert [archive.get(URL, at=time).number for time in times] == [1, 1, 1, 1, 2, 2, 2]
    assert etags(archive, 5.0, 6.0, 10.0) == ["early", "early", ""]
    assert [(v.time, v.version) for v in archive.visits(URL)][:3] == [(5.0, 1), (6.0, 1), (10.0, 1)]
    (found,) = due(archive, at=1e9, rules=RevisitRules(kinds=None))
    assert found.why.startswith("Changed at 1 of 6 visits")


HEADS = st.sampled_from([(), (("ETag", "x"),), (("ETag", "y"), ("Age", "1")), (("Age", "2"),)])
STEPS = st.tuples(st.integers(0, 8).map(float), st.sampled_from(["A", "B", 304, 503]), HEADS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, max_size=10))
@example([(3.0, "A", ()), (0.0, "B", ()), (2.0, 503, ()), (1.0, "A", ())])
@example([(0.0, "B", ()), (2.0, 503, ()), (3.0, "A", ()), (1.0, "A", ()), (2.0, "A", ())])
@example([(0.0, "B", ()), (2.0, 503, ()), (2.0, "A", ()), (1.0, "A", ())])
@example([(3.0, "B", ()), (0.0, "A", ()), (2.0, 503, ()), (1.0, "B", ()), (2.0, "A", ())])
def test_each_visit_of_a_series_shows_its_own_headers_and_survives_an_export(
    archive, tmp_path, steps
):
    url = f"http://h.test/{next(_names)}"
    shown: dict[float, tuple[str, object]] = {}
    for time, what, headers in steps:
        if time in shown:
            continue
        if isinstance(what, int):
            archive.store_many([Unchanged(url, time, what)])
        else:
            archive.store(Capture(url, what.encode(), time, headers=headers))
            shown[time] = (what, headers)

    def shows_them(archive):
        for time, (body, headers) in shown.items():
            found = archive.rebuild(archive.get(url, at=time))
            assert (found.body.decode(), found.headers) == (body, headers)

    shows_them(archive)
    if not shown:
        return
    path = tmp_path / f"{next(_names)}.warc.gz"
    export_warc(archive, path, url=url)
    with open_archive(f"sqlite:///{tmp_path}/{next(_names)}.db") as other:
        import_warc(other, [path])
        shows_them(other)


def test_a_page_whose_facts_are_damaged_is_kept_as_another_version(tmp_path, page, caplog):
    path = tmp_path / "archive.db"
    with open_archive(f"sqlite:///{path}") as archive:
        archive.store(with_headers(page, 1.0, ("ETag", "a")))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE segment SET head = zeroblob(length(head))")
    with open_archive(f"sqlite:///{path}") as archive:
        stored = archive.store(with_headers(page, 2.0, ("ETag", "b")))
        assert stored.version.number == 2
        assert etags(archive, 2.0) == ["b"]
    assert "what was found now is kept as another" in caplog.text
