"""One broken entry of a list does not spoil the others, and lists are read as they are served."""

import gzip
import random
from collections.abc import Callable

from mmcrawl.errors import ListingError
from mmcrawl.page import xml_entries
from mmcrawl.page.lists import (
    Listing,
    listing_kind,
    read_feed,
    read_list,
    read_opml,
    read_sitemap,
    sitemaps_of_robots,
    unpacked,
)
from tests.growth import assert_linear
from tests.tables import each

URL = "http://h.test/list.xml"
_LISTS: dict[str, tuple[Callable[[bytes, str], Listing], str, str, str]] = {
    "sitemap": (
        read_sitemap,
        '<?xml version="1.0"?><urlset xmlns="urn:s" xmlns:video="urn:v">',
        "<url><loc>/v.php?id={}&amp;t=2</loc><video:video><video:title><![CDATA[A & b]]>"
        "</video:title></video:video><!-- x --><lastmod>2024-01-01</lastmod></url>",
        "</urlset>",
    ),
    "feed": (
        read_feed,
        '<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>',
        "<item><title>t</title><link>/v.php?id={0}&amp;t=2</link><description><![CDATA[<p>x</p>]]>"
        '</description><enclosure url="/{0}.mp3" type="audio/mpeg"/></item>',
        "</channel></rss>",
    ),
    "opml": (
        read_opml,
        "<opml><body>",
        '<outline text="a &amp; b" xmlUrl="/v.php?id={}&amp;t=2"/>',
        "</body></opml>",
    ),
}
_FAULTS = (
    *"&<>\"'\0\x08\udcff",
    *"&foo; </url> <x:y> <!-- <![CDATA[ ]]> --> <b> </channel> <? <item> <!".split(),
)


def _urls(read: Callable[[bytes, str], Listing], body: bytes) -> set[str]:
    try:
        return {link.url for link in read(body, URL).page.links}
    except ListingError:
        return set()


@each("kind", _LISTS)
def test_a_fault_costs_the_entry_it_is_in_and_no_other(kind: str) -> None:
    read, head, entry, tail = _LISTS[kind]
    entries = [entry.format(number) for number in range(5)]
    wanted = [f"http://h.test/v.php?id={number}&t=2" for number in range(5)]
    choose = random.Random(7)
    for _ in range(200):
        broken, at = choose.randrange(5), choose.randrange(len(entries[0]) - 1)
        written = entries[broken]
        end = at + choose.choice((0, 0, 1, 5, 12))
        fault = choose.choice(_FAULTS)
        changed = [*entries]
        changed[broken] = written[:at] + fault + written[end:]
        body = (head + "\n".join(changed) + tail).encode("utf-8", "surrogateescape")
        lost = {*wanted} - _urls(read, body)
        assert len(lost) <= 1 or (end >= len(written) and len(lost) == 2), (fault, changed[broken])


@each("kind", _LISTS)
def test_a_file_that_is_cut_off_gives_what_stands_before(kind: str) -> None:
    read, head, entry, _ = _LISTS[kind]
    whole = head + "".join(entry.format(number) for number in range(4))
    for end in range(len(head), len(whole)):
        urls = _urls(read, whole[:end].encode())
        count = whole.count(entry[-6:], len(head), end)
        assert {f"http://h.test/v.php?id={n}&t=2" for n in range(count)} <= urls
        assert urls <= {f"http://h.test/v.php?id={n}&t=2" for n in range(4)}


