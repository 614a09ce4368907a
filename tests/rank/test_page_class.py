"""What pages are there for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mmcrawl.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank import (
    FEATURES,
    PAGE_CLASSES,
    PageClassModel,
    Reading,
    classes_of,
    page_class,
    page_class_model,
)
from tests.rank.conftest import Keep
from tests.tables import each

TEXT = "A lever is a rigid beam on a pivot; effort at one end moves the load at the other end. "
ARTICLE = f"<title>Levers</title><article><h1>Levers</h1>{f'<p>{TEXT * 4}</p>' * 8}</article>"
LIST = (
    "<title>All lessons</title><h1>All lessons</h1><ul>"
    + "".join(f'<li><a href="/lesson/{n}">Lesson number {n}: levers</a></li>' for n in range(60))
    + "</ul>"
)
FILM = (
    "<title>Lever (video)</title><h1>Lever video</h1>"
    '<video controls src="/lever.mp4"></video><p>A film of two minutes about levers.</p>'
)
SHOP = (
    "<title>Wooden lever</title><h1>Wooden lever</h1><p>$19.99</p><p>was $29.99</p>"
    "<form action='/cart'><select><option>1<option>2</select><input type=hidden name=sku>"
    "<button>Add to cart</button></form><p>Free shipping over $50. In stock. Beech, 30 cm.</p>"
    + "".join(
        f"<div><img src='{n}.jpg' alt='Lever {n}'><p>Lever {n}</p><p>${n}.50</p></div>"
        for n in range(8)
    )
)
URL = "http://h.test/shop/lever-30"


@each("body, name", [(ARTICLE, "topic"), (LIST, "hub"), (FILM, "media"), (SHOP, "other")])
def test_plain_cases_are_told(body: str, name: str) -> None:
    assert page_class(body.encode(), URL).name == name


def test_pages_of_an_archive_are_classed(archive: Archive, keep: Keep) -> None:
    keep("http://h.test/a", ARTICLE)
    keep("http://h.test/b", LIST)
    keep("http://h.test/c", LIST, status=500)
    found = list(classes_of(archive, Reading(archive)))
    assert [(url, number) for url, number, _ in found] == [
        ("http://h.test/a", 1),
        ("http://h.test/b", 1),
    ]
    assert found[0][2] == page_class(ARTICLE.encode(), "http://h.test/a", encoding="utf-8")


def test_a_saved_model_says_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    size, classes = len(FEATURES), len(PAGE_CLASSES)
    model = PageClassModel(
        rng.normal(size=size),
        rng.random(size) + 0.5,
        rng.normal(size=(size, classes)),
        rng.normal(size=classes),
    )
    path = tmp_path / "model.json"
    model.save(path)
    read = PageClassModel.load(path.read_text("utf-8"))
    own = page_class(SHOP.encode(), URL, model=model).probabilities
    assert own == pytest.approx(page_class(SHOP.encode(), URL, model=read).probabilities, abs=1e-4)
    assert own != page_class(SHOP.encode(), URL).probabilities


@each(
    "change, reason",
    [
        (lambda facts: facts.pop("bias"), "is not a model of page classes"),
        (lambda facts: facts["features"].pop(), "was made by another version"),
        (lambda facts: facts.update(format=2), "was made by another version"),
        (lambda facts: facts["mean"].pop(), "is damaged"),
    ],
)
def test_a_model_that_is_none_is_told(tmp_path: Path, change, reason: str) -> None:
    path = tmp_path / "model.json"
    page_class_model().save(path)
    facts = json.loads(path.read_text("utf-8"))
    change(facts)
    with pytest.raises(RankError, match=f"my.json {reason}.*train it again"):
        PageClassModel.load(json.dumps(facts), "my.json")
