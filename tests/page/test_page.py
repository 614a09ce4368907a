"""The page as a whole: metadata, text, limits, and bytes that are no page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.page import Page, parse_page
from tests.growth import assert_linear
from tests.tables import each

URL = "http://school.test/a/index.htm"


def page(html: str) -> Page:
    return parse_page(html.encode(), URL)


def test_metadata_of_the_head():
    parsed = page(
        """<html lang="zh-CN"><head><title> 初中
        物理 </title><META NAME="Keywords" CONTENT="力, 热"><meta name=description content="课件">
        <meta name="robots" content="NoIndex, follow"></head><body><svg><title>no</title></svg>"""
    )
    assert (parsed.title, parsed.keywords, parsed.description) == ("初中 物理", "力, 热", "课件")
    assert (parsed.language, parsed.noindex, parsed.nofollow) == ("zh-cn", True, False)


def test_robots_none_is_both():
    parsed = page('<meta name="robots" content="none">')
    assert (parsed.noindex, parsed.nofollow) == (True, True)


def test_text_is_what_is_seen_and_no_link():
    parsed = page(
        """<title>T</title><style>p{}</style><h1>Le<b>ver</b>s</h1><p>Read <a href="b">this</a>
        now</p><script>var x</script><noscript>Enable it</noscript><td>a</td><td>b</td>
        <select><option>1</select><textarea>t</textarea>&nbsp;end"""
    )
    assert parsed.text == "Levers Read now a b end"


def test_headings_include_linked_ones_down_to_h3():
    assert page("<h1>A</h1><h2><a href=b>B</a></h2><h3>C</h3><h4>D</h4>").headings == "A B C"


@each(
    "body", [b"", b" \n", b"\x00", b"\x00\x00\xfe\xff", b"\xff\xfe", b"<", b"<!--", b"\xef\xbb\xbf"]
)
def test_a_body_without_content_gives_an_empty_page(body):
    parsed = parse_page(body, URL)
    assert (parsed.url, parsed.title, parsed.links, parsed.media) == (URL, "", (), ())
    assert parsed.groups == ()


def test_nul_bytes_vanish_and_binary_data_is_no_error():
    assert parse_page(b"<ti\x00tle>a\x00b</title>", URL).title == "ab"
    parse_page(bytes(range(256)) * 400, URL, "text/html; charset=big5")


OVER_AND_OVER = [
    '<div><a href="x.htm">x</a>',
    "<table><tr><td>",
    "<b></i>",
    "<font size=+1>",
    "<ul><li>a",
    "<noframes><noembed>",
    '<script>"a.mp3?',
    '<a href="?f=a.mp3&',
    "<!--",
    "<object><param name=movie value=x.swf>",
    "<div itemscope itemtype='aaaa",
]


def test_a_page_of_one_thing_over_and_over_is_parsed_in_linear_time():
    for unit in OVER_AND_OVER:
        assert_linear(lambda size, unit=unit: parse_page(unit.encode() * size, URL), 1_200)


MARKUP = """<a href= | <frame src=' | ' | " | > | http://[ | // | http: | \\ | ? | &# | @
    <base href= | javascript:open(' | <object data=x | <param name=movie value= | % | <script>
    </script> | :9999999/ | <h1> | </h1> | <table> | </table> | <font size=+9 color=
    <div itemscope itemtype=VideoObject> | <i itemprop=contentUrl | <p style='font-size:9
    <meta charset= | big5 | a.mp3 | <figcaption> | </a> | <select onchange=x><option value=
    <noframes> | <figure> | \x00 | x | é.htm | <meta property=og:video content= | <embed src=
    <script type=application/ld+json>{"@type":"VideoObject","contentUrl":"""
PIECES = st.sampled_from(
    [piece.strip().encode() for line in MARKUP.split("\n") for piece in line.split(" | ")]
    + [b" ", b"\xff", "物理".encode("gbk")]
)


@given(
    st.one_of(st.binary(max_size=300), st.lists(PIECES, max_size=40).map(b"".join)),
    st.sampled_from([None, "text/html; charset=gbk", "text/html; charset=utf-16", "charset="]),
)
def test_any_bytes_give_a_page_with_absolute_links(body, content_type):
    parsed = parse_page(body, URL, content_type)
    for link in parsed.links:
        assert link.url.startswith(("http://", "https://"))
        assert "#" not in link.url
        assert link.url.isascii()
        assert link.url != URL
        assert len(link.anchor) <= 200
        assert -1 <= link.group < len(parsed.groups)
    assert len({link.url for link in parsed.links}) == len(parsed.links)
    assert sum(group.size for group in parsed.groups) == sum(x.group >= 0 for x in parsed.links)
    assert all("://" in resource.url for resource in parsed.media)
    assert len(parsed.text) <= 100_000


def test_metadata_and_text_are_cut():
    assert 99_990 < len(page("<p>" + "word " * 30_000).text) <= 100_000
    words = "word " * 1_000
    parsed = page(
        f'<title>{words}</title><meta name=keywords content="{words}">'
        f'<meta name=description content="{words}">'
    )
    for text in (parsed.title, parsed.keywords, parsed.description):
        assert len(text) == 1_999
        assert text.endswith("word")


def test_tags_of_posts_and_keywords_of_json_ld_are_keywords():
    page = parse_page(
        b'<meta name=keywords content="a, b"><meta name=keywords content=c>'
        b'<script type="application/ld+json">{"@type": "BlogPosting", "keywords": ["Flex", "a, b"]}'
        b'</script><p class=tags><a href=/t/1 rel="category tag">Flash</a><a href=/t/2>AS3</a>',
        "http://h.test/",
    )
    assert page.keywords == "a, b, Flash, Flex"
