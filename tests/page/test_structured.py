"""What a page declares for programs comes in one form, whichever way it is written."""

import json

import pytest

from mmcrawl.page import Declared, PageTree, Thing
from tests.growth import assert_linear

LECTURE = {
    "@type": "https://schema.org/VideoObject",
    "name": "Levers &amp; pulleys",
    "contentUrl": "/l.mp4",
    "author": {"@type": "Person", "name": "Ann"},
}
WAYS = {
    "json-ld": f'<script type="application/LD+json; a=b">{json.dumps(LECTURE)}</script>',
    "json-ld in a graph, with a comma too many": '<script type="application/ld+json">//<![CDATA['
    f'\n{{"@graph": [{json.dumps(LECTURE)},]}} //]]></script>',
    "microdata": """<div itemscope itemtype="http://schema.org/VideoObject"><h2 itemprop="name">
        Levers &amp; <i>pulleys</i></h2><link itemprop="contentURL" href="/l.mp4"><p itemprop=author
        itemscope itemtype="http://schema.org/Person"><b itemprop=name>Ann</b></p></div>""",
    "rdfa": """<div vocab="https://schema.org/" typeof="VideoObject"><h2 property="name">Levers
        &amp; pulleys</h2><a property="schema:contentUrl" href="/l.mp4">Film</a>
        <p property=author typeof=Person><b property=name content=Ann>A.</b></p></div>""",
}


def declared(html: str) -> Declared:
    return Declared(PageTree(html.encode(), "utf-8"))


def shape(thing: Thing) -> tuple[str, str, str, str]:
    return " ".join(thing.types), thing.text("name"), thing.text("contenturl"), thing.text("author")


@pytest.mark.parametrize("way", WAYS)
def test_a_thing_is_the_same_in_each_vocabulary(way: str) -> None:
    page = declared(f"<p>A page</p>{WAYS[way]}<p itemprop=name>Of nothing</p>")
    (thing, around), (person, inside) = page.things
    assert shape(thing) == ("videoobject", "Levers & pulleys", "/l.mp4", "Ann")
    assert (around, inside) == ((), (thing,))
    assert person.types == {"person"}
    assert thing.source == way.split(maxsplit=1)[0]
    assert page.tree.tags[thing.node] == ("script" if thing.source == "json-ld" else "div")
    assert page.properties[-1].text == "Of nothing"


def test_references_are_resolved_and_articles_come_before_pages() -> None:
    graph = [
        {"@type": "WebPage", "name": "Page"},
        {"@type": "NewsArticle", "author": {"@id": "#ann"}},
        {"@id": "#ann", "name": "Ann"},
    ]
    page = declared(f"<script type=application/ld+json>{json.dumps(graph)}</script>")
    article, web_page = page.of_page
    [author] = map(page.resolved, article.values("author"))
    assert isinstance(author, Thing)
    assert (author.text("name"), web_page.text("name")) == ("Ann", "Page")


def test_meta_tags_have_their_names_and_contents_in_the_order_that_is_asked_for() -> None:
    page = declared("""<meta NAME=Author content=" Ann  Lee ">
        <meta property=og:title content="A &amp; B">
        <meta http-equiv=Content-Language content=zh><meta name=empty>""")  # fmt: skip
    asked = list(page.meta("content-language", "empty", "og:title", "author"))
    assert asked == ["zh", "A & B", "Ann Lee"]


@pytest.mark.parametrize("broken", ["{", "[" * 20_000, '{"a":' * 900 + "1" + "}" * 900, "null"])
def test_what_is_broken_or_too_deep_is_no_error(broken: str) -> None:
    page = declared(f"<script type=application/ld+json>{broken}</script>{WAYS['microdata']}")
    assert [one for one, _ in page.things if one.source == "microdata"]
    assert page.texts_in_broken("name") == []


@pytest.mark.parametrize("nested", ["<b itemprop=name class=byline>", "<time>"])
def test_elements_in_elements_are_read_in_linear_time(nested: str) -> None:
    def read(size: int) -> None:
        page = declared(f"<div itemscope>{nested * size}{'much text ' * size}")
        assert page.things
        named = size * ("byline" in nested)
        assert len(page.properties) == len(list(page.named("byline"))) == named
        assert page.times == []  # each says much

    assert_linear(read, 600)
