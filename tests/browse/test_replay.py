"""Archived pages as they are given again, over HTTP."""

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from mmcrawl.archive import Capture, open_archive
from mmcrawl.browse import Limits, open_context
from mmcrawl.browse.replay import Mode, replay_address, stamp
from tests.browse import hostile
from tests.browse.serving import small_app
from tests.tables import each

ORIGIN = "http://127.0.0.1:8000"
DAY = 86_400.0
T = hostile.START
URL = "http://h.test/a.html?b=1&c=%20d"
HTML = (("Content-Type", "text/html"), ("Server", "old"))
PAGE = "<html><title>中</title><body><h1>杠杆</h1><p>杠杆是一根硬棒。<a href=x>x</a></p></html>"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('replay') / 'a.db'}"
    with open_archive(uri) as archive:
        for n, word in enumerate(("one", "two", "three")):
            body = f"<p>{word}<a href='/next'>n</a>".encode()
            archive.store(Capture(URL, body, T + n * DAY + 0.25, headers=HTML))
        archive.note_unchanged(URL, T + 9 * DAY)
        archive.store(Capture("http://h.test/gb", PAGE.encode("gb18030"), T, headers=HTML))
        archive.store(Capture("http://h.test/wide", PAGE.encode("utf-16"), T, headers=HTML))
        mp3 = (("Content-Type", "audio/mpeg"),)
        archive.store(Capture("http://h.test/a.mp3", bytes(range(100)), T, headers=mp3))
    with open_context(uri, limits=Limits(largest_body=1_000, longest_url=500)) as context:
        yield TestClient(small_app(context), ORIGIN, follow_redirects=False)


@pytest.fixture(scope="module")
def wild(hostile_archive: str) -> Iterator[TestClient]:
    with open_context(hostile_archive, limits=Limits(largest_body=2_000_000)) as context:
        yield TestClient(small_app(context), ORIGIN, follow_redirects=False)


def exact(n: int, mode: Mode = Mode.PAGE) -> str:
    return replay_address(URL, T + n * DAY, mode)


@each(
    "time, version",
    [(T - 99 * DAY, 0), (T + 0.4 * DAY, 0), (T + 0.6 * DAY, 1), (T + 8 * DAY, 2),
     (T + 99 * DAY, 2)],
)  # fmt: skip
def test_a_time_leads_to_the_version_seen_nearest_to_it(client, time, version):
    answer = client.get(replay_address(URL, time))
    assert answer.status_code == 302
    assert answer.headers["location"] == exact(version)
    found = client.get(exact(version))
    assert found.status_code == 200
    assert ("one", "two", "three")[version] in found.text


def test_links_lead_into_the_archive_below_the_key(client: TestClient) -> None:
    answer = client.get(exact(0))
    found = re.search(r'href="(/replay/~[0-9a-f]{32}/)(\d{14})/http://h.test/next"', answer.text)
    assert found
    assert found[2] == stamp(T)
    assert f"default-src {ORIGIN}{found[1]};" in answer.headers["content-security-policy"]
    assert client.get(found[1] + exact(0).removeprefix("/replay/")).text == answer.text


def test_the_whole_policy_of_a_page(client: TestClient) -> None:
    policy = client.get(exact(0)).headers["content-security-policy"]
    rules = dict(f"{rule.strip()} ".split(" ", 1) for rule in policy.split(";"))
    source = rules["default-src"].strip()
    assert re.fullmatch(ORIGIN + r"/replay/~[0-9a-f]{32}/", source)
    assert {name: value.replace(source, "HERE").strip() for name, value in rules.items()} == {
        "sandbox": "", "default-src": "HERE", "script-src": "'none'", "connect-src": "'none'",
        "style-src": "HERE 'unsafe-inline'", "img-src": "HERE data:", "font-src": "HERE data:",
        "media-src": "HERE data:", "base-uri": "HERE", "object-src": "'none'",
        "worker-src": "'none'", "form-action": "'none'", "webrtc": "'block'",
        "frame-ancestors": "'self'",
    }  # fmt: skip


