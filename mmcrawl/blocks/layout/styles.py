"""How each element of a page is drawn, according to its markup and style sheets.

Visual features of Wang & Zhu 2012, section 2.2.3, step 3: background, colour, size and weight of
the text. The nearest rule wins: the element's own ``style`` before the sheets, in a sheet the more
specific rule before the less specific, then the later one.

Supported selectors are, exactly: a tag or ``*``, ``.class``, ``#id``, any of them written together
(``td.menu#top``), and such parts combined by a blank (descendant) or by ``>`` (child). Rules with
any other selector (attributes, pseudo-classes, ``+``, ``~``) are ignored, and so are rules for
print. A page costs time proportional to its nodes, whatever its sheets: a sheet is read as far as
:data:`LONGEST_SHEET`, and of the rules whose match begins with one tag, class or id the last
:data:`RULES_PER_KEY` count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from mmcrawl.blocks.layout.measures import DrawnTag, Measures
from mmcrawl.page.html.building import ROOT, TEXT
from mmcrawl.page.html.tags import HEADINGS
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.looks import (
    NOTHING,
    PLAIN,
    STYLED_TAGS,
    Declarations,
    Look,
    declarations,
    look_of,
)

Sheets = Mapping[str, str] | Sequence[str]
"""Texts of linked sheets: by href as the page writes it, or all of them in order."""

LONGEST_SHEET = 1_000_000
"""Characters read of all sheets of a page."""

RULES_PER_KEY = 128
_LONGEST_SELECTOR = 8  # parts
_SHORT = 50_000  # characters of a sheet

_BOLD_TAGS = HEADINGS | frozenset("b strong th".split())
_LOOKED_AT = STYLED_TAGS | _BOLD_TAGS
_BOLD = 700

_COMMENT_OR_STRING = re.compile(r"/\*.*?(?:\*/|\Z)|\"[^\"\n]*+\"?|'[^'\n]*+'?", re.DOTALL)
_RULE_SET = re.compile(r"([^{}]*+)(?:\{([^{}]*+)\}|([{}])|\Z)")  # or the beginning, the end of one
_PART = re.compile(r"(\*|[a-zA-Z][\w-]*)?((?:[.#][\w\u0080-\U0010ffff-]+)*)\Z")
_NO_CLASSES: frozenset[str] = frozenset()
_NAMES = re.compile(r"([.#])([\w\u0080-\U0010ffff-]+)")


class Style(NamedTuple):
    """How the text directly inside an element is drawn."""

    look: Look = PLAIN  # its size, colour and background
    bold: bool = False  # whether it is set in a heavy weight


def node_styles(tree: PageTree, measures: Measures, sheets: Sheets = ()) -> list[Style]:
    """Return the style of each node, by the page's own and the given linked style sheets."""
    matcher = _Matcher(_rules(_sheet_texts(tree, sheets)))
    elements = {start_tag: matcher.element(start_tag) for start_tag in set(measures.drawn)}
    styles = [Style()] * len(tree)
    for node, (parent, start_tag) in enumerate(zip(tree.parents, measures.drawn, strict=True)):
        around = styles[node] = styles[parent]
        element = elements[start_tag]
        if element is not None:
            declared = matcher.enter(tree, node, element.states).overridden_by(element.declared)
            if declared != NOTHING or element.is_looked_at:
                look = look_of(element.tag, element.attributes, around.look, declared)
                styles[node] = Style(look, _is_bold(element.tag, declared.weight, around.bold))
    return styles


def _is_bold(tag: str, weight: str | None, around: bool) -> bool:
    if weight is None:
        return around or tag in _BOLD_TAGS
    return int(weight) >= _BOLD if weight.isdigit() else weight.startswith("bold")


def _sheet_texts(tree: PageTree, sheets: Sheets) -> Iterator[str]:
    """Yield the sheets in the order in which they count, up to a bound in all."""
    left = LONGEST_SHEET
    for text in _all_sheet_texts(tree, sheets):
        yield text[:left]
        left -= len(text)
        if left <= 0:
            return


