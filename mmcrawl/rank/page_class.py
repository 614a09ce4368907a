"""The purpose of a page: its own text, the pages it leads to, its media, or something else.

A multinomial logistic model over :data:`FEATURES`, numbers of a page's content and its blocks. It
is in ``page_class_model.json`` beside this module, names and numbers only: ``classes`` (C) and
``features`` (F); ``mean`` and ``spread``, by which a feature x becomes z = (x - mean) / spread, cut
off at -4 and 4; ``weights`` (F rows of C) and ``bias`` (C), o = z · weights + bias; the probability
of a class is exp(o_c) / Σ exp(o). ``tools/train_page_classes.py`` makes the file from labelled
pages, and measures it on pages of sites it has not seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.archive import Archive
from mmcrawl.blocks.content.content import content_of
from mmcrawl.blocks.content.page_type import PAGE_TYPES
from mmcrawl.blocks.kinds import PAPER_KINDS
from mmcrawl.blocks.partition import partition_of
from mmcrawl.errors import RankError
from mmcrawl.page.html.tree import read_tree
from mmcrawl.page.media import PLAYED
from mmcrawl.page.parse import page_of
from mmcrawl.rank.reading import Reading, over_bodies
from mmcrawl.rank.records import Body
from mmcrawl.text.words import has_han

_HAN_FACTOR = 3  # Latin characters that say what a Chinese one says
_BY_LINK = frozenset({"a", "area", "og", "schema"})
_PRICE = re.compile(r"[$€£¥￥₹]\s?\d|\d\s?(?:€|元|USD|EUR)")
_TAGS = ("img", "input", "iframe", "li", "td", "p", "time", "pre")

FEATURES = (
    "content_chars",
    "content_paragraphs",
    "paragraph_chars",
    "content_share",
    "page_chars",
    "links",
    "link_share",
    "own_link_share",
    "media_playing",
    "media_linked",
    "is_frameset",
    "is_start",
    "path_depth",
    "has_query",
    "prices",
    "password",
    *(f"type_{name}" for name in PAGE_TYPES),
    *(f"kind_{kind}" for kind in PAPER_KINDS),
    *(f"tag_{tag}" for tag in _TAGS),
)
"""Of each number, its name. Counts and lengths are log(1 + n); ``…_share`` and ``kind_…`` are
shares of the page's visible characters, in [0, 1]; ``tag_…`` are elements; ``type_…`` is 1 for what
:attr:`mmcrawl.blocks.PageContent.page_type` says, whose rules know the first three classes well."""

_OWN = ("title", "topic", "small", "related-links", "image")  # kinds of a page's own blocks

PAGE_CLASSES = ("topic", "hub", "media", "other")
"""A page with a text of its own; one that leads to other pages; one that shows or plays media; one
that sells, serves or signs in."""

FORMAT = 1
_FARTHEST = 4.0  # standard deviations

Floats = NDArray[np.float64]


def page_features(
    body: bytes, url: str | None = None, *, encoding: str | None = None
) -> NDArray[np.float64]:
    """Return the numbers of a page, in the order of :data:`FEATURES`."""
    tree = read_tree(body, encoding=encoding)
    content = content_of(tree, url)
    cut = partition_of(tree, url=url, kinds="rules")
    chars, link_chars = cut.measures.chars, cut.measures.link_chars
    kinds = dict.fromkeys(PAPER_KINDS, 0)
    own = own_linked = 0
    for block in cut:
        size = int(chars[block.nodes.stop] - chars[block.nodes.start])
        kinds[block.kind] += size
        if block.kind in _OWN:
            own += size
            own_linked += int(link_chars[block.nodes.stop] - link_chars[block.nodes.start])
    whole, linked = max(1, int(chars[-1])), int(link_chars[-1])
    said = sum(map(len, content.paragraphs))
    weight = _HAN_FACTOR if has_han(content.text) else 1
    # What the model was fitted on: documents and pictures would be further features.
    found = page_of(tree, url or "http://page.invalid/").media
    media = [item for item in found if item.kind in PLAYED]
    playing = sum(item.tag not in _BY_LINK for item in media)
    tags = cut.tree.tags
    text = " ".join(block.text for block in cut)
    parts = urlsplit(url or "")
    path = [name for name in parts.path.split("/") if name]
    values = (
        np.log1p(said * weight),
        np.log1p(len(content.paragraphs)),
        np.log1p(said * weight / max(1, len(content.paragraphs))),
        min(1.0, said / whole),
        np.log1p(whole * weight),
        np.log1p(sum(tag in ("a", "area") for tag in tags)),
        linked / whole,
        own_linked / max(1, own),
        np.log1p(playing),
        np.log1p(len(media) - playing),
        float("frameset" in tags),
        float(not path or path[-1].startswith(("index.", "default."))),
        float(min(len(path), 6)),
        float(bool(parts.query)),
        np.log1p(len(_PRICE.findall(text))),
        float(b'type="password"' in body.lower()),
        *(float(content.page_type == name) for name in PAGE_TYPES),
        *(kinds[kind] / whole for kind in PAPER_KINDS),
        *(np.log1p(tags.count(tag)) for tag in _TAGS),
    )
    return np.array(values, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class PageClass:
    name: str
    probabilities: dict[str, float]


@dataclass(frozen=True, eq=False)
class PageClassModel:
    """The model.

    Attributes:
        mean, spread: Of each feature, among the pages it was trained on.
    """

    mean: Floats
    spread: Floats
    weights: Floats
    bias: Floats

    def probabilities(self, values: Floats) -> Floats:
        scaled = np.clip((values - self.mean) / self.spread, -_FARTHEST, _FARTHEST)
        odds = scaled @ self.weights + self.bias
        odds = np.exp(odds - odds.max(axis=-1, keepdims=True))
        result: Floats = odds / odds.sum(axis=-1, keepdims=True)
        return result

    def save(self, path: str | Path) -> None:
        facts = {"format": FORMAT, "classes": PAGE_CLASSES, "features": FEATURES}
        arrays = {
            name: np.round(getattr(self, name), 6).tolist()
            for name in ("mean", "spread", "weights", "bias")
        }
        text = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(value)}" for key, value in (facts | arrays).items()
        )
        Path(path).write_text(f"{{\n{text}\n}}\n", encoding="utf-8")

    @classmethod
    def load(cls, text: str, name: str = "the model") -> PageClassModel:
        try:
            facts: dict[str, Any] = json.loads(text)
            known = (facts["format"], tuple(facts["classes"]), tuple(facts["features"]))
            arrays = [np.array(facts[key], dtype=np.float64) for key in _SHAPES]
        except (ValueError, KeyError, TypeError) as error:
            raise RankError(f"{name} is not a model of page classes; train it again") from error
        if known != (FORMAT, PAGE_CLASSES, FEATURES):
            raise RankError(f"{name} was made by another version of mmcrawl; train it again")
        shapes = [array.shape for array in arrays]
        if shapes != list(_SHAPES.values()) or not all(np.isfinite(a).all() for a in arrays):
            raise RankError(f"{name} is damaged; train it again")
        return cls(*arrays)


_SHAPES = {
    "mean": (len(FEATURES),),
    "spread": (len(FEATURES),),
    "weights": (len(FEATURES), len(PAGE_CLASSES)),
    "bias": (len(PAGE_CLASSES),),
}


@cache
def page_class_model() -> PageClassModel:
    path = files("mmcrawl.rank") / "page_class_model.json"
    return PageClassModel.load(path.read_text(encoding="utf-8"), str(path))


def page_class(
    body: bytes,
    url: str | None = None,
    *,
    encoding: str | None = None,
    model: PageClassModel | None = None,
) -> PageClass:
    model = model or page_class_model()
    found = model.probabilities(page_features(body, url, encoding=encoding)).tolist()
    return PageClass(
        PAGE_CLASSES[int(np.argmax(found))], dict(zip(PAGE_CLASSES, found, strict=True))
    )


def classes_of(archive: Archive, reading: Reading) -> Iterator[tuple[str, int, PageClass]]:
    """Yield URL, number of the version, and class of each page of an archive."""
    return over_bodies(_class_of, archive, reading)


def _class_of(body: Body) -> PageClass:
    return page_class(body.body, body.url, encoding=body.encoding or None)
