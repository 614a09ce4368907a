"""The licence that a page states for its works, and where it states it.

A page names licences for many reasons: its own, that of a photograph, or because it writes about
licences. Declarations (``rel=license``, structured data, meta tags) are believed. A link, badge or
text counts if it is in the foot or side of the page, or if the words around it say that
something *is licensed*. A statement next to a medium applies to that medium and takes precedence.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.partition import Partition
from mmcrawl.page.structured import Declared, Thing
from mmcrawl.text.words import unify
from mmcrawl.works.model import Evidence, Licence

RESERVED = "all-rights-reserved"
UNSPECIFIED = "CC"

_LONGEST = 100_000  # characters that are read of a text
_ELEMENTS = ("by", "nc", "sa", "nd")
_CC_URL = re.compile(
    r"(?:creativecommons\.org|licensebuttons\.net)/(?:licen[sc]es|publicdomain|l|p)/"
    r"(?P<name>zero|mark|publicdomain|[a-z]{2}(?:[-+](?:nc|sa|nd)){0,2})"
    r"(?:/(?P<version>\d\.\d)(?:/(?P<port>[a-z]{2,3})(?=/|$))?)?",
    re.IGNORECASE,
)
_CC_HOME = re.compile(r"(?:^|[/.])creativecommons\.org(?:\.\w+)?(?:/|$)", re.IGNORECASE)
_OTHER_URLS = (
    (re.compile(r"gnu\.org/(?:licenses|copyleft)/fdl", re.IGNORECASE), "GFDL"),
    (re.compile(r"artlibre\.org/", re.IGNORECASE), "FAL"),
)
# What names the family; the elements follow it, or are it: "CC BY-SA", "署名-非商业性使用".
_FAMILY = re.compile(
    r"creative\s*commons|知识共享|创作共享|创作共用|创用\s*cc|共享创意|公共创作|"
    r"(?<![a-z])cc\s{0,9}[-_:/]?\s{0,9}(?:by|0|zero)(?![a-z])|"
    r"署名\s{0,9}[-—–_－,，、 ]?\s{0,9}(?:非商|相同|禁止)|"
    r"(?:姓名标示|署名)\s{0,9}[-—–_－ ]\s{0,9}\w",
)
_NAMES = {
    "by": r"(?<![a-z])by(?=[-_ /]|$|\d)|attribution|署名|姓名标示|paternit|atribui|atribuci"
    r"|attribuzione|namensnennung",
    "nc": r"(?<![a-z])nc(?![a-z])|non-?\s?commerc|noncomm|非商|非营利|非盈利"
    r"|utilisation commerciale|n[aã]o.?comercial|no.?comercial|nicht.?kommerziell",
    "sa": r"(?<![a-z])sa(?![a-z])|share.?alike|相同方式|同方式|保持一致|partage|compartil"
    r"|compartir|condividi|weitergabe",
    "nd": r"(?<![a-z])nd(?![a-z])|no.?deriv|禁止演绎|禁止改作|禁止修改|禁止衍生|pas de modif"
    r"|sem deriva|sin deriva|non opere derivate|keine bearbeitung",
}
_FIND = {element: re.compile(pattern) for element, pattern in _NAMES.items()}
_VERSION = re.compile(r"(?<![\d.])([1-4]\.[05])(?![\d.])")
_REACH = 110  # characters behind the family in which elements and version stand
_RESERVED = re.compile(
    r"all rights? reserved|版权所有|保留所有权|保留一切权|tous droits r[ée]serv[ée]s"
    r"|todos os direitos reservados|todos los derechos reservados|tutti i diritti riservati"
    r"|alle rechte vorbehalten"
)
_PUBLIC_DOMAIN = re.compile(
    r"(?:in|into|to) the public domain|属于公有领域|公有领域作品"
    r"|public domain (?:work|mark|dedication)"
)
_ZERO = re.compile(r"(?<![a-z])cc\s{0,9}[-_]?\s{0,9}(?:0|zero)(?![a-z])")


class Named(NamedTuple):
    """A licence named by an address or text: its code, the address of its text, its source."""

    code: str
    url: str
    said: str


def licence_of_url(url: str) -> Named | None:
    """Return the licence that an address is of, also that of a badge; None for none.

    >>> licence_of_url("http://i.creativecommons.org/l/by-nc-sa/3.0/tw/88x31.png")[:2]
    ('CC-BY-NC-SA-3.0-TW', 'https://creativecommons.org/licenses/by-nc-sa/3.0/tw/')
    """
    if match := _CC_URL.search(url):
        name = match["name"].lower().replace("+", "-")
        return Named(*_creative_commons(name, match["version"], match["port"]), url)
    for pattern, code in _OTHER_URLS:
        if pattern.search(url):
            return Named(code, url, url)
    return Named(UNSPECIFIED, "", url) if _CC_HOME.search(url) else None


def licences_in_text(text: str) -> Iterator[Named]:
    """Yield the licences that a text names, in Chinese, English, and as other languages call them.

    >>> [named.code for named in licences_in_text("本作品採用創用CC 姓名標示-非商業性 3.0 授權")]
    ['CC-BY-NC-3.0']
    """
    text = text[:_LONGEST]
    plain = unify(text)
    end = 0
    for family in _FAMILY.finditer(plain):
        if family.start() < end:
            continue
        end = min(len(plain), family.start() + _REACH)
        here = plain[family.start() : end]
        said = text[family.start() : end] if len(text) == len(plain) else here
        if _ZERO.search(here):
            yield Named("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/", said)
            continue
        found = {element for element, pattern in _FIND.items() if pattern.search(here)}
        version = _VERSION.search(here)
        if found - {"by"} or ("by" in found):
            name = "-".join(element for element in _ELEMENTS if element in found | {"by"})
            yield Named(*_creative_commons(name, version and version[1], None), said)
        else:
            yield Named(UNSPECIFIED, "", said)
    for pattern, code in ((_PUBLIC_DOMAIN, "PDM-1.0"), (_RESERVED, RESERVED)):
        if match := pattern.search(plain):
            start = max(0, match.start() - 40)
            yield Named(code, "", plain[start : match.end() + 40])


def _creative_commons(name: str, version: str | None, port: str | None) -> tuple[str, str]:
    """Return code and address of a licence of Creative Commons."""
    if name == "zero":
        return "CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"
    if name in ("mark", "publicdomain"):
        return "PDM-1.0", "https://creativecommons.org/publicdomain/mark/1.0/"
    elements = [element for element in _ELEMENTS if element in re.split("[-+]", name)]
    name = "-".join(elements or ["by"])
    code = "-".join(filter(None, ("CC", name.upper(), version, (port or "").upper())))
    path = "/".join(filter(None, (name, version, (port or "").lower())))
    return code, f"https://creativecommons.org/licenses/{path}/" if version else ""


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
# What says that something is licensed, and that it is but a picture or an occurrence.
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
        for said in page.meta(*names):
            yield from _licences([*_named(said)], "meta", _SCORES["meta"] * weight, url)


def item_licences(item: Thing, url: str) -> tuple[Licence, ...]:
    """Return the licence in the description of a medium."""
    found = [
        licence
        for said in item.texts("license", "licence")
        for licence in _licences([*_named(said)], item.source, 1.0, url)
    ]
    return tuple(_of_medium(licence) for licence in found)


class LicenceReader:
    """Finds licences in the text, links and badges of a page."""

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
        """Return the kind of the innermost block around a node, "" if it is in none."""
        return self._kind_around.get(node, "")

    def of_page(self) -> list[Licence]:
        found = [licence for _, licence in self._by_node]
        return sorted(found, key=lambda one: -one.score)[:_MOST]

    def beside(self, nodes: range) -> tuple[Licence, ...]:
        """Return the text of an element that holds only one medium and its own details."""
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
        """Return the weight of a statement in a block of a kind, in a line."""
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
