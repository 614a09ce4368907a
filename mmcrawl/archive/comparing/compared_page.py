"""A page prepared for comparison: its innermost blocks, and the runs of text in and between
them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import StoredBlock, digest_of, leaves
from mmcrawl.page.html.building import TEXT

_TARGETS = ("src", "srcset", "data-src", "href")
_WITH_TARGET = frozenset("a area audio embed iframe img input object source video".split())


@dataclass(frozen=True, eq=False)
class ComparedPage:
    """One of two pages.

    Attributes:
        page: As archived.
        blocks: Those that are compared, none inside another.
        identities: Of each block: equal where their bytes are, or their characters, if the pages
            are in different encodings.
    """

    page: ArchivedPage
    blocks: list[StoredBlock]
    identities: list[str]

    def __len__(self) -> int:
        return len(self.blocks)

    @cached_property
    def layout(self) -> list[bytes]:
        """The bytes before, between and behind the blocks."""
        body = self.page.body
        ends = [0, *(block.end for block in self.blocks)]
        starts = [*(block.start for block in self.blocks), len(body)]
        return [body[end:start] for end, start in zip(ends, starts, strict=True)]

    @cached_property
    def texts(self) -> list[str]:
        """The text of each block; of one without, its pictures and links."""
        return [
            " ".join(runs) or "\0".join(self.targets(index)) for index, runs in enumerate(self.runs)
        ]

    @property
    def runs(self) -> list[list[str]]:
        """The runs of visible text of each block."""
        return self._all_runs[0]

    @property
    def layout_runs(self) -> list[str]:
        """The title and the runs of visible text that are in no block."""
        return self._all_runs[1]

    @property
    def all_text(self) -> Counter[str] | None:
        """The runs of visible text of the page; None of a body that is no page."""
        if not self.page.version.method:
            return None
        return Counter([*self.layout_runs, *chain.from_iterable(self.runs)])

    def visible_text(self, index: int) -> str:
        """Return the visible text of a block."""
        return self.page.text(self.blocks[index])

    def spaced_runs(self, index: int) -> list[str]:
        """Return the runs of a block, with a space behind those that white space follows."""
        text, at = self.visible_text(index), 0
        found = []
        for run in self.runs[index]:
            at += len(run)
            space = text[at : at + 1] == " "
            at += space
            found.append(f"{run} " if space else run)
        return found

    def targets(self, index: int) -> list[str]:
        """Return the addresses of pictures, media and links of a block."""
        return self._targets(self.blocks[index].start, self.blocks[index].end)

    @cached_property
    def all_targets(self) -> set[str]:
        """The addresses of pictures, media and links of the page."""
        return set(self._targets(0, len(self.page.body)))

    def _targets(self, start: int, end: int) -> list[str]:
        if not self.page.version.method:
            return []
        tree = self.page.tree
        nodes = range(bisect_left(tree.starts, start, 1), bisect_left(tree.starts, end, 1))
        found = []
        for node in nodes:
            if tree.tags[node] in _WITH_TARGET:
                attributes = tree.attributes(node)
                found += [attributes[name] for name in _TARGETS if attributes.get(name)]
        return found

    @cached_property
    def _all_runs(self) -> tuple[list[list[str]], list[str]]:
        inside: list[list[str]] = [[] for _ in self.blocks]
        outside: list[str] = []
        if not self.page.version.method:
            return inside, outside
        tree, hidden = self.page.tree, self.page.parsed.measures.hidden
        if "title" in tree.tags:
            outside.append(" ".join(tree.raw_content(tree.tags.index("title")).split()))
        waiting = iter(enumerate(self.blocks))
        index, block = next(waiting, (-1, None))
        for node, tag in enumerate(tree.tags):
            if tag != TEXT or hidden[node] or not (text := tree.text(node)):
                continue
            start = tree.starts[node]
            while block is not None and block.end <= start:
                index, block = next(waiting, (-1, None))
            within = block is not None and block.start <= start
            (inside[index] if within else outside).append(text)
        return inside, outside


def compared_pages(old: ArchivedPage, new: ArchivedPage) -> tuple[ComparedPage, ComparedPage]:
    """Return two pages cut as alike as can be.

    One block that is whole in one version and cut further in the other is taken as whole.
    """
    known = old.version.encoding == new.version.encoding
    blocks = old.blocks, new.blocks
    identities = [
        [b.digest if known else _of_characters(page, b) for b in cut]
        for page, cut in zip((old, new), blocks, strict=True)
    ]
    whole = [
        {name for block, name in zip(cut, names, strict=True) if block in innermost}
        for cut, names, innermost in zip(
            blocks, identities, (set(leaves(b)) for b in blocks), strict=True
        )
    ]
    return (
        _cut_as(old, blocks[0], identities[0], whole[1]),
        _cut_as(new, blocks[1], identities[1], whole[0]),
    )


def _cut_as(
    page: ArchivedPage, blocks: Sequence[StoredBlock], names: Sequence[str], whole: set[str]
) -> ComparedPage:
    """Take the innermost blocks, but as a whole what is a whole block in another version."""
    found: list[StoredBlock] = []
    end = 0
    for block, name in zip(blocks, names, strict=True):
        if block.start >= end:
            found.append(block)
            end = block.end if name in whole else end
    innermost = leaves(found)
    name_of = {(b.start, b.end): name for b, name in zip(blocks, names, strict=True)}
    return ComparedPage(page, innermost, [name_of[b.start, b.end] for b in innermost])


def _of_characters(page: ArchivedPage, block: StoredBlock) -> str:
    """Return a digest of the characters of a block, or of its bytes if they cannot be decoded."""
    content = page.body[block.start : block.end]
    if not page.version.encoding:
        return block.digest
    return digest_of(content.decode(page.version.encoding, "replace").encode("utf-8", "replace"))
