"""bwap on pages as they are today, and on pages that are too large or too deep."""

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from mmcrawl.blocks import PageTree, Partition, read_tree
from mmcrawl.blocks.partitioners import BlockRules, Bwap, Cut
from tests.blocks.test_bwap import cut
from tests.tables import each


def contents(page: Partition) -> list[bytes]:
    return [block.content for block in page.blocks]


def new_blocks(before: str, after: str) -> list[bytes]:
    known = set(contents(cut(before)))
    return [content for content in contents(cut(after)) if content not in known]


def modern_page(sections: int) -> str:
    card = (
        "<div class=card><a href=/{0}><img src=/{0}.jpg></a><div><h3><a href=/{0}>Lever {0}</a>"
        "</h3><p>How it lifts, <b>and</b> what.</p><ul><li><a href=/t>Tag</a><li>5 min</ul>"
        "</div></div>"
    )
    section = "<section><div><h2>Machines {0}</h2><div class=row>{1}</div></div></section>"
    cards = "".join(card.format(n) for n in range(4))
    nav = "<header><nav><ul>" + "<li><a href=/s>Section</a></li>" * 9 + "</ul></nav></header>"
    body = "".join(section.format(n, cards) for n in range(sections))
    return f"<body><div id=wrap>{nav}<div><main>{body}</main></div><footer>Imprint</footer></div>"


class TestModernPages:
    def test_level_3_is_neither_one_block_nor_crumbs(self) -> None:
        html = modern_page(12)
        page = cut(html, 3)
        assert 20 <= len(page.blocks) <= 12 * (1 + 4 * 3) + 2  # headline, text and tags of a card
        assert max(len(block.content) for block in page.blocks) < len(html) / 8

    def test_a_local_change_touches_one_block_and_no_other_boundary(self) -> None:
        before = modern_page(12)
        at = before.index("How it lifts", len(before) // 2)
        for words in ("", "Lifting heavy loads, ", "<i>New:</i> ", "<img src=/new.png>", "x" * 500):
            after = before[:at] + words + before[at:]
            assert len(new_blocks(before, after)) == (1 if words else 0)
            assert cut(after).layout == cut(before).layout

    def test_a_section_more_is_all_that_is_new(self) -> None:
        new = new_blocks(modern_page(12), modern_page(13))
        assert 0 < len(new) <= 6


def deep(count: int, leaf: str = "<p>Levers<p>Pulleys") -> str:
    return "<div>" * count + leaf + "</div>" * count


def deep_mixed(count: int) -> str:
    return "<div bgcolor=red>text <b>x</b>" * count + "</div>" * count


class TestLinearTime:
    @each("html", [deep(20_000), deep_mixed(20_000), modern_page(100)])
    def test_each_element_is_looked_at_once(self, html, monkeypatch):
        looks, scans = count(), count()
        is_block, children = BlockRules.is_block, PageTree.children

        def counted_is_block(*given: Any) -> bool:
            next(looks)
            return is_block(*given)

        def counted_children(*given: Any) -> Iterator[int]:
            next(scans)
            return children(*given)

        monkeypatch.setattr(BlockRules, "is_block", counted_is_block)
        monkeypatch.setattr(PageTree, "children", counted_children)
        tree = read_tree(html.encode())
        Bwap(max_depth=10**9)(tree, 10**6)
        assert next(looks) <= len(tree)
        assert next(scans) <= 3 * len(tree)

    def test_100_000_nested_boxes(self) -> None:
        page = cut(deep(100_000))
        assert page.blocks == ()  # deeper than max_depth
        assert len(cut(deep(100_000), max_depth=200_000).blocks) == 2
        assert_nested_cuts(Bwap(max_depth=10**9)(read_tree(deep_mixed(50_000).encode()), 10**6))


def assert_nested_cuts(cuts: Iterable[Cut]) -> None:
    waiting = list(cuts)
    while waiting:
        block = waiting.pop()
        waiting.extend(block.children)
        for child in block.children:
            assert block.start <= child.start < child.end <= block.end
