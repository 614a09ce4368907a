"""What a page says of itself."""

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.content import PageMetadata, page_metadata
from tests.tables import each


def metadata(html: str) -> PageMetadata:
    return page_metadata(read_tree(html.encode(), encoding="utf-8"))


NONE = metadata("<p>text")


def test_a_page_may_say_nothing() -> None:
    assert (NONE.title, NONE.headline, NONE.description, NONE.data) == ("", "", "", "")
    assert set(NONE.types) == {0.0}


def test_the_first_title_counts() -> None:
    assert metadata("<title> Levers\n&amp; pulleys </title><title>No</title>").title == (
        "Levers & pulleys"
    )


@each("name", ["property=og:title", "name=twitter:title", "NAME='OG:Title'"])
def test_headline_of_open_graph(name: str) -> None:
    assert metadata(f"<meta {name} content=' The  lever '>").headline == "The lever"


def test_an_empty_headline_is_none() -> None:
    page = metadata("<meta property=og:title content=''><meta name=twitter:title content=Lever>")
    assert page.headline == "Lever"


def test_descriptions_are_gathered() -> None:
    page = metadata("<meta name=Description content=A><meta property=og:description content='B C'>")
    assert page.description == "A\nB C"


def test_data_is_told_with_its_escapes_resolved() -> None:
    page = metadata(r"""<script type="application/ld+json">{"articleBody":
        "A \"lever\" \u6760\u6746\n is \/ was"}</script><script>var x = "not data"</script>""")
    assert 'A "lever" 杠杆  is / was' in page.data
    assert "not data" not in page.data


def types(html: str) -> list[int]:
    return [
        i for i, (a, b) in enumerate(zip(metadata(html).types, NONE.types, strict=True)) if a - b
    ]


def test_types_of_data_and_of_open_graph_are_told_apart() -> None:
    found = [
        types(f'<script type=application/ld+json>{{"@type": "{name}"}}</script>')
        for name in ("NewsArticle", "QAPage", "Product", "ItemList", "Course")
    ]
    assert len({tuple(columns) for columns in found}) == 5
    assert types("<meta property=og:type content=article>") != types(
        "<meta property=og:type content=product>"
    )


@each("data", ["{", '{"@type": 3}', "\\", "\\u12", '{"@type":"' + "a" * 99])
def test_broken_data_is_no_error(data: str) -> None:
    assert metadata(f"<script type=application/ld+json>{data}</script>").headline == ""