def test_the_bytes_come_as_they_came_and_are_not_opened(client: TestClient) -> None:
    answer = client.get(replay_address("http://h.test/gb", T, Mode.BYTES))
    assert answer.content == PAGE.encode("gb18030")
    assert answer.headers["content-disposition"] == "attachment"
    assert answer.headers["content-security-policy"].startswith("sandbox;")


def test_encodings_are_kept_or_where_ascii_is_not_ascii_made_utf_8(client: TestClient) -> None:
    answer = client.get(replay_address("http://h.test/gb", T))
    assert answer.headers["content-type"] == "text/html; charset=gb18030"
    assert "杠杆".encode("gb18030") in answer.content
    assert "/http://h.test/x" in answer.text
    answer = client.get(replay_address("http://h.test/wide", T))
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "杠杆是一根硬棒" in answer.content.decode()
    assert "/http://h.test/x" in answer.text


def test_the_headers_of_a_memento(client: TestClient) -> None:
    headers = client.get(exact(1)).headers
    assert headers["memento-datetime"] == "Sat, 18 May 2024 08:30:00 GMT"
    assert headers["x-archive-orig-server"] == "old"
    assert "server" not in headers
    assert headers["link"].startswith('<http://h.test/a.html?b=1&c=%20d>; rel="original", ')
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_scripts_run_only_if_asked_for_and_never_with_an_origin(client: TestClient) -> None:
    policy = client.get(exact(1, Mode.SCRIPTS)).headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; ")
    assert "allow-same-origin" not in policy
    answer = client.get(exact(1, Mode.SCRIPTS), headers={"Sec-Fetch-Dest": "document"})
    assert answer.status_code == 403


def test_blocks_are_outlined_by_kind(client: TestClient) -> None:
    answer = client.get(replay_address("http://h.test/gb", T, Mode.BLOCKS))
    assert answer.status_code == 200
    assert "data-mm-kind" in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert client.get(replay_address("http://h.test/a.mp3", T, Mode.BLOCKS)).status_code == 404


@each(
    "wanted, status, start, told",
    [("bytes=10-19", 206, 10, "bytes 10-19/100"), ("bytes=90-", 206, 90, "bytes 90-99/100"),
     ("bytes=x", 200, 0, None), ("bytes=100-", 416, 100, "bytes */100")],
)  # fmt: skip
def test_a_part_of_a_recording_can_be_asked_for(client, wanted, status, start, told):
    answer = client.get(replay_address("http://h.test/a.mp3", T), headers={"Range": wanted})
    assert answer.status_code == status
    size = {206: 10, 200: 100, 416: 0}[status]
    assert status == 416 or answer.content == bytes(range(100))[start : start + size]
    assert answer.headers.get("content-range") == told


