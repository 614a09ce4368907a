"""Which references of a page become links, and how they look."""

from __future__ import annotations

from time import process_time

from hypothesis import example, given
from hypothesis import strategies as st

from mmcrawl.page import Resolver, parse_page, physical_layer
from tests.tables import each

URL = "http://school.test/physics/index.htm"


def urls(html: str) -> list[str]:
    return [link.url for link in parse_page(html.encode(), URL).links]


def anchors(html: str) -> list[str]:
    return [link.anchor for link in parse_page(html.encode(), URL).links]


@each(
    "href, url",
    [
        ("../b.htm#part", "http://school.test/b.htm"),
        ("  /b.htm \n", "http://school.test/b.htm"),
        ("//other.test/x", "http://other.test/x"),
        ("HTTP://Other.test/X", "http://other.test/X"),
        ("sub\\b.htm", "http://school.test/physics/sub/b.htm"),
        ("a b.htm", "http://school.test/physics/a%20b.htm"),
        ("物理/", "http://school.test/physics/%E7%89%A9%E7%90%86/"),
        ("b.htm?x=1&y=2&amp;z=3", "http://school.test/physics/b.htm?x=1&y=2&z=3"),
        ("b\n.htm", "http://school.test/physics/b.htm"),
        ("http://school.test/a/../b/./c.htm?u=/x/../y", "http://school.test/b/c.htm?u=/x/../y"),
        ("http://school.test/../a/%2e%2E/b/..", "http://school.test/"),
        ("x/%2e%2e/b.htm", "http://school.test/physics/b.htm"),
        (f"http://{'a' * 60}.test/", f"http://{'a' * 60}.test/"),
        ("view.php?img=a.jpg", "http://school.test/physics/view.php?img=a.jpg"),
    ],
)
def test_references_become_absolute_safe_urls(href, url):
    assert urls(f'<a href="{href}">x</a>') == [url]


@each(
    "href",
    [
        "mailto:a@b.test",
        "tel:1",
        "javascript:void(0)",
        "ftp://h.test/a.htm",
        "data:text/html,x",
        "http://[bad",
        f"http://{'a.' * 128}test/",
        f"\\\\{'a.' * 128}test/",
        "#top",
        "",
        "index.htm#exercises",
        "notes.PDF",
        "photo.jpg",
    ],
)
def test_what_is_no_page_elsewhere_is_left_out(href):
    assert urls(f'<a href="{href}">x</a>') == []


def test_the_first_base_counts_for_the_whole_page():
    html = '<a href="a.htm">a</a><base href="/maths/"><base href="/no/"><a href="b.htm">b</a>'
    assert urls(html) == ["http://school.test/maths/a.htm", "http://school.test/maths/b.htm"]


@each("encoding, kept", [("utf-16-le", "utf-16-le"), ("utf-32-le", "utf-8"), ("hz", "hz")])
def test_a_query_on_a_page_in_no_superset_of_ascii_is_utf8(encoding: str, kept: str) -> None:
    html = ("" if encoding == "hz" else "\ufeff") + '<a href="s.asp?q=物理">x</a>'
    page = parse_page(html.encode(encoding), URL, "text/html; charset=hz-gb-2312")
    assert page.encoding == kept
    assert page.links[0].url.endswith("s.asp?q=%E7%89%A9%E7%90%86")


def test_a_host_of_combining_marks_takes_no_time():
    marks = "\u0301\u0323" * 2_000  # sorting them takes a tenth of a second, each time
    html = "".join(f'<a href="http://{marks}{n}/">x</a>' for n in range(1_000))
    began = process_time()
    assert urls(html) == []
    assert process_time() - began < 20


def test_frames_areas_and_unframed_content_are_links():
    html = """<frameset><frame src="menu.htm"><frame src="main.htm"><noframes><body>
        <a href="plain.htm">plain</a></body></noframes></frameset>"""
    page = parse_page(html.encode(), URL)
    assert [(link.tag, link.url.rpartition("/")[2]) for link in page.links] == [
        ("frame", "menu.htm"),
        ("frame", "main.htm"),
        ("a", "plain.htm"),
    ]
    assert [link.group for link in page.links[:2]] == [-1, -1]
    html = '<map><area href="optics.htm" alt="Optics"></map><iframe src="news.htm"></iframe>'
    found = parse_page(f"{html}<noscript><a href=a.htm>a</a></noscript>".encode(), URL).links
    assert [(x.tag, x.anchor) for x in found] == [("area", "Optics"), ("iframe", ""), ("a", "a")]


def test_anchor_is_text_then_title_then_alt():
    assert anchors('<a href="a">Two <b>wo</b>rds<br>x</a>') == ["Two words x"]
    assert anchors('<a href="a" title="Title"><img src="i.gif" alt="Alt"></a>') == ["Title"]
    assert anchors('<a href="a"><img src="i.gif" alt=" Alt  text "></a>') == ["Alt text"]
    assert anchors('<a href="a"><script>x</script>' + "w" * 300 + "</a>") == ["w" * 200]


