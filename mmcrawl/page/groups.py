"""Where a link stands: in a group (主题团) with a title, and on a path of tags.

Groups and their titles are from the four rules of Yang 2009, section 2.1.3.

A page is read as a sequence of *lines*: text between two block boundaries or line breaks. The
links of a container (table, list, section, division) form a run; a heading inside the container
ends a run that already holds links and begins the next. The title of a run is a line that meets
two of four rules: (1) larger type than its surroundings, (2) another colour, (3) fewer than ten
words or Chinese characters, (4) it stands alone. Nothing is rendered: sizes and colours are the
declared ones. *Surroundings* are the run's own links.

Where the title is looked for, first success wins:

1. lines of the container before its first link: most rules, then the nearest to the links;
2. lines before the container, with no link in between: most rules, then the nearest;
3. lines among the links, if one of the rules met is size or colour (a short cell of a table of
   links, such as a date, is no title); most rules, then the first.

A tag path is the innermost elements around a link, as steps that pages of one site share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Self

from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.looks import PLAIN, Look

CONTAINERS = frozenset(
    """
    table ul ol dl menu dir section nav article aside header footer main div fieldset
    """.split()
)
# Tags that set their text apart by themselves: a link inside does not make it a list of links.
TITLE_TAGS = frozenset("h1 h2 h3 h4 h5 h6 th caption legend dt summary".split())
RUN_BREAKS = frozenset("h1 h2 h3 h4 h5 h6 dt".split())

LONGEST_TITLE = 200
_SHORT = 10
_KEPT = 8  # candidates per run and place
_HAS_LETTER = re.compile(r"[^\W\d_]")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_UNIT = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")

_LONGEST_PATH = 8  # elements; what stands further out is alike on most pages of a site
_LONGEST_STEP = 60  # characters
_MOST_CLASSES = 2  # the others say what a post is filed under
_NUMBER = re.compile(r"\d+")
_ONCE = {"html": 1, "body": 2}  # elements that a page has once, by how many are around another
_TOP = frozenset({"body", "frame", "frameset", "head", "html"})


class Line(NamedTuple):
    """A text that may be a title."""

    text: str
    look: Look
    alone: bool

    @classmethod
    def of(cls, text: str, look: Look, alone: bool) -> Line | None:
        """Return the line, or None if it cannot be a title: too long, or without a letter."""
        if len(text) > LONGEST_TITLE or not _HAS_LETTER.search(text):
            return None
        return cls(text, look, alone)


class Mergeable:
    """Something that may be merged into another of its kind: `merged` is that one, or None."""

    __slots__ = ("merged",)
    merged: Self | None

    def final(self) -> Self:
        """Return the one that this is in the end; the way there is shortened."""
        one = self
        while one.merged is not None:
            if one.merged.merged is not None:
                one.merged = one.merged.merged
            one = one.merged
        return one


class LinkRun(Mergeable):
    """The links of one container, or of its part under one heading, and the lines around them."""

    __slots__ = ("among", "around", "before", "leading", "links", "looks", "titled")

    def __init__(self, around: Look, before: tuple[Line, ...]) -> None:
        self.around = around
        self.before = before
        self.leading: list[Line] = []
        self.among: list[Line] = []
        self.links = 0
        self.titled = 0  # links inside title tags: they do not end the leading lines
        self.looks: set[Look] = set()
        self.merged = None  # or the run that it became an item of

    def add_link(self, look: Look, in_title: bool) -> None:
        self.links += 1
        if in_title:
            self.titled += 1
        elif len(self.looks) < _KEPT:
            self.looks.add(look)

    def add_line(self, line: Line) -> None:
        if self.links == self.titled:
            self.leading.append(line)
            del self.leading[:-_KEPT]
        elif len(self.among) < _KEPT:
            self.among.append(line)

    def title(self) -> str:
        """The text that names the links, or ""."""
        # Ties: the last of the lines before the links, the first of those among them.
        for lines in (self.leading, self.before):
            if best := self._best(reversed(lines)):
                return best.text
        among = self._best(line for line in self.among if self._stands_out(line))
        return among.text if among else ""

    def has_own_title(self) -> bool:
        return self._best(self.leading) is not None

    def _best(self, lines: Iterable[Line]) -> Line | None:
        best = max(lines, key=self._rules, default=None)
        return best if best is not None and self._rules(best) >= 2 else None

    def _rules(self, line: Line) -> int:
        return self._larger(line) + self._other_colour(line) + _is_short(line.text) + line.alone

    def _stands_out(self, line: Line) -> bool:
        return self._larger(line) or self._other_colour(line)

    def _larger(self, line: Line) -> bool:
        looks = self.looks or (self.around,)
        return line.look.size > min(look.size for look in looks) + 0.5

    def _other_colour(self, line: Line) -> bool:
        looks = self.looks or (self.around,)
        return all(line.look[1:] != look[1:] for look in looks)


def _is_short(text: str) -> bool:
    # Most have fewer characters than that, or no more words: only the others are read.
    return len(text) < _SHORT or len(_UNIT.findall(text)) < _SHORT


class GroupTracker:
    """Follows containers, lines and links in document order and sorts the links into runs."""

    def __init__(self) -> None:
        self._open = [("body", LinkRun(PLAIN, ()))]
        self._previous: tuple[Line, ...] = ()  # the last lines since the last link

    def open_container(self, tag: str, look: Look) -> None:
        self._open.append((tag, LinkRun(look, self._previous)))

    def close_container(self) -> None:
        """Close the innermost container.

        A division with one link, or none, and no title of its own is an item of the run around
        it: old and new pages alike wrap each link of a list in its own.
        """
        tag, run = self._open.pop()
        around = self._open[-1][1]
        if tag == "div" and not run.links:
            for line in run.leading:
                around.add_line(line)
        elif tag == "div" and run.links == 1 and not run.has_own_title():
            run.merged = around
            around.links += 1
            around.titled += run.titled
            around.looks |= run.looks

    def break_run(self) -> None:
        """A heading begins: links after it belong to another run of the same container."""
        tag, run = self._open[-1]
        if run.links:
            self._open[-1] = (tag, LinkRun(run.around, ()))

    def add_line(self, line: Line | None) -> None:
        """A line ended; None stands for one that cannot be a title."""
        if line is not None:
            self._previous = (*self._previous[1 - _KEPT :], line)
            self._open[-1][1].add_line(line)

    def add_link(self, look: Look, in_title: bool) -> LinkRun:
        """Return the run that the link belongs to so far; ask its ``final()`` at the end."""
        self._previous = ()
        run = self._open[-1][1]
        run.add_link(look, in_title)
        return run


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
