"""What a page says of itself: dates, authors, site, licence, with where it was read."""

import json

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import (
    PageFacts,
    date_in_address,
    dates_in,
    month_comes_first,
    page_content,
    read_date,
)
from tests.tables import each

TEXT = "<p>A lever is a rigid bar on a pivot, and it makes a small force lift a great load.</p>" * 3


def facts(head: str = "", body: str = "", url: str | None = None) -> PageFacts:
    page = f"<head><title>Levers</title>{head}</head><body><h1>Levers</h1>{body}{TEXT}</body>"
    return page_content(page, url).facts


def json_ld(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


@each(
    "written, value",
    [
        ("2019-05-06T10:11:12.000+08:00", "2019-05-06T10:11:12+08:00"),
        ("Mon, 06 May 2019 10:11:12 GMT", "2019-05-06T10:11:12+00:00"),
        ("May 6th, 2019 at 3:04 pm", "2019-05-06T15:04:00"),
        ("6. Mai 2019", "2019-05-06"),
        ("6 de mayo de 2019", "2019-05-06"),
        ("6 мая 2019", "2019-05-06"),
        ("2019年5月6日 10:11", "2019-05-06T10:11:00"),
        ("06.05.2019", "2019-05-06"),
        ("20190506", "2019-05-06"),
        ("1557137472000", "2019-05-06T10:11:12+00:00"),
        ("2019 May 6", "2019-05-06"),
        ("2019-13-45", ""),
        ("31.02.2019", ""),
        ("3019-05-06", ""),
        ("1066-10-14", ""),
        ("6 sheep 2019", ""),
    ],
)
def test_a_date_is_read_as_it_is_written_and_only_if_it_can_be_one(written, value):
    assert read_date(written) == value


def test_which_number_is_the_month_depends_on_the_language() -> None:
    assert read_date("03/04/2019", month_first=month_comes_first("en-US")) == "2019-03-04"
    assert read_date("03/04/2019", month_first=month_comes_first("en", "h.co.uk")) == "2019-04-03"
    assert read_date("25/04/2019", month_first=True) == "2019-04-25"


@given(st.text(alphabet="0123456789-/.:年月日 TZ+apm,May", max_size=60))
def test_any_text_is_read_without_failing(text: str) -> None:
    for value in dates_in(text):
        assert 1990 <= int(value[:4]) <= 2100
    read_date(text)


def test_an_address_names_a_day_or_none() -> None:
    assert date_in_address("http://h.test/2019/05/06/levers.html")[0] == "2019-05-06"
    assert date_in_address("http://h.test/a_20190506_1.htm")[0] == "2019-05-06"
    assert date_in_address("http://h.test/2019/05/") == ("", "")


def test_the_surest_place_gives_the_date_and_is_told() -> None:
    head = json_ld({"@type": "NewsArticle", "datePublished": "2019-05-06T10:11:00Z",
                    "dateModified": "2019-06-01"})  # fmt: skip
    found = facts(head + '<meta property="article:published_time" content="2018-01-01">')
    assert found.published.value == "2019-05-06T10:11:00+00:00"
    assert found.published.source == "json-ld datePublished"
    assert found.modified.value == "2019-06-01"


def test_the_day_of_the_address_stands_against_another_time_zone() -> None:
    head = '<meta property="article:published_time" content="2019-05-07T02:11:00Z">'
    found = facts(head, url="http://h.test/2019/05/06/levers").published
    assert (found.value, found.source) == ("2019-05-06", "url")
    same = facts(head, url="http://h.test/2019/05/07/levers").published
    assert same.value == "2019-05-07T02:11:00+00:00"


@each(
    "body, day, source",
    [
        ('<time class="entry-date" datetime="2019-05-06">May</time>', "2019-05-06", "element"),
        ("<p>Posted on 6 May 2019 by Ada Lovelace</p>", "2019-05-06", "text"),
        ("<div>发布时间：2019年5月6日 10:11 来源：物理网</div>", "2019-05-06", "text"),
        ('<span itemprop="datePublished">6 May 2019</span>', "2019-05-06", "microdata"),
    ],
)
def test_a_date_is_read_beside_the_headline(body: str, day: str, source: str) -> None:
    found = facts(body=body).published
    assert found.value.startswith(day)
    assert found.source.startswith(source)


def test_dates_of_comments_and_of_changes_are_not_that_of_publication() -> None:
    comment = '<div class="comment"><time datetime="2020-01-01">x</time></div>'
    found = facts(body=f"<p>Updated: 7 May 2019</p>{comment}")
    assert found.published is None
    assert found.modified is not None
    assert found.dated is found.modified
    assert found.modified.value == "2019-05-07"


@each(
    "head, body, names",
    [
        (json_ld({"@type": "Article", "author": [{"name": "Ada Lovelace"}, "Charles Babbage"]}),
         "", ("Ada Lovelace", "Charles Babbage")),
        (json_ld({"@graph": [{"@type": "Article", "author": {"@id": "#a"}},
                             {"@id": "#a", "@type": "Person", "name": "Ada Lovelace"}]}),
         "", ("Ada Lovelace",)),
        ('<meta name="author" content="By Ada Lovelace, Senior Editor">', "", ("Ada Lovelace",)),
        ('<meta name="citation_author" content="Lovelace, Ada">', "", ("Ada Lovelace",)),
        ("", "<p>By Ada Lovelace and Charles Babbage</p>", ("Ada Lovelace", "Charles Babbage")),
        ("", "<p>posted on 2019-05-06 by Ada Lovelace</p>", ("Ada Lovelace",)),
        ("", "<p>来源：物理网 作者：张三 李四</p>", ("张三", "李四")),
        ("", "<p>Written by</p><p>Ada Lovelace</p>", ("Ada Lovelace",)),
        ("", '<a rel="author" href="/ada">Ada Lovelace</a>', ("Ada Lovelace",)),
        ('<meta name="author" content="admin">', "", ()),
        ('<meta property="article:author" content="https://fb.test/ada">', "", ()),
        ('<meta name="author" content="ada1815">', "", ("ada1815",)),
        ("", "<p>By continuing, you agree to our terms.</p>", ()),
        (json_ld({"@type": "Product", "review": {"@type": "Review", "author": "Ada Lovelace"}}),
         "", ()),
        (json_ld({"@type": "Review", "author": "Ada Lovelace"}), "", ("Ada Lovelace",)),
        ("", "<div itemscope itemtype=/Product><div itemprop=review itemscope itemtype=/Review>"
         "<b itemprop=author>Ada Lovelace</b></div></div>", ()),
        ("", '<div class="review__author">Ada Lovelace</div>', ()),
    ],
)  # fmt: skip
def test_authors_are_named_where_pages_name_them(head, body, names):
    assert facts(head, body).authors == names


def test_the_site_is_an_author_only_where_nobody_signed() -> None:
    site = {"@type": "Organization", "name": "Levers & Optics Daily"}
    head = json_ld({"@type": "Article", "author": site})
    signed = facts(head, '<a rel="author" href="/a">Ada Lovelace</a>')
    assert signed.authors == ("Ada Lovelace",)
    assert facts(head).authors == ("Levers", "Optics Daily")


def test_site_description_image_and_licence_are_read() -> None:
    head = """<meta property="og:site_name" content="Optics &amp; more"><link rel="license"
        href="https://creativecommons.org/licenses/by/4.0/"><link rel="canonical" href="/levers">
        <meta name="description" content="On levers."><meta property="og:image"
        content="/lever.png">"""
    found = facts(head, url="http://h.test/a/")
    assert found.site_name == "Optics & more"
    assert found.description == "On levers."
    assert found.image == "http://h.test/lever.png"
    assert found.licence == "https://creativecommons.org/licenses/by/4.0/"
    assert found.canonical == "http://h.test/levers"


def test_the_address_of_a_licence_is_absolute() -> None:
    rights = '<meta name="dc.rights" content="{}">'
    url = "http://h.test/a/b.html"
    assert facts(rights.format("../rights.html"), url=url).licence == "http://h.test/rights.html"
    assert facts(rights.format("CC BY 4.0"), url=url).licence == "CC BY 4.0"


def test_the_language_is_declared_or_told_by_the_script() -> None:
    assert page_content('<html lang="en_US"><p>Levers').facts.language == "en-US"
    assert page_content("<p>杠杆是一种简单机械。").facts.language == "zh"
    assert page_content("<p>てこは単純機械である。").facts.language == "ja"
    assert page_content("<p>杠杆是一种简单机械，日文叫做てこ。" * 3).facts.language == "zh"


@each("script", ["{", '{"@type": "Article", "datePublished": "2019-05-06",}', "[" * 5000])
def test_broken_json_is_read_as_far_as_it_goes(script: str) -> None:
    found = facts(f'<script type="application/ld+json">{script}</script>').published
    assert (found is not None) == ("2019" in script)


def test_precision_takes_a_part_of_what_recall_takes() -> None:
    aside = "<div class=side><p>Subscribe to our letters</p><a href=/a>More on pivots</a></div>"
    page = f"<h1>Levers</h1>{TEXT}{aside}<p>See the next part.</p>"
    texts = [page_content(page, favor=favor).paragraphs for favor in ("precision", None, "recall")]
    assert set(texts[0]) <= set(texts[1]) <= set(texts[2])


def test_comments_are_a_field_of_their_own() -> None:
    said = "I have tried this with a crowbar and it worked well."
    page = (
        f"<h1>Levers</h1><article>{TEXT}<p>Archimedes asked for a place to stand, and a lever long "
        "enough.</p></article><div class=comments><h3>2 comments</h3><div class=comment>"
        f"<p>{said}</p><a href=#>Reply</a></div></div>"
    )
    content = page_content(page)
    assert content.comments == (said,)
    assert said not in content.text
