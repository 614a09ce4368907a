"""Feeds give pages with what is said of them, and media with title, duration and date."""

import json

from mmcrawl.page import parse_page
from mmcrawl.page.lists import listing_kind, read_feed

URL = "http://h.test/feed.xml"
_ITEM = """<item><title>Light &amp; lenses</title><link>/show/1</link>
<pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate><itunes:duration>12:03</itunes:duration>
<enclosure url="/1.mp3" type="audio/mpeg" length="7"/>
<enclosure url="/cover.jpg" type="image/jpeg"/></item>"""
_RSS = '<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>'


def test_the_entries_of_a_podcast_are_links_and_their_enclosures_media() -> None:
    page = read_feed(f"{_RSS}<title>Optics</title>{_ITEM}</channel></rss>".encode(), URL).page
    assert page.title == "Optics"
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://h.test/show/1", "Light & lenses audio 2024-05-01")
    ]
    assert [(m.url, m.kind, m.text) for m in page.media] == [
        ("http://h.test/1.mp3", "audio", "Light & lenses, 12:03, 2024-05-01")
    ]


def test_a_feed_in_json_is_read_as_others() -> None:
    item = {"id": "1", "url": "/a", "title": "Light &amp; lenses", "date_published": "2024-05-01T"}
    item |= {"attachments": [{"url": "a.mp3", "mime_type": "audio/mpeg", "size_in_bytes": None,
             "duration_in_seconds": 61}, 7], "content_html": "<video src='a.webm'>"}  # fmt: skip
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "T", "next_url": "?page=2"}
    body = json.dumps({**feed, "items": [item, None, {"id": 2}, {"title": []}]}).encode()
    listing = read_feed(body, URL)
    (link,) = listing.page.links
    assert (listing_kind(body), listing.page.title, link.url) == ("feed", "T", "http://h.test/a")
    assert [(one.url[13:], one.text) for one in link.media] == [
        ("/a.mp3", "Light & lenses, 1:01, 2024-05-01"),
        ("/a.webm", "Light & lenses, 2024-05-01"),
    ]
    assert listing.sitemaps == ("http://h.test/feed.xml?page=2",)
    for broken in (
        body[:-9],
        b"",
        b"\x00" * 99,
        b"<rss>&#xffff;<item><link>http://[</link></item>",
    ):
        assert read_feed(broken, URL).page.links == ()


def test_of_a_feed_with_endless_entries_or_enclosures_the_first_are_read() -> None:
    enclosures = "".join(f'<enclosure url="/{n}.mp3" type="audio/mpeg"/>' for n in range(2_000))
    page = read_feed(f"{_RSS}<item>{enclosures}</item></channel></rss>".encode(), URL).page
    assert len(page.media) == 20
    entries = "".join(f"<item><link>/{n}</link></item>" for n in range(10_009))
    page = read_feed(f"{_RSS}{entries}</channel></rss>".encode(), URL).page
    assert [len(page.links), page.links[-1].url] == [10_000, "http://h.test/9999"]


def test_only_feeds_are_taken_from_the_head_of_a_page() -> None:
    head = b"""<link rel=stylesheet href=/a.css><link type='application/atom+xml' href='/b?x&amp;y'>
        <link rel="alternate" type="application/rss+xml" title="no address">"""
    assert parse_page(head, "http://h.test/").named == (("feed", "http://h.test/b?x&y"),)


def test_feeds_that_the_body_links_to_come_behind_those_of_the_head() -> None:
    page = b"""<body><a href="/blog">blog</a><a href="/feed.xml">RSS</a>
        <a class=x href='/all/feed/'><a type="application/atom+xml" href="/x.php?a">
        <a href="/page.xml"><a href="/?feed=rss2"><a href="/feed/why">
        <link rel=alternate type="application/rss+xml" href="/head">"""
    named = parse_page(page, "http://h.test/").named
    found = " ".join(url[13:] for kind, url in named if kind == "feed")
    assert found == "/head /feed.xml /all/feed/ /x.php?a /?feed=rss2"


def test_a_feed_in_several_pages_goes_on_and_its_base_counts() -> None:
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><link rel="next"
        href="feed?page=2"/><entry><link href="a"/></entry></feed>"""
    listing = read_feed(body, URL)
    assert listing.sitemaps == ("http://h.test/blog/feed?page=2",)
    assert [link.url for link in listing.page.links] == ["http://h.test/blog/a"]