def test_each_url_once_with_its_first_anchor_that_says_something():
    html = '<a href="a.htm"><img src="i"></a><a href="b.htm">b</a><a href="a.htm#x">A</a>'
    page = parse_page(html.encode(), URL)
    assert [(x.url[-5:], x.anchor) for x in page.links] == [("a.htm", "A"), ("b.htm", "b")]


def test_nofollow_only_if_every_occurrence_says_so():
    html = """<a rel="external NoFollow" href="a">a</a><a rel="ugc" href="b">b</a>
        <a href="b">b</a><a rel=sponsored href=c>c</a>"""
    assert [x.nofollow for x in parse_page(html.encode(), URL).links] == [True, False, True]


@each(
    "html, names",
    [
        ("<a href=\"javascript:window.open('x.htm','w','width=4')\">x</a>", ["x.htm"]),
        ("<a href='javascript:openWin(%22x.htm%22)'>x</a>", ["x.htm"]),
        ("<td onclick=\"location.href='/unit/2/'\">Unit 2</td>", ["/unit/2/"]),
        ("<a href='#' onclick=\"window.open('http://school.test/y')\">x</a>", ["/y"]),
        ('<a href=\'javascript:show("tab", "1.5")\'>x</a>', []),
        ("<a href=\"javascript:go('page' + n + '.htm')\">x</a>", []),
        ("<a href=\"javascript:alert('Hello there.')\">x</a>", []),
    ],
)
def test_literal_urls_in_calls_are_links_of_low_weight(html, names):
    links = parse_page(html.encode(), URL).links
    found = [x.url.replace("/physics/", "/").removeprefix("http://school.test/") for x in links]
    assert found == [name.lstrip("/") for name in names]
    assert all(x.from_script and x.tag == "script" for x in links)


def test_a_real_link_outweighs_a_script_that_names_the_same_page():
    html = "<a onclick=\"open('a.htm')\">x</a><a href=a.htm>real</a>"
    (link,) = parse_page(html.encode(), URL).links
    assert (link.tag, link.anchor, link.from_script) == ("a", "real", False)


def test_jump_menus_lead_to_pages_and_other_menus_do_not():
    options = '<option value="unit1.htm">Unit 1<option value="2">Two<option value="">None'
    page = parse_page(f'<select onchange="go(this)">{options}</select>'.encode(), URL)
    assert [(x.url, x.anchor) for x in page.links] == [
        ("http://school.test/physics/unit1.htm", "Unit 1")
    ]
    assert urls(f"<select>{options}</select>") == []


@each(
    "url, layer",
    [
        ("http://h/", 1),
        ("http://h/index.htm", 1),
        ("http://h/a/b/c.htm?d=/e/f", 3),
        ("http://h/a/b/", 3),
        ("http://h//a//b.htm", 2),
        ("http://[h/a/b", 1),
    ],
)
def test_physical_layer_is_the_number_of_directories_plus_one(url, layer):
    assert physical_layer(url) == layer
    assert parse_page(b"", url).physical_layer == layer


PARTS = ["a", "b-1", "_", ".", "..", "/", "~", "&", "=", "+", "%2e", "Z"]
PIECES = st.lists(st.sampled_from(PARTS)).map("".join)
HOSTS = ["http://h.test", "https://x.h.test", "http://a..b", "http://-h"]


@given(st.sampled_from(HOSTS), PIECES, PIECES)
@example("http://h.test", "a/../b/.", "a=../b")
def test_a_plain_address_is_what_quoting_leaves_of_it(host: str, path: str, query: str) -> None:
    resolve = Resolver("http://h.test/", "utf-8")
    plain = resolve(f"{host}/{path}?{query}a")
    quoted = resolve(f"{host}/{path}?{query}a%31")  # is not taken as it stands
    assert quoted.url == plain.url + "%31"
    assert (quoted.host, quoted.is_page) == (plain.host, plain.is_page)


@each(
    "href, url",
    [
        ("http://0x7f.1/a", "http://127.0.0.1/a"),
        ("http://2130706433/a", "http://127.0.0.1/a"),
        ("http://0300.0250.257/a", "http://192.168.1.1/a"),
        ("http://127。0。0。1/a", "http://127.0.0.1/a"),
        ("http://[1:0::0]/a", "http://[1::]/a"),
        ("https://faß.example/a", "https://xn--fa-hia.example/a"),
        ("HTTP://EXAMPLE.test:80/a", "http://example.test/a"),
        ("https://u:@example.test/a", "https://u@example.test/a"),
        ("///other.test/a", "http://other.test/a"),
        ("\\\\other.test\\a", "http://other.test/a"),
        ("/\t//other.test/a", "http://other.test/a"),
        ("http:a", "http://h.test/d/a"),
        ("https:other.test/a", "https://other.test/a"),
        ("x/%2e%2E/./a b[1]|?q=é'", "http://h.test/d/a%20b[1]|?q=%C3%A9%27"),
        *((f"http://{host}/a", None) for host in (
            "1.2.3.256", "1.2.3.08", "0x100000000", "a.1.2", "a b", "a%00b", "a<b", "[::g]", "xn--",
            "h:99999", "u:p@", "a\x7fb", "xn--pokxncvks",
        )),
    ],
)  # fmt: skip
def test_addresses_are_what_browsers_ask_for(href, url):
    target = Resolver("http://h.test/d/e.htm", "utf-8")(href)
    assert (target and target.url) == url


