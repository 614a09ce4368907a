"""The kind of the block in which each link of a page stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from mmcrawl.blocks.partition import Partition
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.scripts.literals import looks_like_url, page_literals
from mmcrawl.page.structured import Declared

BEST_FIRST = (
    "related-links",
    "topic",
    "title",
    "image",
    "small",
    "navigation",
    "comments",
    "noise-links",
    "copyright",
    "advertisement",
)
"""The kinds of blocks, by what a link in one promises. Of several, a link has the best."""

_ADDRESSES = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_RANK = {kind: rank for rank, kind in enumerate(BEST_FIRST)}
_SCRIPT = "javascript:"


def link_kinds(page: Partition, url: str, encoding: str | None = None) -> dict[str, str]:
    """Return the kind of block that each link of a page stands in, by the link's address.

    Addresses are those of :attr:`mmcrawl.page.Page.links`: absolute, by the page's ``<base>``, and
    as scripts in attributes name them. Links to the page itself are among them.

    Args:
        encoding: Python codec name; by default the one it was cut with. It decides how queries are
            written.

    >>> from mmcrawl.blocks import partition
    >>> page = partition(b"<nav><a href=a>Contact</a></nav><p>Levers <a href=b>move</a> the world.")
    >>> link_kinds(page, "http://h.test/")
    {'http://h.test/a': 'navigation', 'http://h.test/b': 'related-links'}
    """
    resolve = Declared(page.tree).resolver(url, encoding)
    firsts = [block.nodes.start for block in page.blocks]
    kinds: dict[int, str] = {}  # of the blocks with links
    found: dict[str, str] = {}
    for node, reference in references(page.tree):
        index = bisect_right(firsts, node) - 1
        if index < 0 or node not in page.blocks[index].nodes:
            continue
        target = resolve(reference)
        if target is None:
            continue
        if index not in kinds:
            kinds[index] = page.blocks[index].kind
        known, kind = found.get(target.url), kinds[index]
        if known is None or _RANK[kind] < _RANK[known]:
            found[target.url] = kind
    return found


def references(tree: PageTree) -> Iterator[tuple[int, str]]:
    """Yield the references of a page to other pages: the node, and what it has written."""
    clickable = set(tree.mentioning(b"onclick"))
    for node in sorted({*tree.elements("option", *_ADDRESSES), *clickable}):
        tag = tree.tags[node]
        if tag in _ADDRESSES:
            reference = tree.attributes(node).get(_ADDRESSES[tag], "")
            if reference.lstrip()[: len(_SCRIPT)].lower() == _SCRIPT:
                yield from ((node, literal) for literal in page_literals(reference))
            elif reference:
                yield node, reference
        elif tag == "option":
            value = tree.attributes(node).get("value", "")
            if looks_like_url(value, navigates=True):
                yield node, value
        if node in clickable:
            calls = page_literals(tree.attributes(node).get("onclick", ""))
            yield from ((node, literal) for literal in calls)
