import json
from pathlib import Path

import pytest

from mmcrawl.page import parse_page
from mmcrawl.replay import PortalWeb, StoredWeb, open_web
from tests.replay.fetching import fetch

PORTAL = "http://portal.test/"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for host in ("a.test", "b.test"):
        (tmp_path / host).mkdir()
        (tmp_path / host / "index.htm").write_text(f"front of {host}")
        (tmp_path / host / "start.htm").write_text("x" * 500)
    manifest = {
        "a.test": {"start": "http://a.test/start.htm", "aliases": ["www.a.test"]},
        "b.test": {"start": "http://b.test/"},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def links_of(web: StoredWeb) -> list[str]:
    response = fetch(web, PORTAL)
    assert response.status == 200
    page = parse_page(response.body, PORTAL, response.header("Content-Type") or "")
    return [link.url for link in page.links]


def test_a_portal_to_a_folder_links_to_the_start_of_each_host(folder: Path) -> None:
    web = open_web(f"portal:{folder}")
    assert isinstance(web, PortalWeb)
    assert web.start_urls() == (PORTAL,)
    assert links_of(web) == ["http://a.test/start.htm", "http://b.test/"]


def test_everything_else_comes_from_the_folder(folder: Path) -> None:
    web = open_web(f"portal:{folder}")
    alone = open_web(str(folder))
    for url in ("http://b.test/", "http://a.test/x", "http://www.a.test/", "http://c.test/", "x:"):
        assert web.get(url) == alone.get(url)
    assert web.aliases() == {"www.a.test": "a.test"}
    assert web.size_hint("http://a.test/start.htm") == 500
    assert web.size_hint(PORTAL) == 0


def test_a_portal_joins_webs_of_different_kinds(folder: Path) -> None:
    web = open_web(f"portal:{folder}; demo ;sim:pages=100,sites=2;sim:pages=100,sites=1,seed=3")
    assert links_of(web) == [
        "http://a.test/start.htm",
        "http://b.test/",
        "http://wuli.demo.test/",
        "http://physics.demo.test/",
        "http://site1.sim2009.test/",
        "http://site2.sim2009.test/",
        "http://site1.sim3.test/",
    ]
    for url in links_of(web):
        assert fetch(web, url).status == 200
    assert web.aliases()["www.a.test"] == "a.test"
    assert web.aliases()["www.site1.sim3.test"] == "site1.sim3.test"


def test_the_first_web_that_knows_a_host_answers_for_it(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "a.test"
    other.mkdir(parents=True)
    (other / "index.htm").write_text("another front")
    web = open_web(f"portal:{other.parent};{folder}")
    assert fetch(web, "http://a.test/").body == b"another front"
    assert fetch(web, "http://a.test/start.htm").status == 404


def test_the_portal_has_one_page() -> None:
    web = open_web("portal:demo")
    for url in ("http://portal.test", "https://PORTAL.test:443/#x", PORTAL):
        assert fetch(web, url).status == 200
    assert fetch(web, f"{PORTAL}x").status == 404
    assert fetch(web, PORTAL, "HEAD").body == b""
