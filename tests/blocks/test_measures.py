"""What stands where on a page: characters and links, hidden or shown, with or without text."""

from mmcrawl.blocks import partition, partitioner_names, read_tree
from mmcrawl.blocks.layout import Measures, shown_nodes
from tests.tables import each


def visible(html: str) -> str:
    tree = read_tree(html.encode())
    hidden = Measures(tree).hidden
    return " ".join(tree.text(node) for node in range(len(tree)) if not hidden[node]).strip()


@each(
    "html, chars, link_chars",
    [
        ("<p>a <b>bc</b>", 3, 0),
        ("<p>a<a href=x>bc<i>d</i></a>", 4, 3),
        ("<p>a<script>b</script><select><option>c</select>", 1, 0),
        ("<p>&amp;&nbsp; a", 3, 0),
        ("<p>a<ruby>b<rp>(</rp><rt>c</rt><rp>)</rp></ruby>d", 3, 0),
        ("<p>a<rt>b", 2, 0),  # above nothing
    ],
)
def test_visible_characters(html: str, chars: int, link_chars: int) -> None:
    measures = Measures(read_tree(html.encode()))
    assert (measures.chars[-1], measures.link_chars[-1]) == (chars, link_chars)


def test_what_is_for_readers_without_scripts_is_hidden_unless_it_is_most_of_the_text() -> None:
    assert visible("<p>some words<noscript>turn on</noscript>").split() == ["some", "words"]
    assert visible("<p>some<noscript>turn on scripts</noscript>") == "some"
    assert "a post" in visible(f"<p>some<noscript>{'a post ' * 80}</noscript>")


def test_a_fallback_in_a_fallback_counts_once() -> None:
    # Six characters in there, counted twice, would be more than the eight outside.
    html = "<div>outside!<noscript><div><noscript>inside</noscript></div></noscript></div>"
    assert visible(html) == "outside!"


MAP = b"<p>before<img src=x usemap=#m><map name=m><area href=a><area><area href=b></map><p>after"


def test_a_map_in_what_is_hidden_is_not_shown() -> None:
    tree = read_tree(b"<p>text<template><map><area href=a></map></template>")
    assert len(shown_nodes(tree, Measures(tree))) == 1


@each("method", ["spcola", "quark"])
def test_the_links_of_an_image_map_stand_in_a_block(method: str) -> None:
    assert method in partitioner_names()
    blocks = partition(MAP, method=method).blocks
    assert [link.href for block in blocks for link in block.links] == ["a", "b"]