@each(
    "path, status",
    [
        ("/replay/20240517083000/", 400),
        ("/replay/20241317083000/http://h.test/gb", 400),
        ("/replay/yesterday/http://h.test/gb", 400),
        ("/replay/20240517083000zz_/http://h.test/gb", 400),
        ("/replay/20240517083000/http://h.test/" + "a" * 600, 400),
        ("/replay/20240517083000/http://[bad/", 404),
        ("/replay/20240517083000/http://h.test/%0d%0aX-Evil:%201", 404),
        ("/replay/20240517083000/http://h.test/%00", 404),
        ("/replay/20240517083000/http://h.test/%ff%fe", 404),
    ],
)
def test_what_cannot_be_replayed_is_a_sentence_in_the_sandbox(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "x-evil" not in answer.headers
    assert answer.text.strip().count("\n") == 0


@each(
    "written",
    ["http:/h.test/gb", "h.test/gb", "http%3A%2F%2Fh.test%2Fgb", "HTTP://H.test/gb",
     "http://h.test:80/gb"],
)  # fmt: skip
def test_a_url_is_found_as_it_may_be_written(client: TestClient, written: str) -> None:
    assert client.get(f"/replay/{hostile.STAMP}/{written}").status_code == 200


def test_everything_hostile_is_answered_and_locked_in(wild: TestClient) -> None:
    names = [c.url for c in hostile.captures() if c.url.startswith("http://hostile.test/")]
    assert len(names) > 40
    large = {f"{hostile.SITE}{name}" for name in ("megabyte", "open", "deep")}
    for url in names:
        for mode in (Mode.PAGE,) if url in large else Mode:
            answer = wild.get(replay_address(url, hostile.START, mode))
            assert answer.status_code < 500, url
            assert answer.headers["content-security-policy"].startswith("sandbox"), url
            assert "allow-same-origin" not in answer.headers["content-security-policy"]
            assert "set-cookie" not in answer.headers
            assert "x-evil" not in answer.headers
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers.get("content-type", "text/html").partition(";")[0] in {
                "text/html", "text/plain", "text/css", "text/javascript", "image/svg+xml",
                "application/octet-stream",
            }  # fmt: skip


def test_no_archived_header_acts(wild: TestClient) -> None:
    headers = wild.get(replay_address(hostile.SITE + "headers", hostile.START)).headers
    for name in ("set-cookie", "refresh", "location", "service-worker-allowed", "content-encoding",
                 "access-control-allow-origin", "x-evil", "transfer-encoding"):  # fmt: skip
        assert name not in headers, name
    assert "outside.test" not in headers["link"]
    assert headers["content-security-policy"].startswith("sandbox;")
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"] == "attachment"
    assert headers["x-archive-orig-set-cookie"] == "stolen=1; Path=/"
    assert headers["x-archive-orig-x-lines"] == "a%0D%0ASet-Cookie: b=1%0D%0A%0D%0A<script>"
    assert sum(len(name) + len(value) for name, value in headers.items()) < 30_000


def test_what_could_be_opened_as_a_document_of_its_own_is_saved_instead(wild: TestClient) -> None:
    for name in ("svg", "type", "none"):
        answer = wild.get(replay_address(hostile.SITE + name, hostile.START))
        assert answer.headers["content-disposition"] == "attachment", name


def test_redirects_are_replayed_into_the_archive_or_not_at_all(wild: TestClient) -> None:
    def led(name: str) -> str:
        answer = wild.get(replay_address(hostile.SITE + name, hostile.START))
        assert answer.status_code == 302
        assert answer.headers["memento-datetime"] == "Fri, 17 May 2024 08:30:00 GMT"
        assert answer.headers["location"].startswith("/replay/~")
        return str(answer.headers["location"])

    assert led("on").endswith(f"/{hostile.STAMP}/http://hostile.test/plain")
    assert led("out").endswith(f"/{hostile.STAMP}/http://outside.test/moved")
    assert "\r" not in led("to-lines")
    answer = wild.get(replay_address(hostile.SITE + "to-script", hostile.START))
    assert answer.status_code == 404
    assert "location" not in answer.headers


def test_no_address_of_the_outside_is_left_where_a_browser_asks_by_itself(wild: TestClient) -> None:
    for name in ("requests", "refresh", "base", "css"):
        text = wild.get(replay_address(hostile.SITE + name, hostile.START)).text
        assert "outside.test" in text
        assert re.findall(r"(?<!\d{14}/)http://outside\.test/\w+", text) == [], name


@each("time", [-1e12, -1.0, 0.0, 1e18])
def test_times_that_no_calendar_has_are_the_nearest_that_one_has(wild, time):
    n = (-1e12, -1.0, 0.0, 1e18).index(time)
    answer = wild.get(replay_address(f"{hostile.SITE}when{n}", time))
    assert answer.status_code == 200
    assert answer.headers["memento-datetime"].endswith(" GMT")
