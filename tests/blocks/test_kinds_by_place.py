"""What each block of a page is, by where on the page it stands."""

from tests.blocks.test_kinds import TEXT, kinds, page
from tests.tables import each


def test_boxes_that_the_page_itself_calls_content_are_content_though_they_are_repeated():
    box = "<p>Instructor: A. Medes of Syracuse"
    html = f"<div class=drawer>{box}</div><main><h1>Levers</h1><div class=t><p>{TEXT * 3}</div>"
    found = [b.kind for b in page(html + f"<div class=info>{box}</div></main>").blocks]
    assert found == ["navigation", "title", "topic", "small"]


def test_links_in_what_the_page_calls_content_are_related():
    links = "<section><h5>Taught by</h5><a href=/medes>A. Medes</a></section>"
    found = kinds(f"<main><h1>Levers</h1><section><p>{TEXT}<p>{TEXT * 2}</section>{links}</main>")
    assert found["A. Medes"] == "related-links"


def test_a_foot_that_nothing_names_is_not_the_middle():
    rights = "版权所有 启明中学 联系站长 京ICP备05000000号 建议使用1024*768分辨率浏览本站"
    links = "<a href=1.htm>物理</a> <a href=2.htm>语文</a>"
    html = f"<h1>各科</h1><div><p>各科资源<p>{links}</div><table><tr><td>{rights}</table>"
    assert kinds(html, title="各科")["物理 语文"] == "related-links"


def test_a_box_beside_the_headline_is_not_the_middle():
    about = "Instructor: A. Medes of Syracuse, who wrote on levers and on circles, for beginners"
    box = f"<div class=box><p>{about}</div>"
    html = f"<main><div id=main-content><h1>Notes</h1><p>To load</div>{box}</main>"
    found = kinds(html, title="Notes")
    assert found["To load"] == "small"
    assert found[about] not in ("topic", "small")


def test_words_at_the_end_of_an_announcement_lead_to_related_pages():
    articles = (
        f"<article><h2><a href={i}>Experiment {i}</a></h2><p>{TEXT}</p><footer>"
        f"<a href={i}>Read more</a></footer></article>"
        for i in range(3)
    )
    html = f"<main><h1>News</h1>{''.join(articles)}"
    found = [block.kind for block in page(html).blocks if block.text == "Read more"]
    assert len(found) == 3
    assert set(found) <= {"related-links", "small"}  # what is joined to the text is kept as well


def test_a_texts_own_tags_are_related_and_those_of_a_bar_are_not():
    tags = "<h2>Tags</h2><p><a href=/t/1>lever</a>, <a href=/t/2>pulley</a>"
    html = f"<main><h1>Levers</h1><p>{TEXT}<p>{TEXT * 2}{tags}</main><aside>{{}}</aside>"
    assert kinds(html)["lever, pulley"] == "related-links"
    in_bar = tags.replace("lever", "wheel")
    assert kinds(html.format(in_bar))["wheel, pulley"] != "related-links"


def test_a_page_of_all_partners_is_there_for_them():
    items = "".join(f"<li><a href=http://s{i}.test/>School {i}</a>" for i in range(9))
    for title, kind in (("全部友情链接", "related-links"), ("杠杆原理", "noise-links")):
        html = f"<h1>{title}</h1><ul class=blogroll>{items}</ul><footer>© School</footer>"
        assert page(html, title=title).blocks[1].kind == kind


def test_a_block_that_holds_the_middle_is_in_the_middle():
    links = "".join(f"<a href={i}.htm>Experiment number {i}</a><br>" for i in range(9))
    html = f"<h1>Experiments</h1><table><tr><td>List<tr><td>{links}</table><p><a href=/x>More</a>"
    (block,) = (b for b in page(html, title="Experiments").blocks if "number 3" in b.text)
    assert block.kind == "related-links"


@each("refresh, kind", [("0;url=x.htm", "navigation"), ("0", "topic"), ("600; url=x", "topic")])
def test_a_page_that_sends_its_reader_on_has_no_topic(refresh: str, kind: str):
    head = f"<meta http-equiv=Refresh content='{refresh}'>"
    assert {block.kind for block in page(f"{head}<p>{TEXT}").blocks} == {kind}


def test_the_headline_of_an_announcement_is_none_of_the_subscriptions_below_it():
    subscriptions = "<p><a href=r>RSS</a> <a href=s>Subscribe</a></p>"
    articles = (
        f"<article><h2><a href={i}>Experiment {i} with levers</a></h2>{subscriptions}<p>{TEXT}</p>"
        "</article>"
        for i in range(3)
    )
    found = kinds(f"<main><h1>News</h1>{''.join(articles)}</main>", title="News")
    assert found["RSS Subscribe"] == "noise-links"
    assert found["Experiment 1 with levers"] in ("small", "related-links")


def test_the_items_before_and_after_in_a_chinese_list_are_navigation():
    ends = "<ul><li>上一条：<a href=1>光的折射</a><li>下一条：<a href=3>力的合成</a></ul>"
    found = kinds(f"<main><h1>杠杆</h1><p>{TEXT * 3}</p>{ends}</main>", title="杠杆")
    assert found["上一条：光的折射 下一条：力的合成"] == "navigation"


def test_the_name_of_a_site_over_its_pages_is_not_their_headline():
    name = "<header><h1><a href=/>School of Levers</a></h1></header>"
    html = f"{name}<main><h2>All about oars</h2><p>{TEXT * 3}</p></main>"
    found = kinds(html, title="School of Levers")
    assert (found["School of Levers"], found["All about oars"]) == ("navigation", "title")
    other = html.replace("<a href=/>", "<a href=/levers.html>")
    assert kinds(other, title="School of Levers")["School of Levers"] == "title"


def test_a_headline_in_plain_type_is_known_by_the_page_s_title():
    rows = f"<tr><td>All about oars</td></tr><tr><td><img src=a></td></tr><tr><td><p>{TEXT * 3}"
    found = kinds(f"<table>{rows}</table>", title="All about oars - School of Levers")
    assert found["All about oars"] == "title"


def test_the_words_of_a_heading_are_no_name_of_its_place_although_its_id_has_them():
    heading = "<h2 id=language-changes>Changes of the law</h2>"
    found = kinds(f"<main><h1>Levers</h1><p>{TEXT * 3}</p>{heading}<p>{TEXT}</p></main>")
    assert found["Changes of the law"] == "title"


def test_what_has_a_headline_in_it_is_more_than_a_line_about_it():
    short = "A lever moves the world."
    article = f"<article><div class=meta-wrap><h2>Levers move</h2><p>{short}</p></div></article>"
    found = kinds(f"<main><h1>Levers</h1><article><p>{TEXT * 3}</p></article>{article}</main>")
    assert found["Levers move"] == "title"
    assert found[short] == "small"
