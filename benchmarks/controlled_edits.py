"""Whether a comparison of versions tells what was done to a page: known edits of real pages.

    python benchmarks/controlled_edits.py FOLDER… [--pages 6] [--half tune|judge] [--each]

FOLDER holds pages (``.html``, ``.htm``), or a folder of them for each site, of which one page is
taken. Of a page, the edit is made in the bytes, where a parser that knows no blocks says its text
and elements stand; both are archived and compared. *As expected* is an edit of which exactly the
words that it added and removed are told, moved blocks where and only where something moved, and
whatever else is written in its row. *Missed* is one that changed bytes of which nothing is told.

Pages are halved by the name of their site: comparison was made with ``tune``, ``judge`` was kept
aside.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mmcrawl.archive import Archive, Capture, Difference
from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tree import PageTree, read_tree
from mmcrawl.experiment.presets.archive_cases import temporary_archive

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
_LEAST_TEXTS = 5  # of 40 characters and more

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
        new = word[0][1:] if len(_words(word[0])) > 1 else word[0][::-1]
        removed, added = _words(word[0]), _words(new)
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was told of an edit, and what of it was not as expected."""

    told: str
    faults: tuple[str, ...]
    missed: bool
    seconds: float


def outcome(archive: Archive, name: str, edit: Edit) -> Outcome:
    """Archive both pages, compare them and judge what is told."""
    versions = [
        archive.store(
            Capture(f"http://edits.test/{name}", body, n, content_type="text/html")
        ).version
        for n, body in enumerate((edit.old, edit.new), 1)
    ]
    old, new = versions
    if old is None or new is None:
        raise LookupError
    pages = archive.page(old), archive.page(new)
    for page in pages:
        page.blocks  # noqa: B018  cut apart from comparing
    begin = time.process_time()
    found = archive.diff(old, new)
    seconds = time.process_time() - begin
    removed, added = _words_told(archive, found)
    faults = []
    if (removed, added) != (_words(edit.removed), _words(edit.added)):
        faults.append(f"-{' '.join(removed.elements())[:60]} +{' '.join(added.elements())[:60]}")
    if edit.moved != bool(found.count("moved")):
        faults.append(f"{found.count('moved')} moved")
    told = Counter((b.change, b.kind) for b in found.blocks if b.change != "kept")
    if edit.kind and not any(kind == edit.kind for _, kind in told):
        faults.append("kind")
    if edit.verdict and getattr(found, "verdict", "") != edit.verdict:
        faults.append(f"verdict {getattr(found, 'verdict', '')!r}")
    missed = not told and not found.layout_changed
    said = Counter(change for change, _ in told.elements())
    text = ", ".join(f"{n} {change}" for change, n in said.items()) or "-"
    return Outcome(text, tuple(faults), missed, seconds)


def _words_told(archive: Archive, found: Difference) -> tuple[Counter[str], Counter[str]]:
    old, new = archive.page(found.old), archive.page(found.new)
    removed: Counter[str] = Counter()
    added: Counter[str] = Counter()
    for change in found.blocks:
        if change.words:
            continue
        if change.change == "removed" and change.old:
            removed += _words(old.text(change.old))
        elif change.change == "added" and change.new:
            added += _words(new.text(change.new))
    changes = [*getattr(found, "layout_words", ()), *(w for b in found.blocks for w in b.words)]
    for word in changes:
        if word.change == "removed":
            removed += _words(word.text)
        elif word.change == "added":
            added += _words(word.text)
    return removed, added


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))


def pages_of(folder: Path, count: int, half: str | None) -> Iterator[tuple[str, Path]]:
    """Yield pages with text enough, one a site, in an order that no name of a page decides."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in folder.rglob("*.htm*"):
        if path.is_file():
            found[path.relative_to(folder).parts[0]].append(path)
    yielded = 0
    for site, paths in sorted(found.items(), key=lambda one: _order(one[0])):
        if half and (_order(site)[0] in "01234567") != (half == "tune"):
            continue
        for path in sorted(paths, key=lambda p: _order(str(p.relative_to(folder))))[:20]:
            body = path.read_bytes()
            page = Page(body, random.Random(0))
            if "body" in page.tree.tags and len(page.long_texts()) >= _LEAST_TEXTS:
                yield f"{folder.name}/{site}", path
                yielded += 1
                break
        if yielded == count:
            return


def _order(name: str) -> str:
    return sha256(name.encode()).hexdigest()


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    arguments.add_argument("--pages", type=int, default=4, help="of each folder")
    arguments.add_argument("--half", choices=("tune", "judge"))
    arguments.add_argument("--each", action="store_true", help="print what is not as expected")
    options = arguments.parse_args()
    chosen = [p for f in options.folders for p in pages_of(f, options.pages, options.half)]
    found: dict[str, list[Outcome]] = {name: [] for name in EDITS}
    with temporary_archive() as archive:
        for number, (site, path) in enumerate(chosen):
            for name, make in EDITS.items():
                page = Page(path.read_bytes(), random.Random(f"{site} {name}"))
                try:
                    told = outcome(archive, f"{number}/{name}", make(page))
                except (LookupError, UnicodeError):
                    continue  # the page has nothing to do this to
                found[name].append(told)
                if options.each and (told.faults or told.missed):
                    print(f"{name} | {path} | {told.told} | {'; '.join(told.faults)}")
    _print(chosen, found)
    return 0


def _print(chosen: Sequence[object], found: dict[str, list[Outcome]]) -> None:
    print(f"{len(chosen)} pages")
    print(
        "| edit | pages | as expected | missed | blocks changed, moved, added, removed (median) |"
    )
    print("|---|---|---|---|---|")
    for name, told in found.items():
        good = sum(not one.faults for one in told)
        missed = sum(one.missed for one in told)
        usual = "; ".join(text for text, _ in Counter(t.told for t in told).most_common(2))
        print(f"| {name} | {len(told)} | {good} | {missed} | {usual} |")
    every = [one for told in found.values() for one in told]
    good = sum(not one.faults for one in every)
    print(
        f"all {len(every)}: {good} as expected, {sum(o.missed for o in every)} missed; "
        f"{1000 * sum(o.seconds for o in every) / max(1, len(every)):.1f} ms of CPU a comparison"
    )


if __name__ == "__main__":
    sys.exit(main())
