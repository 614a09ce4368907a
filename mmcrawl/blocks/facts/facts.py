"""The facts of a page in one object."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from mmcrawl.blocks.facts.authors import AuthorReader
from mmcrawl.blocks.facts.dates import Dated, DateReader, month_comes_first
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.structured import Declared, Thing, text_of
from mmcrawl.page.urls import absolute_url
from mmcrawl.text.words import HAN, has_han

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
