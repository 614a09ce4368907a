"""RFC 7089, requirement by requirement, and a public client library against a running server."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

from mmcrawl.archive import Archive, Capture, open_archive
from mmcrawl.browse import Context, Options, open_context
from tests.browse.serving import free_port, served, small_app
from tests.tables import each

ORIGIN = "http://127.0.0.1:8000"
A = "http://a.example.org/"
TIMES = [
    datetime(2000, 6, 20, 18, 2, 59, tzinfo=UTC),
    datetime(2001, 9, 11, 20, 30, 51, tzinfo=UTC),
    datetime(2001, 9, 11, 20, 36, 10, tzinfo=UTC),
    datetime(2005, 2, 3, 4, 5, 6, tzinfo=UTC),
    datetime(2009, 10, 27, 20, 49, 54, tzinfo=UTC),
]
HTML = (("Content-Type", "text/html"),)
# As RFC 7089 gives Link headers and TimeMaps: <target>; name="value"; …, …
LINK = re.compile(r'<([^>]*)>((?:\s*;\s*\w+="[^"]*")*)\s*(?:,|\Z)\s*')
PARAMETER = re.compile(r'(\w+)="([^"]*)"')


def store(archive: Archive, url: str, times: list[datetime]) -> None:
    archive.store_many(
        Capture(url, b"<p>%d" % n, time.timestamp(), headers=HTML) for n, time in enumerate(times)
    )


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    uri = f"sqlite:///{tmp_path_factory.mktemp('memento') / 'a.db'}"
    with open_archive(uri) as archive:
        store(archive, A, TIMES)
        store(archive, "http://a.example.org/once?b=1,2;c", TIMES[:1])
    with open_context(uri, options=Options(port=free_port())) as context:
        yield context


@pytest.fixture(scope="module")
def client(context: Context) -> TestClient:
    return TestClient(small_app(context), ORIGIN, follow_redirects=False)


def links_of(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the targets and parameters of links; all of the text must be links."""
    found, place = [], 0
    while place < len(text.rstrip()):
        match = LINK.match(text, place)
        assert match, text[place : place + 100]
        found.append((match[1], dict(PARAMETER.findall(match[2]))))
        place = match.end()
    return found


def related(text: str) -> dict[str, str]:
    """Return the target of each relation."""
    return {word: target for target, given in links_of(text) for word in given["rel"].split()}


def date(time: datetime) -> str:
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT")


def memento(time: datetime, url: str = A) -> str:
    return f"{ORIGIN}/replay/{time:%Y%m%d%H%M%S}/{url}"


@each("method", ["GET", "HEAD"])
def test_a_timegate_leads_to_the_memento_nearest_to_the_datetime(client, method):
    """RFC 7089, 4.1 and 4.5."""
    arguments = {"Accept-Datetime": "Tue, 11 Sep 2001 20:35:00 GMT"}
    answer = client.request(method, f"/timegate/{A}", headers=arguments)
    assert answer.status_code == 302
    assert answer.headers["location"] == memento(TIMES[2])
    assert "accept-datetime" in answer.headers["vary"].lower()
    assert "memento-datetime" not in answer.headers  # MUST NOT: it is no memento
    assert answer.content == b""
    link = answer.headers["link"]
    found, relations = related(link), ("first", "prev", "next", "last")
    assert (found["original"], found["timemap"]) == (A, f"{ORIGIN}/timemap/link/{A}")
    assert [found[name] for name in relations] == [memento(TIMES[n]) for n in (0, 1, 3, 4)]
    mementos = [given for _, given in links_of(link) if "memento" in given["rel"].split()]
    assert [given["datetime"] for given in mementos] == [date(time) for time in TIMES]
    types = [given["type"] for _, given in links_of(link) if given["rel"] == "timemap"]
    assert types == ["application/link-format"]


@each(
    "when, found",
    [(None, 4), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 4)],
)
def test_without_a_datetime_the_last_and_out_of_range_the_first_or_last(client, when, found):
    headers = {"Accept-Datetime": when} if when else {}
    answer = client.get(f"/timegate/{A}", headers=headers)
    assert answer.headers["location"] == memento(TIMES[found])


