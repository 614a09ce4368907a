"""Sitemaps are read as a stream, with what they say of each page, within bounds."""

import gzip
import tracemalloc

import pytest

from mmcrawl.errors import ListingError
from mmcrawl.page.lists import MOST_BYTES, listing_kind, read_sitemap, unpacked
from tests.tables import each

URL = "http://h.test/sitemap.xml"
_HEAD = b'<?xml version="1.0"?><!-- made by hand --><urlset>'


def test_what_news_and_video_sitemaps_say_of_a_page_is_the_text_of_its_link() -> None:
    body = b"""<?xml version="1.0"?>
        <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:v="urn:v" xmlns:n="urn:n"
            xmlns:i="urn:i">
        <url><loc>http://h.test/a</loc><i:image><i:loc>http://h.test/a.png</i:loc></i:image>
        <v:video><v:title>Lenses</v:title></v:video><lastmod>2024-05-01T10:00:00Z</lastmod></url>
        <url><loc> /b </loc><n:news><n:publication><n:name>Daily</n:name></n:publication>
        <n:title>A  prism</n:title></n:news></url>
        <url><loc>http://h.test/c</loc></url></urlset>"""
    links = read_sitemap(body, URL).page.links
    assert [(link.url, link.anchor) for link in links] == [
        ("http://h.test/a", "Lenses video 2024-05-01"),
        ("http://h.test/b", "A prism"),
        ("http://h.test/c", ""),
    ]


def test_an_index_names_sitemaps_but_not_itself() -> None:
    body = (
        f"<sitemapindex><sitemap><loc>{URL}</loc></sitemap>"
        "<sitemap><loc>/1.xml.gz</loc></sitemap></sitemapindex>"
    ).encode()
    listing = read_sitemap(body, URL)
    assert listing.sitemaps == ("http://h.test/1.xml.gz",)
    assert listing.page.links == ()


@each(
    "body",
    [b"<urlset>", b"<urlset><url></url></urlset>", b"<urlset><url><loc></url></urlset", _HEAD],
)
def test_a_sitemap_without_an_address_ends_with_one_reason(body: bytes) -> None:
    with pytest.raises(ListingError, match="no address"):
        read_sitemap(body, URL)


def test_entities_of_a_file_stay_as_written_and_read_no_file() -> None:
    body = b"""<!DOCTYPE x [<!ENTITY a "lenses"><!ENTITY f SYSTEM "file:///etc/passwd">]>
        <urlset><url><loc>/p</loc><title>&a;&f; &eacute;&#x4f60;</title></url></urlset>"""
    links = read_sitemap(body, URL).page.links
    assert [link.anchor for link in links] == ["&a;&f; é你"]


def test_a_gzip_bomb_is_not_unpacked_beyond_the_bound() -> None:
    bomb = gzip.compress(b" " * (MOST_BYTES + 1_000_000))
    tracemalloc.start()
    with pytest.raises(ListingError, match="more than 50 MB"):
        unpacked(bomb)
    assert tracemalloc.get_traced_memory()[1] < 3 * MOST_BYTES
    tracemalloc.stop()
    with pytest.raises(ListingError, match="damaged"):
        unpacked(b"\x1f\x8b\x08 no gzip")


def test_no_more_addresses_are_read_than_a_file_may_have() -> None:
    entries = b"".join(b"<url><loc>/%d</loc></url>" % number for number in range(50_010))
    assert len(read_sitemap(_HEAD + entries, URL).page.links) == 50_000


def test_a_listing_is_told_by_its_first_element_in_time_linear_in_what_stands_before() -> None:
    assert listing_kind(_HEAD) == "sitemap"
    assert listing_kind(b"\xef\xbb\xbf <a:feed xmlns:a='urn:a'>") == "feed"
    assert listing_kind(b"<html><urlset>") is None
    assert listing_kind(b"<!---->" * 5_000 + b"<html>") is None
