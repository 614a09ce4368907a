"""Cuts a page into blocks, and puts it together again.

A *block* is a byte range of the page as received; the *layout* is what stands between the blocks
(Song et al. 2008, definitions 1 to 5). For any method and any bytes, the pieces of the layout and
the blocks, in order, are the page.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from mmcrawl.blocks.kind_model import learnt_kinds
from mmcrawl.blocks.kinds import BlockKind, block_kinds
from mmcrawl.blocks.layout.features import PageFeatures, block_features
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD, MAX_LEVEL, Cut
from mmcrawl.blocks.partitioners.registry import LEARNT, RULES, make_method
from mmcrawl.blocks.topics import PageTopics, TopicRules
from mmcrawl.errors import BlockError
from mmcrawl.page.html.tree import PageTree, read_tree

_MOST_LEARNT = 20_000
"""Blocks of a page that the model tells the kinds of, in up to 3 s of CPU; of more the rules do."""


@dataclass(frozen=True, slots=True)
class BlockLink:
    """A link that is in a block: its href as written, and the beginning of its text."""

    href: str
    text: str


@dataclass(frozen=True, eq=False)
class Block:
    """One block of a page. What is not needed is not computed.

    Attributes:
        start, end: Byte range of the page as received.
        children: The blocks of the next level that lie inside it.
    """

    page: Partition = field(repr=False)
    start: int
    end: int
    level: int  # 1 for a block of the page, n + 1 for a block inside one of level n
    node: int = field(repr=False)  # the element it was cut from, an index into the page's tree
    children: tuple[Block, ...] = field(default=(), repr=False)

    @property
    def content(self) -> bytes:
        """The bytes of the block."""
        return self.page.body[self.start : self.end]

    @property
    def path(self) -> str:
        """DOM path of the element it was cut from."""
        return self.page.tree.path(self.node)

    @cached_property
    def nodes(self) -> range:
        """The nodes of the page's tree that begin inside the block."""
        starts = self.page.tree.starts
        first = bisect_left(starts, self.start, 1)
        return range(first, bisect_left(starts, self.end, first))

    @cached_property
    def text(self) -> str:
        """The visible text, white space collapsed."""
        return self.page.facts.texts.of(self.nodes)

    @cached_property
    def links(self) -> tuple[BlockLink, ...]:
        """The links (``a`` and ``area`` with href) that begin inside the block."""
        facts, attributes, stop = self.page.facts, self.page.tree.attributes, self.nodes.stop
        return tuple(
            BlockLink(href.strip(), facts.texts.of_link(node, stop))
            for node in facts.among("links", self.nodes)
            if (href := attributes(node).get("href"))
        )

    @property
    def kind(self) -> str:
        """The kind of the block, one of :data:`mmcrawl.blocks.kinds.KINDS`."""
        return self.page.kind_of(self).name

    @property
    def score(self) -> float:
        """The confidence in its kind, in (0, 1]."""
        return self.page.kind_of(self).score

    @property
    def features(self) -> Mapping[str, float]:
        """The evidence for the kind: spatial, content and tag features."""
        return block_features(self.page.facts, self.nodes)

    @property
    def topic(self) -> str:
        """The topic of the block, in a few words (Song et al. 2008, section 2.2)."""
        return self.page.block_topics.of(self.nodes)


