"""Elements of a page that match a CSS selector, as byte ranges.

The selector runs on the page's own tree, so its results are ranges of the body; a parser that
repairs the page would not know where an element stands.
"""

from __future__ import annotations

import re

from lxml import etree
from lxml.cssselect import CSSSelector, SelectorError

from mmcrawl.errors import SearchError
from mmcrawl.page.html.elements import elements_of
from mmcrawl.page.html.tree import PageTree

LONGEST_SELECTOR = 200
"""Characters of a selector: a long one can take very long on a large page."""

_ATTRIBUTE = re.compile(r"@([\w.-]+)")  # in XPath


class ElementSelector:
    """A CSS selector.

    Args:
        css: As of CSS 3, without pseudo-elements.

    Raises:
        SearchError: it is not understood.
    """

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
        """Return the bytes of each element that matches, with its tags, in order.

        Raises:
            SearchError: too much would have to be looked at.
        """
        elements = elements_of(tree, self._attributes)
        try:
            found = self._matches(elements[0])
        except etree.XPathError as error:
            raise SearchError(f"{self.css!r} cannot be applied to a page: {error}") from None
        numbers = {element: node for node, element in elements.items()}
        return [(tree.starts[node], tree.ends[node]) for node in map(numbers.__getitem__, found)]