def _all_sheet_texts(tree: PageTree, sheets: Sheets) -> Iterator[str]:
    linked: Mapping[str, str] = {}
    if isinstance(sheets, Mapping):
        linked = sheets
    else:
        yield from sheets
    for node, tag in enumerate(tree.tags):
        if tag == "style":
            if _is_for_screen(tree.attributes(node).get("media", "")):
                yield tree.raw_content(node)
        elif tag == "link" and linked:
            attributes = tree.attributes(node)
            text = linked.get(attributes.get("href", "").strip())
            if text and _is_for_screen(attributes.get("media", "")):
                yield text


def _is_for_screen(media: str) -> bool:
    media = media.lower()
    return not media or "screen" in media or "all" in media or "(" in media


# ---------------------------------------------------------------- reading sheets


class _Part(NamedTuple):
    """One part of a selector, and how it hangs on the part before."""

    child: bool
    tag: str
    classes: frozenset[str]
    id: str

    @property
    def key(self) -> str:
        """The key that an element must have for the part to be examined: the rarest first."""
        if self.id:
            return f"#{self.id}"
        return f".{min(self.classes)}" if self.classes else self.tag

    @property
    def weight(self) -> tuple[int, int, int]:
        return bool(self.id), len(self.classes), self.tag != "*"


class _Rule(NamedTuple):
    parts: tuple[_Part, ...]
    declared: Declarations


def _rules(texts: Iterable[str]) -> Iterator[_Rule]:
    for text in texts:
        yield from _rules_of_short(text) if len(text) <= _SHORT else _rules_of_long(text)


def _read(sheet: str) -> list[_Rule]:
    found: list[_Rule] = []
    for prelude, body in _rule_sets(_COMMENT_OR_STRING.sub(" ", sheet)):
        declared = declarations(body)
        if declared != NOTHING:
            selectors = map(_parts, prelude.split(","))
            found += [_Rule(parts, declared) for parts in selectors if parts]
    return found


# The pages of a site have the same sheets.
_rules_of_short = lru_cache(maxsize=64)(_read)
_rules_of_long = lru_cache(maxsize=4)(_read)


def _rule_sets(css: str) -> Iterator[tuple[str, str]]:
    """Yield (selectors, declarations) of a sheet, also of its groups for the screen."""
    skipped = 0  # depth inside an at-rule that is left out
    for piece in _RULE_SET.finditer(css):
        before, body, brace = piece.groups()
        if skipped:
            skipped += {"{": 1, "}": -1}.get(brace, 0)
        elif brace != "}":
            prelude = before.rpartition(";")[2].strip()
            if not prelude.startswith("@"):
                if body is not None:
                    yield prelude, body
            elif brace and not _is_open_group(prelude.lower()):
                skipped = 1


def _is_open_group(prelude: str) -> bool:
    if prelude.startswith("@media"):
        return _is_for_screen(prelude.removeprefix("@media").strip())
    return prelude.startswith(("@supports", "@layer"))


def _parts(selector: str) -> tuple[_Part, ...]:
    """Return the parts of a selector, or none if it is not understood."""
    found: list[_Part] = []
    child = False
    for word in selector.replace(">", " > ").split():
        if word == ">":
            if child or not found:
                return ()
            child = True
            continue
        match = _PART.match(word)
        if match is None or len(found) == _LONGEST_SELECTOR:
            return ()
        own_id, classes = "", _NO_CLASSES
        if match[2]:
            names_of = _NAMES.findall(match[2])
            own_id = next((name for sign, name in names_of if sign == "#"), "")
            classes = frozenset(name for sign, name in names_of if sign == ".")
        found.append(_Part(child, (match[1] or "*").lower(), classes, own_id))
        child = False
    return () if child else tuple(found)


# ---------------------------------------------------------------- matching


class _State:
    """A beginning of selectors: what may follow is found from the key of the next part.

    Of the rules whose selector ends here, the last one for each property is kept, and its order.
    """

    __slots__ = ("declared", "number", "orders", "parent", "part", "weight")

    def __init__(self, number: int, before: _State | None, part: _Part) -> None:
        self.number = number
        self.parent = before.number if before else 0
        self.part = part
        ids, classes, tags = part.weight
        above: tuple[int, int, int] = before.weight if before else (0, 0, 0)
        self.weight: tuple[int, int, int] = above[0] + ids, above[1] + classes, above[2] + tags
        self.declared = NOTHING
        self.orders = [0] * len(NOTHING)

    def add(self, order: int, declared: Declarations) -> None:
        """Take over what the next rule declares."""
        self.declared = self.declared.overridden_by(declared)
        for index, value in enumerate(declared):
            if value is not None:
                self.orders[index] = order


