"""What a page says: its headline and text, on small pages of many kinds and on the demo web."""

from mmcrawl.blocks import page_content
from mmcrawl.blocks.content import GENRES
from tests.tables import each

NEWS_TEXT = (
    "The bridge over the river was closed for three years, after engineers had found cracks in "
    "two of its beams. On Monday, it was opened to carts and walkers again.",
    '"We had to lift every single stone," said the builder in charge, "and put it back where it '
    'was before." The work cost four million, half of which the town paid.',
    "Carts of more than two tons, however, still have to take the way through the valley. A "
    "decision on a second bridge is expected in the autumn of this year.",
)
COMMENTS = (
    "At last, I can visit my aunt without going round by the mill!",
    "And who pays for my detour of the last three years, I wonder?",
)
NEWS = f"""<!DOCTYPE html><title>Old bridge opens again - The Daily Lever</title>
<header><a href=/>The Daily Lever</a><nav><ul><li><a href=/news>News</a><li><a
href=/sport>Sport</a><li><a href=/science>Science</a></ul></nav></header>
<main><article><h1>Old bridge opens again</h1><p class=byline>By <a href=/a/jane>Jane Smith</a>, 3
March 2021</p>{"".join(f"<p>{text}</p>" for text in NEWS_TEXT)}</article>
<section id=comments class=comments><h2>Comments</h2><ol class=commentlist>
<li class=comment><b>walker</b><p>{COMMENTS[0]}</p><a href=#r>Reply</a>
<li class=comment><b>carter</b><p>{COMMENTS[1]}</p><a href=#r>Reply</a></ol></section></main>
<aside class=sidebar><h3>Most read</h3><ul><li><a href=/1>Mill burns down</a><li><a href=/2>Price of
oats</a></ul></aside><footer>© 2021 The Daily Lever. All rights reserved. <a href=/imprint>Imprint
</a></footer>"""
POSTS = (
    "Has anybody tried to lift a cart with a beam of oak? Mine broke on the second day, why?",
    "Oak is fine, but it has to be dry. How long was yours lying in the barn before you used it?",
    "Two weeks only. I thought that was enough, since the summer was so hot. It seems I was wrong.",
    "Two years is what my father used to say. Also, put some iron under it where it touches stone.",
    "I agree about the iron. Without it the edge of the stone eats into the wood each time.",
)
THREAD = "".join(
    f"""<div class=post><div class=postauthor><a href=/u/{i}>user{i}</a><br>Posts: {7 * i}</div>
    <div class=postbody><div class=content>{text}</div></div><div class=post-tools>
    <a href=#q{i}>Quote</a> <a href=#r{i}>Report</a></div></div>"""
    for i, text in enumerate(POSTS)
)
LINKS = [
    "Levers and their classes", "Pulleys and ropes", "The inclined plane", "Wheels and axles",
    "Wedges", "Screws of Archimedes", "Gears in clocks", "Friction on slopes", "Springs",
]  # fmt: skip
HUB = f"""<title>Links on mechanics</title><h1>Links on mechanics</h1><ul>
{"".join(f"<li><a href=/p{i}.htm>{text}</a>" for i, text in enumerate(LINKS))}</ul>"""
PRODUCT = """<title>Oak beam, 3 m | Lever shop</title><meta property=og:type content=product>
<header><nav><a href=/>Shop</a><a href=/beams>Beams</a><a href=/cart>Cart (0)</a></nav></header>
<main><div class=product><h1>Oak beam, 3 m</h1><div class=price>$ 39.00</div><button>Add to cart
</button><div class=product-description><p>This beam is cut from one trunk and dried for two years,
so that it neither splits nor bends under a load of half a ton.</p><ul><li>Length: three metres<li>
Weight: forty kilograms<li>Bears up to five hundred kilograms</ul></div></div>
<section class=related><h2>You may also like</h2><ul><li><a href=/p/2>Ash beam</a> $ 29.00<li>
<a href=/p/3>Iron shoe</a> $ 9.00</ul></section></main>
<footer>© Lever shop. <a href=/terms>Terms</a> <a href=/privacy>Privacy</a></footer>"""


def test_a_news_page_is_its_headline_and_its_text() -> None:
    page = page_content(NEWS.encode())
    assert page.title == "Old bridge opens again"
    assert page.text.replace("\n", " ").endswith("  ".join(NEWS_TEXT))
    noise = "Sport", "Jane Smith", "Most read", "Price of oats", "Imprint", "rights", "Reply"
    assert not [words for words in (*noise, *COMMENTS) if words in page.text]
    assert page.page_type == "topic"


def test_the_name_of_the_site_is_no_headline() -> None:
    site = "<h1><a href='https://levers.test/'>The Lever Post</a></h1>"
    text = "".join(f"<p>{text}" for text in NEWS_TEXT)
    page = f"<title>Old bridge - The Lever Post</title>{site}<h1>The bridge is open</h1>{text}"
    assert page_content(page).title == "The bridge is open"


