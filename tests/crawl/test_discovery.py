"""A crawl told so finds pages that no link leads to, by sitemaps and feeds."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands.running import typed

_PLAYER = '<title>optics</title><p>optics</p><audio src="/{}.mp3"></audio>'
_FEED = '<link rel="alternate" type="application/rss+xml" href="/news.xml">'


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A site whose front page links to nothing."""
    site = tmp_path / "web" / "h.test"
    site.mkdir(parents=True)
    pages = {
        "index.html": f"{_FEED}<p>optics",
        "robots.txt": "User-agent: *\nDisallow: /private\nSitemap: /maps.xml\n"
        "Sitemap: http://elsewhere.test/map.xml\n",
        "maps.xml": "<sitemapindex><sitemap><loc>/maps.xml</loc></sitemap>"
        "<sitemap><loc>/one.xml.gz</loc></sitemap></sitemapindex>",
        "news.xml": "<rss><channel><item><title>optics</title><link>/fed.html</link></item>"
        "</channel></rss>",
        **{f"{name}.html": _PLAYER.format(name) for name in ("mapped", "fed", "private")},
    }
    for name, content in pages.items():
        (site / name).write_text(content)
    urls = ("/mapped.html", "/private.html", "http://elsewhere.test/x.html")
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    (site / "one.xml.gz").write_bytes(gzip.compress(f"<urlset>{entries}</urlset>".encode()))
    return site.parent


def crawl(web: Path, **arguments: str) -> dict[str, tuple[str, int]]:
    """Crawl the site; return status and clicks from the seed of each link by its path."""
    given = {"web": str(web), "seeds": "http://h.test/index.html", "keywords": "optics"}
    words = [f"{name}={value}" for name, value in (given | arguments).items()]
    options = [word for pair in words for word in ("-a", pair)]
    store = ["-a", "store=sqlite:///c.db", "-a", "archive=none", "-s", "ROBOTSTXT_OBEY=1"]
    said = typed("crawl", "focused", *options, *store, folder=web.parent)
    with closing(sqlite3.connect(web.parent / "c.db")) as db:
        rows = db.execute("SELECT path, status, logical_layer FROM link").fetchall()
    assert "Traceback" not in said.stderr, said.stderr
    return {path: (status, layer) for path, status, layer in rows}


@pytest.mark.parametrize("algo", ["breadth", "urlrule", "learned", "tag-path"])
def test_pages_of_a_sitemap_and_a_feed_are_found_one_click_from_the_seed(
    web: Path, algo: str
) -> None:
    found = crawl(web, algo=algo, discover="sitemap,feeds")
    assert found["/mapped.html"] == found["/fed.html"] == ("C", 2)
    assert found["/private.html"][0] == "E"
    assert not {"/map.xml", "/x.html"} & found.keys()


def test_each_way_is_used_only_where_the_crawl_is_told_so(web: Path) -> None:
    assert list(crawl(web)) == ["/index.html"]


def test_feeds_alone_ask_for_no_robots_txt_as_a_way_in(web: Path) -> None:
    assert set(crawl(web, discover="feeds")) == {"/index.html", "/news.xml", "/fed.html"}
