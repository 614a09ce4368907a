"""What a page declares for programs: JSON-LD, microdata, RDFa Lite and meta tags, read only here.

Things of all three vocabularies have one form, with schema.org's names whatever the prefix:
contexts are not resolved, as search engines do not resolve those of pages either.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.urls import Resolver, base_url

_LARGEST = 2_000_000  # characters of a script that are read
_LONGEST_TEXT = 2_000
_MOST_THINGS = 5_000
_DEEPEST = 20
_LONGEST_MARKED = 300  # characters of an element that is a date, a name
_TITLE = re.compile(rb"<title[^<>]*>([^<]*)</title", re.IGNORECASE)
_NO_TITLE = re.compile(
    r"(?:无标题|無標題|未命名|新建)(?:文档|文件|文檔|网页|網頁|页面)?\s*\d*"
    r"|untitled(?:[ -]?(?:document|page))?\s*\d*|new[ _]page\s*\d*",
    re.IGNORECASE,
)
_LONGEST_HEADING = 200  # characters
_WITHIN = 1 << 16  # bytes of a page in which its title is looked for
_COMMENTED = re.compile(r"^(?://)?\s*(?:<!\[CDATA\[|<!--)|(?://)?\s{0,99}(?:\]\]>|-->)\s{0,99};?$")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_ARTICLES = re.compile(
    r"article$|posting$|^report$|^review(?:newsarticle)?$|^opinion|^scholarly|^learningresource$|"
    r"^course$|^recipe$|^podcastepisode$|^claimreview$|^howto$"
)
_PAGES = re.compile(r"(?:web|item|about|faq|qa|profile|collection|medical)page$")
_PARTS = re.compile(r"comment|breadcrumb|imageobject|listitem|rating|offer")
_FIELD = r'"%s"\s*:\s*"((?:[^"\\]|\\.){1,300})"'
_UNREAD = frozenset({"script", "style", "noscript", "svg", "template"})
# Of marked elements: the attribute that has the value, by element; others have it as their text.
_VALUES = {
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **{"object": "data", "data": "value", "meter": "value", "time": "datetime"},
}
_MARKING = (b"itemscope", b"itemprop", b"typeof", b"property")
_MARKS = {"itemscope": "microdata", "typeof": "rdfa"}


@dataclass(slots=True, eq=False)
class Thing:
    """A thing that a page describes.

    Attributes:
        properties: Values by name in lower case, in their order; a thing in a thing is a `Thing`.
    """

    types: frozenset[str]  # names in lower case, without vocabulary: `videoobject`
    source: str  # `json-ld`, `microdata` or `rdfa`
    node: int  # its element, that of its script in JSON-LD
    properties: dict[str, list[str | Thing]] = field(default_factory=lambda: defaultdict(list))

    def values(self, *names: str) -> Iterator[str | Thing]:
        """Yield the values of some properties."""
        for name in names:
            yield from self.properties.get(name, ())

    def text(self, *names: str) -> str:
        """Return the first text of some properties; of a thing, its name; "" for none."""
        return next(filter(None, map(text_of, self.values(*names))), "")

    def texts(self, *names: str) -> list[str]:
        """Return all texts of some properties."""
        return [value for value in self.values(*names) if isinstance(value, str)]

    def inner(self) -> list[Thing]:
        """Return the things in it."""
        return [one for one in self.values(*self.properties) if isinstance(one, Thing)]


@dataclass(frozen=True, slots=True)
class Marked:
    """An element that an attribute names the meaning of."""

    node: int  # index into the tree
    name: str  # the value of the attribute, lower case
    text: str  # what it says: its `content` or `datetime`, else its text


class Declared:
    """The declarations of a page, each part read on demand; nothing raises."""

    def __init__(self, tree: PageTree) -> None:
        self.tree = tree

    @cached_property
    def title(self) -> str:
        """The first title that says anything, of no picture; for 无标题文档 the first heading."""
        tree, given = self.tree, ""
        for node in tree.elements("title"):
            given = " ".join(tree.raw_content(node).split())
            if given and (tree.tags[tree.parents[node]] == "head" or not self._hides[node]):
                break
            given = ""
        if given and _NO_TITLE.fullmatch(given):
            headings = (node for tag in ("h1", "h2", "h3") for node in tree.elements(tag))
            texts = (" ".join(tree.texts_in(node, _LONGEST_HEADING).split()) for node in headings)
            return next(filter(None, texts), given)
        return given

    @cached_property
    def _hides(self) -> NDArray[np.bool_]:
        """For each node, whether it is inside an element whose text is not read."""
        return self.tree.inside(self.tree.having(_UNREAD))

    @cached_property
    def language(self) -> str:
        """The attributes of the outermost element."""
        for node in self.tree.elements("html")[:1]:
            attributes = self.tree.attributes(node)
            return attributes.get("lang") or attributes.get("xml:lang") or ""
        return ""

    @property
    def base(self) -> str:
        """Where relative references start from, as the first ``base`` element with one says."""
        hrefs = (self.tree.attributes(node).get("href", "") for node in self.tree.elements("base"))
        return next(filter(None, map(str.strip, hrefs)), "")

    def resolver(self, url: str, encoding: str | None = None) -> Resolver:
        """Return a resolver for its references; queries are in `encoding`, or the page's."""
        encoding = encoding or self.tree.encoding
        return Resolver(base_url(self.base, url, encoding), encoding)

    @property
    def robots(self) -> frozenset[str]:
        """What it asks robots for, in lower case."""
        return frozenset(" ".join(self.meta("robots")).lower().replace(",", " ").split())

    @cached_property
    def links(self) -> list[tuple[int, frozenset[str], str]]:
        """Node, words of ``rel`` and address of its links that have both."""
        found = []
        for node in self.tree.mentioning(b"rel="):
            attributes = self.tree.attributes(node)
            if attributes.get("href") and attributes.get("rel"):
                words = frozenset(attributes["rel"].lower().split())
                found.append((node, words, attributes["href"]))
        return found

    def named(self, *words: str) -> Iterator[Marked]:
        """Yield the elements whose class, id or rel has one of these words in it, in order."""
        for node in self.tree.mentioning(*map(str.encode, words)):
            attributes = self.tree.attributes(node)
            keys = ("class", "id", "rel", "data-testid")
            name = " ".join(attributes.get(key, "") for key in keys).lower()
            if self.tree.tags[node] != "meta" and any(word in name for word in words):
                yield Marked(node, name, self.said_by(node))

    @cached_property
    def times(self) -> list[Marked]:
        """Its ``time`` elements."""
        return [
            Marked(node, self.tree.attributes(node).get("class", "").lower(), text)
            for node in self.tree.elements("time")
            if (text := self.said_by(node))
        ]

    @cached_property
    def metas(self) -> list[tuple[str, str]]:
        """Names and contents of its meta tags, see :func:`meta_of`; white space collapsed."""
        return [
            (name, text)
            for node in self.tree.elements("meta")
            for name, content in meta_of(self.tree.attributes(node))
            if (text := " ".join(unescape(content).split()))
        ]

    def meta(self, *names: str) -> Iterator[str]:
        """Yield the contents of the meta tags with these names, in the order of the names."""
        for wanted in names:
            yield from (content for name, content in self.metas if name == wanted)

    @property
    def keywords(self) -> str:
        """Those of its head, the tags of what was posted on it, and those of its JSON-LD."""
        said = list(islice(self.meta("keywords"), 1))
        # "tag" stands everywhere on a page: it is looked for in the start tags of links alone.
        for node in self.tree.elements("a"):
            if b"tag" not in self.tree.start_tag(node).lower():
                continue
            if "tag" in self.tree.attributes(node).get("rel", "").lower().split():
                said.append(self.said_by(node))
        if self.scripts:
            said += chain.from_iterable(thing.texts("keywords") for thing in self.of_page)
        return ", ".join(dict.fromkeys(filter(None, said)))

    @cached_property
    def scripts(self) -> list[tuple[int, str]]:
        """Its scripts of JSON-LD: their elements and texts."""
        return [
            (node, self.tree.raw_content(node)[:_LARGEST])
            for node in self.tree.elements("script")
            if b"ld+json" in self.tree.start_tag(node).lower()
        ]

    @cached_property
    def things(self) -> list[tuple[Thing, tuple[Thing, ...]]]:
        """The things it describes, each with those it is in, outermost first."""
        found: list[tuple[Thing, tuple[Thing, ...]]] = []
        outermost = [*self._read[0], *self._marked[0]]
        waiting: list[tuple[Thing, tuple[Thing, ...]]] = [(one, ()) for one in reversed(outermost)]
        while waiting and len(found) < _MOST_THINGS:
            thing, around = waiting.pop()
            found.append((thing, around))
            if len(around) < _DEEPEST:
                waiting += [(one, (*around, thing)) for one in reversed(thing.inner())]
        return found

    @cached_property
    def typed(self) -> list[Thing]:
        """The things of its JSON-LD that have a type."""
        return [one for one, _ in self.things if one.types and one.source == "json-ld"]

    @cached_property
    def of_page(self) -> list[Thing]:
        """Those that describe the page itself: articles before pages before other things."""
        articles = [one for one in self.typed if any(map(_ARTICLES.search, one.types))]
        pages = [one for one in self.typed if any(map(_PAGES.search, one.types))]
        return articles[:1] + pages[:1] + articles[1:2]

    @cached_property
    def others(self) -> list[Thing]:
        """Other things with a date or an author, except comments and parts of pages."""
        return [one for one in self.typed if not any(map(_PARTS.search, one.types))]

    @cached_property
    def by_id(self) -> Mapping[str, Thing]:
        """Things that others may refer to, by their ``@id``."""
        found: dict[str, Thing] = {}
        for thing, _ in self.things:
            if len(thing.properties) > 1:
                found.setdefault(thing.text("@id"), thing)
        return found

    def resolved(self, value: str | Thing) -> str | Thing:
        """Return the thing that a reference names, else the value."""
        if isinstance(value, Thing) and "name" not in value.properties:
            return self.by_id.get(value.text("@id") or "?", value)
        return value

    @property
    def broken(self) -> list[tuple[int, str]]:
        """Scripts of JSON-LD that are no JSON: their elements and texts."""
        return self._read[1]

    def texts_in_broken(self, name: str) -> list[str]:
        """Return the value of a key in broken JSON."""
        pattern = re.compile(_FIELD % re.escape(name))
        return [found[1] for _, script in self.broken for found in pattern.finditer(script)]

    @cached_property
    def properties(self) -> list[Marked]:
        """Its elements with ``itemprop`` or ``property``, also those that are in no thing."""
        return [Marked(node, name, self.said_by(node)) for node, name in self._marked[1]]

    def said_by(self, node: int) -> str:
        """Return the text of an element, "" if it is too long for a date or a name."""
        attributes = self.tree.attributes(node)
        if said := attributes.get("datetime") or attributes.get("content"):
            return said
        runs, sizes = self._readable
        first, after = (bisect_left(runs, place) for place in (node, self.tree.after[node]))
        if sizes[after] - sizes[first] > _LONGEST_MARKED:
            return ""
        return " ".join(map(self.tree.text, runs[first:after]))

    @cached_property
    def _readable(self) -> tuple[list[int], list[int]]:
        """The runs of text that are read, and the running sum of their lengths."""
        tree = self.tree
        runs = np.asarray(tree.runs, dtype=np.int64)
        read = ~self._hides[runs]
        lengths = tree.texts.lengths()[read]
        lengths[np.diff(tree.texts.starts)[read] > 10 * _LONGEST_MARKED] = _LONGEST_MARKED + 1
        return runs[read].tolist(), [0, *np.cumsum(lengths).tolist()]

    @cached_property
    def _read(self) -> tuple[list[Thing], list[tuple[int, str]]]:
        things: list[Thing] = []
        broken: list[tuple[int, str]] = []
        for node, script in self.scripts:
            try:
                things += [_thing(one, node) for one in _flat(_json(script)) if type(one) is dict]
            except (ValueError, RecursionError):
                broken.append((node, script))
        return things, broken

    @cached_property
    def _marked(self) -> tuple[list[Thing], list[tuple[int, str]]]:
        """The outermost things of microdata and RDFa; all marked elements, and their names."""
        tree = self.tree
        outermost: list[Thing] = []
        marked: list[tuple[int, str]] = []
        around: list[Thing] = []
        for node in tree.mentioning(*_MARKING):
            while around and tree.after[around[-1].node] <= node:
                around.pop()
            attributes = tree.attributes(node)
            mark = next((one for one in _MARKS if one in attributes), "")
            types = attributes.get("itemtype", "") + " " + attributes.get("typeof", "")
            thing = Thing(_names(types), _MARKS[mark], node) if mark else None
            given = f"{attributes.get('itemprop', '')} {attributes.get('property', '')}".split()
            if names := " ".join(given).lower():
                marked.append((node, names))
            if around and names:
                value = thing or _value(tree, node)
                for name in _names(names):
                    around[-1].properties[name].append(value)
            elif thing:
                outermost.append(thing)
            if thing:
                around.append(thing)
        return outermost, marked


