"""Elements of a page that match a CSS selector, as byte ranges.

The selector runs on the page's own tree, so its results are ranges of the body; a parser that
repairs the page would not know where an element stands.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from lxml import etree
from lxml.cssselect import CSSSelector, SelectorError

from mmcrawl.errors import SearchError
from mmcrawl.page.html.building import ROOT, TEXT
from mmcrawl.page.html.tags import RAW
from mmcrawl.page.html.tree import PageTree

LONGEST_SELECTOR = 200
"""Characters of a selector: a long one can take very long on a large page."""

_ATTRIBUTE = re.compile(r"@([\w.-]+)")  # in XPath
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class ElementSelector:
    """A CSS 3 selector without pseudo-elements; a SearchError if it is not understood."""

    def __init__(self, css: str) -> None:
        if len(css) > LONGEST_SELECTOR:
            raise SearchError(f"a selector may have {LONGEST_SELECTOR} characters, not {len(css)}")
        try:
            self._matches = CSSSelector(css, translator="html")
            self._matches(etree.Element("page"))  # names that are not known are found out here
        except (SelectorError, etree.XPathError, ValueError) as error:
            raise SearchError(
                f"{css!r} is no CSS selector ({error}); give one as 'main p' or '#news'"
            ) from None
        self.css = css
        self._attributes = {name.encode() for name in _ATTRIBUTE.findall(self._matches.path)}

    def ranges(self, tree: PageTree) -> list[tuple[int, int]]:
        """Return the bytes of each element that matches, in order; a SearchError if too slow."""
        elements = _elements(tree, self._attributes)
        try:
            found = self._matches(elements[0])
        except etree.XPathError as error:
            raise SearchError(f"{self.css!r} cannot be applied to a page: {error}") from None
        numbers = {element: node for node, element in elements.items()}
        return [(tree.starts[node], tree.ends[node]) for node in map(numbers.__getitem__, found)]


def _elements(tree: PageTree, attributes: Collection[bytes]) -> dict[int, Any]:
    """Return a page as lxml elements by node, with these attributes; that of node 0 is ``page``."""
    made: dict[int, Any] = {}
    for node, tag in enumerate(tree.tags):
        parent = made.get(tree.parents[node])
        if tag == TEXT:
            if parent is not None:
                _add_text(parent, tree.raw_text(node))
            continue
        made[node] = element = _element("page" if tag == ROOT else tag)
        if parent is not None:
            parent.append(element)
        if tag in RAW:
            _add_text(element, tree.raw_content(node))
        start_tag = tree.start_tag(node).lower() if attributes else b""
        if not any(name in start_tag for name in attributes):
            continue
        for name, value in tree.attributes(node).items():
            with suppress(ValueError):  # no name that a selector could say
                element.set(name, _NO_XML.sub("", value))
    return made


def _element(tag: str) -> Any:
    try:
        return etree.Element(tag)
    except ValueError:
        return etree.Element("_")


def _add_text(parent: Any, text: str) -> None:
    text = _NO_XML.sub("", text)
    if len(parent):
        last = parent[-1]
        last.tail = (last.tail or "") + text
    else:
        parent.text = (parent.text or "") + text
