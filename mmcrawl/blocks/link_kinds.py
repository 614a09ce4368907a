"""In which kind of block each link of a page stands."""

from __future__ import annotations

from collections.abc import Iterator

from mmcrawl.blocks.partition import Partition
from mmcrawl.blocks.tree import PageTree
from mmcrawl.page.scripts import looks_like_url, page_literals
from mmcrawl.page.urls import Resolver, base_url

BEST_FIRST = (
    "related-links",
    "topic",
    "title",
    "image",
    "small",
    "navigation",
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
        page: The page in blocks, by any method.
        url: Of the page.
        encoding: Python codec name; by default the one it was cut with. It decides how queries are
            written.

    >>> from mmcrawl.blocks import partition
    >>> page = partition(b"<nav><a href=a>Contact</a></nav><p>Levers <a href=b>move</a> the world.")
    >>> link_kinds(page, "http://h.test/")
    {'http://h.test/a': 'navigation', 'http://h.test/b': 'small'}
    """
    encoding = encoding or page.encoding
    resolve = Resolver(base_url(declared_base(page.tree), url, encoding), encoding)
    found: dict[str, str] = {}
    for block in page.blocks:
        for _, reference in references(page.tree, block.nodes):
            target = resolve(reference)
            if target is None:
                continue
            known, kind = found.get(target.url), block.kind
            if known is None or _RANK[kind] < _RANK[known]:
                found[target.url] = kind
    return found


def declared_base(tree: PageTree) -> str:
    """Return the first ``<base href>`` of a page that says anything, as written, or ""."""
    bases = (tree.attributes(node) for node, tag in enumerate(tree.tags) if tag == "base")
    return next(filter(None, (found.get("href", "").strip() for found in bases)), "")


def references(tree: PageTree, nodes: range) -> Iterator[tuple[int, str]]:
    """Yield the references of some nodes to other pages: the node, and what it has written."""
    for node in nodes:
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
        if b"onclick" in tree.start_tag(node).lower():
            calls = page_literals(tree.attributes(node).get("onclick", ""))
            yield from ((node, literal) for literal in calls)