@each(
    "when",
    ["", "2001-09-11T20:35:00Z", "Tue, 11 Sep 2001 20:35:00 +0000", "Tue, 31 Feb 2001 20:35:00 GMT",
     "Tuesday, 11-Sep-01 20:35:00 GMT", "Tue, 11 Sep 0000 20:35:00 GMT", "x" * 5_000],
)  # fmt: skip
def test_what_is_no_date_of_rfc_1123_is_a_bad_request(client: TestClient, when: str) -> None:
    answer = client.get(f"/timegate/{A}", headers={"Accept-Datetime": when})
    assert answer.status_code == 400
    assert "accept-datetime" in answer.headers["vary"].lower()
    assert related(answer.headers["link"])["original"] == A
    assert len(answer.text) < 300


def test_a_query_belongs_to_the_original_also_of_what_is_not_archived(client: TestClient) -> None:
    answer = client.get("/timegate/http://none.example.org/?a")
    assert answer.status_code == 404
    assert answer.headers["vary"] == "accept-datetime"
    assert related(answer.headers["link"])["original"] == "http://none.example.org/?a"
    url = "http://a.example.org/once?b=1,2;c"
    answer = client.get(f"/timegate/{url}")
    assert answer.headers["location"] == memento(TIMES[0], url)
    found = related(answer.headers["link"])
    assert found["original"] == url
    assert found["first"] == found["last"] == memento(TIMES[0], url)


def test_a_memento_says_when_and_of_what_it_is(client: TestClient) -> None:
    answer = client.get(memento(TIMES[0]))
    assert answer.status_code == 200
    assert answer.headers["memento-datetime"] == "Tue, 20 Jun 2000 18:02:59 GMT"
    found = related(answer.headers["link"])
    assert found["original"] == A
    assert found["timegate"] == f"{ORIGIN}/timegate/{A}"
    assert found["timemap"] == f"{ORIGIN}/timemap/link/{A}"
    assert found["first"] == memento(TIMES[0])
    assert "prev" not in found
    assert found["next"] == memento(TIMES[1])
    assert answer.text == "<p>0"


def test_a_timemap_lists_all_mementos_once_in_order(client: TestClient) -> None:
    answer = client.get(f"/timemap/link/{A}")
    assert answer.headers["content-type"] == "application/link-format"
    assert "memento-datetime" not in answer.headers
    found = links_of(answer.text)
    mementos = [
        (target, given["datetime"], given["rel"])
        for target, given in found
        if "memento" in given["rel"].split()
    ]
    relations = ["first memento", *["memento"] * 3, "last memento"]
    times = [(memento(time), date(time)) for time in TIMES]
    assert mementos == [(*both, rel) for both, rel in zip(times, relations, strict=True)]
    by_relation = {given["rel"]: (target, given) for target, given in found}
    assert by_relation["original"][0] == A
    assert by_relation["timegate"][0] == f"{ORIGIN}/timegate/{A}"
    own, given = by_relation["self"]
    assert own == f"{ORIGIN}/timemap/link/{A}"
    assert given["type"] == "application/link-format"
    assert (given["from"], given["until"]) == (date(TIMES[0]), date(TIMES[-1]))


@each(
    "path, status",
    [(f"xml/{A}", 404), ("link/http://none.example.org/", 404), ("link/", 400),
     ("link/http://h/" + "a" * 9_000, 400)],
)  # fmt: skip
def test_what_is_no_timemap(client: TestClient, path: str, status: int) -> None:
    answer = client.get(f"/timemap/{path}")
    assert answer.status_code == status
    assert len(answer.text) < 200


def test_a_client_that_others_wrote_finds_its_way(context: Context) -> None:
    memento_client = pytest.importorskip(
        "memento_client", reason="needs memento_client (pip install memento_client)"
    )
    with served(small_app(context), context.options.port) as origin:
        finder = memento_client.MementoClient(f"{origin}/timegate/", check_native_timegate=False)
        # The live page is not there to be asked: its address stands for itself.
        finder.get_original_uri = lambda address, **_: address
        info = finder.get_memento_info(A, datetime(2001, 9, 11, 20, 35))
    mementos = info["mementos"]
    assert info["original_uri"] == A
    assert mementos["closest"]["http_status_code"] == 200
    assert mementos["closest"]["uri"] == [f"{origin}/replay/{TIMES[2]:%Y%m%d%H%M%S}/{A}"]
    times = [mementos[name]["datetime"].replace(tzinfo=UTC) for name in ("prev", "closest", "next")]
    assert times == TIMES[1:4]