class Partition:
    """A page and its blocks.

    Attributes:
        body: The page as received.
        url: Of the page, or None.
        method: Name of the partitioner, with its options if any were given with it.
        level: Level that was asked for.
        roots: The blocks of level 1, in order.
        blocks: The blocks that have none inside them, in order: with the layout between them
            they are the page.
        topics: The rules for their topics.
        kinds: What tells their kinds, "learnt" or "rules".
    """

    def __init__(
        self,
        tree: PageTree,
        cuts: Sequence[Cut],
        *,
        method: str,
        level: int,
        url: str | None = None,
        topics: TopicRules | None = None,
        kinds: str = RULES,
    ) -> None:
        self.tree = tree
        self.kinds = kinds
        self.topics = topics or TopicRules()
        self.body = tree.body
        self.method = method
        self.level = level
        self.url = url
        self.roots = _blocks(self, cuts)
        self.blocks = tuple(block for block in self if not block.children)

    def __iter__(self) -> Iterator[Block]:
        """Yield all blocks in order, each before those inside it."""
        waiting = list(reversed(self.roots))
        while waiting:
            block = waiting.pop()
            yield block
            waiting.extend(reversed(block.children))

    @property
    def encoding(self) -> str:
        """Python codec name the text is decoded with."""
        return self.tree.encoding

    @cached_property
    def measures(self) -> Measures:
        """The places of the blocks on the page."""
        return Measures(self.tree)

    @cached_property
    def facts(self) -> PageFeatures:
        """The features of the page and its blocks."""
        return PageFeatures(self.tree, self.measures, self.url)

    @cached_property
    def block_topics(self) -> PageTopics:
        """The finder of topics of blocks."""
        return PageTopics(self.tree, self.topics)

    @cached_property
    def layout(self) -> tuple[bytes, ...]:
        """The pieces before, between and after the blocks: one more than there are blocks."""
        ends = [0, *(block.end for block in self.blocks)]
        starts = [*(block.start for block in self.blocks), len(self.body)]
        return tuple(self.body[e:s] for e, s in zip(ends, starts, strict=True))

    def splice(self) -> bytes:
        """Return the page, byte for byte, from its layout and its blocks."""
        pieces = [self.layout[0]]
        for block, behind in zip(self.blocks, self.layout[1:], strict=True):
            pieces += (block.content, behind)
        return b"".join(pieces)

    def kind_of(self, block: Block) -> BlockKind:
        """Return the kind of a block of this page, with its score."""
        return self._kinds[id(block)]

    @cached_property
    def _kinds(self) -> dict[int, BlockKind]:
        return self._learnt_kinds() if self.kinds == LEARNT else self._kinds_by_rules()

    def ranges(self, blocks: Sequence[Block]) -> list[range]:
        """Return the nodes that begin inside each of some blocks."""
        starts = np.asarray(self.tree.starts)[1:]
        bounds = [[block.start for block in blocks], [block.end for block in blocks]]
        firsts, stops = (np.searchsorted(starts, np.array(bounds)) + 1).tolist()
        return list(map(range, firsts, stops))

    def _kinds_by_rules(self) -> dict[int, BlockKind]:
        # The blocks of one depth do not overlap: each is judged among its peers.
        kinds = {}
        blocks = list(self)
        for level in sorted({block.level for block in blocks}):
            peers = [b for b in blocks if b.level == level or (b.level < level and not b.children)]
            found = block_kinds(self.facts, self.ranges(peers))
            kinds.update({id(b): k for b, k in zip(peers, found, strict=True) if b.level == level})
        return kinds

    def _learnt_kinds(self) -> dict[int, BlockKind]:
        # The model knows blocks without any inside. Others are what most of their text is.
        told = learnt_kinds if len(self.blocks) <= _MOST_LEARNT else block_kinds
        ranges = self.ranges(self.blocks)
        found = told(self.facts, ranges)
        kinds = {id(block): kind for block, kind in zip(self.blocks, found, strict=True)}
        around = [block for block in self if block.children]
        if not around:
            return kinds
        names = sorted({kind.name for kind in found})
        chars = np.array([1 + self.facts.chars[r.stop] - self.facts.chars[r.start] for r in ranges])
        sure = np.zeros((len(ranges) + 1, len(names) + 1))  # running sums: of each kind, of all
        sure[1:, -1] = chars
        own = [names.index(kind.name) for kind in found]
        sure[np.arange(1, len(sure)), own] = chars * [kind.score for kind in found]
        np.cumsum(sure, axis=0, out=sure)
        starts = [block.start for block in self.blocks]
        for block in around:
            first, after = bisect_left(starts, block.start), bisect_left(starts, block.end)
            *shares, size = sure[after] - sure[first]
            best = int(np.argmax(shares))
            kinds[id(block)] = BlockKind(names[best], float(shares[best] / size))
        return kinds


def partition(
    body: bytes,
    *,
    method: str = DEFAULT_METHOD,
    level: int = DEFAULT_LEVEL,
    encoding: str | None = None,
    url: str | None = None,
    **options: Any,
) -> Partition:
    """Cut a page into blocks; never fails for what the bytes are.

    Args:
        body: The page as received, without content encoding (gzip, …).
        method: ``bwap``, ``spcola``, ``quark``, or one that another package registers; with
            options, if any, as ``quark:custom_tags=h1 h2;theta=9``.
        level: How often blocks are cut again, from 1 to 50; methods without levels ignore it.
        encoding: Python codec name of the body, where it is known; else it is found out.
        url: Of the page; helps to tell kinds of links.
        options: Keyword parameters of the method, or of :class:`~mmcrawl.blocks.topics.TopicRules`;
            ``kinds="learnt"`` or ``"rules"`` for what tells the kinds of blocks; the rules tell
            those of a page of more than 20,000.

    Raises:
        BlockError: there is no such method or encoding, the method does not take such an option,
            the level is above 50, or a method of another package returned what are no blocks.
        ValueError: the level is not positive.

    >>> page = partition(b"<table><tr><td>Levers <td>Pulleys</table>", method="quark")
    >>> page.splice() == page.body
    True
    """
    tree = read_tree(body, encoding=encoding)
    return partition_of(tree, method=method, level=level, url=url, **options)


