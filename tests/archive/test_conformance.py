"""What an archive does, on every backend."""

import random
import threading
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmcrawl.archive import Capture, leaves, open_archive
from mmcrawl.errors import StoreError

URL = "http://physics.test/levers.html"


def noise(size: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(size)


# -- storing ----------------------------------------------------------------------------------


def test_a_capture_comes_back_as_it_was(archive, page):
    capture = page(
        status=203,
        reason="Non-Authoritative Information",
        headers=(("X-A", "1"), ("x-a", "zwei ä"), ("Content-Type", "text/html"), ("X-A", "1")),
    )
    version = archive.store(capture).version
    assert archive.rebuild(version) == capture
    assert version.digest == sha256(capture.body).hexdigest()
    assert (version.number, version.size, version.time) == (1, len(capture.body), capture.time)
    assert (version.language, version.encoding) == ("en", "utf-8")
    assert version.header("x-a") == "1"


def test_an_unchanged_page_is_a_visit_and_no_version(archive, page):
    assert archive.store(page(time=1.0)).version.number == 1
    assert archive.store(page(time=2.0)).version is None
    archive.note_unchanged(URL, 3.0)
    assert len(archive.versions(URL)) == 1
    found = [(v.time, v.changed, v.version, v.status) for v in archive.visits(URL)]
    assert found == [(1.0, True, 1, 200), (2.0, False, 1, 200), (3.0, False, 1, 304)]


def test_a_page_that_returns_to_an_older_state_is_a_new_version_of_the_same_bytes(archive, page):
    for time, text in enumerate(("one", "two", "one")):
        stored = archive.store(page(text, time=float(time)))
    assert stored.version.number == 3
    archive.pack()
    assert archive.stats().kept_bytes == len(page("one").body) + len(page("two").body)
    assert len(archive.versions(URL)) == 3


def test_another_status_or_target_of_a_redirect_is_a_change(archive):
    def answer(time, status, location=""):
        return Capture(URL, b"", time, status, (("Location", location),) if location else ())

    numbers = [
        archive.store(capture).version is not None
        for capture in (
            answer(1, 404),
            answer(2, 410),
            answer(3, 301, "/a"),
            answer(4, 301, "/a"),
            answer(5, 301, "/b"),
        )
    ]
    assert numbers == [True, True, True, False, True]
    assert [archive.rebuild(v).header("location") for v in archive.versions(URL)][2:] == [
        "/a",
        "/b",
    ]


def test_equal_pages_of_a_host_are_stored_once(archive, page):
    body = noise(300_000, 1)
    urls = [f"http://{host}.test/{n}" for host in "ab" for n in range(5)]
    archive.store_many([Capture(url, body, 1.0) for url in urls])
    assert archive.stats().kept_bytes == 2 * len(body)  # once on each host
    assert all(archive.rebuild(archive.get(url)).body == body for url in urls)


BODIES = [
    (b"", "text/html"),
    (b"\x89PNG\r\n" + bytes(range(256)) * 5_000, "image/png"),
    (b"<", "text/html"),
    ("<p>物理".encode("utf-16"), "text/html; charset=utf-16"),
    (b"<html><p>" + b"\xb5\xe7\xb4\xc5" * 9_000 + b"</p>", "text/html; charset=gbk"),
    (b"\x00<div>" * 5_000, ""),
    (b"<table>" * 4_000, "text/html"),
]


def test_any_body_is_kept(archive):
    for number, (body, kind) in enumerate(BODIES):
        archive.store(Capture(f"{URL}?{number}", body, 1.0, content_type=kind))
    archive.pack()
    for number, (body, kind) in enumerate(BODIES):
        version = archive.get(f"{URL}?{number}")
        found = archive.rebuild(version)
        assert (found.body, found.content_type) == (body, kind)
        blocks = archive.blocks_of(version)
        assert all(0 <= block.start < block.end <= len(body) for block in blocks)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies=st.lists(st.binary(max_size=300), min_size=1, max_size=4), url=st.text(max_size=20))
def test_whatever_is_stored_is_rebuilt(in_a_file, bodies, url):
    archive = in_a_file
    url = f"http://h.test/{url.encode('utf-8', 'replace').decode()}"
    start = max((v.time for v in archive.visits(url)), default=0.0) + 1
    for n, body in enumerate(bodies):
        archive.store(Capture(url, body, start + n, content_type="text/html"))
        assert archive.rebuild(archive.get(url)).body == body


# -- finding ----------------------------------------------------------------------------------


