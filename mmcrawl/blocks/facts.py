"""The facts of a page, from its own words: authors, dates, site, language, licence, and sources.

:func:`page_facts` reads them from structured data (JSON-LD, microdata), ``meta`` tags, elements
that are marked as dates or bylines, the address, and lines near the headline, the surest first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from urllib.parse import urlsplit

from mmcrawl.blocks.dates import Dated, DateReader, month_comes_first
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.structured import Declared, Marked, Thing, text_of
from mmcrawl.page.urls import absolute_url
from mmcrawl.text.words import HAN, has_han

_METAS = (
    "author article:author_name authors byl byline parsely-author sailthru.author dc.creator "
    "dcterms.creator dc.creator.name cxenseparse:author rnews:author "
    "weibo:article:author article:author og:article:author creator og:author twitter:creator_name"
).split()
_MARKS = ("author", "byline", "creator", "writer", "vcard")
_NO_MARKS = re.compile(
    r"comment|avatar|bio\b|-bio|desc|image|img|photo|social|follow|related|sidebar|widget|footer|"
    r"teaser|card|recent|popular|authori[tz]|recommend|review|\brev|quote|testimonial|copyby|modal"
)
_ANSWERS = re.compile(r"review|comment|answer")  # types of what readers wrote
_BYLINE = re.compile(
    r"^(?:(?:story|words|text|article|report|(?:posted|published)(?: on .{4,40})?|written|reviewed|"
    r"contributed)\s+)?(?:by|von|par|por|di|door|autor(?:in)?|author|автор|autore|auteur)\s{0,99}[:：]?\s{1,99}(?P<name>.{3,120})",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:作\s*者|撰\s*文|文字|撰稿(?:人)?|记\s*者|通讯员|编\s*译|^文)\s*[:：/|丨｜]\s*"
    r"(?P<name>[\w·•.\s、,，&]{2,40}?)(?=\s{2,}|[|｜丨()（）【\[]|来源|编辑|发布|时间|日期|责|\d{4}|图|$)"
)
# "新京报记者 陆一夫", "（记者陈智 整合）", "作者魏星": without a colon, at an end or in brackets.
_CHINESE_BARE = re.compile(
    rf"(?:(?:^|[（(【|])[^（）()【】，。]{{0,20}}?(?:记者|作者)\s*)"
    rf"(?P<name>[{HAN}·]{{2,4}}(?:[\s、]+[{HAN}·]{{2,4}})*)(?:\s*(?:整合|报道|文|摄))?(?=$|[）)】|])"
)
_HAN_ORGANISATION = re.compile(
    r"(?:网|报|社|新闻|频道|客户端|电视台|编辑部|公司|集团|中心|政府|协会|大学|学院|综合|平台|号)$|"
    r"\.(?:com|net|cn|org)$",
    re.IGNORECASE,
)
_BYLINE_ABOVE = re.compile(
    r"(?:(?:written|posted|article|story|words|authored|published)\s+by|by|(?:the )?authors?|作者)"
    r"\s*:?",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"^(?:(?:story|words|text|post|(?:view )?(?:all )?posts?|posted|written|published|reviewed|"
    r"contributed|edited|reported|authored|recipe)\s+)?"
    r"(?:by|via|authors?|von|par|por|di|door|autor(?:in)?|auteur|作\s*者|撰文|文|记者)"
    r"\s*(?:[:：/|丨]\s*|\s+)",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"\s{0,99}(?:,|;|、|，|\||/|·|•|⋅|\s[&+]\s|\s(?:and|und|et|y|e|i|og|och|mit|with)\s)\s*",
    re.IGNORECASE,
)
_HAN_SPLIT = re.compile(r"[\s、,，;；/&|]+")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_CALENDAR = re.compile(
    rf"(?:{_MONTHS}|mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*(?:ber|ary|day|ch|il|st|e|y))?",
    re.IGNORECASE,
)
_NO_PART = frozenset("of from our your this about".split())
_CUT = re.compile(  # of a text with single spaces
    r" ?(?:\(|\[|（|【|<|\bfor\b|\bof the\b|[–—]|\s-\s|\bposted\b|\bpublished\b|\bupdated\b|"
    r"\bon \w{1,99} \d|\bfollow\b|\bis an?\b|(?-i:\bin [A-Z])|\blast\b|»|\breviewed\b|"
    r"(?<![^\W_])\d|\bon (?:mon|tue|wed|thu|fri|sat|sun)|"
    rf"(?:(?:mon|tue|wed|thu|fri|sat|sun)\w{{0,20}} )?\b(?:{_MONTHS})[a-z]{{0,20}}\b ?"
    r"[\d,]).*$",
    re.DOTALL | re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?:|www\.|\S\.php\b|^/")
_EDITOR = re.compile(r"(?:责任编辑|责编|编辑|发布时间|来源)\s*[:：]")
_CHINESE_TELLS = re.compile(r"[0-9：:]|查看|返回|时间|日期|阅读|评论|文章|行情")
_NO_NAME = re.compile(
    r"https?:|www\.|@|…|^(?:admin(?:istrator)?|author|staff|editor|editors|user|guest|root|webmaster|"
    r"unknown|anonymous|none|null|n/a|about|home|posted|share|read more|view all|more|comments?|"
    r"undefined|sponsored|super ?user|wordpress|follow|contributor|name|content|get in touch|"
    r"contact(?: us)?|佚名|未知|全部|关注|查看更多|我已授权|发布时间|"
    r"总篇数|匿名|管理员|本站|网络|原创|小编|整合|报道|综合|暂无简介)$",
    re.IGNORECASE,
)
_ROLES = re.compile(
    r"\b(?:editor|reporter|correspondent|writer|journalist|contributor|columnist|producer|manager|"
    r"director|redakt\w+|staff|ceo|founder|officer|analyst|vp)\b",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"written|geschrieben|écrit|escrito|scritto|author|by", re.IGNORECASE)
_SUFFIX = re.compile(r"phd|ph\.d\.?|m\.?d\.?|rdn?|ld|jr\.?|mba|esq|rn|dvm", re.IGNORECASE)
_LONGEST_NAME = 60  # characters of a name
_LONGEST_BYLINE = 1_000
_MOST = 20
_NEAR = 150  # nodes from the headline
_BEFORE, _BEHIND = 4, 8  # lines around the headline

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*", re.IGNORECASE)
_KANA = re.compile("[぀-ヿ]")
_HANGUL = re.compile("[가-힣]")
_HAN = re.compile(f"[{HAN}]")
_LEAST_KANA = 0.2  # for each Chinese character, in a Japanese text
_CC = re.compile(r"https?://creativecommons\.org/(?:licenses|publicdomain)/[^\s\"'<>]{1,60}")
_LONGEST = 2_000
_PRODUCTS = frozenset("product productgroup productmodel book vehicle".split())
_NUMBER = re.compile(r"\d[\d.,' ]*")
_LONGEST_PRICE = 30  # characters


@dataclass(frozen=True, slots=True)
class PageFacts:
    """The facts of a page; missing ones are "", empty or None.

    Attributes:
        authors: Names, in the page's order; organisations where no person is named.
        authors_source: Where they were read, as ``json-ld author`` or ``text``.
        published, modified: With where they were read.
        site_name: Of the site.
        language: Tag of BCP 47, as the page writes it; ``zh``, ``ja`` or ``ko`` where the script of
            its text tells.
        description: In its head.
        image: Address of the picture that stands for it, absolute where the page's is known.
        licence: Address or name of its licence.
        canonical: The address it gives for itself.
        price: What the product costs that it is about, as ``49.90 EUR``.
    """

    authors: tuple[str, ...] = ()
    authors_source: str = ""
    published: Dated | None = None
    modified: Dated | None = None
    site_name: str = ""
    language: str = ""
    description: str = ""
    image: str = ""
    licence: str = ""
    canonical: str = ""
    price: str = ""

    @property
    def dated(self) -> Dated | None:
        """When it was published; when it was changed if only that is stated."""
        return self.published or self.modified


def page_facts(said: Declared, lines: PageLines, *, title: str = "", url: str = "") -> PageFacts:
    """Read the facts of a page, above all near its headline `title`; never raises."""
    headline = _row_of(title, said.tree, lines)
    language = _language(said, lines)
    base = url or next(_canonical(said), "")
    month_first = month_comes_first(language, _host(base))
    dates = DateReader(said, lines, headline, base, month_first=month_first)
    site_name = _first(_site_name(said))
    authors, source = AuthorReader(said, lines, headline, site_name).authors()
    return PageFacts(
        authors=authors,
        authors_source=source,
        published=dates.published(),
        modified=dates.modified(),
        site_name=site_name,
        language=language,
        description=_first(_description(said)),
        image=_absolute(_first(_image(said)), base),
        licence=_licence_address(_first(_licence(said)), base),
        canonical=_absolute(next(_canonical(said), ""), url),
        price=price_of(said, title),
    )


def _row_of(title: str, tree: PageTree, lines: PageLines) -> int:
    """Return the row of the headline among the lines; of several, that in the greatest heading."""
    wanted = title.casefold()
    rows = [row for row, text in enumerate(lines.texts) if wanted and text.casefold() == wanted]
    tags = {row: tree.tags[lines.containers[row]] for row in rows}
    headings = [row for row in rows if tags[row] == "h1"] or [
        row for row in rows if tags[row] == "h2"
    ]
    return (headings or rows or [-1])[0]


def _first(values: Iterator[str]) -> str:
    return next((" ".join(value.split())[:_LONGEST] for value in values if value.strip()), "")


def _of_nodes(said: Declared, *names: str) -> Iterator[str]:
    yield from (thing.text(name) for thing in said.of_page for name in names)


def _site_name(said: Declared) -> Iterator[str]:
    yield from said.meta("og:site_name")
    yield from (one.text("name") for one in said.typed if "website" in one.types)
    for thing in said.of_page:
        for publisher in map(said.resolved, thing.values("publisher")):
            yield publisher.text("name") if isinstance(publisher, Thing) else ""
    yield from said.meta("application-name", "apple-mobile-web-app-title", "dc.publisher")


def _description(said: Declared) -> Iterator[str]:
    yield from said.meta("description", "og:description", "twitter:description", "dc.description")
    yield from _of_nodes(said, "description")


def _image(said: Declared) -> Iterator[str]:
    names = "og:image:secure_url og:image og:image:url twitter:image twitter:image:src"
    yield from said.meta(*names.split())
    for thing in said.of_page:
        for one in map(said.resolved, thing.values("image")):
            yield one.text("url", "contenturl") if isinstance(one, Thing) else text_of(one)
    yield from (href for _, rel, href in said.links if "image_src" in rel)


def _licence(said: Declared) -> Iterator[str]:
    yield from (
        href
        for _, rel, href in said.links
        if rel & {"license", "licence", "copyright"} and href[:1] != "#"
    )
    yield from _of_nodes(said, "license")
    names = "dc.rights.license dcterms.license dc.license license dcterms.rights dc.rights"
    yield from said.meta(*names.split())
    body = said.tree.body
    if b"creativecommons.org/" in body and (found := _CC.search(body.decode("latin-1"))):
        yield found[0]


def _canonical(said: Declared) -> Iterator[str]:
    yield from (href for _, rel, href in said.links if "canonical" in rel)
    yield from said.meta("og:url")


def _language(said: Declared, lines: PageLines) -> str:
    declared = [said.language]
    declared += [*said.meta("content-language", "og:locale", "dc.language")]
    declared += _of_nodes(said, "inlanguage")
    for one in declared:
        if found := _LANGUAGE.match(one.strip()):
            return found[0].replace("_", "-")
    text = " ".join(lines.texts)[:20_000]
    han = len(_HAN.findall(text))
    if len(_KANA.findall(text)) > _LEAST_KANA * han:  # a Chinese page may quote a word
        return "ja"
    if len(_HANGUL.findall(text)) > 20:
        return "ko"
    return "zh" if has_han(text) else ""


def _absolute(address: str, base: str) -> str:
    return absolute_url(base, address) or address if address else ""


def _licence_address(licence: str, base: str) -> str:
    """Return a licence, its address absolute; some are given by their names."""
    relative = "/" in licence and " " not in licence
    return _absolute(licence, base) if relative else licence


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def price_of(said: Declared, title: str) -> str:
    """Return the price of the product named `title`, or of the only one, as ``49.90 EUR``."""
    for amount, currency in _prices(said, title.casefold()):
        if found := _NUMBER.search(amount):
            return f"{found[0].strip()} {currency.strip()}".strip()[:_LONGEST_PRICE]
    return ""


def _prices(said: Declared, title: str) -> Iterator[tuple[str, str]]:
    products = [one for one in said.typed if not _PRODUCTS.isdisjoint(one.types)]
    names = [(one, one.text("name").casefold()) for one in products]
    named = [one for one, name in names if name and name in title]
    if len(products) == 1 or named:
        yield from _offers(said, (named or products)[0])
    for name in ("product:price", "og:price"):
        currency = next(said.meta(f"{name}:currency"), "")
        yield from ((text, currency) for text in said.meta(f"{name}:amount"))
    marked = [one for one in said.properties if one.name in ("price", "lowprice")]
    if len({one.text for one in marked}) == 1:
        currencies = (one.text for one in said.properties if one.name == "pricecurrency")
        yield marked[0].text, next(currencies, "")


def _offers(said: Declared, product: Thing) -> Iterator[tuple[str, str]]:
    for offer in map(said.resolved, product.values("offers")):
        if isinstance(offer, Thing):
            for place in (offer, *offer.values("pricespecification")):
                if isinstance(place, Thing) and (price := place.text("price", "lowprice")):
                    yield price, place.text("pricecurrency")


class AuthorReader:
    """Reads the authors of one page, whose headline is in row `headline`, -1 for none."""

    def __init__(
        self, said: Declared, lines: PageLines, headline: int, site_name: str = ""
    ) -> None:
        self._said, self._lines, self._headline = said, lines, headline
        self._site = _letters(site_name)

    def authors(self) -> tuple[tuple[str, ...], str]:
        """Return the names in order and where they were read; a site or organisation comes last."""
        fallback: tuple[tuple[str, ...], str] = (), ""
        for source, written in self._places():
            names = tuple(dict.fromkeys(names_in(written)))[:_MOST]
            # The "and" in an organisation's name parts no names.
            whole = {_letters(one) for one in written}
            if names and not (all(map(self._is_no_person, names)) or whole <= self._organisations):
                return names, source
            if names and not fallback[0]:
                fallback = names, source
        if fallback[0]:
            return fallback
        for source, written in self._in_elements(far=True):
            if names := tuple(dict.fromkeys(names_in(written)))[:_MOST]:
                return names, source
        return (), ""

    def _is_no_person(self, name: str) -> bool:
        letters = _letters(name)
        if _HAN_ORGANISATION.search(name):
            return True
        if letters == self._site or letters in self._organisations:
            return True
        return (
            len(letters) > 4
            and len(self._site) > 4
            and (letters in self._site or self._site in letters)
        )

    @cached_property
    def _organisations(self) -> frozenset[str]:
        """Names that its JSON-LD gives to organisations."""
        things = (one for one in self._said.typed if "organization" in " ".join(one.types))
        return frozenset(_letters(one.text("name")) for one in things)

    def _places(self) -> Iterator[tuple[str, list[str]]]:
        yield from self._in_graph()
        cited = [*self._said.meta("citation_author", "bepress_citation_author")]
        yield "meta citation_author", [_turned(name) for name in cited]
        for wanted in _METAS:
            yield f"meta {wanted}", [*self._said.meta(wanted)]
        yield "meta twitter:data1", self._twitter()
        yield "microdata author", self._in_properties()
        yield "link author", self._in_links()
        yield from self._in_elements()
        yield "text", self._in_lines()

    @cached_property
    def _answers(self) -> list[Thing]:
        """Reviews by readers of the page's subject: a single review is the page itself."""
        found = [one for one in self._said.things if any(map(_ANSWERS.search, one[0].types))]
        return [one for one, around in found if around or len(found) > 1]

    def _in_graph(self) -> Iterator[tuple[str, list[str]]]:
        said = self._said
        for things in (said.of_page, said.others):
            for name in ("author", "creator"):
                for one in things:
                    if one not in self._answers:
                        yield f"json-ld {name}", _people(map(said.resolved, one.values(name)))
        found = re.compile(
            r'"author"\s*+:[\[{\s]*+[^\]}]{0,200}?"name"\s{0,99}:\s{0,99}"([^"]{2,80})"'
        )
        yield "json-ld author", [one for _, text in said.broken for one in found.findall(text)[:1]]

    def _twitter(self) -> list[str]:
        if any(map(_WRITTEN.match, self._said.meta("twitter:label1"))):
            return [*self._said.meta("twitter:data1")][:1]
        return []

    def _in_properties(self) -> list[str]:
        tree, found = self._said.tree, []
        properties = self._said.properties
        names = [one for one in properties if one.name == "name"]
        answers = [one for one in self._answers if one.source != "json-ld"]
        for one in properties:
            if "author" not in one.name.split() or any(
                answer.node < one.node < tree.after[answer.node] for answer in answers
            ):
                continue
            first = bisect_right(names, one.node, key=lambda name: name.node)
            inside = first < len(names) and names[first].node < tree.after[one.node]
            found.append((tree.parents[one.node], names[first].text if inside else one.text))
        # Names in other places are authors of answers that are not marked as such.
        return [text for parent, text in found if parent == found[0][0]]

    def _in_links(self) -> list[str]:
        tree = self._said.tree
        return [
            self._said.said_by(node)
            for node, rel, _ in self._said.links
            if "author" in rel and tree.tags[node] == "a"
        ][:3]

    def _in_elements(self, *, far: bool = False) -> Iterator[tuple[str, list[str]]]:
        """Elements named as bylines, those nearest to the headline first; those behind count so."""
        place = self._lines.firsts[self._headline] if self._headline >= 0 else 0

        def distance(one: Marked) -> int:
            return one.node - place if one.node >= place else 3 * (place - one.node)

        found = [
            one
            for one in self._said.named(*_MARKS)
            if 2 < len(one.text) <= 120
            and not _NO_MARKS.search(one.name)
            and (distance(one) > _NEAR) == far
        ]
        for one in sorted(found, key=distance)[:8]:
            yield f"element {one.name.strip()[:60]}", [one.text]

    def _in_lines(self) -> list[str]:
        texts, at = self._lines.texts, max(self._headline, 0)
        for text in texts[at : at + _BEHIND] + texts[max(at - _BEFORE, 0) : at]:
            # "By continuing, you agree" names nobody.
            found = _byline_in(text) if len(text) <= 200 else None
            if found and not found["name"][0].islower():
                return [found["name"]]
        for text, below in pairwise(texts):
            if _BYLINE_ABOVE.fullmatch(text) and len(below) <= _LONGEST_NAME:
                return [below]
        for text in texts:
            if len(text) <= 100 and (found := _CHINESE.search(text) or _CHINESE_BARE.search(text)):
                return [found["name"]]
        return []


