"""What each block of a page is."""

import hashlib
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import KINDS, Partition, partition
from mmcrawl.replay import DemoWeb
from tests.growth import assert_linear
from tests.tables import each

TEXT = (
    "The law of the lever was known to Archimedes, who wrote that equal weights at equal "
    "distances are in balance, and that unequal ones are where their distances are so. "
)
ZH = "杠杆原理由阿基米德提出：等重的物体放在离支点等距离处则平衡，不等重时与距离成反比。" * 3
URL = "http://school.test/levers.html"


def page(html: str, *, title: str = "Levers", method: str = "spcola") -> Partition:
    document = f"<html><head><meta charset=utf-8><title>{title}</title></head><body>{html}"
    return partition(document.encode(), method=method, url=URL)


def kinds(html: str, *, title: str = "Levers") -> dict[str, str]:
    """Return the kind of each block by its text."""
    return {block.text: block.kind for block in page(html, title=title).blocks}


ENGLISH = f"""
<div class=head><a href=/>School</a> | <a href=/physics/>Physics pages</a></div>
<div class=menu><a href=/>Home</a> <a href=/map>Site map</a></div>
<div class=ad-box><p>Buy our weights</p></div>
<div class=text><h1>Levers</h1><p>{TEXT}</p><p>{TEXT * 2}</p><p>So much for now.</p></div>
<div class=more><h3>Related</h3><ul><li><a href=p>Pulleys</a><li><a href=w>Wheels</a></ul></div>
<div class=box><h3>Recent posts</h3><ul><li><a href=c>Cakes</a><li><a href=t>Trips</a></ul></div>
<div class=end>Copyright 2012 School. All rights reserved.</div>
"""

CHINESE = f"""
<table><tr><td><img src=logo.gif><tr><td><a href=/>首页</a> | <a href=/bbs>论坛</a> | <a
href=/map>网站地图</a></table>
<table><tr><td><font>广告：</font>新到天平 优惠</table>
<table><tr><td><p align=center><font size=5><b>杠杆原理</b></font><p>{ZH}<p>{ZH}</table>
<table><tr><td>上一篇：<a href=3.htm>滑轮</a> 下一篇：<a href=5.htm>斜面</a></table>
<table><tr><td bgcolor=#eee>相关文章<tr><td><a href=6.htm>杠杆的种类</a><br><a
href=7.htm>滑轮组</a></table>
<table><tr><td>友情链接：<a href=http://a.test/>甲网</a> <a href=http://b.test/>乙网</a></table>
<table><tr><td>版权所有 启明中学 京ICP备05000000号</table>
"""


def test_kinds_of_an_english_page() -> None:
    assert kinds(ENGLISH) == {
        "School | Physics pages": "navigation",
        "Home Site map": "navigation",
        "Buy our weights": "advertisement",
        "Levers": "title",
        TEXT.strip(): "topic",
        (TEXT * 2).strip(): "topic",
        "So much for now.": "small",
        "Related": "related-links",
        "Pulleys Wheels": "related-links",
        "Recent posts": "noise-links",
        "Cakes Trips": "noise-links",
        "Copyright 2012 School. All rights reserved.": "copyright",
    }


def test_kinds_of_a_chinese_page() -> None:
    found = {
        "杠杆原理": "title",
        ZH: "topic",
        "杠杆的种类 滑轮组": "related-links",
        "首页 | 论坛 | 网站地图": "navigation",
        "上一篇：滑轮 下一篇：斜面": "navigation",
        "广告：新到天平 优惠": "advertisement",
        "友情链接：甲网 乙网": "noise-links",
        "版权所有 启明中学 京ICP备05000000号": "copyright",
    }
    assert kinds(CHINESE, title="杠杆原理_启明中学").items() >= found.items()


