"""What a reader looks for beside the text of a page: who wrote each post, what a product costs.

Labelled pages seldom count either to the main text, so the text leaves them out; the document that
is written as Markdown or JSON has them where they stand on the page.
"""

from __future__ import annotations

import re

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
