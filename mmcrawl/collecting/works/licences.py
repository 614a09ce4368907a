"""Which licence a page says its works have, and where it says so.

A page names licences for many reasons: its own, that of a photograph, or since it writes about
them. What is declared (``rel=license``, structured data, meta tags) is believed; a link, badge or
text, where it stands in the foot or side of the page or the words around it say that something *is
licensed*. What stands beside a medium is said of it, and wins.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.partition import Partition
from mmcrawl.collecting.works.licence_names import (
    RESERVED,
    UNSPECIFIED,
    Named,
    licence_of_url,
    licences_in_text,
)
from mmcrawl.collecting.works.model import Evidence, Licence
from mmcrawl.page.structured import Declared, Thing
from mmcrawl.text.words import unify

BELIEVED = 0.5
"""Score from which on a licence is taken to be that of the page."""

_LONGEST_SAID = 200
_MOST = 100  # licences of a page
_META = (
    "dc.rights",
    "dcterms.rights",
    "dcterms.license",
    "dc.rights.license",
    "license",
    "licence",
)
_META_NOTICES = ("copyright", "rights")
_ADDRESSES = {"a": "href", "area": "href", "link": "href", "img": "src"}
_SCORES = {
    "rel-license": 0.9,
    "json-ld": 0.9,
    "microdata": 0.85,
    "meta": 0.8,
    "badge": 0.7,
    "link": 0.7,
    "text": 0.6,
}
_FOOT = frozenset({"copyright", "navigation", "noise-links", "small", ""})
# What says that something is licensed, and that it is but a picture or a mention.
_LICENSES = re.compile(
    r"licen[sc]ed|(?:under|is|sous|con|com|sob)\s+(?:an?|the|une|uma|la|licen)\b|licence|license"
    r"|unless otherwise|except where|采用|授权|许可|发布|本站|本作品|本文|本博客|网站内容|文章"
    r"|in the public domain|distribu|mise? à disposition|contenu|content[sú]"
)
_OF_A_PICTURE = re.compile(
    r"photo|image|picture|flickr|wikimedia|courtesy|via |credit|theme|template|图片|照片|封面|主题"
)
_OF_READERS = re.compile(r"comment|submit|you agree|评论|留言|投稿")
_MOST_LICENCES = 2  # of a page that has them: one of texts, one of pictures
_STATEMENT = 700  # characters of the line a statement stands in


def declared_licences(items: Iterable[Thing], page: Declared, url: str) -> Iterator[Licence]:
    """Yield the licences that structured data and meta tags of a page declare for all of it."""
    for item in items:
        for said in item.texts("license", "licence"):
            yield from _licences([*_named(said)], item.source, _SCORES[item.source], url)
    for names, weight in ((_META, 1.0), (_META_NOTICES, 0.9)):
        for _, said in page.meta(*names):
            yield from _licences([*_named(said)], "meta", _SCORES["meta"] * weight, url)


def item_licences(item: Thing, url: str) -> tuple[Licence, ...]:
    """Return what the description of a medium says of its licence."""
    found = [
        licence
        for said in item.texts("license", "licence")
        for licence in _licences([*_named(said)], item.source, 1.0, url)
    ]
    return tuple(_of_medium(licence) for licence in found)


class LicenceReader:
    """Finds licences in the text, links and badges of a page.

    Args:
        page: The page in blocks.
        lines: Its lines.
        url: Its address.
    """

    def __init__(self, page: Partition, lines: PageLines, url: str) -> None:
        self._page, self._tree, self._url, self._lines = page, page.tree, url, lines
        self._kind_of: dict[int, str] = {}
        self._kind_around: dict[int, str] = {}
        for block in page:
            kinds = dict.fromkeys(block.nodes, block.kind)
            self._kind_around.update(kinds)  # the innermost one comes last
            if not block.children:
                self._kind_of.update(kinds)
        self._line_of: dict[int, str] = {}
        for text, container in zip(lines.texts, lines.containers, strict=True):
            before = self._line_of.get(container, "")
            if len(before) <= _STATEMENT:
                self._line_of[container] = f"{before} {text}".strip()
        self._by_node = sorted(_doubted([*self._search()]), key=lambda one: one[0])
        self._nodes = [node for node, _ in self._by_node]

    def kind_of(self, node: int) -> str:
        """Return the kind of the innermost block around a node, "" if it stands in none."""
        return self._kind_around.get(node, "")

    def of_page(self) -> list[Licence]:
        """Return what is said of the whole page, best first."""
        found = [licence for _, licence in self._by_node]
        return sorted(found, key=lambda one: -one.score)[:_MOST]

    def beside(self, nodes: range) -> tuple[Licence, ...]:
        """Return what stands in an element that holds nothing but a medium and what is its own."""
        first = bisect_left(self._nodes, nodes.start)
        found = self._by_node[first : min(bisect_left(self._nodes, nodes.stop), first + _MOST)]
        return tuple(_of_medium(one) for _, one in found if one.code != UNSPECIFIED)

    def _search(self) -> Iterator[tuple[int, Licence]]:
        tree, tags = self._tree, self._tree.tags
        for node in self._candidates():
            attributes, tag = tree.attributes(node), tags[node]
            named = licence_of_url(attributes.get(_ADDRESSES[tag], ""))
            declared = "license" in attributes.get("rel", "").lower().split()
            if named is None and declared and tag != "img":
                text = attributes.get("title") or self._page.facts.texts.of_link(
                    node, tree.after[node]
                )
                named = next(licences_in_text(text), None)
            if named is None:
                continue
            source = "rel-license" if declared else "badge" if tag == "img" else "link"
            yield from self._judged(node, named, source)
        for text, first in zip(self._lines.texts, self._lines.firsts, strict=True):
            for named in licences_in_text(text) if len(text) <= 4 * _STATEMENT else ():
                yield from self._judged(first, named, "text", text)

    def _candidates(self) -> Sequence[int]:
        tree = self._tree
        marks = (b"license", b"licence", b"creativecommons", b"licensebuttons", b"gnu.org")
        return [node for node in tree.mentioning(*marks) if tree.tags[node] in _ADDRESSES]

    def _judged(
        self, node: int, named: Named, source: str, line: str = ""
    ) -> Iterator[tuple[int, Licence]]:
        kind = self._kind_of.get(node, "")
        line = line or self._line_of.get(self._lines.container_of[node], "")
        score = _SCORES[source] * self._belief(source, kind, line, named.code)
        if named.code == UNSPECIFIED:
            score *= 0.9 if _LICENSES.search(unify(line)) else 0.6
        for licence in _licences([named], source, score, self._url):
            yield node, replace(licence, evidence=replace(licence.evidence, block=kind))

    def _belief(self, source: str, kind: str, line: str, code: str) -> float:
        """Return how much is to be believed of what is said in a block of a kind, in a line."""
        words = unify(line)
        if _OF_READERS.search(words) and source != "rel-license":
            return 0.4
        if source == "rel-license":
            return 0.6 if _OF_A_PICTURE.search(words) and kind not in _FOOT else 1.0
        states = len(line) <= _STATEMENT and _LICENSES.search(words) is not None
        if _OF_A_PICTURE.search(words) and not (states and kind in _FOOT):
            return 0.4
        if code == RESERVED:
            return 1.0 if kind in _FOOT and len(line) <= _STATEMENT else 0.4
        if kind in _FOOT:
            return 1.0 if states or source in ("badge", "text") else 0.9
        return 0.9 if states else 0.5


def _doubted(found: list[tuple[int, Licence]]) -> list[tuple[int, Licence]]:
    """Believe no link or text of a page that names many licences: it is a list, or about them."""
    weak = {"link", "text", "badge"}
    codes = {one.code for _, one in found if one.evidence.source in weak} - {UNSPECIFIED, RESERVED}
    if len(codes) <= _MOST_LICENCES:
        return found
    return [
        (node, replace(one, score=one.score / 2) if one.evidence.source in weak else one)
        for node, one in found
    ]


def best_first(licences: Iterable[Licence], *, least: float = BELIEVED) -> tuple[Licence, ...]:
    """Return those that are believed, one of each code: of the medium first, then by score.

    Creative Commons without more says less than any of its licences, and is left out beside one; so
    is a licence without its version beside the same with it.
    """
    ranked = sorted(
        (one for one in licences if one.score >= least),
        # Of two that are as sure, the one that allows less: "CC", "BY", "NC" are often three links.
        key=lambda one: (
            *(one.evidence.scope != "medium", one.code == RESERVED, -one.score),
            -one.code.count("-"),
        ),
    )
    kept: dict[str, Licence] = {}
    for licence in ranked:
        kept.setdefault(licence.code, licence)
    codes = tuple(kept)
    return tuple(
        licence
        for code, licence in kept.items()
        if not any(_says_more(other, code) for other in codes)
    )


def _says_more(code: str, than: str) -> bool:
    if than == UNSPECIFIED:
        return code.startswith("CC-") or code == "CC0-1.0"
    return re.fullmatch(re.escape(than) + r"-\d\.\d(?:-[A-Z]+)?", code) is not None


def _named(said: str) -> Iterator[Named]:
    of_url = licence_of_url(said)
    if of_url is not None:
        yield of_url
    else:
        yield from licences_in_text(said)


def _licences(found: Iterable[Named], source: str, score: float, page: str) -> Iterator[Licence]:
    for code, url, said in found:
        shown = " ".join(said.split())[:_LONGEST_SAID]
        yield Licence(code, url, Evidence(source, shown, "page", page), round(score, 3))


def _of_medium(licence: Licence) -> Licence:
    return replace(licence, evidence=replace(licence.evidence, scope="medium"))
