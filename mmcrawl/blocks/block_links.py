"""The links of blocks: features are computed once for each link, and summed for each block."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.block_words import lists_of
from mmcrawl.blocks.layout.features import PageFeatures
from mmcrawl.page.urls import Resolver

Floats = NDArray[Any]

_LOOKED_AT = 50  # links of a block
_LONGEST_ADDRESS = 300  # characters
_DEEP = 3  # folders
_PARTS = re.compile(r"(?:[a-zA-Z][\w+.-]*:)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.ASCII)
_DIGIT = re.compile(r"\d")
_FRONT = re.compile(r"/?(?:(?:index|default|home)\.\w{3,5})?", re.IGNORECASE)


class Lead(NamedTuple):
    """The target of a link, and the shape of its address."""

    elsewhere: bool = False
    front: bool = False
    fragment: bool = False
    script: bool = False
    deep: bool = False
    numbered: bool = False
    same_folder: bool = False
    mail: bool = False


class BlockLinks:
    """The first links of each block, one after the other.

    Args:
        page: The page they stand on.
        starts, stops: First node of each block, and the node behind it; in order, not overlapping.

    Attributes:
        counts: How many links of each block are looked at.
        bounds: Where those of each begin among all, and what is behind the last.
        texts: Of each link, as far as it is in its block.
    """

    def __init__(
        self, page: PageFeatures, starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> None:
        self._page = page
        links = np.array(page.all("anchors"), dtype=np.int64)
        firsts = np.searchsorted(links, starts)
        self.counts = np.minimum(np.searchsorted(links, stops) - firsts, _LOOKED_AT)
        self.bounds = np.append(0, np.cumsum(self.counts))
        self._bounds: list[int] = self.bounds.tolist()
        self.places = np.arange(self._bounds[-1]) - np.repeat(self.bounds[:-1], self.counts)
        self._nodes: list[int] = links[np.repeat(firsts, self.counts) + self.places].tolist()
        ends = np.repeat(stops, self.counts).tolist()
        self.texts = list(map(page.texts.of_link, self._nodes, ends))
        self._words: dict[str, list[float]] = {}

    def shares(self, values: Sequence[Any] | Floats) -> Floats:
        """Return the mean over the links of each block, of numbers or of rows of them; 0 of none.

        Args:
            values: Of each link.
        """
        each = np.asarray(values, dtype=np.float64)
        sums = np.zeros((len(each) + 1, *each.shape[1:]))
        np.cumsum(each, axis=0, out=sums[1:])
        held = sums[self.bounds[1:]] - sums[self.bounds[:-1]]
        shares: Floats = held / np.maximum(self.counts, 1).reshape(-1, *[1] * (each.ndim - 1))
        return shares

    @cached_property
    def _lists(self) -> list[frozenset[str]]:
        return list(map(lists_of, self.texts))

    def shares_of_words(self, kind: str) -> list[float]:
        """Return the share of the links of each block that are words of a list."""
        known = self._words.get(kind)
        if known is None:
            marks = [kind in lists for lists in self._lists]
            known = self._words[kind] = self.shares(marks).tolist()
        return known

    @cached_property
    def _hrefs(self) -> list[str]:
        attributes = self._page.tree.attributes
        return [attributes(node).get("href", "").strip()[:_LONGEST_ADDRESS] for node in self._nodes]

    @cached_property
    def leading(self) -> dict[str, Floats]:
        """Of each block, the share of its links that lead where :class:`Lead` says, by name."""
        here, resolve = _address(self._page.url), Resolver(self._page.url, self._page.tree.encoding)
        known = {href: _lead(href, here, resolve) for href in dict.fromkeys(self._hrefs)}
        rows = np.array([known[href] for href in self._hrefs]).reshape(-1, len(Lead._fields))
        return dict(zip(Lead._fields, self.shares(rows).T, strict=True))

    @cached_property
    def lead_to_front(self) -> list[bool]:
        """Whether each block is links to the site's front page, and the page another: its name."""
        if not self._page.url or _address(self._page.url).front:
            return [False] * len(self.counts)
        marks: list[bool] = (self.leading["front"] == 1).tolist()
        return marks

    def all_leave(self, index: int) -> bool:
        """Whether the links of a block lead to other sites; False if the page's is not known."""
        lead = self.leading
        return bool(lead["elsewhere"][index] - lead["mail"][index] == 1)


class _Shape(NamedTuple):
    """The shape of an address; the folder ends in a slash, and is "" without a path."""

    host: str
    folder: str
    front: bool
    deep: bool
    numbered: bool


@lru_cache(maxsize=8_192)  # those of menus stand on all pages of a site
def _address(url: str) -> _Shape:
    host, path, query = _PARTS.match(url).groups("")  # type: ignore[union-attr] # it always does
    last = path.rstrip("/").rpartition("/")[2]
    return _Shape(
        host,
        f"{path.rpartition('/')[0]}/" if path else "",
        bool(host) and not query and _FRONT.fullmatch(path) is not None,
        len(list(filter(None, path.split("/")))) >= _DEEP,
        len(_DIGIT.findall(path + query)) >= 4 or last.count("-") >= 3,
    )


def _lead(href: str, here: _Shape, resolve: Resolver) -> Lead:
    if href.startswith("#"):
        return Lead(fragment=True)
    if href[:11].lower() == "javascript:":
        return Lead(script=True)
    there = _address(unquote(resolve.address(href) or href))
    return Lead(
        elsewhere=here.host not in ("", there.host),
        front=there.front,
        deep=there.deep,
        numbered=there.numbered,
        same_folder=there.host == here.host and here.folder == there.folder != "",
        mail=href.startswith("mailto:"),
    )
