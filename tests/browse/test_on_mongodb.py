"""The application over an archive in MongoDB."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lxml import html
from starlette.testclient import TestClient

from mmcrawl.archive import open_archive
from tests.browse.shelf import DAY, FILM, LEVER, START, browsing, captures
from tests.databases import mongodb_uri


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with mongodb_uri() as uri:
        with open_archive(uri) as archive:
            for capture in captures():
                archive.store(capture)
            archive.note_unchanged(LEVER, START + 60 * DAY)
        with browsing(uri) as (client, _):
            yield client


def tree(client: TestClient, path: str, **params: object) -> html.HtmlElement:
    answer = client.get(path, params=params or None)
    assert answer.status_code == 200, answer.text
    return html.document_fromstring(answer.content)


def text(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def test_home_counts(client: TestClient) -> None:
    tiles = {
        text(tile.find("dt")): text(tile.find("dd"))
        for tile in tree(client, "/").cssselect(".tiles div")
    }
    assert (tiles["sites"], tiles["pages"], tiles["versions"]) == ("2", "4", "6")
    assert tiles["pages with video"] == "1"


def test_words_lead_to_a_page(client: TestClient) -> None:
    hits = tree(client, "/search", q="seesaw").cssselect(".hits h2")
    assert [text(hit) for hit in hits] == ["The lever"]


def test_a_page_has_its_visits_and_versions(client: TestClient) -> None:
    page = tree(client, "/page", url=LEVER)
    assert len(page.cssselect(".visits tbody tr")) == 4
    assert len(page.cssselect(".visits tr.new")) == 3
    assert tree(client, "/page/blocks", url=LEVER).cssselect(".lives tbody tr")
    assert text(tree(client, "/version", url=LEVER, n=2).cssselect("h1")[0]) == "The lever"


def test_two_versions_are_compared(client: TestClient) -> None:
    page = tree(client, "/diff", url=LEVER, old=1, new=2)
    assert [text(part) for part in page.cssselect("del")] == ["force"]
    assert [text(part) for part in page.cssselect("ins")] == ["weight"]


def test_a_version_is_replayed(client: TestClient) -> None:
    source = tree(client, "/view", url=LEVER, n=1).cssselect("iframe")[0].get("src")
    assert "force times arm" in client.get(source).text


def test_sites_media_and_programs_are_served(client: TestClient) -> None:
    assert [text(a) for a in tree(client, "/site", host="physics.test").cssselect(".urls a")] == [
        LEVER
    ]
    assert len(tree(client, "/media").cssselect(".gallery li")) == 3
    item = tree(client, "/media/item", url=FILM, n=1, m="http://films.test/waves.mp4")
    assert text(item.cssselect("h1")[0]) == "a film of water waves"
    assert client.get("/search.json", params={"q": "lever"}).json()["total"] == 1
    assert client.get(f"/timemap/link/{LEVER}").text.count("memento") >= 3
    assert len(client.get("/cdx", params={"url": LEVER}).text.splitlines()) == 3


def test_what_is_not_there_is_said(client: TestClient) -> None:
    assert client.get("/page", params={"url": "http://nowhere.test/"}).status_code == 404
