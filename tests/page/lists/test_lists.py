"""OPML, CDX, oEmbed and heads give addresses and media, within bounds, whatever the bytes."""

import pytest

from mmcrawl.errors import ListingError
from mmcrawl.page import LISTED_PATHS, parse_page
from mmcrawl.page.lists import (
    MOST_LINES,
    cdx_query,
    listing_kind,
    read_cdx,
    read_feed,
    read_oembed,
    read_opml,
    read_sitemap,
)
from tests.tables import each

URL = "http://h.test/list"
_OPML = b"""<?xml version="1.0"?><opml version="2.0"><body><outline text="Physics">
<outline type="rss" text="Optics" xmlUrl="/feed.xml" htmlUrl="http://h.test/optics/"/>
</outline></body></opml>"""
_CDX = b"""test,h)/a 20240501000000 http://h.test/a text/html 200 ABC 512
test,h)/a 20240601000000 http://h.test/a text/html 200 ABD 512
test,h)/b.css 20240501000000 http://h.test/b.css text/css 200 X 1
test,h)/gone 20240501000000 http://h.test/gone text/html 404 X 1
 CDX N b a m s k r M S V g
test,h)/c 20240501 {"url": "http://h.test/c", "mime": "text/html", "status": "200"}
test,h)/d 20240501 {"url": 7}
test,h)/e 20240501 {broken
"""


def test_an_opml_names_feeds_and_sites_with_their_titles() -> None:
    assert listing_kind(_OPML) == "opml"
    links = read_opml(_OPML, URL).page.links
    assert [(link.url, link.anchor) for link in links] == [
        ("http://h.test/feed.xml", "Optics"),
        ("http://h.test/optics/", "Optics"),
    ]


def test_a_cdx_names_each_page_once_and_no_files_or_errors() -> None:
    urls = [link.url for link in read_cdx(_CDX, URL).page.links]
    assert urls == ["http://h.test/a", "http://h.test/c"]


def test_of_a_cdx_no_more_lines_are_read_than_were_asked_for() -> None:
    line = b"k 2024 http://h.test/%d text/html 200 X 1\n"
    lines = b"".join(line % n for n in range(MOST_LINES + 9))
    assert len(read_cdx(lines, URL).page.links) == MOST_LINES
    query = cdx_query("http://a.test/cdx?collection=x", "h.test")
    assert query.startswith("http://a.test/cdx?collection=x&url=h.test&matchType=host")


def test_what_is_embedded_by_oembed_is_media_with_the_title() -> None:
    body = b"""{"type": "video", "title": "Lenses",
        "html": "<iframe src=\\"https://player.vimeo.com/video/7\\"></iframe>"}"""
    page = read_oembed(body, URL)
    assert page.title == "Lenses"
    assert [medium.url for medium in page.media] == ["https://player.vimeo.com/video/7"]


@each("body", [b"", b"[1]", b"{" * 99_999, b'{"type": "rich", "html": 7}'])
def test_what_is_no_oembed_with_a_medium_ends_with_a_reason(body: bytes) -> None:
    with pytest.raises(ListingError, match="oEmbed"):
        read_oembed(body, URL)


@each("read", [read_opml, read_cdx, read_sitemap])
@each("body", [b"", b"\x00" * 99, b"<opml", b"<opml>&#xffff;", b"<urlset"])
def test_bytes_that_are_no_list_end_with_a_reason(read, body: bytes) -> None:
    with pytest.raises(ListingError):
        read(body, URL)


def test_a_head_names_the_page_in_other_languages_and_where_oembed_is() -> None:
    head = b"""<link rel="alternate" hreflang="de" href="/de/"><link rel=canonical hreflang=en
        href="/en/"><link type="application/json+oembed" href="/o?url=x&amp;format=json">
        <link rel=icon href=/i>"""
    assert parse_page(head, URL).named == (
        ("hreflang", "http://h.test/de/"),
        ("oembed", "http://h.test/o?url=x&format=json"),
    )


def test_the_languages_of_an_entry_of_a_sitemap_are_addresses_too() -> None:
    body = b"""<urlset xmlns:x="http://www.w3.org/1999/xhtml"><url><loc>/en</loc>
        <x:link rel="alternate" hreflang="de" href="/de"/></url></urlset>"""
    urls = [link.url for link in read_sitemap(body, URL).page.links]
    assert urls == ["http://h.test/en", "http://h.test/de"]


def test_every_list_marks_its_links_as_listed() -> None:
    feed = b"<rss><channel><item><title>A</title><link>/a</link></item></channel></rss>"
    video = b"<urlset><url><loc>/v</loc><video><title>T</title></video></url></urlset>"
    lists = (read_opml(_OPML, URL), read_cdx(_CDX, URL), read_feed(feed, URL))
    for listing in (*lists, read_sitemap(video, URL)):
        assert listing.page.is_listing
        assert {link.tag_path for link in listing.page.links} <= {*LISTED_PATHS}
