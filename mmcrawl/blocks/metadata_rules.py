"""Metadata of a page by an administrator's rules (Song et al. 2008, section 3.1).

A rule has a name and says where on a page its value stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from cssselect import SelectorError
from parsel import Selector
from parsel.csstranslator import HTMLTranslator

from mmcrawl.errors import MmcrawlError

_NAME = re.compile(r"[^\W\d]\w*")
_EXAMPLE = '{"author": "meta author", "published": "css time::attr(datetime)"}'


@dataclass(frozen=True)
class ReceivedText:
    """The input of rules."""

    url: str  # of the page, "" if it has none
    headers: Sequence[tuple[str, str]]  # names and values as received; names may repeat
    html: str  # the page, decoded


class MetadataRules:
    """Rules by name.

    A rule is a source and what is looked for there:

    * ``meta NAME``: the content of the first ``<meta>`` with this name or property that has any;
    * ``header NAME``: the first header of the answer with this name;
    * ``css SELECTOR``: the first thing a CSS selector finds, its text unless it asks for another
      (``time::attr(datetime)``);
    * ``url PATTERN``: what a regular expression finds in the address, its first group if it has
      one.

    Their author is trusted: a pattern such as ``(a+)+$`` takes for ever on an address made for it.

    Raises:
        MmcrawlError: a name is no word, or a rule is not understood; it is named.
    """

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._rules = {name: _rule(name, text) for name, text in rules.items()}

    @classmethod
    def read(cls, given: Mapping[str, str] | str) -> Self:
        """Return the rules of a dictionary, or of its JSON; an MmcrawlError if it is none."""
        try:
            rules = json.loads(given) if isinstance(given, str) else given
        except ValueError as error:
            raise MmcrawlError(
                f"metadata: the rules are no JSON ({error}), as {_EXAMPLE}"
            ) from error
        if not isinstance(rules, Mapping):
            raise MmcrawlError(f"metadata: the rules must be a dictionary, as {_EXAMPLE}")
        return cls(rules)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def __call__(self, page: ReceivedText) -> dict[str, str]:
        """Return a value of a page, "" if it has none; white space is collapsed."""
        tree = Selector(page.html or " ")
        found = {name: rule(page, tree) for name, rule in self._rules.items()}
        return {name: " ".join(text.split()) for name, text in found.items()}


Rule = Callable[[ReceivedText, Selector], str]


def _rule(name: str, text: Any) -> Rule:
    source, _, what = str(text).strip().partition(" ")
    what = what.strip()
    if not _NAME.fullmatch(name) or source not in _SOURCES or not what:
        raise MmcrawlError(
            f"metadata {name!r}: {text!r} is not understood; a rule has a name of letters and"
            f" digits, and one of the sources {', '.join(_SOURCES)}, as {_EXAMPLE}"
        )
    try:
        return _SOURCES[source](what)
    except (re.error, SelectorError) as error:
        raise MmcrawlError(f"metadata {name!r}: {what!r} is not understood: {error}") from error


def _meta(name: str) -> Rule:
    name = name.lower()

    def read(page: ReceivedText, tree: Selector) -> str:
        for meta in tree.css("meta"):
            content = meta.attrib.get("content", "").strip()
            named = meta.attrib.get("name", ""), meta.attrib.get("property", "")
            if content and name in map(str.lower, named):
                return content
        return ""

    return read


def _header(name: str) -> Rule:
    def read(page: ReceivedText, tree: Selector) -> str:
        values = (value for key, value in page.headers if key.lower() == name.lower())
        return next(values, "")

    return read


def _css(selector: str) -> Rule:
    path = HTMLTranslator().css_to_xpath(selector)

    def read(page: ReceivedText, tree: Selector) -> str:
        found = tree.xpath(path)[:1]
        return "".join(found.xpath("string()").getall() or found.getall())

    return read


def _url(pattern: str) -> Rule:
    compiled = re.compile(pattern)

    def read(page: ReceivedText, tree: Selector) -> str:
        match = compiled.search(page.url)
        return (match[1] if compiled.groups else match[0]) or "" if match else ""

    return read


_SOURCES: dict[str, Callable[[str], Rule]] = {
    "meta": _meta,
    "header": _header,
    "css": _css,
    "url": _url,
}
