"""A crawl told so finds pages that no link leads to, by sitemaps and feeds."""

import gzip
from pathlib import Path

import pytest

from tests.desks import Desk

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
    given |= {"store": "sqlite:///c.db", "archive": "none"} | arguments
    desk = Desk(web.parent)
    said = desk.crawl(*(f"{name}={value}" for name, value in given.items()), ROBOTSTXT_OBEY=1)
    assert "Traceback" not in said.err, said.err
    rows = desk.rows("c.db", "SELECT path, status, logical_layer FROM link")
    return {path: (status, layer) for path, status, layer in rows}


def test_pages_of_a_sitemap_and_a_feed_are_found_one_click_from_the_seed(web):
    found = crawl(web, algo="learned", discover="sitemap,feeds")
    assert found["/mapped.html"] == found["/fed.html"] == ("C", 2)
    assert found["/private.html"][0] == "E"
    assert not {"/map.xml", "/x.html"} & found.keys()


def test_sitemaps_and_feeds_are_used_unless_the_crawl_is_told_otherwise(web: Path) -> None:
    assert list(crawl(web, discover="none")) == ["/index.html"]
    assert {"/mapped.html", "/fed.html"} <= crawl(web, job="usual").keys()


def test_feeds_alone_ask_for_no_robots_txt_as_a_way_in(web: Path) -> None:
    assert set(crawl(web, discover="feeds")) == {"/index.html", "/news.xml", "/fed.html"}


def test_indexes_in_indexes_are_read_five_deep_whatever_they_name(web: Path) -> None:
    site = web / "h.test"
    (site / "maps.xml").write_text(
        "<sitemapindex><sitemap><loc>/maps.xml</loc></sitemap>"
        "<sitemap><loc>/deep1.xml</loc></sitemap></sitemapindex>"
    )
    for number in range(1, 9):
        named = "".join(f"<sitemap><loc>/{'x' * n}{number + 1}.xml</loc></sitemap>" for n in (1, 2))
        (site / f"deep{number}.xml").write_text(
            f"<sitemapindex><sitemap><loc>/deep{number + 1}.xml</loc></sitemap>{named}"
            "<sitemap><loc>/maps.xml</loc></sitemap></sitemapindex>"
        )
    found = crawl(web, discover="sitemap")
    assert {"/deep4.xml", "/deep5.xml"} <= found.keys()
    assert "/deep6.xml" not in found


def test_what_heads_of_pages_name_is_found_and_what_cannot_be_read_has_a_reason(web: Path) -> None:
    site = web / "h.test"
    (site / "index.html").write_text(
        '<title>optics</title><link rel=outline type="text/x-opml" href="/all.opml">'
        '<link type="application/json+oembed" href="/o.json">'
        '<link rel="alternate" hreflang="de" href="/mapped.html">'
    )
    feeds = '<opml><body><outline text="x" xmlUrl="/news.xml"/></body></opml>'
    (site / "all.opml").write_text(feeds)
    frame = '<iframe src=\\"https://player.vimeo.com/video/7\\"></iframe>'
    (site / "o.json").write_text(f'{{"type": "video", "title": "optics", "html": "{frame}"}}')
    (site / "one.xml.gz").write_bytes(gzip.compress(b"<urlset>" + b" " * 60_000_000, 1))  # a bomb
    (site / "sitemap.xml").write_text("<urlset><url><loc>")
    found = crawl(web, discover="sitemap,feeds,oembed")
    assert found["/mapped.html"] == ("C", 2)  # in another language
    assert found["/fed.html"][0] == "C"
    desk = Desk(web.parent)
    media = {url for (url,) in desk.rows("c.db", "SELECT url FROM media_resource")}
    errors = dict(desk.rows("c.db", "SELECT path, error FROM link WHERE error <> ''"))
    assert "https://player.vimeo.com/video/7" in media
    assert errors["/one.xml.gz"] == "sitemap: more than 50 MB unpacked"
    assert errors["/sitemap.xml"] == "sitemap: no address can be read from it"


def test_a_cdx_server_that_is_named_tells_pages_that_no_link_leads_to(web: Path) -> None:
    archive = web / "cdx.test"
    archive.mkdir()
    line = "test,h)/mapped.html 20240101000000 http://h.test/mapped.html text/html 200 A 1\n"
    (archive / "cdx").write_text(line)
    found = crawl(web, discover="cdx", cdx="http://cdx.test/cdx")
    assert found["/mapped.html"][0] == "C"


def test_media_that_lists_name_are_those_of_their_pages_once_these_are_fetched(web: Path) -> None:
    site = web / "h.test"
    item = "<item><title>optics {0}</title><link>/{0}.html</link><enclosure url='/{0}.mp3'/></item>"
    items = "".join(map(item.format, ("cast", "gone")))
    (site / "news.xml").write_text(f"<rss><channel><title>optics</title>{items}</channel></rss>")
    (site / "maps.xml").write_text(
        "<urlset><url><loc>/film.html</loc><video:video><video:title>optics film</video:title>"
        "<video:content_loc>/film.mp4</video:content_loc><video:duration>723</video:duration>"
        "</video:video></url></urlset>"
    )
    (site / "cast.html").write_text("<title>optics</title><p>optics")
    (site / "film.html").write_text('<title>optics</title><p>optics<video src="/film.mp4"></video>')
    crawl(web, discover="sitemap,feeds")
    rows = Desk(web.parent).rows("c.db", "SELECT url, page, text FROM media_resource")
    found = {url: rest for url, *rest in rows}
    assert found == {
        "http://h.test/cast.mp3": ["http://h.test/cast.html", "optics cast"],
        "http://h.test/film.mp4": ["http://h.test/film.html", "optics film, 12:03"],
        "http://h.test/gone.mp3": ["http://h.test/news.xml", "optics gone"],
    }