def partition_of(
    tree: PageTree,
    *,
    method: str = DEFAULT_METHOD,
    level: int = DEFAULT_LEVEL,
    url: str | None = None,
    **options: Any,
) -> Partition:
    """Cut a page whose tree was read already: see :func:`partition`."""
    if level < 1:
        raise ValueError(f"level must be at least 1, not {level}")
    if level > MAX_LEVEL:
        raise BlockError(f"level must be at most {MAX_LEVEL}, not {level}")
    cut, topics, kinds = make_method(method, **options)
    cuts = cut(tree, level)
    _check(tree, cuts, method, level)
    return Partition(tree, cuts, method=method, level=level, url=url, topics=topics, kinds=kinds)


def _check(tree: PageTree, cuts: Sequence[Cut], method: str, level: int) -> None:
    """Refuse cuts that are not in order, inside each other, and no deeper than asked for."""
    waiting: list[tuple[Sequence[Cut], int, int, int]] = [(cuts, 0, len(tree.body), 1)]
    while waiting:
        peers, start, end, depth = waiting.pop()
        for cut in peers:
            if not start <= cut.start < cut.end <= end or depth > level:
                raise BlockError(
                    f"partitioner {method}: its block {cut.start} to {cut.end} of level {depth} "
                    f"must be one of level {level} at most, not empty, inside {start} to {end}"
                )
            if not 0 <= cut.node < len(tree):
                raise BlockError(f"partitioner {method}: the page has no node {cut.node}")
            start = cut.end
            if cut.children:
                waiting.append((cut.children, cut.start, cut.end, depth + 1))


def _blocks(page: Partition, cuts: Sequence[Cut]) -> tuple[Block, ...]:
    """Make blocks of cuts, from the innermost outwards, without recursion."""
    order: list[tuple[Cut, int]] = []
    waiting = [(cut, 1) for cut in cuts]
    while waiting:
        cut, level = waiting.pop()
        order.append((cut, level))
        waiting.extend((child, level + 1) for child in cut.children)
    made: dict[int, Block] = {}
    for cut, level in reversed(order):
        children = tuple(made.pop(id(child)) for child in cut.children)
        made[id(cut)] = Block(page, cut.start, cut.end, level, cut.node, children)
    return tuple(made[id(cut)] for cut in cuts)


def partition_record(page: Partition) -> dict[str, Any]:
    """Return a partition as plain lists and dictionaries.

    ``url``, ``method``, ``level``, ``encoding``; ``size`` in bytes; ``layout``, the sizes of the
    pieces before, between and after the innermost blocks; ``blocks``, those of level 1, each with
    ``start`` and ``end`` (bytes of the page as received), ``level``, ``path``, ``kind``, ``score``,
    ``features``, ``topic``, ``text``, ``links`` (``href`` as written, ``text``) and ``children``,
    the blocks inside it. A number that is none (not finite) is None.
    """
    roots: list[dict[str, Any]] = []
    siblings = [roots]  # where blocks of each level are added, from level 1 on
    for block in page:
        record = _block_record(block)
        del siblings[block.level :]
        siblings[-1].append(record)
        siblings.append(record["children"])
    return {
        "url": page.url,
        "method": page.method,
        "level": page.level,
        "encoding": page.encoding,
        "size": len(page.body),
        "layout": [len(piece) for piece in page.layout],
        "blocks": roots,
    }


def partition_json(page: Partition, metadata: Mapping[str, str] | None = None) -> str:
    """Return :func:`partition_record` as one JSON document, with a line feed at its end.

    Args:
        metadata: Of the page, which becomes its ``metadata``; None leaves it out.

    Blocks are nested in the document as they are on the page: a level of some hundreds is more
    than the ``json`` module nests.

    >>> from mmcrawl.blocks import partition
    >>> print(partition_json(partition(b"", method="quark")).splitlines()[1])
      "url": null,
    """
    record = partition_record(page)
    if metadata is not None:
        record["metadata"] = dict(metadata)
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _block_record(block: Block) -> dict[str, Any]:
    return {
        "start": block.start,
        "end": block.end,
        "level": block.level,
        "path": block.path,
        "kind": block.kind,
        "score": _finite(block.score),
        "features": {name: _finite(value) for name, value in block.features.items()},
        "topic": block.topic,
        "text": block.text,
        "links": [{"href": link.href, "text": link.text} for link in block.links],
        "children": [],
    }


def _finite(value: float) -> float | None:
    number = float(value)  # numpy's are not known to the json module
    return number if isfinite(number) else None