ITEMS = "".join(f"<li><a href={i}.htm>Experiment {i}</a>" for i in range(20))
TOOLS = "<ul><li><a href=a>Tools</a><li><a href=b>Weights</a><li><a href=c>Rulers</a></ul>"
AWAY = "<p><a href=http://a.test/>Yellow</a> <a href=http://b.test/>Green</a>"
OF_ITEMS = f"<main><h1>Experiments</h1><section><ul>{ITEMS}</ul></section><section>"
SITE = "<header><h1><a href=/>School of Levers</a></h1></header>"
OARS = f"<main><h2>All about oars</h2><p>{TEXT * 3}</p></main>"
BOX = "<p>Instructor: A. Medes of Syracuse"
PARTNERS = "".join(f"<li><a href=http://s{i}.test/>School {i}</a>" for i in range(9))
TAGGED = "<h2>Tags</h2><p><a href=/t/1>lever</a>, <a href=/t/2>pulley</a>"


@each(
    "title, html, expected",
    [
        # a heading is what it heads
        ("Levers", f"<h1>Levers</h1><p>{TEXT * 2}<h2>Use</h2><p>{TEXT}<h2>Menu</h2><p><a href=/>1"
         "</a>", {"Use": "title", "Menu": "navigation"}),
        # text that stands out, without a tag of headings
        ("School", f"<div><p><font size=6>On levers</font><p>{TEXT}<p>{TEXT * 2}</div>",
         {"On levers": "title"}),
        # a headline in plain type
        ("All about oars - School", "<table><tr><td>All about oars<tr><td><img src=a></td></tr>"
         f"<tr><td><p>{TEXT * 3}</table>", {"All about oars": "title"}),
        # the name of the site over its pages is a link to another page
        ("School of Levers", SITE + OARS,
         {"School of Levers": "navigation", "All about oars": "title"}),
        ("School of Levers", SITE.replace("href=/", "href=/levers.html") + OARS,
         {"School of Levers": "title"}),
        # the id of a heading is not the name of its place
        ("Levers", f"<main><h1>Levers</h1><p>{TEXT * 3}</p><h2 id=language-changes>Changes of the"
         f" law</h2><p>{TEXT}</p></main>", {"Changes of the law": "title"}),
        # what stands between headline and text belongs to them
        ("Levers", "<div class=top>We teach</div><div><h1>Levers</h1><div class=a>For class 8</div>"
         f"<div class=b><p>{TEXT * 3}</div></div>", {"We teach": "navigation", "Levers": "title",
         "For class 8": "small", (TEXT * 3).strip(): "topic"}),
        # a menu that is mostly long text is none
        ("Levers", f"<h1>Levers</h1><div class=menu-wrapper><p>{TEXT}<p>{TEXT * 2}</div>",
         {(TEXT * 3).strip(): "topic"}),
        # the line with author and date
        ("Levers", f"<h1>Levers</h1><p>Posted by A. Medes, 2012-06-15</p><p><b>{TEXT * 2}</b>",
         {"Posted by A. Medes, 2012-06-15": "navigation"}),
        # links with words of the title are related, others are not
        ("Levers", f"<div class=t><h1>Levers</h1><p>{TEXT * 3}</div><div><ul class=x><li><a href=1>"
         "Levers in daily life</a><li><a href=2>Kinds of levers</a></ul><ul class=y><li><a href=3>"
         "Holiday trips</a><li><a href=4>Our choir</a></ul></div>",
         {"Levers in daily life Kinds of levers": "related-links",
          "Holiday trips Our choir": "noise-links"}),
        # a list with text of the same element behind it is part of the text
        ("Levers", f"<div><h1>Levers</h1><p>{TEXT * 2}{TOOLS}<p style=color:red>{TEXT}</div>",
         {"Tools Weights Rulers": "small"}),
        ("Levers", f"<div><h1>Levers</h1><p>{TEXT * 2}<p style=color:red>{TEXT}{TOOLS}</div>",
         {"Tools Weights Rulers": "related-links"}),
        # links that all leave the site, beside a list
        ("Levers", f"{OF_ITEMS}{AWAY}</section>", {"Yellow Green": "noise-links"}),
        ("Levers", f"{OF_ITEMS}{AWAY.replace('http://', '/')}</section>",
         {"Yellow Green": "related-links"}),
        # boxes repeated in a bar are part of the bar, unless the page calls them content
        ("Levers", f"<div class=drawer>{BOX}</div><div><h1>Levers</h1><div class=t><p>{TEXT * 3}"
         f"</div><div class=info>{BOX}</div></div>", {BOX[3:]: "navigation"}),
        ("Levers", f"<div class=drawer>{BOX}</div><main><h1>Levers</h1><div class=t><p>{TEXT * 3}"
         f"</div><div class=info>{BOX}</div></main>", {BOX[3:]: "small"}),
        # links in what the page calls content
        ("Levers", f"<main><h1>Levers</h1><section><p>{TEXT}<p>{TEXT * 2}</section><section><h5>"
         "Taught by</h5><a href=/m>A. Medes</a></section></main>", {"A. Medes": "related-links"}),
        # a foot that nothing names, and a box beside the headline, are not the middle
        ("各科", "<h1>各科</h1><div><p>各科资源<p><a href=1>物理</a> <a href=2>语文</a></div>"
         "<table><tr><td>版权所有 启明中学 联系站长 京ICP备05000000号 建议使用1024*768</table>",
         {"物理 语文": "related-links"}),
        ("Notes", "<main><div id=main-content><h1>Notes</h1><p>To load</div><div class=box>"
         f"{BOX}, who wrote on levers and on circles, for beginners</div></main>",
         {"To load": "small"}),
        # tags of the text, and those of a bar
        ("Levers", f"<main><h1>Levers</h1><p>{TEXT}<p>{TEXT * 2}{TAGGED}</main><aside>"
         f"{TAGGED.replace('lever', 'wheel')}</aside>",
         {"lever, pulley": "related-links", "wheel, pulley": "noise-links"}),
        # a page of all partners is there for them
        ("全部友情链接", f"<h1>全部友情链接</h1><ul class=blogroll>{PARTNERS}</ul><footer>© School",
         {" ".join(f"School {i}" for i in range(9)): "related-links"}),
        ("杠杆原理", f"<h1>杠杆原理</h1><ul class=blogroll>{PARTNERS}</ul><footer>© School",
         {" ".join(f"School {i}" for i in range(9)): "noise-links"}),
        # the items before and after
        ("杠杆", f"<main><h1>杠杆</h1><p>{TEXT * 3}</p><ul><li>上一条：<a href=1>光的折射</a>"
         "<li>下一条：<a href=3>力的合成</a></ul></main>",
         {"上一条：光的折射 下一条：力的合成": "navigation"}),
        # a page that sends its reader on
        ("Levers", f"<meta http-equiv=Refresh content='0;url=x'><p>{TEXT}",
         {TEXT.strip(): "navigation"}),
        ("Levers", f"<meta http-equiv=Refresh content='600; url=x'><p>{TEXT}",
         {TEXT.strip(): "topic"}),
    ],
)  # fmt: skip
def test_kinds_of_some_blocks(title: str, html: str, expected: dict[str, str]) -> None:
    assert kinds(html, title=title).items() >= expected.items()


