"""Lines that belong to the content of a page although the model of lines left them out.

The model judges lines by their text, and the cells of a table of numbers or a line of code have
little. The rules add what stands between chosen lines or, on a small page, next to them, unless its
surroundings mark it as something else. A list is added only next to chosen lines of a small page:
between paragraphs of long pages lists are often teasers.

Who wrote each post, and what a product costs, labelled pages seldom count to the main text, so it
leaves them out; the document that is written as Markdown or JSON has them where they stand.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.tags import HEADINGS
from mmcrawl.page.html.tree import PageTree

_AUTHOR = re.compile(r"author|user-?_?name|poster|creator|nick-?_?name", re.IGNORECASE)
_NO_NAME = re.compile(
    r"(?:posted|joined|(?:(?:senior|junior|new|active) )?members?$|level \d|logged|"
    r"(?:topic )?author|sign in|log in|reply|"
    r"quote|moderator|location|posts?\b|replied|answered|asked|edited|by$|发表|楼主$|回复)"
    r"|[\W\d]*k?$",
    re.IGNORECASE,
)
_PRICE = re.compile(r"price|amount", re.IGNORECASE)
_NO_PRICE = re.compile(
    r"old|was|strike|compare|regular|list-?price|save|saving|unit", re.IGNORECASE
)
_CURRENCY = r"(?:[$€£¥￥₹₽₩]|\b(?:US|AU|C|HK|R)\$|\b(?:USD|EUR|GBP|CHF|CNY|RMB|Rs\.?|kr\.?|zł)|元)"
_AMOUNT = re.compile(rf"{_CURRENCY}\s?\d[\d.,' ]{{0,40}}|\d[\d.,' ]{{0,40}}\s?{_CURRENCY}")
_CENTS = re.compile(r"[.,](\d{1,2})\D*$")
_LONGEST = 40  # characters of a name or price
_LONGEST_AROUND = 60  # characters of the element that is marked as one
_LEVELS = 3  # elements around a line that may be
_LEAST_POSTS = 2

_LISTS = frozenset("ul ol dl".split())
_GROUPS = _LISTS | {"pre", "table"}
_ELSEWHERE = frozenset("nav aside footer form header button select dialog menu".split())
_NAMED = re.compile(
    r"comment|related|share|social|sidebar|footer|nav|menu|breadcrumb|promo|advert|recommend|popular|"
    r"widget|toolbar|pagination|gutter|lineno|tags?\b|toc\b|signup|subscribe|cookie",
    re.IGNORECASE,
)
_NO_DATA = ("table", "form", "h1", "h2", "iframe")
_LONGEST_CELL = 200  # characters
_MOST_LINKED = 0.3
_SMALL = 40  # lines of a page, on which what stands beside the text is part of it
_LEAST_CHOSEN = 0.7  # share of a table's text from which on the rest is taken
_MOST_LEVELS = 40


def beside_text(
    tree: PageTree,
    measures: Measures,
    lines: PageLines,
    chosen: NDArray[np.bool_],
    *,
    posts: bool,
    price: str | None,
) -> NDArray[np.bool_]:
    """Return the chosen lines with those of authors of posts, and of the price.

    Args:
        chosen: Of each line, whether it is of the text.
        posts: Whether the text is what several people wrote.
        price: What a product costs as far as that is known, None if the page is of none.
    """
    rows = np.flatnonzero(chosen)
    if not len(rows) or not (posts or price is not None):
        return chosen
    found = chosen.copy()
    if posts:
        names = [
            row
            for row in range(int(rows[-1]))
            if _is_short(lines, row)
            and not _NO_NAME.match(lines.texts[row])
            and _is_marked(tree, measures, lines.firsts[row], _AUTHOR)
        ]
        found[_first_before_each(names, rows, chosen)] = True
    elif (row := _row_of_price(tree, measures, lines, price or "")) is not None:
        found[row] = True
    return found


def _is_short(lines: PageLines, row: int) -> bool:
    return 1 < len(lines.texts[row]) <= _LONGEST


def _is_marked(
    tree: PageTree,
    measures: Measures,
    node: int,
    names: re.Pattern[str],
    other: re.Pattern[str] | None = None,
) -> bool:
    """Whether a small element around a run of text is named as something, and not as other."""
    node, told = tree.parents[node], False
    for _ in range(_LEVELS):
        if node <= 0 or measures.total(measures.chars, node) > _LONGEST_AROUND:
            break
        attributes = tree.attributes(node)
        named = f"{attributes.get('class', '')} {attributes.get('itemprop', '')}"
        if tree.tags[node] in HEADINGS or (other and other.search(named)):
            return False
        told = told or bool(names.search(named))
        node = tree.parents[node]
    return told


def _first_before_each(
    names: list[int], rows: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> list[int]:
    """Return the first name in each gap between chosen lines, if there are several."""
    firsts: dict[int, int] = {}
    for row in names:
        firsts.setdefault(int(np.searchsorted(rows, row)), row)
    return list(firsts.values()) if len(firsts) >= _LEAST_POSTS else []


def _row_of_price(tree: PageTree, measures: Measures, lines: PageLines, price: str) -> int | None:
    """Return the line of the price that is known, or else of the first that is marked as one."""
    headings = [row for row, node in enumerate(lines.containers) if tree.tags[node] == "h1"]
    start = headings[0] + 1 if headings else 0
    known = _value(price)
    marked = None
    for row in range(start, len(lines)):
        if not _is_short(lines, row) or not (amount := _AMOUNT.search(lines.texts[row])):
            continue
        value = _value(amount[0])
        if value and value == known:
            return row
        first = lines.firsts[row]
        if marked is None and value and _is_marked(tree, measures, first, _PRICE, _NO_PRICE):
            marked = row
    return None if known else marked


def _value(price: str) -> int:
    """Return a price in cents, 0 for none: ``1,299.00``, ``1.299`` and ``1299`` are the same."""
    cents = _CENTS.search(price)
    whole = re.sub(r"\D", "", price[: cents.start()] if cents else price)
    return 100 * int(whole or 0) + (int(cents[1].ljust(2, "0")) if cents else 0)


def completed(
    tree: PageTree, measures: Measures, lines: PageLines, chosen: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the chosen lines with those that surely go with them."""
    rows = np.flatnonzero(chosen)
    if not len(rows):
        return chosen
    found = chosen.copy()
    small = len(lines) <= _SMALL
    for group in _groups(tree, lines):
        is_list = tree.tags[group] in _LISTS
        if is_list and not small:
            continue
        inside = _rows_of(tree, lines, group)
        if not len(inside) or found[inside].all():
            continue
        belongs = small and _is_beside(tree, lines, chosen, group)
        if not belongs and not is_list:
            between = rows[0] < inside[0] and inside[-1] < rows[-1]
            belongs = between or _is_mostly(lines, chosen, inside)
        if belongs and _may_belong(tree, measures, group):
            found[inside] = True
    return found


