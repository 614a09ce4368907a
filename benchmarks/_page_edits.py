"""Known edits of real pages, made in their bytes, with what a comparison is to tell of them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tree import PageTree, read_tree

_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
_DATE = re.compile(rb"\b20[012]\d\b")
_SPACE = re.compile(rb"[ \t\r\n]+")
_BETWEEN_TAGS = re.compile(rb">([ \t\r\n]+)<")
_CHARSET = re.compile(rb"""(?i)(<meta[^>]+charset=["']?)([\w-]+)""")
_KEPT_SPACE = {"pre", "textarea", "script", "style"}
_BOXES = {"p", "div", "li", "section", "article", "ul", "table", "blockquote"}
_RENAMED = {
    "div": "section", "p": "div", "ul": "div", "ol": "div", "li": "div", "h2": "h3",
    "article": "div", "section": "div", "main": "div", "table": "div", "tbody": "div",
    "tr": "div", "td": "div", "dl": "div", "dt": "div", "dd": "div",
}  # fmt: skip

_Piece = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Edit:
    """Two pages, and what is to be told of them.

    Attributes:
        old, new: Bodies.
        removed, added: Words.
        moved: Whether something moved.
        kind: A block of this kind should be told, "" for any.
        verdict: Of :attr:`Difference.verdict`; None for any.
    """

    old: bytes
    new: bytes
    removed: str = ""
    added: str = ""
    moved: bool = False
    kind: str = ""
    verdict: str | None = None


def words(text: str) -> Counter[str]:
    """Return how often each word stands in a text; of Chinese, each character."""
    return Counter(_WORD.findall(text))


class Page:
    """A page to edit: where its text and its elements stand."""

    def __init__(self, body: bytes, dice: random.Random) -> None:
        self.body, self.dice = body, dice
        self.tree: PageTree = read_tree(body)
        hidden = Measures(self.tree).hidden
        tree = self.tree
        self.texts = [
            i for i, tag in enumerate(tree.tags)
            if tag == TEXT and not hidden[i] and tree.tags[tree.parents[i]] not in _KEPT_SPACE
        ]  # fmt: skip
        self.elements = [
            i for i, tag in enumerate(tree.tags)
            if i and tag != TEXT and not hidden[i] and tree.inner_starts[i] < tree.ends[i]
        ]  # fmt: skip

    def long_texts(self) -> list[int]:
        return [i for i in self.texts if len(self.tree.text(i)) >= 40]

    def span(self, node: int) -> tuple[int, int]:
        return self.tree.starts[node], self.tree.ends[node]

    def size(self, node: int) -> int:
        return sum(len(self.tree.text(i)) for i in range(node, self.tree.after[node]))

    def with_pieces(self, *pieces: _Piece) -> bytes:
        """Return the body with some ranges replaced."""
        parts, at = [], 0
        for start, end, new in sorted(pieces):
            if start < at:
                continue
            parts += (self.body[at:start], new)
            at = end
        return b"".join((*parts, self.body[at:]))

    def typo(self, node: int) -> tuple[_Piece, str, str]:
        """Replace a word of a text by another; gives both words."""
        start, end = self.span(node)
        encoding = self.tree.encoding
        found = [
            w for w in re.finditer(r"[^\W\d_]+", self.body[start:end].decode(encoding))
            if len(w[0]) > 3 and not w.string[: w.start()].endswith("&")
        ]  # fmt: skip
        if not found:
            raise LookupError
        word = self.dice.choice(found)
        at = start + len(word.string[: word.start()].encode(encoding))
        end = at + len(word[0].encode(encoding))
        new = word[0][1:] if len(words(word[0])) > 1 else word[0][::-1]
        removed, added = words(word[0]), words(new)
        piece = at, end, new.encode(encoding)
        return piece, " ".join((removed - added).elements()), " ".join((added - removed).elements())

    def box(self) -> int:
        """Return an element of a paragraph or more that has siblings of that kind."""
        tree = self.tree
        found = [i for i in self.elements if tree.tags[i] in _BOXES and 60 <= self.size(i) <= 1500]
        return self.dice.choice([i for i in found if len(self.siblings(i)) > 1])

    def siblings(self, node: int) -> list[int]:
        tree = self.tree
        return [
            i for i in tree.children(tree.parents[node])
            if i != node and tree.tags[i] != TEXT and self.size(i) >= 20
        ]  # fmt: skip


def _typo(page: Page) -> Edit:
    piece, old, new = page.typo(page.dice.choice(page.long_texts()))
    return Edit(page.body, page.with_pieces(piece), old, new)


def _paragraph(page: Page) -> Edit:
    at = page.tree.ends[page.box()]
    text = "Zwieback quorum vexes jolly wombats by the fjord at Gdynia today"
    return Edit(page.body, page.with_pieces((at, at, f"<p>{text}</p>".encode())), "", text)


def _target(page: Page, box: int) -> int:
    """Return where a box goes among its siblings: to the end, or the front if it is last."""
    others = page.siblings(box)
    last = others[-1]
    return page.tree.ends[last] if last > box else page.tree.starts[others[0]]


def _move(page: Page, box: int, at: int, *more: _Piece, indent: bytes = b"") -> bytes:
    start, end = page.span(box)
    content = page.body[start:end]
    if indent:
        content = _SPACE.sub(b" ", content).replace(b"> <", b">" + indent + b"<")
        content = content.replace(b". ", b"." + indent).replace(b"<br>", b"<br>" + indent) + indent
        content = re.sub(rb">(?=[^<\s])", b">" + indent, content, count=1)
    return page.with_pieces((start, end, b""), (at, at, content), *more)


def _moved_block(page: Page) -> Edit:
    box = page.box()
    return Edit(page.body, _move(page, box, _target(page, box)), moved=True)


def _moved_indented(page: Page) -> Edit:
    box = page.box()
    return Edit(page.body, _move(page, box, _target(page, box), indent=b"\n   "), moved=True)


def _moved_neighbour(page: Page) -> Edit:
    box = page.box()
    others = page.siblings(box)
    beside = others[-1] if others[-1] > box else others[0]
    texts = [i for i in page.texts if beside < i < page.tree.after[beside]]
    piece, old, new = page.typo(max(texts, key=lambda i: len(page.tree.text(i))))
    return Edit(page.body, _move(page, box, _target(page, box), piece), old, new, moved=True)


def _moved_elsewhere(page: Page) -> Edit:
    box = page.box()
    start, end = page.span(box)
    parent = page.tree.parents[box]
    far = [
        i for i in page.elements
        if page.tree.tags[i] in _BOXES and page.size(i) >= 60 and page.tree.parents[i] != parent
        and not start <= page.tree.starts[i] < end
    ]  # fmt: skip
    at = page.tree.starts[page.dice.choice(far)]
    return Edit(page.body, _move(page, box, at), moved=True)


def _advertisement(page: Page) -> Edit:
    at = page.tree.starts[page.box()]
    old, new = (
        page.with_pieces((at, at, (
            f'<div class="advert"><a rel="sponsored" href="http://ads.test/click?id={n}"><img'
            f' src="http://ads.test/{n}.gif" width="468" height="60" alt=""> {text}</a></div>'
        ).encode()))
        for n, text in ((17, "Cheap lenses"), (23, "Quiet mirrors"))
    )  # fmt: skip
    return Edit(old, new, "Cheap lenses", "Quiet mirrors", kind="advertisement")


def _date(page: Page) -> Edit:
    found = [(i, m) for i in page.texts if (m := _DATE.search(page.body, *page.span(i)))]
    _, match = page.dice.choice(found)
    new = page.with_pieces((*match.span(), b"2031"))
    return Edit(page.body, new, match[0].decode(), "2031")


def _bare_date(page: Page) -> Edit:
    at = page.tree.starts[page.dice.choice(page.long_texts())]
    body = page.tree.tags.index("body")
    at = page.tree.inner_starts[body]
    old, new = (page.with_pieces((at, at, f"{day} Oct 2026".encode())) for day in ("21st", "23rd"))
    return Edit(old, new, "21st", "23rd")


def _navigation(page: Page) -> Edit:
    tree = page.tree
    entries = [
        i for i in page.elements
        if tree.tags[i] == "li" and "a" in tree.tags[i : tree.after[i]] and page.size(i) < 30
        and sum(page.size(o) < 40 for o in tree.children(tree.parents[i])) > 3
    ]  # fmt: skip
    at = tree.ends[page.dice.choice(entries)]
    new = page.with_pieces((at, at, b'<li><a href="/zoetrope">Zoetrope</a></li>'))
    return Edit(page.body, new, "", "Zoetrope", kind="navigation")


def _redesign(page: Page) -> Edit:
    """Other elements and classes for the same, in two boxes more."""
    tree = page.tree
    pieces: list[_Piece] = []
    for n, node in enumerate(page.elements):
        name = _RENAMED.get(tree.tags[node])
        if name is None:
            continue
        pieces.append(
            (tree.starts[node], tree.inner_starts[node], b"<%s class=x%d>" % (name.encode(), n % 7))
        )
        pieces.append((tree.inner_ends[node], tree.ends[node], b"</%s>" % name.encode()))
    body = tree.tags.index("body")
    at, end = tree.inner_starts[body], tree.inner_ends[body]
    pieces += [(at, at, b"<div id=all><div class=inner>"), (end, end, b"</div></div>")]
    new = page.with_pieces(*sorted(pieces, key=lambda p: (p[0], p[1])))
    return Edit(page.body, new, verdict="layout")


def _boxes(page: Page) -> Edit:
    """Every second box unwrapped, every paragraph and entry in a box of its own."""
    tree = page.tree
    pieces: list[_Piece] = []
    for n, node in enumerate(page.elements):
        start, end = (
            (tree.starts[node], tree.inner_starts[node]),
            (tree.inner_ends[node], tree.ends[node]),
        )
        if tree.tags[node] in ("div", "section") and n % 2:
            pieces += [(*start, b"\n"), (*end, b"\n")]
        elif tree.tags[node] in ("p", "h1", "h2", "h3"):
            pieces += [(start[0], start[0], b"<div>"), (end[1], end[1], b"</div>")]
    return Edit(page.body, page.with_pieces(*pieces), verdict="layout")


def _white_space(page: Page) -> Edit:
    pieces = [
        (*m.span(), b"\n\n   ")
        for i in page.texts for m in _SPACE.finditer(page.body, *page.span(i))
    ]  # fmt: skip
    if not pieces:
        raise LookupError
    return Edit(page.body, page.with_pieces(*pieces), verdict="markup")


def _attribute(page: Page) -> Edit:
    at = [
        page.tree.starts[i] + 1 + len(page.tree.tags[i])
        for i in page.elements if page.tree.tags[i] in _BOXES
    ]  # fmt: skip
    pieces = [(i, i, b' data-build="7f3a"') for i in at[::3] or at]
    return Edit(page.body, page.with_pieces(*pieces), verdict="markup")


def _encoding(page: Page) -> Edit:
    text = page.body.decode(page.tree.encoding)
    for other in ("gb18030", "utf-8", "windows-1252"):
        if other == page.tree.encoding or (other == "gb18030" and not re.search("[一-鿿]", text)):
            continue
        if text.isascii() or not _CHARSET.search(page.body):
            break
        new = text.encode(other, "xmlcharrefreplace")
        new = _CHARSET.sub(rb"\g<1>" + other.encode(), new)
        return Edit(page.body, new, verdict="encoding")
    raise LookupError


def _nonce(page: Page) -> Edit:
    body = page.tree.tags.index("body")
    front, end = page.tree.inner_starts[body], page.tree.inner_ends[body]
    links = [i for i in page.elements if page.tree.tags[i] == "a"][::4]
    ends = [page.tree.inner_starts[i] - 1 for i in links]
    old, new = (
        page.with_pieces(
            (front, front, b'<script nonce="%s">start()</script>' % key),
            *((at, at, b' data-session="%s"' % key) for at in ends),
            (end, end, b'<input type="hidden" name="csrf" value="%s">' % key),
        )
        for key in (b"q8Zt31", b"Lw7x0c")
    )
    return Edit(old, new, verdict="markup")


EDITS: dict[str, Callable[[Page], Edit]] = {
    "typo": _typo,
    "new paragraph": _paragraph,
    "moved block": _moved_block,
    "moved, its white space too": _moved_indented,
    "moved beside a changed one": _moved_neighbour,
    "moved into another element": _moved_elsewhere,
    "rotated advertisement": _advertisement,
    "date": _date,
    "date that is no block": _bare_date,
    "navigation item": _navigation,
    "redesign, other elements": _redesign,
    "redesign, other boxes": _boxes,
    "white space only": _white_space,
    "attribute only": _attribute,
    "encoding": _encoding,
    "nonce and session id": _nonce,
}