def test_pictures() -> None:
    html = f"<div class=text><h1>Levers</h1><p>{TEXT * 3}</p><p><img src=lever.png></p></div>"
    html += "<div class=b><a href=http://shop.test/><img src=banner.gif></a></div>"
    assert [block.kind for block in page(html).blocks][-2:] == ["image", "advertisement"]


@each(
    "html",
    [
        f"<div class=a><h2>School</h2></div><div class=b><h2>Levers</h2><p>{TEXT * 2}</div>",
        f"<h1><a href=/>School</a></h1><article><h2>Levers</h2><p>{TEXT * 2}</article>",
        f"<div class=a><h2>Welcome</h2><h2>Levers</h2><p>{TEXT * 2}</div>",
    ],
)
def test_of_two_headings_the_one_in_the_title_is_the_headline(html: str) -> None:
    other, headline, *_ = page(html, title="Levers - School").blocks
    assert (headline.text, headline.kind) == ("Levers", "title")
    assert other.score < 0.8 < headline.score


@each(
    "element, kind",
    [
        ("nav", "navigation"),
        ("aside", "noise-links"),
        ("footer", "navigation"),
        ("div role=navigation", "navigation"),
        ("div class=breadcrumbs", "navigation"),
        ("div id=daohang", "navigation"),
        ("div class=share-buttons", "noise-links"),
        ("div id=comments", "noise-links"),
        ("div class=related-posts", "related-links"),
    ],
)
def test_names_of_elements_tell_kinds_of_links(element: str, kind: str) -> None:
    tag = element.partition(" ")[0]
    links = "<ul><li><a href=1>Yellow</a><li><a href=2>Green</a></ul>"
    html = f"<main><h1>Levers</h1><p>{TEXT * 3}</p></main><{element}>{links}</{tag}>"
    assert kinds(html)["Yellow Green"] == kind