def test_the_version_of_a_time(archive, page):
    for time in (100.0, 200.0, 300.0):
        archive.store(page(str(time), time=time))
    assert archive.get(URL).time == 300.0
    assert archive.get(URL, 299.9).time == 200.0
    assert archive.get(URL, 200.0).time == 200.0
    assert archive.get(URL, datetime.fromtimestamp(150, UTC)).time == 100.0
    assert archive.get(URL, datetime(1970, 1, 1, 0, 2, 30)).time == 100.0
    east = datetime.fromtimestamp(150, timezone(timedelta(hours=8)))
    assert archive.get(URL, east).time == 100.0
    with pytest.raises(StoreError, match=r"first version is of 1970-01-01 00:01:40 UTC"):
        archive.get(URL, 99.0)
    with pytest.raises(StoreError, match=r"other\.html is not in archive"):
        archive.get("http://physics.test/other.html")
    with pytest.raises(StoreError, match="has no version 4"):
        archive.version(URL, 4)


def test_a_url_is_kept_as_given_and_found_under_any_spelling(archive, page):
    written, canonical = "http://Physics.test:80/a?b=2&a=1", "http://physics.test/c?a=1&b=2"
    archive.store(page(url=canonical))
    assert archive.get("http://Physics.test:80/c?b=2&a=1").url == canonical
    archive.purge(url=canonical)
    archive.store(page(url=written))
    assert list(archive.urls()) == [written]
    assert archive.get("http://physics.test/a?a=1&b=2#top").url == written
    archive.store(page("other", url="http://physics.test/a?a=1&b=2"))
    assert archive.get("http://physics.test/a?a=1&b=2").url == "http://physics.test/a?a=1&b=2"
    assert archive.get(written).url == written


def test_a_url_is_found_exactly_whatever_its_canonical_form_becomes(archive, page, monkeypatch):
    urls = [URL, f"{URL}/../b#top"]
    archive.store_many([page(url=url, time=1.0) for url in urls])
    monkeypatch.setattr("mmcrawl.archive.index.canonical", lambda url: f"{url}?another")
    for url in urls:
        assert archive.get(url).url == url
        archive.store(page("new", url=url, time=2.0))
        assert [version.number for version in archive.versions(url)] == [1, 2]
    assert list(archive.urls()) == urls
    assert archive.check(repair=True).clean
    assert archive.check().faults == ()


def test_urls_and_hosts_in_order(archive, page):
    urls = [f"http://{host}.test/{n}" for host in ("b", "a") for n in (2, 10, 1)]
    archive.store_many([page(url=url) for url in urls])
    assert list(archive.urls()) == sorted(urls)
    assert archive.hosts() == ["a.test", "b.test"]
    assert list(archive.urls(host="a.test")) == sorted(urls[3:])
    assert list(archive.urls(prefix="http://b.test/1")) == ["http://b.test/1", "http://b.test/10"]
    odd = ["http://b.test/1/%2e%2e/c", "http://b.test/1/../c", "http://b.test:80/1?z=1&a=2"]
    archive.store_many([page(url=url) for url in odd])
    assert list(archive.urls(prefix="http://b.test/1/")) == odd[:2]
    for prefix in ("http://b", "http://b.test:80/1?z"):
        assert odd[2] in list(archive.urls(prefix=prefix))
    for url in odd:
        archive.purge(url=url)
    assert list(archive.urls(host="c.test")) == []
    assert list(archive.urls(prefix="http://b.test/\udcff")) == []
    assert [v.url for v in archive.all_versions()] == sorted(urls)


# -- blocks -----------------------------------------------------------------------------------


def test_blocks_are_the_same_before_and_after_packing(archive, page):
    versions = [archive.store(page(text, time=n)).version for n, text in enumerate("abc")]
    before = [archive.blocks_of(version) for version in versions]
    archive.pack()
    assert [archive.blocks_of(version) for version in versions] == before
    body = archive.rebuild(versions[0]).body
    for block in before[0]:
        assert block.digest == sha256(body[block.start : block.end]).hexdigest()[:16]
        assert block.kind
        assert block.path.startswith("html/body")
    assert archive.stats().blocks == sum(map(len, before))


def test_a_url_is_cut_as_its_last_version_unless_told(archive, page):
    first = archive.store(page("a", time=1), method="quark", level=1).version
    second = archive.store(page("b", time=2)).version
    third = archive.store(page("c", time=3), level=2).version
    found = [(v.method, v.level) for v in (first, second, third)]
    assert found == [("quark", 1), ("quark", 1), ("quark", 2)]