def _byline_in(text: str) -> re.Match[str] | None:
    return _BYLINE.match(text) or _CHINESE.search(text) or _CHINESE_BARE.search(text)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _people(values: Iterable[str | Thing]) -> list[str]:
    found: list[str] = []
    for one in islice(values, _MOST):
        if isinstance(one, Thing):
            parts = (one.text("givenname"), one.text("familyname"))
            names = list(map(text_of, one.values("name"))) or [" ".join(filter(None, parts))]
        else:
            names = [text_of(one)]
        found += filter(None, names)
    return found


def names_in(written: Iterable[str]) -> Iterator[str]:
    """Yield the names in what is written where authors stand.

    >>> list(names_in(["By Ada Lovelace and Charles Babbage, Senior Editor", "作者：张三"]))
    ['Ada Lovelace', 'Charles Babbage', '张三']
    """
    for text in (one[:_LONGEST_BYLINE] for one in written):
        if _ADDRESS.search(text) or _EDITOR.match(text.strip()):
            continue
        bare = _PREFIX.sub("", " ".join(text.split()))
        bare = _CUT.sub("", bare)
        parts = _HAN_SPLIT.split(bare) if has_han(bare) else _SPLIT.split(bare)
        for part in parts:
            name = _PREFIX.sub("", part).strip(" .,:：;|-–·\"'“”")
            if _is_name(name):
                yield name


def _is_name(name: str) -> bool:
    if not 2 <= len(name) <= _LONGEST_NAME or _NO_NAME.search(name) or not name[0].isalpha():
        return False
    if has_han(name):
        return len(name) <= 20 and not _CHINESE_TELLS.search(name)
    parts = name.split()
    if len(parts) > 6 or _CALENDAR.fullmatch(name) or not _NO_PART.isdisjoint(name.lower().split()):
        return False
    return not _is_role(name) and not (len(parts) > 2 and name.islower())


def _is_role(name: str) -> bool:
    """Whether nothing but a role is left of it, as of ``Senior Reporter``, or a suffix."""
    words = name.split()
    return len(words) <= 3 and bool(_ROLES.search(words[-1]) or _SUFFIX.fullmatch(name))


def _turned(name: str) -> str:
    """Return a name that is written last name first as it is said; others as they are.

    >>> _turned("Curie, Marie"), _turned("Curie, Marie; Curie, Pierre")
    ('Marie Curie', 'Curie, Marie; Curie, Pierre')
    """
    last, _, first = (part.strip() for part in name.partition(","))
    return name if not (last and first) or "," in first or ";" in name else f"{first} {last}"
