"""The pages of the interface, as a reader asks for them."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from lxml import html
from starlette.testclient import TestClient

from mmcrawl.archive import Capture, open_archive
from mmcrawl.archive.search import WRONG
from mmcrawl.browse import Options, sentences
from mmcrawl.rank import RankedPages, find_duplicates, save_duplicates, save_ranks
from tests.browse.catalogue import DAY, FILM, HTML, LEVER, START, browsing, fill, lever
from tests.tables import each


@pytest.fixture(scope="module")
def kept_client(archived: str) -> Iterator[TestClient]:
    with browsing(archived) as (client, _):
        yield client


@pytest.fixture
def client(kept_client: TestClient) -> TestClient:
    kept_client.cookies.clear()  # a language that a test before chose
    return kept_client


def tree(client: TestClient, path: str, status: int = 200, **params: object) -> html.HtmlElement:
    answer = client.get(path, params=params or None)
    assert answer.status_code == status, answer.text
    return html.document_fromstring(answer.content)


def text(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def test_home_tells_what_there_is(client: TestClient) -> None:
    page = tree(client, "/")
    tiles = {text(tile.find("dt")): text(tile.find("dd")) for tile in page.cssselect(".tiles div")}
    assert (tiles["sites"], tiles["pages"], tiles["versions"]) == ("2", "4", "6")
    assert tiles["pages with video"] == tiles["pages with animations"] == "1"
    assert "space saved" in tiles
    sites = sorted(text(row[0]) for row in page.cssselect("tbody tr"))
    assert sites == ["films.test", "physics.test"]


def test_every_page_can_be_reached_by_links_from_home(client: TestClient) -> None:
    kinds, waiting = Counter[str](), ["/"]
    while waiting:
        path = waiting.pop(0)
        kind = path.partition("?")[0]
        if kinds[kind] >= 6 or path.startswith("/replay/"):
            continue  # enough of its kind, or no page of ours
        kinds[kind] += 1
        answer = client.get(path)
        assert answer.status_code in (200, 303), (path, answer.text)
        if "text/html" not in answer.headers["content-type"]:
            continue
        page = html.document_fromstring(answer.content)
        links = [a.get("href") for a in page.cssselect("a[href]")]
        assert not [link for link in links if not link.startswith(("/", "#", "http://"))]
        waiting += [link.partition("#")[0] for link in links if link.startswith("/")]
    assert {*kinds} >= {
        "/", "/search", "/search.json", "/sites", "/site", "/page", "/version",
        "/view", "/diff", "/media/item", "/crawls", "/help",
    }  # fmt: skip


def test_a_search_shows_the_block_that_matches_marked(client: TestClient) -> None:
    page = tree(client, "/search", q="seesaw")
    assert [text(link) for link in page.cssselect(".hits h2")] == ["The lever"]
    assert [text(url) for url in page.cssselect(".hits .from")] == [LEVER]
    assert {text(mark) for mark in page.cssselect(".hits mark")} == {"seesaw"}
    link = page.cssselect(".hits h2 a")[0].get("href")
    assert text(tree(client, link).cssselect("h1")[0]) == "The lever"


@each(
    "asked, found",
    [({"q": "lever", "site": "films.test"}, 0), ({"q": "lever", "site": "physics.test"}, 1),
     ({"media": "audio", "q": "waves"}, 1), ({"topic": "力学"}, 1),
     ({"q": "oars", "from": "2024-01-30"}, 1), ({"q": "oars", "to": "2024-01-01"}, 0)],
)  # fmt: skip
def test_a_search_can_be_narrowed(client: TestClient, asked: dict[str, str], found: int) -> None:
    page = tree(client, "/search", **asked)
    assert text(page.cssselect(".found")[0]).startswith(f"{found} page")
    answer = client.get("/search.json", params=asked).json()
    assert answer["total"] == found == len(answer["hits"])


def test_a_wrong_query_is_told_in_the_readers_language(client: TestClient) -> None:
    page = tree(client, "/search", 400, q="nosuch:field", lang="zh")
    assert "没有字段“nosuch”" in text(page.cssselect("[role=alert]")[0])
    for name, sentence in WRONG.items():
        assert sentences()[f"query.{name}"][0] == sentence


@each("path", ["/search?q=lever", "/sites", "/site?host=physics.test"])
def test_a_list_is_had_whole_as_a_table(client: TestClient, path: str) -> None:
    (link,) = tree(client, path).cssselect("a.csv")
    answer = client.get(link.get("href"))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    header, *rows = csv.reader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert rows
    assert {len(row) for row in rows} == {len(header)}
    if path != "/sites":
        assert LEVER in {cell for row in rows for cell in row}


def test_ranks_order_a_search_where_there_are_ranks(tmp_path: Path) -> None:
    uri, urls = fill(tmp_path), [LEVER, FILM, "http://films.test/"]
    with browsing(uri) as (client, context):
        page = tree(client, "/search", 400, q="lever", order="rank")
        assert "no page ranks" in text(page.cssselect("[role=alert]")[0])
        counts = context.archive.counts()
    ranks = np.array([0.1, 0.2, 0.7])
    counted = (counts["urls"], counts["versions"])
    save_ranks(uri, RankedPages("pagerank", 1.0, None, "", *counted, urls, np.ones(3), ranks))
    with browsing(uri) as (client, _):
        answer = client.get("/search.json", params={"q": "kind:title", "order": "rank"}).json()
    found = [hit["url"] for hit in answer["hits"]]
    assert len(found) > 1
    assert found == [url for url in urls[::-1] if url in found]


def test_a_page_through_time_lists_its_visits(client: TestClient) -> None:
    page = tree(client, "/page", url=LEVER)
    assert "Versions: 3. Visits: 4." in text(page.cssselect(".lead")[0])
    row = page.cssselect(".visits tbody tr")[1]
    assert text(row) == "2024-01-13 22:13 UTC version 2, unchanged status 304"
    assert [text(link) for link in page.cssselect(".calendar a")] == ["1", "1", "·", "1"]
    checked = [i.get("name") + i.get("value") for i in page.cssselect("input[checked]")]
    assert sorted(checked) == ["new3", "old2"]


def test_a_version_tells_its_facts_and_blocks(client: TestClient) -> None:
    page = tree(client, "/version", url=LEVER, n=2)
    facts = {text(one.find("dt")): text(one.find("dd")) for one in page.cssselect(".facts div")}
    assert facts["Received"] == "2023-12-24 22:13:20 UTC"
    assert facts["Status"] == "200"
    assert facts["Seen"].startswith("2 times")
    assert any("weight times arm" in text(block) for block in page.cssselect(".blocks li"))
    steps = [link.get("href")[-1] for link in page.cssselect("nav.steps a")]
    assert steps == ["1", "3"]


def test_the_version_of_a_time_is_found(client: TestClient) -> None:
    def number(at: str) -> str:
        return text(tree(client, "/version", url=LEVER, at=at).cssselect(".lead")[0])[:9]

    assert number("2023-11-20") == "Version 1"
    assert number("20240101000000") == "Version 2"
    for at, n in (("2023-12-23", 1), ("2023-12-24", 2), ("2023-12", 2), ("2023", 2)):
        assert number(at) == f"Version {n}"
    assert number("2030-01-01T00:00+08:00") == "Version 3"
    assert "not archived yet" in text(tree(client, "/version", 404, url=LEVER, at="2020-01-01"))


def test_two_versions_stand_side_by_side_with_their_words(client: TestClient) -> None:
    page = tree(client, "/diff", url=LEVER, old=1, new=2)
    assert [text(one) for one in page.cssselect("del")] == ["force"]
    assert [text(one) for one in page.cssselect("ins")] == ["weight"]
    counts = [text(one) for one in page.cssselect(".counts li")]
    assert counts[0].startswith("1 changed ")
    assert counts[0] != "1 changed "  # its kind follows
    old, new = page.cssselect("[data-change=changed] .side")
    assert "seesaw" in text(old) or "…" in text(old)
    assert "weight" not in text(old)
    assert "force" not in text(new)
    backwards = tree(client, "/diff", url=LEVER, old=2, new=1)
    assert text(backwards.cssselect("main")[0]) == text(page.cssselect("main")[0])


def test_a_version_is_shown_in_a_sandboxed_frame(client: TestClient) -> None:
    frame = tree(client, "/view", url=LEVER, n=1).cssselect("iframe")[0]
    assert frame.get("sandbox") == ""
    assert frame.get("src") == f"/replay/20231114221320/{LEVER}"
    answer = client.get(frame.get("src"))
    assert answer.status_code == 200
    assert b"force times arm" in answer.content
    frame = tree(client, "/view", url=LEVER, n=1, **{"as": "scripts"}).cssselect("iframe")[0]
    assert frame.get("sandbox") == "allow-scripts"


def test_media_are_played_only_on_demand(client: TestClient) -> None:
    asked = {"url": FILM, "n": 1, "m": "http://films.test/waves.mp4"}
    before = client.get("/media/item", params=asked)
    assert "<video" not in before.text
    assert "media-src" not in before.headers["content-security-policy"]
    playing = client.get("/media/item", params=asked | {"play": "1"})
    assert '<video controls preload="metadata" src="http://films.test/waves.mp4">' in playing.text
    policy = playing.headers["content-security-policy"]
    assert "media-src http://films.test" in policy
    assert "script-src" not in policy
    swf = client.get("/media/item", params=asked | {"m": "http://films.test/ripple.swf"})
    assert "Ruffle" in swf.text
    assert "<object" not in swf.text


def test_the_interface_speaks_the_language_of_its_reader(client: TestClient) -> None:
    chinese = client.get("/", headers={"Accept-Language": "zh-TW,zh;q=0.9,en;q=0.8"})
    assert '<html lang="zh-CN">' in chinese.text
    assert "采集成果" in chinese.text
    assert "lang=" not in html.document_fromstring(chinese.text).cssselect("nav a")[0].get("href")
    chosen = html.document_fromstring(client.get("/sites?lang=zh").text)
    assert all("lang=zh" in a.get("href") for a in chosen.cssselect("header nav a, table a"))
    for path in (f"/page?url={LEVER}", f"/diff?url={LEVER}", "/page?url=http://none.test/"):
        page = html.document_fromstring(client.get(f"{path}&lang=zh").text)
        assert re.search("[一-鿿]", text(page.cssselect("h1, .lead, .problem h1")[-1])), path


def test_flash_plays_where_ruffle_is_installed(archived: str, tmp_path: Path) -> None:
    ruffle = tmp_path / "ruffle"
    ruffle.mkdir()
    (ruffle / "ruffle.js").write_text("// player")
    asked = {"url": FILM, "n": 1, "m": "http://films.test/ripple.swf"}
    with browsing(archived, Options(ruffle=ruffle)) as (client, _):
        assert "/ruffle/" not in client.get("/media/item", params=asked).text
        answer = client.get("/media/item", params=asked | {"play": "1"})
        page = html.document_fromstring(answer.content)
        assert page.cssselect("object")[0].get("data") == "http://films.test/ripple.swf"
        assert page.cssselect("object > param[name=allowScriptAccess][value=never]")
        assert page.cssselect("script[src='/ruffle/ruffle.js']")
        policy = answer.headers["content-security-policy"]
        assert "script-src http://127.0.0.1:8000/ruffle/ 'wasm-unsafe-eval';" in policy
        assert client.get("/ruffle/ruffle.js").text == "// player"


def test_what_changed_goes_by_time_also_where_versions_came_out_of_order(tmp_path: Path) -> None:
    def out_of_order() -> Iterator[Capture]:
        yield Capture(LEVER, lever("weight"), START + DAY, headers=HTML)
        yield Capture(LEVER, lever("force"), START, headers=HTML)
        yield Capture(LEVER, lever("effort"), START + 2 * DAY, headers=HTML)

    with browsing(fill(tmp_path, out_of_order())) as (client, _):
        page = tree(client, "/page", url=LEVER)
        links = page.cssselect(".visits a[href^='/diff']")
        pairs = [parse_qs(urlsplit(link.get("href")).query) for link in links]
        assert [(pair["old"], pair["new"]) for pair in pairs] == [(["1"], ["3"]), (["2"], ["1"])]


def test_pages_that_say_nearly_the_same_are_found_once(tmp_path: Path) -> None:
    other = "http://mirror.test/lever.html"

    def mirrored() -> Iterator[Capture]:
        yield Capture(LEVER, lever("force"), START, headers=HTML)
        yield Capture(other, lever("force", "Mirrored here."), START + DAY, headers=HTML)

    uri = fill(tmp_path, mirrored())
    with browsing(uri) as (client, _):
        assert client.get("/search.json?q=seesaw").json()["total"] == 2
        assert "Show all" not in client.get("/search?q=seesaw").text
    with open_archive(uri, read_only=True) as archive:
        save_duplicates(uri, find_duplicates(archive, near=0.5))
    with browsing(uri) as (client, _):
        assert client.get("/search.json?q=seesaw").json()["total"] == 1
        page = tree(client, "/search", q="seesaw")
        assert text(page.cssselect(".found")[0]).startswith("1 page")
        [every] = [a.get("href") for a in page.cssselect("main a") if text(a) == "Show all"]
        page = tree(client, every)
        assert text(page.cssselect(".found")[0]).startswith("2 pages")
        assert page.cssselect("input[name=alike]")[0].get("value") == "all"