def test_a_link_on_its_own_is_part_of_the_text_and_three_are_a_list() -> None:
    html = f"<div><h1>Levers</h1><p>{TEXT * 2}{{}}</div>"
    links = [f"<p class=x><a href={number}>File {number}</a></p>" for number in "123"]
    assert kinds(html.format(links[0]))["File 1"] == "small"
    assert kinds(html.format("".join(links)))["File 1"] == "related-links"


def test_the_list_a_page_is_there_for_is_related() -> None:
    found = kinds(f"<nav><a href=/>Home</a></nav><h1>Experiments</h1><ul>{ITEMS}</ul>")
    assert set(found.values()) == {"navigation", "title", "related-links"}
    links = ITEMS.replace("<li>", "<br>")
    html = f"<h1>Experiments</h1><table><tr><td>List<tr><td>{links}</table><p><a href=/x>More</a>"
    (block,) = (b for b in page(html, title="Experiments").blocks if "Experiment 3" in b.text)
    assert block.kind == "related-links"  # it holds the middle


def test_announcements() -> None:
    subscribe = "<p><a href=r>RSS</a> <a href=s>Subscribe</a></p>"
    articles = "".join(
        f"<article><h2><a href={i}>Experiment {i} with levers</a></h2>{subscribe}<p>{TEXT}</p>"
        f"<footer><a href={i}>Read more</a></footer></article>"
        for i in range(3)
    )
    found = page(f"<main><h1>News</h1>{articles}</main>", title="News").blocks
    told = {block.text: block.kind for block in found}
    assert told["RSS Subscribe"] == "noise-links"
    assert told["Experiment 1 with levers"] in ("small", "related-links")
    assert told["Read more"] in ("small", "related-links")
    short = "A lever moves the world."
    article = f"<article><div class=meta-wrap><h2>Levers move</h2><p>{short}</p></div></article>"
    found = kinds(f"<main><h1>Levers</h1><article><p>{TEXT * 3}</p></article>{article}</main>")
    assert (found["Levers move"], found[short]) == ("title", "small")


TAGS = (
    "<div> </div> <p> <h1> <h2> </h2> <ul> <li> </ul> <nav> </nav> <footer> <table> <tr> <td> "
    "</table> <a·href=http://o.test/> <a·href=x> </a> <img·src=x> <hr> <div·class=ad> "
    "<div·class=sidebar> <article> </article> 首页 版权所有 Related Home"
)
PIECES = st.sampled_from([*TAGS.split(), TEXT.replace(" ", "·")])


@given(st.lists(PIECES, max_size=40), st.sampled_from(["spcola", "quark", "bwap"]))
def test_every_block_has_a_kind_a_score_and_features(pieces: list[str], method: str):
    body = " ".join(pieces).replace("·", " ").encode()
    found = partition(body, method=method, url=URL)
    for block in found:
        assert block.kind in KINDS
        assert 0 < block.score <= 1
        assert block.features.keys() >= {"x", "window_y", "text_chars", "images"}
        assert all(value >= 0 for value in block.features.values())


@each("piece", [b"<div class=nav>x", b"<h2>Heading</h2>"])
def test_large_pages_take_linear_time(piece: bytes) -> None:
    def kinds_of(size: int) -> list[str]:
        return [block.kind for block in partition(piece * size, method="spcola", url=URL)]

    assert_linear(kinds_of, 1_000)


LABELS = json.loads((Path(__file__).parent / "labels" / "pages.json").read_bytes())["pages"]
OF_THE_DEMO = [page for page in LABELS if page["source"].startswith("demo:")]


@each("page", OF_THE_DEMO)
def test_a_page_of_the_demo_is_the_one_that_was_labelled(page):
    answer = DemoWeb().get(page["source"].removeprefix("demo:"))
    assert hashlib.sha256(answer.body).hexdigest() == page["sha256"]
