"""The page of changes, and its feed."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from lxml import etree, html
from starlette.testclient import TestClient

from mmcrawl.archive import open_archive
from mmcrawl.browse import context
from mmcrawl.browse.views import watch as module
from tests.archive.conftest import lesson
from tests.browse.catalogue import DAY, LEVER, START, browsing, captures
from tests.databases import opened_uri
from tests.tables import each

OTHER = "http://optics.test/lens.html"
CAMERA = "so do cameras."


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with opened_uri("sqlite", tmp_path_factory.mktemp("watch")) as uri:
        with open_archive(uri) as archive:
            archive.store_many([*captures()])
            archive.store(lesson(START, url=OTHER))
            archive.store(lesson(START + 50 * DAY, url=OTHER, advert="Buy mirrors"))
            later = {"url": OTHER, "advert": "Buy mirrors", "head": "Lenses, 23 May"}
            archive.store(lesson(START + 60 * DAY, **later))
            archive.store(lesson(START + 90 * DAY, **later, text=CAMERA))
        with browsing(uri) as (client, _):
            yield client


def shown(client: TestClient, status: int = 200, **asked: str) -> html.HtmlElement:
    answer = client.get("/watch", params=asked)
    assert answer.status_code == status, answer.text
    return html.document_fromstring(answer.content)


def listed(client: TestClient, **asked: str) -> list[str]:
    return [each.text_content() for each in shown(client, **asked).cssselect("ol.hits h2")]


def test_changes_of_all_pages_are_shown_newest_first_with_their_words(client: TestClient) -> None:
    page = shown(client)
    assert [each.text_content() for each in page.cssselect("ol.hits h2")] == [OTHER, LEVER, LEVER]
    first = page.cssselect("ol.hits li")[0]
    assert first.cssselect("ins")[0].text == "do cameras"
    assert first.cssselect("del")[0].text == "does the eye"
    assert [each.get("data-kind") for each in first.cssselect(".kind")] == ["topic"]
    link = first.cssselect(".about a")[0].get("href")
    assert link.startswith("/diff?url=http%3A%2F%2Foptics.test%2Flens.html&old=3&new=4")
    assert client.get(link).status_code == 200


def test_the_form_narrows_the_list_and_keeps_what_was_chosen(client: TestClient) -> None:
    assert listed(client, kind="advertisement") == [OTHER]
    assert listed(client, css=".advert") == [OTHER]
    assert listed(client, site="optics.test", kind="all") == [OTHER, OTHER, OTHER]
    assert listed(client, url=LEVER) == [LEVER, LEVER]
    assert listed(client, since="2024-02-02") == [OTHER, LEVER]
    assert listed(client, kind="title") == []
    page = shown(
        client, kind="topic", css="#main", since="2024-02-02", site="optics.test", url=OTHER
    )
    chosen = {each.get("name"): each.value for each in page.cssselect("form.search [name]")}
    assert chosen == {
        "kind": "topic",
        "css": "#main",
        "since": "2024-02-02",
        "site": "optics.test",
        "url": OTHER,
    }


def test_a_feed_has_the_changes_of_its_page(client: TestClient) -> None:
    page = shown(client, css="#main", site="optics.test")
    [link] = page.cssselect("link[rel=alternate]")
    assert link.get("type") == "application/atom+xml"
    assert link.get("href") == page.cssselect("p.found a")[0].get("href")
    answer = client.get(link.get("href"))
    assert answer.headers["content-type"].startswith("application/atom+xml")
    root = etree.fromstring(answer.content)
    assert [each.text for each in root.iter("{*}title")] == [
        "Changes: optics.test: #main",
        f"topic changed: {OTHER}",
    ]
    links = {each.get("rel"): each.get("href") for each in root.findall("{*}link")}
    assert links["alternate"] == "http://127.0.0.1:8000/"
    assert links["self"] == "http://127.0.0.1:8000" + link.get("href")
    entry = root.find("{*}entry/{*}link").get("href")
    assert entry.startswith("http://127.0.0.1:8000/diff?")
    assert client.get(entry).status_code == 200


def test_two_versions_are_compared_once(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare, compared = context.watched_blocks, []

    def noted(*given: Any) -> Any:
        compared.append(given)
        return compare(*given)

    monkeypatch.setattr(context, "watched_blocks", noted)
    for _ in range(2):
        assert listed(client, css="h1, p", url=OTHER) == 2 * [OTHER]
        assert listed(client, css="h2", url=OTHER) == []
        client.get("/watch.atom", params={"css": "h1, p", "url": OTHER})
        assert len(compared) == 6
    monkeypatch.setattr(context, "_PAIRS", 1)  # the first is forgotten when the second comes
    for _ in range(2):
        listed(client, css="h1", url=OTHER)
    assert len(compared) == 12
    monkeypatch.setattr(context, "_LARGE_PAIR", 0)  # as if these were too large to be kept
    for _ in range(2):
        assert listed(client, css="p, h1", url=OTHER) == 2 * [OTHER]
    assert len(compared) == 18


def test_a_long_list_goes_on(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 2)
    page = shown(client)
    found = [each.text_content() for each in page.cssselect("ol.hits h2")]
    address = page.cssselect("a[rel=next]")[0].get("href")
    assert parse_qs(urlsplit(address).query)["until"][0].startswith("2023-12-24T22:13:20")
    page = html.document_fromstring(client.get(address).content)
    found += [each.text_content() for each in page.cssselect("ol.hits h2")]
    assert found == [OTHER, LEVER, LEVER]
    assert not page.cssselect("a[rel=next]")


def test_what_cannot_be_compared_in_time_is_left_for_the_next_page(client, monkeypatch):
    monkeypatch.setattr(module, "_SHARE_OF_TIME", -1)
    page = shown(client)
    assert not page.cssselect("ol.hits li")
    assert "it reached back to 2024-02-12 22:13 UTC" in page.text_content()
    until = parse_qs(urlsplit(page.cssselect("a[rel=next]")[0].get("href")).query)["until"]
    assert until[0].startswith("2024-02-12T22:13:20.0")


@each(
    "asked, status, says",
    [
        ({"css": "p >"}, 400, "'p >' is no CSS selector"),
        ({"kind": "poems"}, 400, "kind=poems is not a valid choice"),
        ({"since": "soon"}, 400, "since=soon is not a date"),
        ({"css": "p" * 201}, 400, "longer than 200 characters"),
        ({"url": "http://nowhere.test/"}, 404, "http://nowhere.test/ is not in the archive"),
        ({"site": "nowhere.test"}, 404, "The archive has no pages of nowhere.test"),
    ],
)
def test_what_cannot_be_watched_is_said(client, asked, status, says):
    assert says in shown(client, status, **asked).text_content()
    feed = client.get("/watch.atom", params=asked)
    assert feed.status_code == status
    assert says in html.document_fromstring(feed.content).text_content()
