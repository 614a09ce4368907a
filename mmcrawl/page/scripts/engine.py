"""Runs the scripts of a page in a JavaScript engine (QuickJS), to learn where they move a browser.

They run in a process of their own (:mod:`.sandbox`), which may die. Their browser is
``browser.js``; it knows of the page what the question says. No script is fetched: what another file
would define is unknown. So a page is visited by readers who differ in what it may ask for, and a
move is certain if the first two make it.
"""

import json
from functools import cache
from os import getpid
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from mmcrawl.page.html.building import ROOT, TEXT
from mmcrawl.page.html.tags import RAW
from mmcrawl.page.html.tree import PageTree
from mmcrawl.store.child_process import ChildProcess

_SANDBOX = "mmcrawl.page.scripts.sandbox"
_LARGEST = 1 << 18  # bytes of a page whose elements scripts are shown
_LONGEST_TEXT = 2_000  # of an element


class Found(NamedTuple):
    """What the scripts of a page did.

    Attributes:
        moves: Addresses where they lead, and whether for certain.
        written: HTML that they put into the page.
    """

    moves: list[tuple[str, bool]]
    written: list[str]


def run_scripts(tree: PageTree, url: str, scripts: list[str]) -> Found:
    """Run the scripts of a page, in order; nothing is found if their process dies.

    Args:
        tree: The page.
        url: Its address.
        scripts: Their code.
    """
    elements = _elements(tree)
    page = {
        "href": url,
        "parts": _url_parts(url),
        "ids": [attributes["id"] for _, attributes, _, _ in elements if attributes.get("id")],
        "elements": json.dumps(elements),
    }
    visits = _engine(getpid()).ask([page, scripts])
    at_once = [{href for href, is_at_once in visit.moves if is_at_once} for visit in visits[:2]]
    certain = set.intersection(*at_once) if visits else set()
    hrefs = dict.fromkeys(href for visit in visits for href, _ in visit.moves)
    html = dict.fromkeys(text for visit in visits for text in visit.written)
    return Found([(href, href in certain) for href in hrefs], list(html))


class _Engine:
    """The process, started with the first page and again after its death."""

    def __init__(self) -> None:
        self._child: ChildProcess | None = None
        self._lock = Lock()

    def ask(self, question: object) -> list[Found]:
        """Return what scripts did, visit by visit, with moves that are made within a minute."""
        with self._lock:
            try:
                self._child = self._child or ChildProcess(_SANDBOX)
                return [_found(*json.loads(visit)) for visit in self._child.ask(question)]
            except (EOFError, OSError, RecursionError, TypeError, ValueError):
                # It has ended, or scripts say what they have found: it may be anything.
                if self._child is not None:
                    self._child.end()
                self._child = None
                return []


def _found(moves: Any, written: Any) -> Found:
    return Found([(str(href), bool(at_once)) for href, at_once in moves], [*map(str, written)])


@cache
def _engine(process: int) -> _Engine:  # a process that was forked has one of its own
    return _Engine()


def _url_parts(url: str) -> dict[str, str]:
    """Return the parts of an address by their names in `location`."""
    parts = urlsplit(url)
    return {
        "protocol": f"{parts.scheme}:", "host": parts.netloc,
        "origin": f"{parts.scheme}://{parts.netloc}", "hostname": parts.hostname or "",
        "port": str(parts.port or ""), "pathname": parts.path or "/",
        "search": f"?{parts.query}" if parts.query else "",
        "hash": f"#{parts.fragment}" if parts.fragment else "",
    }  # fmt: skip


def _elements(tree: PageTree) -> list[list[Any]]:
    """Return tag, attributes, place of the parent and text of each element of a page."""
    places: dict[int, int] = {}
    made: list[list[Any]] = []
    for node, tag in enumerate(tree.tags):
        if tree.starts[node] >= _LARGEST:
            break
        place = places.get(tree.parents[node], -1)
        if tag == TEXT:
            if place >= 0 and len(made[place][3]) < _LONGEST_TEXT:
                made[place][3] += tree.raw_text(node)
        elif tag != ROOT:
            places[node] = len(made)
            text = tree.raw_content(node)[:_LONGEST_TEXT] if tag in RAW else ""
            made.append([tag, dict(tree.attributes(node)), place, text])
    return made
