import gzip
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.errors import WebError
from mmcrawl.replay import WarcWeb, open_web
from tests.archive.warc.warc_files import HTML, Warc
from tests.replay.fetching import fetch


def again(of: str, date: str, digest: str) -> dict[str, str]:
    """Return the fields of a revisit of what an address had at a time."""
    fields = {"WARC_Refers_To_Target_URI": of, "WARC_Refers_To_Date": date}
    return {**fields, "WARC_Payload_Digest": digest}


each_form = pytest.mark.parametrize("warc", ["crawl.warc", "crawl.warc.gz"], indirect=True)


@pytest.fixture
def warc(request: pytest.FixtureRequest, tmp_path: Path) -> Warc:
    return Warc(tmp_path / getattr(request, "param", "crawl.warc.gz"))


def body(web: WarcWeb, url: str) -> bytes:
    response = fetch(web, url)
    assert response.status == 200
    assert response.header("Content-Length") == str(len(response.body))
    return response.body


@each_form
def test_a_response_comes_back_with_status_headers_and_body(warc: Warc) -> None:
    warc.other("dns:a.test", "response", "text/dns", b"20200101 a.test 127.0.0.1")
    warc.response("http://a.test/", b"<html>\xce\xef</html>", headers=(*HTML, ("X-Many", "1")))
    warc.response("http://a.test/no", b"gone", status="410 Gone")
    warc.other("http://a.test/", "metadata", "text/plain", b"note: x")
    web = open_web(str(warc.close()))
    assert isinstance(web, WarcWeb)
    response = fetch(web, "http://a.test/")
    assert response.status == 200
    assert response.body == b"<html>\xce\xef</html>"
    assert response.header("x-many") == "1"
    gone, missing = web.get("http://a.test/no"), web.get("http://a.test/none")
    assert (gone.status, missing.status) == (410, 404)
    assert web.get("http://b.test/") is None
    head = fetch(web, "http://a.test/", "HEAD")
    assert (head.body, head.header("Content-Length")) == (b"", str(len(response.body)))


def test_urls_match_in_canonical_form_and_over_both_schemes(warc: Warc) -> None:
    warc.response("https://A.test:443/p?b=2&a=1#top", b"page")
    web = WarcWeb((warc.close(),))
    for url in (
        "http://a.test/p?a=1&b=2",
        "https://a.test/p?b=2&a=1",
        "http://a.test:80/%70?a=1&b=2",
    ):
        assert body(web, url) == b"page"


def test_codings_of_transfer_and_content_are_undone(warc: Warc) -> None:
    packed = gzip.compress(b"<html>packed</html>", mtime=0)
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    coding = (*HTML, ("Content-Encoding", "gzip"))
    warc.response("http://a.test/gz", packed, headers=coding)
    warc.response(
        "http://a.test/both", chunked, headers=(*coding, ("Transfer-Encoding", "chunked"))
    )
    warc.response("http://a.test/zz", b"??", headers=(*HTML, ("Content-Encoding", "dcb")))
    web = WarcWeb((warc.close(),))
    for url in ("http://a.test/gz", "http://a.test/both"):
        response = fetch(web, url)
        assert response.body == b"<html>packed</html>"
        assert response.header("Content-Encoding") is None
        assert response.header("Transfer-Encoding") is None
    unknown = fetch(web, "http://a.test/zz")
    assert (unknown.body, unknown.header("Content-Encoding")) == (b"??", "dcb")


def test_a_revisit_answers_with_the_body_it_points_to(warc: Warc) -> None:
    first, second = "2020-01-01T00:00:00Z", "2020-02-01T00:00:00Z"
    url = "http://a.test/"
    of_first = warc.response(url, b"first", date=first)
    of_second = warc.response(url, b"second", date=second)
    warc.revisit(url, "200 OK", **again(url, first, of_first))
    warc.revisit(f"{url}copy", "304 Not Modified", **again(url, second, of_second))
    warc.revisit(f"{url}bare", **again(url, second, of_second))
    warc.revisit(f"{url}lost", "200 OK", **again(f"{url}never", first, "sha1:unknown"))
    web = WarcWeb((warc.close(),))
    assert body(web, "http://a.test/") == b"first"
    assert fetch(web, "http://a.test/").header("X-Seen") == "again"
    assert body(web, "http://a.test/copy") == body(web, "http://a.test/bare") == b"second"
    assert fetch(web, "http://a.test/lost").status == 404