def test_a_difference_tells_what_became_of_each_block(archive, page):
    old = archive.store(page("Give me a place to stand.", time=1)).version
    new = archive.store(page("Give me a lever to stand on.", time=2)).version
    found = archive.diff(old, new)
    assert not found.same
    (changed,) = [block for block in found.blocks if block.change == "changed"]
    words = [(w.change, w.text.strip()) for w in changed.words]
    assert ("removed", "place") in words
    assert ("added", "lever") in words
    kept = found.count("kept")
    assert kept == len(leaves(archive.blocks_of(new))) - 1
    assert not found.layout_changed
    assert archive.diff(new, new).same
    without = found.without({changed.kind})
    assert without.count("changed") == 0
    assert archive.rebuild(new).body.count(b"lever to stand on") == 1


# -- sealing ----------------------------------------------------------------------------------


def series(count, size=20_000, url=URL):
    """Yield versions of a page of which a part changes."""
    parts = [noise(size // 40, n).hex() for n in range(20)]
    for n in range(count):
        parts[n % 20] = noise(size // 40, 100 + n).hex()
        body = "".join(f"<div><p>{part}</p></div>" for part in parts).encode()
        yield Capture(url, body, float(n), content_type="text/html")


@pytest.mark.usefixtures("small_segments")
def test_versions_are_rebuilt_across_tails_and_segments(uri):
    captures = list(series(40))
    with open_archive(uri) as archive:
        for capture in captures:
            archive.store(capture)
        versions = archive.versions(URL)
        assert all(archive.rebuild(v) == c for v, c in zip(versions, captures, strict=True))
    with open_archive(uri) as archive:
        assert archive.stats().ratio > 3
        archive.pack()
        archive.pack(3)
        assert archive.check().clean
        versions = archive.versions(URL)
        assert all(archive.rebuild(v) == c for v, c in zip(versions, captures, strict=True))


def test_several_threads_store_and_read(archive, page):
    failures = []

    def work(name):
        try:
            for n in range(15):
                url = f"http://{name}.test/"
                archive.store(page(f"{name} {n}", time=float(n), url=url))
                assert archive.rebuild(archive.get(url)).body.count(f"{name} {n}".encode()) == 1
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert archive.check().versions == 60


# -- upkeep -----------------------------------------------------------------------------------


def test_purging_removes_versions_and_gives_space_back(archive, page):
    mine = list(series(12, url="http://a.test/"))
    archive.store_many(mine)
    archive.store_many(series(12, url="http://b.test/"))
    archive.store(Capture("http://a.test/big", noise(500_000, 7), 1.0))
    archive.pack()
    size = archive.stats().stored_bytes
    gone = archive.purge(url="http://a.test/big")
    assert (gone.versions, gone.visits) == (1, 1)
    assert gone.freed_bytes > 400_000
    assert archive.stats().stored_bytes < size - 400_000
    assert archive.visits("http://a.test/big") == []
    assert archive.purge(url="http://a.test/", before=6.0).versions == 6
    assert [v.number for v in archive.versions("http://a.test/")] == list(range(7, 13))
    assert archive.purge(host="b.test").versions == 12
    assert archive.hosts() == ["a.test"]
    report = archive.check()
    assert (report.faults, report.orphans) == ((), 0)
    found = [archive.rebuild(v) for v in archive.versions("http://a.test/")]
    assert found == mine[6:]
    archive.store_many(series(12, url="http://b.test/"))
    assert archive.store(Capture("http://a.test/", mine[0].body, 99.0)).version.number == 13
    archive.pack()
    assert archive.check().clean


def test_a_purge_must_name_something(archive):
    with pytest.raises(ValueError, match="name a URL"):
        archive.purge()


def test_numbers_of_an_archive(archive, page):
    archive.store(page("a", time=1.0))
    archive.store(page("a", time=2.0))
    archive.store(page("b", time=3.0))
    archive.store(page("b", time=3.0, url="http://other.test/"))
    stats = archive.stats()
    assert (stats.urls, stats.versions, stats.visits) == (2, 3, 4)
    assert stats.hosts["physics.test"].versions == 2
    assert stats.hosts["other.test"].urls == 1
    assert stats.raw_bytes == 3 * len(page("a").body)
    assert stats.ratio == stats.raw_bytes / stats.stored_bytes


# -- opening ----------------------------------------------------------------------------------


def test_what_is_stored_is_there_for_the_next(uri, page):
    with open_archive(uri) as archive:
        archive.store(page())
    with open_archive(uri, create=False, read_only=True) as archive:
        assert archive.rebuild(archive.get(URL)) == page()
        with pytest.raises(StoreError, match="reading only"):
            archive.store(page("other", time=2.0))


def test_an_archive_that_is_not_there(uri):
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(StoreError, match="no archive"):
            open_archive(uri, **options)
