"""The tree of a page as lxml elements, for users' selectors."""

import re
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from lxml import etree

from mmcrawl.page.html.building import ROOT, TEXT
from mmcrawl.page.html.tags import RAW
from mmcrawl.page.html.tree import PageTree

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def elements_of(tree: PageTree, attributes: Collection[bytes] | None = None) -> dict[int, Any]:
    """Return the elements of a page by their nodes; that of node 0 is ``page``.

    Args:
        tree: The page.
        attributes: Names of those that are wanted, lower case; all by default.
    """
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
        if attributes is not None:
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
