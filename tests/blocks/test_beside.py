"""What stands beside a text and is told with it: authors of posts, prices."""

import json

import numpy as np

from mmcrawl.blocks import page_content, read_tree
from mmcrawl.blocks.content import beside_text
from mmcrawl.blocks.layout import Measures, PageLines
from tests.tables import each

SAID = "A lever is a rigid bar on a pivot, and a small force lifts a heavy load with it."


def shown(body: str, *, posts: bool = False, price: str | None = None) -> list[str]:
    """Return the short lines that are shown with a text, which is all long lines."""
    tree = read_tree(body.encode())
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)
    long = np.array([len(text) > 60 for text in lines.texts])
    found = beside_text(tree, measures, lines, long, posts=posts, price=price)
    assert found[long].all()
    return [lines.texts[row] for row in np.flatnonzero(found & ~long)]


def post(name: str, *, mark: str = "class='post-author'") -> str:
    head = f"<div><span {mark}>{name}</span> <span class=role>Member</span></div>"
    return f"<div class=post>{head}<time>3 May</time><p>{SAID} Thus {name}.</p><a>Reply</a></div>"


@each("mark", ["class='post-author'", "class=username", "itemprop=author"])
def test_authors_of_posts_stand_before_what_they_wrote(mark: str) -> None:
    page = post("Ada", mark=mark) + post("Boole", mark=mark) + post("Ada", mark=mark)
    assert [name.split()[0] for name in shown(page, posts=True)] == ["Ada", "Boole", "Ada"]
    assert shown(page) == []


def test_what_is_said_of_authors_is_no_name() -> None:
    body = "".join(
        f"<div class=author><p>{what}</p></div><p>{SAID} No. {number}</p>"
        for number, what in enumerate(("Posted 3 May", "Senior member", "42.4k", "Level 5"))
    )
    assert shown(body, posts=True) == []
    assert shown(post("Ada"), posts=True) == []  # one author: an article's


PRODUCT = (
    "<h1>A lever</h1><div class='price old'><p>$59.00</p></div><div class=price><p>$49.90</p></div>"
    f"<p>{SAID}</p><div class=price><p>$12.00</p></div>"
)


def test_the_price_of_a_product_is_shown() -> None:
    asked = ("", "12 USD", "77.10 USD", None)
    assert [shown(PRODUCT, price=price) for price in asked] == [["$49.90"], ["$12.00"], [], []]
    nothing = f"<h1>Cart</h1><div class=price><p>$0.00</p></div><p>{SAID}</p>"
    assert shown(nothing, price="") == []


@each("known, written", [("1299.00 USD", "$1,299.00"), ("1299.00 EUR", "1.299,00 €"),
                         ("1299 EUR", "1.299 €"), ("49.9 EUR", "49,90 €")])  # fmt: skip
def test_a_price_is_found_however_it_is_written(known: str, written: str) -> None:
    page = f"<h1>A lever</h1><p>$1</p><p>{written}</p><p>{SAID}</p>"
    assert shown(page, price=known) == [written]


def offer(**of: object) -> str:
    product = {"@type": "Product", "name": "A lever", "offers": of}
    return f"<script type='application/ld+json'>{json.dumps(product)}</script>"


@each(
    "head, price",
    [
        (offer(price=49.9, priceCurrency="EUR"), "49.9 EUR"),
        (offer(lowPrice="49.90", priceCurrency="EUR"), "49.90 EUR"),
        (offer(priceSpecification=[{"price": "49,90", "priceCurrency": "EUR"}]), "49,90 EUR"),
        (offer(price=None), ""),
        (offer(price={"a": 1}), ""),
        ("<meta property='product:price:amount' content='49.90'>", "49.90"),
        ("<div itemprop=offers><meta itemprop=priceCurrency content=GBP>"
         "<span itemprop=price content=49.90>£49.90</span></div>", "49.90 GBP"),
        ("<i itemprop=price>£49.90</i><i itemprop=price>£9.90</i>", ""),
        (offer(price=1) + offer(price=2).replace("A lever", "A pulley"), "1"),
        (offer(price=5).replace("A lever", "") + offer(price=1), "1"),
        (offer(price=1).replace("lever", "wheel") + offer(price=2).replace("lever", "bar"), ""),
    ],
)  # fmt: skip
def test_the_price_that_a_page_gives_is_a_fact(head: str, price: str) -> None:
    page = f"<title>A lever</title>{head}<h1>A lever</h1><p>{SAID}</p>"
    assert page_content(page).facts.price == price
    assert json.loads(page_content(page).write("json"))["price"] == price
