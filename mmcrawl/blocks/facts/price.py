"""What a page says the product it is about costs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mmcrawl.blocks.facts.said import Node, Said, first_text, types_of

_PRODUCTS = frozenset({"Product", "ProductGroup", "ProductModel", "Book", "Vehicle"})
_NUMBER = re.compile(r"\d[\d.,' ]*")
_LONGEST = 30  # characters


def price_of(said: Said, title: str) -> str:
    """Return the price of the product that a page is about, as ``49.90 EUR``; "" for none.

    Args:
        said: What the page says.
        title: Its headline; of several products the one of that name counts.
    """
    for amount, currency in _prices(said, title.casefold()):
        if found := _NUMBER.search(amount):
            return f"{found[0].strip()} {currency.strip()}".strip()[:_LONGEST]
    return ""


def _prices(said: Said, title: str) -> Iterator[tuple[str, str]]:
    products = [node for node in said.graph.nodes if not _PRODUCTS.isdisjoint(types_of(node))]
    names = [(node, first_text(node.get("name")).casefold()) for node in products]
    named = [node for node, name in names if name and name in title]
    if len(products) == 1 or named:
        yield from _offers(said, (named or products)[0])
    for name in ("product:price", "og:price"):
        currency = next((text for _, text in said.meta(f"{name}:currency")), "")
        yield from ((text, currency) for _, text in said.meta(f"{name}:amount"))
    marked = [one for one in said.properties if one.name in ("price", "lowprice")]
    if len({one.text for one in marked}) == 1:
        currencies = (one.text for one in said.properties if one.name == "pricecurrency")
        yield marked[0].text, next(currencies, "")


def _offers(said: Said, product: Node) -> Iterator[tuple[str, str]]:
    offers = product.get("offers")
    for one in offers if isinstance(offers, list) else [offers]:
        offer = said.graph.resolved(one)
        given = offer.get("priceSpecification") if isinstance(offer, dict) else None
        for place in (offer, given[0] if isinstance(given, list) and given else given):
            if isinstance(place, dict):
                price = place.get("price") or place.get("lowPrice") or ""
                if isinstance(price, str | int | float):
                    yield str(price), first_text(place.get("priceCurrency"))