def meta_of(attributes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return name (property, itemprop, http-equiv; in lower case) and content of a meta tag."""
    content = attributes.get("content", "")
    keys = ("property", "name", "itemprop", "http-equiv") if content else ()
    names = (attributes.get(key, "").lower().strip() for key in keys)
    return [(name, content) for name in dict.fromkeys(names) if name]


def title_in(body: bytes, encoding: str) -> str:
    """Return the title of a page, "" if it has none near its begin; without parsing the page.

    >>> title_in(b"<TITLE>  Levers &amp; pulleys</TITLE>", "ascii")
    'Levers & pulleys'
    """
    found = _TITLE.search(body, 0, _WITHIN)
    text = found[1].decode(encoding, "replace") if found else ""
    return " ".join(unescape(text).split())[:_LONGEST_MARKED]


def text_of(value: str | Thing) -> str:
    """Return a text with white space collapsed; of a thing, its name or address."""
    for _ in range(4):
        if isinstance(value, Thing):
            value = next(value.values("name", "url", "@id"), "")
    return " ".join(unescape(value).split())[:_LONGEST_TEXT] if isinstance(value, str) else ""


def _value(tree: PageTree, node: int) -> str:
    """Return the value of a property: what microdata and RDFa Lite take it from."""
    attributes = tree.attributes(node)
    for name in ("content", "resource", _VALUES.get(tree.tags[node], "")):
        if value := attributes.get(name):
            return value
    return " ".join(tree.texts_in(node, 2 * _LONGEST_TEXT).split())[:_LONGEST_TEXT]


def _json(text: str) -> Any:
    """Return the data of a script, also with a comma or comment too many; else a ValueError."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        plain = _COMMENTED.sub("", text.strip())
        return json.loads(_TRAILING_COMMA.sub(r"\1", plain), strict=False)


def _flat(value: Any) -> Iterator[Any]:
    """Yield the members of lists in lists, and of graphs."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        inner = value.get("@graph", value.get("@list")) if isinstance(value, dict) else value
        if isinstance(inner, list):
            waiting += reversed(inner)
        else:
            yield value


def _thing(data: Mapping[str, Any], node: int) -> Thing:
    thing = Thing(_names(" ".join(filter(_is_text, _flat(data.get("@type"))))), "json-ld", node)
    for name, values in data.items():
        for value in _flat(values):
            if isinstance(value, dict):
                given = str(value["@value"]) if "@value" in value else _thing(value, node)
                thing.properties[_name(name)].append(given)
            elif isinstance(value, str | int | float) and not isinstance(value, bool):
                thing.properties[_name(name)].append(str(value))
    return thing


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _names(written: str) -> frozenset[str]:
    return frozenset(map(_name, written.split()))


def _name(name: str) -> str:
    """Return a name without its vocabulary, in lower case; those of JSON-LD itself as they are.

    >>> _name("https://schema.org/VideoObject"), _name("og:title"), _name("@id")
    ('videoobject', 'title', '@id')
    """
    return name.rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2].lower()
