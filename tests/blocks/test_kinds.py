"""What each block of a page is."""

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import KINDS, Partition, partition
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
<table><tr><td>{{广告}}</table>
<table><tr><td><p align=center><font size=5><b>杠杆原理</b></font><p>{ZH}<p>{ZH}</table>
<table><tr><td>上一篇：<a href=3.htm>滑轮</a> 下一篇：<a href=5.htm>斜面</a></table>
<table><tr><td bgcolor=#eee>相关文章<tr><td><a href=6.htm>杠杆的种类</a><br><a
href=7.htm>滑轮组</a></table>
<table><tr><td>友情链接：<a href=http://a.test/>甲网</a> <a href=http://b.test/>乙网</a></table>
<table><tr><td>版权所有 启明中学 京ICP备05000000号</table>
""".replace("{广告}", "<font>广告：</font>新到天平 优惠")


@each(
    "text, kind",
    [
        ("Levers", "title"),
        (TEXT.strip(), "topic"),
        ("So much for now.", "small"),
        ("Pulleys Wheels", "related-links"),
        ("Related", "related-links"),
        ("Home Site map", "navigation"),
        ("School | Physics pages", "navigation"),
        ("Buy our weights", "advertisement"),
        ("Cakes Trips", "noise-links"),
        ("Recent posts", "noise-links"),
        ("Copyright 2012 School. All rights reserved.", "copyright"),
    ],
)
def test_kinds_of_an_english_page(text: str, kind: str):
    assert kinds(ENGLISH)[text] == kind


@each(
    "text, kind",
    [
        ("杠杆原理", "title"),
        (ZH, "topic"),
        ("杠杆的种类 滑轮组", "related-links"),
        ("首页 | 论坛 | 网站地图", "navigation"),
        ("上一篇：滑轮 下一篇：斜面", "navigation"),
        ("广告：新到天平 优惠", "advertisement"),
        ("友情链接：甲网 乙网", "noise-links"),
        ("版权所有 启明中学 京ICP备05000000号", "copyright"),
    ],
)
def test_kinds_of_a_chinese_page(text: str, kind: str):
    assert kinds(CHINESE, title="杠杆原理_启明中学")[text] == kind


def test_pictures():
    html = f"<div class=text><h1>Levers</h1><p>{TEXT * 3}</p><p><img src=lever.png></p></div>"
    html += "<div class=b><a href=http://shop.test/><img src=banner.gif></a></div>"
    assert [block.kind for block in page(html).blocks][-2:] == ["image", "advertisement"]


# ---------------------------------------------------------------- titles


def test_a_heading_is_what_it_heads():
    html = f"<h1>Levers</h1><p>{TEXT * 2}<h2>Use</h2><p>{TEXT}<h2>Menu</h2><p><a href=/>Home</a>"
    found = kinds(html)
    assert (found["Use"], found["Menu"]) == ("title", "navigation")


def test_text_that_stands_out_is_a_title_without_a_heading_tag():
    html = f"<div><p><font size=6>On levers</font><p>{TEXT}<p>{TEXT * 2}</div>"
    assert kinds(html, title="School")["On levers"] == "title"


def test_the_headline_is_what_the_title_of_the_page_says():
    html = f"<div class=a><h2>School</h2></div><div class=b><h2>Levers</h2><p>{TEXT * 2}</div>"
    blocks = page(html, title="Levers - School").blocks
    assert [(b.text, b.kind) for b in blocks][1] == ("Levers", "title")
    assert blocks[1].score > blocks[0].score


def test_the_name_of_the_site_is_a_link_and_no_headline():
    html = f"<h1><a href=/>School</a></h1><article><h2>Levers</h2><p>{TEXT * 2}</article>"
    found = page(html, title="Levers - School").blocks
    assert [block.score > 0.8 for block in found[:2]] == [False, True]


def test_of_two_headings_the_one_in_the_title_is_the_headline():
    html = f"<div class=a><h2>Welcome</h2><h2>Levers</h2><p>{TEXT * 2}</div>"
    found = page(html).blocks
    assert found[0].score < found[1].score


def test_what_stands_between_headline_and_text_belongs_to_them():
    html = (
        f"<div><h1>Levers</h1><div class=a>For class 8</div><div class=b><p>{TEXT * 3}</div></div>"
    )
    assert kinds(f"<div class=top>We teach</div>{html}") == {
        "We teach": "navigation",
        "Levers": "title",
        "For class 8": "small",
        (TEXT * 3).strip(): "topic",
    }


# ---------------------------------------------------------------- places and names


@each(
    "element, kind",
    [
        ("nav", "navigation"),
        ("aside", "noise-links"),
        ("footer", "noise-links"),
        ("div role=navigation", "navigation"),
        ("div class=breadcrumbs", "navigation"),
        ("div id=daohang", "navigation"),
        ("div class=share-buttons", "noise-links"),
        ("div id=comments", "noise-links"),
        ("div class=related-posts", "related-links"),
    ],
)
def test_names_of_elements_tell_kinds_of_links(element: str, kind: str):
    tag = element.partition(" ")[0]
    links = "<ul><li><a href=1>Yellow</a><li><a href=2>Green</a></ul>"
    html = f"<main><h1>Levers</h1><p>{TEXT * 3}</p></main><{element}>{links}</{tag}>"
    assert kinds(html)["Yellow Green"] in ({kind, "navigation"} if tag == "footer" else {kind})


def test_a_menu_that_is_mostly_long_text_is_no_menu():
    html = f"<h1>Levers</h1><div class=menu-wrapper><p>{TEXT}<p>{TEXT}<p>{TEXT}</div>"
    assert all(block.kind != "navigation" for block in page(html).blocks)


def test_links_with_words_of_the_title_are_related_and_others_are_not():
    lists = (
        "<ul class=x><li><a href=1>Levers in daily life</a><li><a href=2>Kinds of levers</a></ul>"
    )
    lists += "<ul class=y><li><a href=3>Holiday trips</a><li><a href=4>Our choir</a></ul>"
    found = kinds(f"<div class=t><h1>Levers</h1><p>{TEXT * 3}</div><div>{lists}</div>")
    assert found["Levers in daily life Kinds of levers"] == "related-links"
    assert found["Holiday trips Our choir"] == "noise-links"


def test_a_list_with_text_of_the_same_element_behind_it_is_part_of_the_text():
    items = "<ul><li><a href=a>Tools</a><li><a href=b>Weights</a><li><a href=c>Rulers</a></ul>"
    html = f"<div><h1>Levers</h1><p>{TEXT * 2}{{}}<p style=color:red>{TEXT}{{}}</div>"
    assert kinds(html.format(items, ""))["Tools Weights Rulers"] == "small"
    assert kinds(html.format("", items))["Tools Weights Rulers"] == "related-links"


def test_a_link_on_its_own_is_part_of_the_text_and_three_are_a_list():
    html = f"<div><h1>Levers</h1><p>{TEXT * 2}{{}}</div>"
    link = "<h5><a href={0}>File {0}</a></h5>".replace("h5", "p class=x")
    alone, three = link.format(1), "".join(map(link.format, "123"))
    assert kinds(html.format(alone))["File 1"] == "small"
    assert kinds(html.format(three))["File 1"] == "related-links"


def test_links_that_all_leave_the_site_are_noise_beside_a_list():
    items = "".join(f"<li><a href={i}.htm>Experiment {i}</a>" for i in range(20))
    away = "<p><a href=http://a.test/>Yellow</a> <a href=http://b.test/>Green</a>"
    html = f"<main><h1>Experiments</h1><section><ul>{items}</ul></section><section>{{}}</section>"
    assert kinds(html.format(away))["Yellow Green"] == "noise-links"
    here = away.replace("http://", "/")
    assert kinds(html.format(here))["Yellow Green"] == "related-links"


def test_the_list_a_page_is_there_for_is_related():
    items = "".join(f"<li><a href={i}.htm>Experiment {i}</a>" for i in range(20))
    found = kinds(f"<nav><a href=/>Home</a></nav><h1>Experiments</h1><ul>{items}</ul>")
    assert set(found.values()) == {"navigation", "title", "related-links"}


def test_boxes_repeated_in_a_bar_are_part_of_the_bar():
    box = "<p>Instructor: A. Medes of Syracuse"
    html = f"<div class=drawer>{box}</div><div><h1>Levers</h1><div class=t><p>{TEXT * 3}</div>"
    found = [b.kind for b in page(html + f"<div class=info>{box}</div></div>").blocks]
    assert found == ["navigation", "title", "topic", "navigation"]


def test_the_line_with_author_and_date_is_no_text():
    html = f"<h1>Levers</h1><p>Posted by A. Medes, 2012-06-15</p><p><b>{TEXT * 2}</b>"
    assert kinds(html)["Posted by A. Medes, 2012-06-15"] == "navigation"


# ---------------------------------------------------------------- all pages

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
def test_large_pages_take_linear_time(piece: bytes):
    def kinds_of(size: int) -> list[str]:
        return [block.kind for block in partition(piece * size, method="spcola", url=URL)]

    assert_linear(kinds_of, 4_000)