@each("kind", _LISTS)
@each("codec", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_byte_order_marks_and_wide_characters_are_read(kind: str, codec: str) -> None:
    read, head, entry, tail = _LISTS[kind]
    body = (head + entry.format(1) + tail).encode(codec)
    assert listing_kind(body) == kind
    assert _urls(read, body) == {"http://h.test/v.php?id=1&t=2"}


@each(
    "junk",
    [b"\r\n \n", b"<br />\n<b>Warning</b>: mysql_connect() in a.php on line 3<br />\n", b"3f2\r\n",
     b"<!-- made by x -->", b'<?xml-stylesheet href="a.xsl"?>', b"\xef\xbb\xbf\xef\xbb\xbf"],
)  # fmt: skip
def test_what_stands_before_the_declaration_does_not_hide_a_list(junk: bytes) -> None:
    body = junk + b'<?xml version="1.0"?><urlset><url><loc>/a</loc></url></urlset>'
    assert listing_kind(body) == "sitemap"
    assert _urls(read_sitemap, body) == {"http://h.test/a"}


@each(
    "declared, codec",
    [("gb2312", "gbk"), ("iso-8859-1", "latin-1"), ("utf-16", "utf-8"), ("", "utf-8")],
)
def test_what_is_declared_counts_where_it_can_be_true(declared: str, codec: str) -> None:
    title = "Wärme" if codec == "latin-1" else "光的折射与物理实验"
    said = f' encoding="{declared}"' if declared else ""
    body = f'<?xml version="1.0"{said}?><rss><channel><item><title>{title}</title><link>/a</link>'
    (link,) = read_feed(f"{body}</item></channel></rss>".encode(codec), URL).page.links
    assert link.anchor == title


def test_reading_is_linear_in_what_is_not_closed() -> None:
    for piece in (b"<!--", b"<![CDATA[", b"<?", b"<a b='", b'<a b="x ', b"<!DOCTYPE a [", b"&#1;<"):

        def read(count: int, piece: bytes = piece) -> int:
            return len(list(xml_entries(b"<url>" + piece * count, frozenset({"url"}))))

        assert_linear(read, 2_500)
        assert read(5_000) == 1


def test_sitemaps_come_as_texts_too_and_packed_in_pieces() -> None:
    lines = [b"# all\rhttp://h.test/a\r", b"http://h.test/b"]
    body = unpacked(gzip.compress(b"".join(map(gzip.compress, lines))))
    assert listing_kind(body) == "list"
    assert _urls(read_list, body) == {"http://h.test/a", "http://h.test/b"}
    whole = gzip.compress(b"".join(b"http://h.test/%d\n" % n for n in range(1_000)))
    assert "http://h.test/0" in _urls(read_list, unpacked(whole[: len(whole) // 2]))


def test_a_sitemap_may_name_sitemaps_among_its_pages() -> None:
    urls = ("/a.html", "/maps/b.xml", "/sitemap2.txt", "/c.xml.gz", "/xml")
    body = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    listing = read_sitemap(f"<urlset>{body}</urlset>".encode(), URL)
    assert [link.url[13:] for link in listing.page.links] == ["/a.html", "/xml"]
    assert [url[13:] for url in listing.sitemaps] == ["/maps/b.xml", "/sitemap2.txt", "/c.xml.gz"]


@each("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_robots_txt_is_read_for_sitemaps_in_any_unicode(codec: str) -> None:
    body = "Sitemap: /m.xml\rUser-agent: *\nsite-map : </n.xml> # more".encode(codec)
    named = sitemaps_of_robots(body, "http://h.test/robots.txt")
    assert named == ("http://h.test/m.xml", "http://h.test/n.xml")


def test_media_of_an_entry_are_media_of_its_page_with_title_and_duration() -> None:
    sitemap = """<urlset><url><loc>/v</loc><video:video><video:title>Lenses</video:title>
        <video:content_loc>/v.mp4</video:content_loc><video:player_loc>/player?id=1
        </video:player_loc><video:duration>723</video:duration></video:video></url></urlset>"""
    feed = """<rss><channel><item><title>Prisms</title><link>/p</link><media:group>
        <media:content url="/p.mp4" type="video/mp4" duration="61"/><media:content url="/p.webm"/>
        </media:group><media:content url="/p.jpg" medium="image"/><content:encoded><![CDATA[
        <audio src="/p.ogg"></audio>]]></content:encoded></item><entry><title>&lt;b&gt;Light</title>
        <link href="/l"/><link rel="enclosure" href="/l.mp3"/><content xml:base="/m/"><div><video
        src="l.webm"/></div></content></entry><item><title>none</title><link>/n.mp3</link>
        <media:embed url="/play?n"/></item></channel></rss>"""
    (link,) = read_sitemap(sitemap.encode(), URL).page.links
    (film,) = link.media
    assert (film.url[13:], film.kind, film.text) == ("/v.mp4", "video", "Lenses, 12:03")
    assert film.others == ("http://h.test/player?id=1",)
    page = read_feed(feed.encode(), URL).page
    said = {link.url[13:]: [(m.url[13:], m.text) for m in link.media] for link in page.links}
    assert said == {
        "/p": [("/p.mp4", "Prisms, 1:01"), ("/p.ogg", "Prisms")],
        "/l": [("/l.mp3", "Light"), ("/m/l.webm", "Light")],
    }
    assert page.links[0].media[0].others == ("http://h.test/p.webm",)
    assert [medium.url[13:] for medium in page.media[:2]] == ["/n.mp3", "/play?n"]