class _Element(NamedTuple):
    """The styles of all elements with one start tag, wherever they stand."""

    tag: str
    attributes: Mapping[str, str]
    states: list[_State]  # the beginnings of selectors whose last part it matches
    declared: Declarations  # what its `style` declares
    is_looked_at: bool  # whether it may look other than what is around it, whatever the sheets say


class _Matcher:
    """Finds the declarations for the nodes of a page, entered in document order.

    Selectors are kept as a tree of beginnings. For each beginning, the innermost open element that
    matches it is known: it stands above any node that the next part of the selector may match.
    """

    def __init__(self, rules: Iterator[_Rule]) -> None:
        self._by_key: dict[str, list[_State]] = {}
        start = _State(0, None, _Part(False, "*", frozenset(), ""))
        states: dict[tuple[int, _Part], _State] = {}
        for order, rule in enumerate(rules):
            at = start
            for part in rule.parts:
                state = states.get((at.number, part))
                if state is None:
                    state = states[at.number, part] = _State(len(states) + 1, at, part)
                    self._by_key.setdefault(part.key, []).append(state)
                at = state
            at.add(order, rule.declared)
        for found in self._by_key.values():
            del found[:-RULES_PER_KEY]
        self._innermost: dict[int, int] = {0: -1}
        self._open: list[tuple[int, list[tuple[int, int | None]]]] = []  # (after, what to restore)

    def element(self, start_tag: DrawnTag) -> _Element | None:
        """Return the styles of the elements with a start tag; None if there are none."""
        tag, attributes = start_tag.name, start_tag.attributes
        if tag in (ROOT, TEXT):
            return None
        states = self._states(tag, attributes) if self._by_key else []
        declared = declarations(attributes.get("style", ""))
        is_looked_at = declared != NOTHING or tag in _LOOKED_AT or "bgcolor" in attributes
        if not states and not is_looked_at:
            return None
        return _Element(tag, attributes, states, declared, is_looked_at)

    def _states(self, tag: str, attributes: Mapping[str, str]) -> list[_State]:
        by_key = self._by_key
        # Of these no class and no id is asked, or they would be kept under it.
        found = by_key.get(tag, []) + by_key.get("*", [])
        names_of, own_id = attributes.get("class", "").split(), attributes.get("id", "").strip()
        keys = [f".{name}" for name in dict.fromkeys(names_of)]
        if own_id:
            keys.append(f"#{own_id}")
        named = [state for key in keys if key in by_key for state in by_key[key]]
        if named:
            classes = frozenset(names_of)
            found += [
                state
                for state in named
                if state.part.tag in ("*", tag)
                and (not state.part.id or state.part.id == own_id)
                and state.part.classes <= classes
            ]
        return found

    def enter(self, tree: PageTree, node: int, states: Sequence[_State]) -> Declarations:
        """Return the declarations of the sheets for the next element, given any states."""
        innermost = self._innermost
        while self._open and self._open[-1][0] <= node:
            for number, before in reversed(self._open.pop()[1]):
                if before is None:
                    del innermost[number]
                else:
                    innermost[number] = before
        parent = tree.parents[node]
        found = [
            state
            for state in states
            if (above := innermost.get(state.parent)) is not None
            and (not state.part.child or above == parent)
        ]
        if not found:
            return NOTHING
        self._open.append((tree.after[node], [(s.number, innermost.get(s.number)) for s in found]))
        for state in found:
            innermost[state.number] = node
        return _winners([state for state in found if state.declared != NOTHING])


def _winners(states: list[_State]) -> Declarations:
    """Return of each property the declaration of the most specific rule, of several the last."""
    if len(states) < 2:
        return states[0].declared if states else NOTHING
    values: list[object] = []
    for index in range(len(NOTHING)):
        deciding = (state for state in states if state.declared[index] is not None)
        best = max(deciding, key=lambda state: (state.weight, state.orders[index]), default=None)
        values.append(best and best.declared[index])
    return Declarations._make(values)
