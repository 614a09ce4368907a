"""Where a link stands: the innermost elements around it, as steps that pages of one site share."""

import re
from functools import lru_cache

from mmcrawl.page.tree import PageTree

_LONGEST_PATH = 8  # elements; what stands further out is alike on most pages of a site
_LONGEST_STEP = 60  # characters
_MOST_CLASSES = 2  # the others say what a post is filed under
_NUMBER = re.compile(r"\d+")
_ONCE = {"html": 1, "body": 2}  # elements that a page has once, by how many are around another
_TOP = frozenset({"body", "frame", "frameset", "head", "html"})


class TagPaths:
    """The tag paths of one page, asked for in document order."""

    def __init__(self, tree: PageTree) -> None:
        self._tree = tree
        # Elements around the last, each with its path and how many steps that has.
        self._open = [(0, "", 0)]

    def of(self, node: int) -> str:
        """Return the tag path of an element.

        Elements that a page need not write are there: ``html``, ``body``. What is for browsers
        without frames is a page of its own.
        """
        tree, opened = self._tree, self._open
        tags, parents, after = tree.tags, tree.parents, tree.after
        while after[opened[-1][0]] <= node:
            opened.pop()
        known, path, size = opened[-1]
        unknown: list[int] = []
        while node > known and tags[node] != "noframes":
            unknown.append(node)
            node = parents[node]
        if node != known:
            path, size = "", 0
        for node in reversed(unknown):
            tag = tags[node]
            if size >= _ONCE.get(tag, _LONGEST_PATH + 1):
                continue
            if size < 2 and tag != "html":
                path, size = path or "html", size or 1
                if size == 1 and tag not in _TOP:
                    path, size = f"{path} body", 2
            attributes = tree.attributes(node)
            name, classes = attributes.get("id"), attributes.get("class")
            if name or classes:
                tag = step(tag, (name or "")[:_LONGEST_STEP], (classes or "")[:200])
            if size == _LONGEST_PATH:
                path, size = path.partition(" ")[2], size - 1
            path, size = f"{path} {tag[:_LONGEST_STEP]}" if path else tag, size + 1
            opened.append((node, path, size))
        return path


@lru_cache(maxsize=4096)
def step(tag: str, name: str, classes: str) -> str:
    """Return an element as a step of a tag path, in at most `_LONGEST_STEP` characters.

    >>> step("h2", "", "post-17 post hentry")
    'h2.post-0.post'
    """
    marks = [f"#{one}" for one in name.split()[:1]]
    marks += [f".{one}" for one in classes.split()[:_MOST_CLASSES]]
    return f"{tag}{_NUMBER.sub('0', ''.join(marks))}"[:_LONGEST_STEP]