def test_redirects_are_kept_but_not_those_from_http_to_https(warc: Warc) -> None:
    warc.response("https://a.test/", b"page")
    warc.response("http://a.test/", status="301 Moved", headers=(("Location", "https://a.test/"),))
    warc.response("http://a.test/old", status="302 Found", headers=(("Location", "/"),))
    web = WarcWeb((warc.close(),))
    assert body(web, "http://a.test/") == b"page"
    old = fetch(web, "http://a.test/old")
    assert (old.status, old.header("Location")) == (302, "/")


def test_a_crawl_starts_at_the_first_html_page_of_each_host(warc: Warc) -> None:
    warc.response("http://a.test/robots.txt", b"", headers=(("Content-Type", "text/plain"),))
    warc.response("http://a.test/gone", status="404 Not Found")
    warc.response("http://a.test/home", b"a")
    warc.response("http://cdn.test/x.png", b"", headers=(("Content-Type", "image/png"),))
    warc.response("http://b.test/", b"b")
    warc.response("http://a.test/next", b"a")
    web = WarcWeb((warc.close(),))
    assert web.start_urls() == ("http://a.test/home", "http://b.test/")


def test_a_folder_of_warc_files_is_one_web(tmp_path: Path) -> None:
    for name, text in (("1.warc", b"old"), ("2.warc.gz", b"new")):
        warc = Warc(tmp_path / name)
        warc.response("http://a.test/", text)  # the last capture wins
        warc.response(f"http://a.test/{name}", b"own")
        warc.close()
    web = open_web(str(tmp_path))
    assert isinstance(web, WarcWeb)
    assert body(web, "http://a.test/") == b"new"
    assert body(web, "http://a.test/1.warc") == body(web, "http://a.test/2.warc.gz") == b"own"


def test_threads_read_at_the_same_time(warc: Warc) -> None:
    for n in range(50):
        warc.response(f"http://a.test/{n}", b"%d" % n * 1000)
    web = WarcWeb((warc.close(),))
    with ThreadPoolExecutor(8) as pool:
        bodies = pool.map(lambda n: body(web, f"http://a.test/{n % 50}"), range(200))
    assert list(bodies) == [b"%d" % (n % 50) * 1000 for n in range(200)]


def cut(data: bytes, last: int) -> bytes:
    return data[:-40]


def cut_in_the_first_line(data: bytes, last: int) -> bytes:
    return data[: last + 12]


def overwritten(data: bytes, last: int) -> bytes:
    return data[:last] + b"\xff" * (len(data) - last)


@each_form
@pytest.mark.parametrize("damage", [cut, cut_in_the_first_line, overwritten])
def test_a_damaged_tail_is_reported_and_the_rest_is_read(warc, damage, caplog):
    warc.response("http://a.test/1", b"one" * 100)
    warc.response("http://a.test/2", bytes(range(256)) * 20)
    path, last = warc.close(), warc.offsets[-1]
    path.write_bytes(damage(path.read_bytes(), last))
    with caplog.at_level(logging.WARNING):
        web = WarcWeb((path,))
    assert body(web, "http://a.test/1") == b"one" * 100
    assert fetch(web, "http://a.test/2").status == 404
    assert str(path) in caplog.text
    assert f"offset {last}" in caplog.text


def test_a_file_that_yields_nothing_is_refused(warc: Warc) -> None:
    warc.response("http://a.test/1", b"one" * 100)
    path = warc.close()
    for content, said in ((path.read_bytes()[:60], "offset 0"), (b"", "No response")):
        path.write_bytes(content)
        with pytest.raises(WebError, match=rf"{said}"):
            WarcWeb((path,))
    path.unlink()
    with pytest.raises(WebError, match=r"crawl\.warc"):
        WarcWeb((path,))