@each(
    "encoding, query, sent",
    [
        ("cp1251", "q=Физика", "q=%D4%E8%E7%E8%EA%E0"),
        ("gb18030", "q=物理&x=a b", "q=%CE%EF%C0%ED&x=a%20b"),
        ("cp1252", "q=é理", "q=%E9%26%2329702%3B"),
    ],
)
def test_a_query_is_sent_in_the_encoding_of_its_page(encoding, query, sent):
    target = Resolver("http://h.test/", encoding)(f"s.php?{query}")
    assert target.url == f"http://h.test/s.php?{sent}"


@each(
    "html, path, tag",
    [
        ('<link rel="next" href="/2">', "/2", "link"),
        ('<link rel="stylesheet" href="/2">', None, ""),
        ('<object data="/a.html">', "/a.html", "object"),
        ('<object data="/a" type="text/html">', "/a", "object"),
        ('<object data="/a" type="image/svg+xml">', None, ""),
        ('<embed src="/b.htm?x=1">', "/b.htm?x=1", "embed"),
        ('<embed src="/b.swf">', None, ""),
        ('<svg><a xlink:href="/s"><text>S</text></a></svg>', "/s", "a"),
        ('<svg><a href="/s"><text>S</text></a></svg>', "/s", "a"),
        ('<tr data-href="/row/7"><td>row</td></tr>', "/row/7", "script"),
        ('<div data-href="more">x</div>', None, ""),
        ('<div class="x fb-comments" data-href="/7">x</div>', None, ""),
    ],
)
def test_pages_are_named_in_other_ways_than_by_a(html: str, path: str | None, tag: str) -> None:
    links = parse_page(html.encode(), "http://h.test/").links
    named = [(link.url.removeprefix("http://h.test"), link.tag) for link in links]
    assert named == ([] if path is None else [(path, tag)])


@each(
    "html, kind",
    [
        ("<{} href=/get?id=1 download=lever.mp4>x</a>", "video"),
        ("<{} href=/s/2 type='AUDIO/mpeg; x=1'>x</a>", "audio"),
        ("<{} href=/down.php?id=3 alt=gear.mp4>gear.mp4</a>", "video"),
        ("<{} href=/gear.html alt=gear.mp4>gear.mp4</a>", "page"),
        ("<{} href=/gear alt=gear.mp4>gear.mp4</a>", "page"),
        ("<{} href=/wiki/File:Lever.webm alt=Lever.webm>Lever.webm</a>", "page"),
        ("<{} href=/f/wiki:a.webm>x</a>", "video"),
        ("<link rel=alternate type=video/mp4 href=/s/4>", "video"),
        ("<link rel='x enclosure' type=audio/mpeg href=/s/4>", "audio"),
        ("<link rel=preload as=video href=/s/4>", "video"),
        ("<link rel=video_src href=/s/4><video src=/s/4></video>", "video"),
        ("<link rel=alternate type=video/mp4 href=/s/4><video src=/s/5></video>", "video"),
        ("<link rel=alternate hreflang=de href=/lever.mp4>", None),
        ("<link rel=alternate href=https://www.youtube.com/watch?v=abcdefghijk>", None),
        ("<link rel=alternate type=application/rss+xml href=/f><link rel=icon href=/a.swf>", None),
        ("<link rel=stylesheet type=video/mp4 href=/s><link rel=preload as=font href=/f>", None),
    ],
)
def test_what_a_link_says_of_its_file_counts(html: str, kind: str | None) -> None:
    for tag in ("a", "area") if "{}" in html else ("",):
        page = parse_page(html.format(tag).encode(), "http://h.test/")
        assert [one.kind for one in page.media] == ([kind] if kind not in ("page", None) else [])
        assert len(page.links) == (kind == "page")


@each(
    "html, anchors, text",
    [
        ("<p><a href=1><h2>Fun</h2></a></p>then", ["Fun"], "then"),
        ("<p><a href=1><div>a</div>b<p>c</a>d", ["a b c"], "d"),
        ("<p><a href=1>a<div>b</div><a href=2>c</a>d", ["a", "c"], "b d"),
        ("<a href=1>a<a href=2>b</a>c", ["a", "b"], "c"),
    ],
)
def test_a_link_ends_at_its_end_tag_or_at_the_next_link(html, anchors, text):
    page = parse_page(html.encode(), URL)
    assert [link.anchor for link in page.links] == anchors
    assert page.text == text


@each("end", ["<a href=2", "<a href='2>x</a>", "<iframe src=2"])
def test_a_tag_that_the_page_ends_in_is_no_link(end):
    assert urls(f"<a href=1>x</a>{end}") == [URL.rpartition("/")[0] + "/1"]
