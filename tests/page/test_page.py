"""The page as a whole: metadata, text, limits, and bytes that are no page."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.page import (
    Link,
    Page,
    Resolver,
    kind_by_headers,
    may_be_media,
    parse_page,
    resource_key,
    with_dynamic_media,
)
from mmcrawl.page.lists import contents_of
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


WORDS = "words " * 60


@each(
    "body, told",
    [
        (" ", "an empty page"),
        ("<form><input name=p type=password></form><script>1</script>", "a login form"),
        ("<script src=a.js></script>", "a script only; try -a render=playwright"),
        ("<p>Wait<script>1</script>", "a script and little text; try -a render=playwright"),
        (f"<p>{WORDS}<script>1</script>", "text without a link"),
        ("<form action=s.php><input name=q></form>", "a form"),
        ("<iframe></iframe>", "frames without an address"),
        ("<img src=a.png>", "pictures without a link"),
        ("<div></div>", "a page without text or links"),
    ],
)
def test_a_page_that_leads_nowhere_is_told_in_a_few_words(body: str, told: str) -> None:
    assert contents_of(parse_page(body.encode(), "http://h.test/"), body.encode()) == told


PAGE = "http://school.test/physics/lever.html"
SNIPPETS = [
    {"part": path.stem, **one}
    for path in sorted(Path(__file__).with_name("snippets").glob("*.toml"))
    for one in tomllib.loads(path.read_text(encoding="utf-8"))["snippet"]
]
# Names that do not tell whether a file is sound or film: a clip of RealMedia, and WebM beside MP3.
KNOWN_MISSES = {"RealPlayer", "Howler with two formats"}


def as_seen(snippet: dict[str, Any]) -> bool:
    """Whether all media that a person sees are found, by their words, and nothing else."""
    resolve = Resolver(PAGE, "utf-8")
    waiting = [
        (kind, text, {resource_key(resolve(address).url) for address in addresses})
        for kind, text, *addresses in snippet["sees"]
    ]
    for medium in parse_page(snippet["html"].encode(), PAGE, "text/html; charset=utf-8").media:
        keys = {resource_key(address) for address in (medium.url, *medium.others)}
        match = next((one for one in waiting if one[0] == medium.kind and one[2] & keys), None)
        if match is None or (match[1] and match[1] != medium.text):
            return False
        waiting.remove(match)
    return not waiting


def test_what_a_person_sees_is_found_and_nothing_else() -> None:
    assert {one["about"] for one in SNIPPETS if not as_seen(one)} == KNOWN_MISSES


def test_the_table_is_large_and_part_of_it_was_kept_aside() -> None:
    assert len({one["about"] for one in SNIPPETS}) == len(SNIPPETS) >= 150
    assert sum(one["part"] == "aside" for one in SNIPPETS) >= 40
    assert sum(not one["sees"] for one in SNIPPETS) >= 15


@each(
    "url, anchor, expected",
    [
        ("http://h.test/download.php?id=3", "Lesson 3", True),
        ("http://h.test/show.asp?id=3", "在线试听", True),
        ("http://h.test/show.asp?id=3", "新闻", False),
        ("http://h.test/downloads/list.html", "下载", False),
        ("http://h.test/displayed.php?id=3", "", False),
    ],
)
def test_a_promise_is_a_query_or_script_with_a_word_for_media(url, anchor, expected):
    assert may_be_media(Link(url, anchor, "a")) is expected
    assert not may_be_media(Link(url, anchor, "iframe"))


@each(
    "content_type, disposition, expected",
    [
        ("audio/mpeg", "", "audio"),
        ("application/x-shockwave-flash", "", "animation"),
        ("application/octet-stream", 'attachment; filename="lesson.wmv"', "video"),
        ("application/octet-stream", "attachment; filename*=UTF-8''%E8%AF%BE.swf", "animation"),
        ("application/octet-stream", 'attachment; filename="lesson.zip"', "package"),
        ("", "", None),
    ],
)
def test_kind_comes_from_type_or_file_name(content_type, disposition, expected):
    assert kind_by_headers("http://h.test/get.php?id=1", content_type, disposition) == expected


def test_links_that_are_media_become_media_of_the_page() -> None:
    links = (Link("http://h.test/dl.php?id=1", "录音", "a"), Link("http://h.test/b.htm", "b", "a"))
    page = with_dynamic_media(Page("http://h.test/", links=links), {links[0].url: "audio"})
    assert [(m.url, m.kind, m.tag, m.text) for m in page.media] == [
        ("http://h.test/dl.php?id=1", "audio", "a", "录音")
    ]
    assert page.links == links[1:]