def test_comments_longer_than_the_article_are_left_out_as_well() -> None:
    comment = "I have read what you wrote on the lever, and I agree. My own cart was lifted by it"
    comments = "".join(f"<li class=comment><p>{comment} {i} years ago.</p>" for i in range(9))
    page = page_content(
        f"<title>Levers - Lab</title><article><h1>Levers</h1><p>{NEWS_TEXT[0]}<p>{NEWS_TEXT[1]}"
        f"</article><div class=comments><h3>Comments</h3><ol>{comments}</ol></div>".encode()
    )
    assert page.paragraphs[-2:] == NEWS_TEXT[:2]
    assert comment not in page.text


@each("before", ["<h1>Lifting</h1>{}", "<div id=app></div><noscript>{}</noscript>"])
def test_what_is_written_in_a_forum_is_its_content(before: str) -> None:
    """Also where it is for readers without scripts."""
    page = page_content(f"<title>Lifting</title>{before.format(THREAD)}".encode())
    assert all(post in page.paragraphs for post in POSTS)
    assert "Report" not in page.text


def test_the_shell_of_an_application_has_no_content() -> None:
    html = (
        "<title>App</title><div id=root></div><noscript>Enable JavaScript to run this.</noscript>"
    )
    assert page_content(html.encode()).paragraphs == ()


def test_a_page_of_menus_has_no_content() -> None:
    names = "Home Help Cart Orders Coupons Contact Terms Privacy Careers Press Investors".split()
    menu = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in names)
    page = f"<nav>{menu}</nav><div id=root>Loading…</div><footer><ul>{menu}</ul></footer>"
    assert page_content(f"<title>Shop</title>{page}").text == ""
    lever = "<h1>Levers</h1><p>A lever is a rigid bar on a pivot, and lifts what hands cannot.</p>"
    assert "rigid bar" in page_content(f"<title>Shop</title>{page.replace('Loading…', lever)}").text


def test_the_text_of_a_list_is_the_list() -> None:
    page = page_content(HUB.encode(), "http://lab.test/links.htm")
    assert page.paragraphs == tuple(LINKS)
    assert page.page_type == "hub"
    assert [link.text for link in page.related_links] == LINKS
    assert page.related_links[0].href == "/p0.htm"


def test_a_product_is_what_is_said_of_it() -> None:
    page = page_content(PRODUCT.encode())
    assert page.title == "Oak beam, 3 m"
    assert "Weight: forty kilograms" in page.paragraphs
    assert "so that it neither splits nor bends" in page.text
    assert not any(noise in page.text for noise in ("Ash beam", "Privacy", "Cart (0)"))
    assert max(page.genres, key=page.genres.__getitem__) == "product"
    twice = page_content(2 * PRODUCT.encode())  # what is said again is read once
    assert sum("neither splits nor bends" in text for text in twice.paragraphs) == 1


def test_preformatted_text_keeps_its_lines() -> None:
    text = "NAME\n    lever - lift a load\n\nDESCRIPTION\n    The lever lifts a load by a force."
    page = page_content(f"<title>lever(1)</title><pre>\n{text}  \n</pre>".encode())
    assert page.text == text


def test_lines_parted_by_a_break_are_one_paragraph() -> None:
    page = page_content(
        b"<title>A letter</title>Dear friend,<br>I have read what you wrote about the lever, and I "
        b"agree.<br>One thing I do not see: why should the bar be straight at all?<br><br>The bar "
        b"of a well is bent in the middle, and it works as well as any other.<br>Yours, A."
    )
    assert page.paragraphs == (
        "Dear friend,\nI have read what you wrote about the lever, and I agree.\n"
        "One thing I do not see: why should the bar be straight at all?",
        "The bar of a well is bent in the middle, and it works as well as any other.\nYours, A.",
    )


def test_a_refrain_is_read_each_time_and_a_copy_far_below_it_is_not() -> None:
    refrain = "A lever is a rigid bar on a pivot, and a small force lifts a heavy load."
    years = [f"In the year {n} the builder lifted stone {n} by a beam of oak." for n in range(100)]
    lines = "<p>".join((*(f"{text}<p>{refrain}" for text in NEWS_TEXT), *years, refrain))
    page = page_content(f"<title>A song</title><article><h1>A song</h1><p>{lines}".encode())
    assert page.paragraphs.count(refrain) == len(NEWS_TEXT)
    assert set(years) < set(page.paragraphs)


def test_furigana_are_not_read_between_the_characters_they_stand_above() -> None:
    ruby = "<ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>"
    rest = "電車はとても込んでいますが、本を読むことができるので好きです。"
    page = page_content(f"<h1>{ruby}</h1><p>私は{ruby}に住んでいます。<p>{rest}".encode())
    assert (page.title, page.paragraphs) == ("東京", ("私は東京に住んでいます。", rest))


@each("body", [b"", b" \r\n", b"<!-- -->", b"<script>a()</script>"])
def test_a_page_without_text_has_no_content(body: bytes) -> None:
    page = page_content(body)
    assert (page.title, page.text, page.paragraphs, page.related_links) == ("", "", (), ())
    assert page.page_type == "hub"
    assert page.genres == dict.fromkeys(GENRES, 0.0)
