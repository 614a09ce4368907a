"""The CDX server: which captures there are, line by line."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from mmcrawl.archive import Capture, open_archive
from mmcrawl.archive.warc import sort_key
from mmcrawl.browse import open_context
from mmcrawl.browse.replay import FIELDS, read_stamp
from tests.browse.serving import small_app
from tests.tables import each

ORIGIN = "http://127.0.0.1:8000"
HTML = (("Content-Type", "text/html; charset=utf-8"),)
YEARS = ["20200101000000", "20210630120000", "20211231235959", "20230101000000"]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('cdx') / 'a.db'}"
    with open_archive(uri) as archive:
        for n, digits in enumerate(YEARS):
            archive.store(
                Capture("http://h.test/a", b"<p>%d" % n, read_stamp(digits) + 0.5, headers=HTML)
            )
        others = "http://h.test/b https://h.test/a/c http://www.h.test/a http://x.h.test/"
        for url in f"{others} http://oh.test/ http://h.test.evil/".split():
            archive.store(Capture(url, b"<p>" + url.encode(), read_stamp("2022"), headers=HTML))
    with open_context(uri) as context:
        yield TestClient(small_app(context), ORIGIN)


def lines(client: TestClient, **given: str) -> list[list[str]]:
    answer = client.get("/cdx", params=given)
    assert answer.status_code == 200, answer.text
    return [line.split(" ") for line in answer.text.splitlines()]


def urls(client: TestClient, **given: str) -> set[str]:
    return {line[0] for line in lines(client, fl="original", **given)}


def test_the_captures_of_an_address(client: TestClient) -> None:
    found = lines(client, url="http://h.test/a")
    assert [line[1] for line in found] == YEARS
    assert found[0][:5] == ["test,h)/a", YEARS[0], "http://h.test/a", "text/html", "200"]
    assert found[0][6] == "4"
    assert len(found[0]) == len(FIELDS)
    assert len({line[5] for line in found}) == 4


def test_what_lies_below_an_address_on_a_host_and_in_a_domain(client: TestClient) -> None:
    below = {"http://h.test/a", "https://h.test/a/c"}
    assert urls(client, url="h.test/a", matchType="prefix") == below
    assert urls(client, url="h.test/a*") == below
    assert urls(client, url="http://h.test/a", matchType="prefix") == {"http://h.test/a"}
    host = below | {"http://h.test/b"}
    assert urls(client, url="h.test", matchType="host") == host
    domain = host | {"http://www.h.test/a", "http://x.h.test/"}
    assert urls(client, url="http://h.test/", matchType="domain") == domain
    assert urls(client, url="*.h.test") == domain


@each(
    "given, found",
    [({"to": "202106"}, YEARS[:2]), ({"from": "2021", "to": "2021"}, YEARS[1:3]),
     ({"from": YEARS[1], "to": YEARS[1]}, YEARS[1:2]),
     ({"from": "2024"}, []), ({"to": "202102"}, YEARS[:1]), ({"limit": "2"}, YEARS[:2]),
     ({"closest": "20210701", "limit": "1"}, YEARS[1:2]),
     ({"closest": "20230101", "limit": "2"}, [YEARS[3], YEARS[2]])],
)  # fmt: skip
def test_times_and_limits(client: TestClient, given: dict[str, str], found: list[str]) -> None:
    assert [line[1] for line in lines(client, url="h.test/a", **given)] == found


def test_json_begins_with_the_names_of_the_fields(client: TestClient) -> None:
    found = client.get("/cdx?url=h.test/a&output=json&fl=timestamp,statuscode").json()
    assert found == [["timestamp", "statuscode"], *([digits, "200"] for digits in YEARS)]
    assert client.get("/cdx?url=h.test/none&output=json").json() == []


@each(
    "query",
    ["", "url=", "foo=1", "url=h.test&limit=0", "url=h.test&limit=99999",
     "url=h.test&limit=" + "9" * 5_000, "url=h.test&matchType=all", "url=h.test&output=xml",
     "url=h.test&fl=timestamp,secret", "url=h.test&from=x", "url=h.test&to=20211345",
     "url=h.test&closest=now", "url=" + "a" * 9_000, "url=h.test&to=20"],
)  # fmt: skip
def test_a_wrong_parameter_is_one_sentence(client: TestClient, query: str) -> None:
    answer = client.get(f"/cdx?{query}")
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/plain")
    assert 10 < len(answer.text) < 250
    assert answer.text.count("\n") == 1


def test_hostile_values_neither_add_lines_nor_fields(hostile_archive: str) -> None:
    with open_context(hostile_archive) as context:
        client = TestClient(small_app(context), ORIGIN)
        for kind in ("text", "json"):
            answer = client.get(f"/cdx?url=hostile.test&matchType=domain&output={kind}")
            text = [line.split(" ") for line in answer.text.split("\n")[:-1]]
            rows = answer.json()[1:] if kind == "json" else text
            assert len(rows) > 40
            assert all(len(row) == len(FIELDS) for row in rows)
            assert all(
                value.isascii() and value.isprintable() and value for row in rows for value in row
            )
            assert "<script>" not in answer.text


def test_a_search_that_takes_too_long_ends_with_what_it_has(client, monkeypatch):
    monkeypatch.setattr("mmcrawl.browse.replay.serving._SHARE_OF_TIME", 0.0)
    answer = client.get("/cdx?url=h.test&matchType=domain")
    assert answer.headers["x-limited"] == "time"
    assert len(answer.text.splitlines()) == len(YEARS)  # those of the first address


def test_sort_keys_are_reversed_hosts_where_there_is_a_host() -> None:
    bad = ["http://[bad/", "http://h.test:99999/"]
    assert [sort_key(url) for url in (*bad, "http://1.2.3.4/A")] == [*bad, "4,3,2,1)/a"]
