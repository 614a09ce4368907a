"""A page's blocks put together again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import KINDS, BlockKind, MergedPage, Partition, merge_blocks, partition


class JudgedPage(Partition):
    """A page with blocks of given kinds, each with its number for text."""

    @classmethod
    def of(cls, kinds: list[str]) -> JudgedPage:
        html = "".join(f"<p class=k{i}>{i}" for i in range(len(kinds)))
        page = partition(html.encode(), method="spcola")
        page.__class__ = cls
        page._judged = kinds
        return page

    def kind_of(self, block) -> BlockKind:
        return BlockKind(self._judged[int(block.text)], 1.0)


def merged(*kinds: str) -> MergedPage:
    return merge_blocks(JudgedPage.of(list(kinds)))


def texts(page: MergedPage) -> list[str]:
    return [content.text.replace("\n", " ") for content in page.contents]


def test_a_title_closes_the_block_before_and_opens_the_next():
    page = merged("topic", "title", "topic", "title", "topic")
    assert texts(page) == ["0", "1 2", "3 4"]
    assert [content.title for content in page.contents] == ["", "1", "3"]


def test_links_are_kept_apart():
    page = merged("title", "navigation", "topic", "related-links", "topic", "related-links")
    assert texts(page) == ["0 2 4"]
    assert [block.text for block in page.related_links] == ["3", "5"]
    assert [block.text for block in page.navigation] == ["1"]


def test_small_blocks_alone_are_no_text_and_noise_is_dropped():
    assert texts(merged("small", "image", "title", "topic", "small", "image")) == ["2 3 4 5"]
    page = merged("title", "topic", "title", "small", "advertisement", "copyright", "noise-links")
    assert [content.text for content in page.contents] == ["0\n1", "2\n3"]
    assert [block.text for block in page.topic_blocks] == ["0", "1", "2", "3"]
    assert page.related_links == page.navigation == ()


@given(st.lists(st.sampled_from(KINDS), max_size=12))
def test_each_block_is_in_one_place_and_in_order(kinds: list[str]):
    page = merged(*kinds)
    topic = [int(block.text) for block in page.topic_blocks]
    links = [int(block.text) for block in (*page.related_links, *page.navigation)]
    assert topic == sorted(topic)
    assert len({*topic, *links}) == len(topic) + len(links)
    kept = {"title", "topic", "small", "image"}
    assert all(kinds[i] in kept for i in topic)
    assert {i for i, kind in enumerate(kinds) if kind in ("title", "topic")} <= set(topic)
    assert len(page.contents) <= 1 + kinds.count("title")


def test_a_page_from_its_bytes():
    text = "The law of the lever was known to Archimedes, who wrote of it at length. " * 3
    html = f"""<title>Levers</title><nav><a href=/>Home</a></nav><main><h1>Levers</h1><p>{text}
        <h2>Related</h2><ul><li><a href=p>Pulleys</a><li><a href=w>Wheels</a></ul></main>
        <footer>Copyright 2012</footer>"""
    page = merge_blocks(partition(html.encode(), method="spcola"))
    assert [content.text for content in page.contents] == [f"Levers\n{text.strip()}"]
    assert [link.href for block in page.related_links for link in block.links] == ["p", "w"]