def _groups(tree: PageTree, lines: PageLines) -> list[int]:
    """Return the outermost lists, tables and preformatted texts that lines stand in."""
    groups = tree.having(_GROUPS)
    around = tree.inside(groups)[np.asarray(tree.parents)]
    outermost = tree.innermost(groups & ~around)[np.asarray(lines.containers)]
    # Not by np.unique, which loads numpy.ma: no other step of reading a page does.
    return sorted({0, *outermost.tolist()})[1:]


def _rows_of(tree: PageTree, lines: PageLines, node: int) -> NDArray[np.int64]:
    first = bisect_left(lines.firsts, node)
    return np.arange(first, bisect_left(lines.firsts, tree.after[node], first))


def _may_belong(tree: PageTree, measures: Measures, group: int) -> bool:
    """Whether nothing around a list, table or text says that it is none of the content."""
    chars = measures.total(measures.chars, group)
    if measures.total(measures.link_chars, group) > _MOST_LINKED * chars:
        return False
    if tree.tags[group] == "table" and not is_data_table(tree, group):
        return False
    node = group
    for _ in range(_MOST_LEVELS):
        if node <= 0 or tree.tags[node] in ("body", "article", "main"):
            return True
        attributes = tree.attributes(node)
        named = f"{attributes.get('class', '')} {attributes.get('id', '')}"
        if tree.tags[node] in _ELSEWHERE or (len(named) < 300 and _NAMED.search(named)):
            return False
        node = tree.parents[node]
    return True


def is_data_table(tree: PageTree, table: int) -> bool:
    """Whether rows of several cells hold data: no table or headline, headings or short cells."""
    inside = range(table + 1, tree.after[table])
    # Looked at first: of tables in tables, each is then read up to the next one only.
    if any(tree.tags[node] in _NO_DATA for node in inside):
        return False
    tags = Counter(tree.tags[node] for node in inside)
    rows, cells = tags["tr"], tags["td"] + tags["th"]
    if rows < 2 or cells < 2 * rows - 1:
        return False
    return bool(tags["th"]) or all(
        sum(len(tree.text(run)) for run in range(node, tree.after[node])) <= _LONGEST_CELL
        for node in inside
        if tree.tags[node] == "td"
    )


def _is_mostly(lines: PageLines, chosen: NDArray[np.bool_], inside: NDArray[np.int64]) -> bool:
    sizes = np.array([len(lines.texts[row]) for row in inside.tolist()])
    return bool(sizes[chosen[inside]].sum() >= _LEAST_CHOSEN * sizes.sum())


def _is_beside(tree: PageTree, lines: PageLines, chosen: NDArray[np.bool_], group: int) -> bool:
    """Whether an element stands right beside what holds a chosen line."""
    around = tree.parents[group]
    containers = [lines.containers[row] for row in np.flatnonzero(chosen).tolist()]
    return any(around in (container, tree.parents[container]) for container in containers)