def test_a_file_compressed_as_a_whole_is_told_how_to_be_mended(tmp_path: Path) -> None:
    warc = Warc(tmp_path / "plain.warc")
    for n in range(3):
        warc.response(f"http://a.test/{n}", b"x")
    whole = tmp_path / "whole.warc.gz"
    whole.write_bytes(gzip.compress(warc.close().read_bytes()))
    with pytest.raises(WebError, match="warcio recompress"):
        WarcWeb((whole,))


def test_records_behind_damage_are_read(warc: Warc, caplog: pytest.LogCaptureFixture) -> None:
    for n in range(3):
        warc.response(f"http://a.test/{n}", b"%d" % n * 999)
    path, second = warc.close(), warc.offsets[1]
    data = bytearray(path.read_bytes())
    data[second : second + 200] = b"\xff" * 200
    path.write_bytes(data)
    web = WarcWeb((path,))
    assert body(web, "http://a.test/0") == b"0" * 999
    assert body(web, "http://a.test/2") == b"2" * 999
    assert f"'{path}', offset {second}" in caplog.text


def test_a_record_of_no_url_is_passed_over(tmp_path: Path) -> None:
    warc = Warc(tmp_path / "plain.warc")
    for n in range(2):
        warc.response(f"http://a.test/{n}", b"x")
    path = warc.close()
    path.write_bytes(path.read_bytes().replace(b"WARC-Target-URI", b"X-Target-URI", 1))
    assert WarcWeb((path,)).start_urls() == ("http://a.test/1",)


def test_bytes_of_another_digest_are_not_shown(tmp_path, caplog):
    warc = Warc(tmp_path / "plain.warc")
    warc.response("http://a.test/", b"money 100")
    path = warc.close()
    path.write_bytes(path.read_bytes().replace(b"money 100", b"money 900"))
    found = WarcWeb((path,)).get("http://a.test/")
    assert found.status == 404
    assert "not those of its digest" in caplog.text


def test_a_page_too_large_is_not_read(warc, monkeypatch, caplog):
    warc.response("http://a.test/large", bytes(2 << 20))
    warc.response("http://a.test/", b"small")
    monkeypatch.setattr("mmcrawl.archive.warc.answers.LARGEST_BODY", 0)  # beside the head
    web = WarcWeb((warc.close(),))
    assert fetch(web, "http://a.test/large").status == 404
    assert "are read at most" in caplog.text
    assert body(web, "http://a.test/") == b"small"


def test_a_body_that_is_not_in_its_coding_to_the_end_comes_as_sent(warc: Warc) -> None:
    packed = gzip.compress(b"<html>packed</html>", mtime=0)[:-9]
    warc.response("http://a.test/", packed, headers=(*HTML, ("Content-Encoding", "gzip")))
    found = WarcWeb((warc.close(),)).get("http://a.test/")
    assert (found.body, found.header("Content-Encoding")) == (packed, "gzip")


def test_a_revisit_finds_what_stands_in_a_later_file(tmp_path: Path) -> None:
    date = "2020-01-01T00:00:00Z"
    later, earlier = Warc(tmp_path / "2.warc"), Warc(tmp_path / "1.warc")
    digest = later.response("http://a.test/", b"page", date=date)
    earlier.revisit("http://b.test/", "200 OK", **again("http://a.test/", date, digest))
    web = WarcWeb((earlier.close(), later.close()))
    assert body(web, "http://b.test/") == b"page"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> WarcWeb:
    warc = Warc(tmp_path_factory.mktemp("warc") / "small.warc.gz")
    warc.response("http://a.test/", b"x")
    return WarcWeb((warc.close(),))


@given(st.one_of(st.text(), st.text().map("http://a.test/".__add__)))
def test_any_url_is_answered(small: WarcWeb, url: str) -> None:
    small.get(url)
    small.size_hint(url)
