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
        self._open: list[tuple[int, list[str]]] = []  # elements around the last, and their paths

    def of(self, node: int) -> str:
        """Return the tag path of an element.

        Elements that a page need not write are there: ``html``, ``body``. What is for browsers
        without frames is a page of its own.
        """
        tree, opened = self._tree, self._open
        while opened and tree.after[opened[-1][0]] <= node:
            opened.pop()
        known, path = opened[-1] if opened else (0, [])
        unknown: list[int] = []
        while node > known and tree.tags[node] != "noframes":
            unknown.append(node)
            node = tree.parents[node]
        path = path if node == known else []
        for node in reversed(unknown):
            tag = tree.tags[node]
            if len(path) >= _ONCE.get(tag, _LONGEST_PATH + 1):
                continue
            if not path and tag != "html":
                path = ["html"]
            if len(path) == 1 and tag not in _TOP:
                path = [*path, "body"]
            if attributes := tree.attributes(node):
                name, classes = attributes.get("id", ""), attributes.get("class", "")
                tag = step(tag, name[:_LONGEST_STEP], classes[:200])
            path = [*path[1 - _LONGEST_PATH :], tag[:_LONGEST_STEP]]
            opened.append((node, path))
        return " ".join(path)


@lru_cache(maxsize=4096)
def step(tag: str, name: str, classes: str) -> str:
    """Return an element as a step of a tag path, in at most `_LONGEST_STEP` characters.

    >>> step("h2", "", "post-17 post hentry")
    'h2.post-0.post'
    """
    marks = [f"#{one}" for one in name.split()[:1]]
    marks += [f".{one}" for one in classes.split()[:_MOST_CLASSES]]
    return f"{tag}{_NUMBER.sub('0', ''.join(marks))}"[:_LONGEST_STEP]
