"""The kind of each block of a page, by a small model trained on labelled blocks.

Two sets of networks with one hidden layer each, softmax over their outputs, and their means. The
first separates the headline, the topic, links to more on it and readers' comments from everything
else; the second tells the kinds of the rest. Their input is :func:`kind_features` (where a block
stands, what it holds, the words of its text, its links and the heading above, its neighbours) and
the verdict of the rules of :mod:`mmcrawl.blocks.kinds`. Then blocks are weighed with their
neighbours: the model includes how often a block of one kind follows one of another, and the
forward-backward algorithm for hidden Markov models (Rabiner 1989, section III) combines both into
probabilities.

The weights are in ``kind_model.npz`` beside this module, arrays of numbers only;
``tools/train_kind_model.py`` makes the file and measures it on sites it has not seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from math import log1p
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.kinds import (
    DATE,
    HAN_FACTOR,
    PAPER_KINDS,
    TOPIC_CHARS,
    BlockKind,
    is_byline,
    is_dated,
    judge,
)
from mmcrawl.blocks.layout.block_words import AREAS
from mmcrawl.blocks.layout.features import LONGEST_HEADING, PageFeatures
from mmcrawl.blocks.page_blocks import READ, PageBlocks
from mmcrawl.text.words import HAN, has_han

Rows = NDArray[Any]
Columns = dict[str, Rows]

_BEGINS = "advertisement byline comments more navigation noise related tags".split()
_SINCE = "comments more noise copyright".split()
_HOLDS = "byline comments copyright".split()
_LINK_WORDS = "navigation noise onward tags".split()
_COUNTED = "images flash inputs forms headings".split()
_STANDS = "is_middle is_near is_before is_in_content".split()
_LINKS = "topical said most_said".split()
_ADDRESSES = (
    "leave leads_to_front fragments scripts deep numbered same_folder long_anchors mail".split()
)
_AROUND = "siblings alike repeated in_list in_table in_paragraph".split()
_PAGE = "page_is_text page_blocks page_links page_text".split()
_SHORT = "text_chars links link_share is_middle heading sentences has_date is_empty".split()
_OFFSETS = (-2, -1, 1, 2)
_OF_BLOCK = (
    *"index from_end before behind".split(),
    *_STANDS,
    *"is_headline has_headline after_headline behind_headline agreement".split(),
    *"chars text_chars links link_share anchor_chars is_links is_empty han".split(),
    *"sentences digits capitals has_date has_time questions words".split(),
    *_LINKS,
    *_ADDRESSES,
    *_AROUND,
    "heading",
    *(f"level_{level}" for level in (1, 2, 3, 4, 7)),
    *(f"count_{name}" for name in _COUNTED),
    *(f"area_{area or 'none'}" for area in ("", *AREAS)),
    *(f"begins_{kind}" for kind in _BEGINS),
    *(f"holds_{kind}" for kind in _HOLDS),
    *(f"links_{kind}" for kind in _LINK_WORDS),
    *(f"under_{kind}" for kind in _BEGINS),
    "under_distance",
    *(f"since_{kind}" for kind in _SINCE),
    *_PAGE,
)
FEATURES = (*_OF_BLOCK, *(f"{name}{offset:+d}" for offset in _OFFSETS for name in _SHORT))
"""Names of the columns: of a block, then of those around it."""
_OF_OTHERS = range(len(_OF_BLOCK), len(FEATURES), len(_SHORT))

_AREA_NUMBERS = {area: number for number, area in enumerate(("", *AREAS))}
_DATE_IN_WORDS = re.compile(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?<=\b...)[a-z]*\.? \d"
    r"|ago(?<=\b...)\b|[天时分]前"
)
_TIME = re.compile(r"\d{1,2}(?:(?<=\b\d)|(?<=\b\d\d))(?:[:.]\d\d| ?[ap]\.?m)\b")
_AREAS_OF = {"comments": "comments", "more": "related", "noise": "noise", "copyright": "foot"}
_FADING = 0.9  # of what was announced, a block
_LONG_WORD = re.compile(rf"[^\W\d_{HAN}]{{4,64}}")
_HAN_RUN = re.compile(rf"[{HAN}]+")
_ANCHORS = 12  # links of a block whose terms are looked for
_LONGEST_READ = 20_000  # characters
_LONGEST_KNOWN = 40  # characters of a text whose terms are remembered
_LONG_ANCHOR = 25  # characters
_LONGEST_AGREEING = 300  # characters of a block that may be the title

_LETTER, _DIGIT, _CAPITAL, _SPACE_OR_QUOTE, _END, _FULL_STOP, _QUESTION = (1 << n for n in range(7))
_LAST_KNOWN = 0xFFFF

Floats = NDArray[np.float32]

OWN = ("title", "topic", "related-links", "comments", "else")
"""What the first networks tell apart."""

ELSE = ("navigation", "noise-links", "advertisement", "copyright", "other")
"""What the second ones do. Other text, as bylines and counters, takes the likeliest kind of them
but itself."""

RELATED_ODDS = 4.0
"""What the odds of related links are multiplied by: of 1, 2, 4, 8 … the most at which pages of our
own that the model has not seen, in folds by site, lose .9 of their noise links."""

_ELSE, _RELATED = OWN.index("else"), OWN.index("related-links")
_FARTHEST = 4.0  # standard deviations
_LEAST = 1e-4  # probability
_ROWS = 8  # of a product: of 142 features and 160 units, below OpenBLAS' bound for threads (2^18)


def kind_features(blocks: PageBlocks) -> Rows:
    """Return the numbers of each block, in the order of :data:`FEATURES`; all at once for speed."""
    count = len(blocks)
    texts, links = blocks.texts, blocks.links_in
    han = np.array([has_han(text) for text in texts], dtype=np.bool_)
    begins = {kind: np.array([kind in one for one in blocks.begun]) for kind in {*_BEGINS, *_SINCE}}
    columns = {
        **_places(blocks),
        **_headline(blocks),
        **_sizes(blocks, han),
        **_words([text[:READ] for text in texts]),
        **_links(blocks),
        **_addresses(blocks),
        **_around(blocks, texts),
        **_named(blocks, begins),
        **{f"holds_{kind}": np.array(blocks.holds(kind)) for kind in _HOLDS},
        **{f"links_{kind}": np.array(links.shares_of_words(kind)) for kind in _LINK_WORDS},
        **_since(blocks, begins),
    }
    page = (
        blocks.is_topic_page,
        log1p(count),
        log1p(sum(blocks.links)),
        log1p(sum(blocks.text_chars)),
    )
    columns.update((name, np.full(count, value)) for name, value in zip(_PAGE, page, strict=True))
    found = np.zeros((count, len(FEATURES)), dtype=np.float32)
    for place, name in enumerate(_OF_BLOCK):
        found[:, place] = columns[name]
    short = found[:, [_OF_BLOCK.index(name) for name in _SHORT]]
    for place, offset in zip(_OF_OTHERS, _OFFSETS, strict=True):
        of_other = found[:, place : place + len(_SHORT)]
        if offset < 0:
            of_other[-offset:] = short[:offset]
        else:
            of_other[:-offset] = short[offset:]
    return found


def _places(blocks: PageBlocks) -> Columns:
    count, places = len(blocks), np.arange(len(blocks))
    totals = np.cumsum([0, *blocks.text_chars])
    whole = max(int(totals[-1]), 1)
    near, areas = np.array(blocks.is_near), np.array(blocks.areas)
    return {
        "index": places / max(count, 1),
        "from_end": np.log1p(count - 1 - places),
        "before": totals[:-1] / whole,
        "behind": 1 - totals[1:] / whole,
        "is_middle": np.array(blocks.is_middle),
        "is_near": near,
        "is_before": np.array(blocks.is_before_middle),
        "is_in_content": near & (areas == "content"),
    }


def _headline(blocks: PageBlocks) -> Columns:
    has_any = blocks.headline >= 0
    distances = np.arange(len(blocks)) - blocks.headline if has_any else np.zeros(len(blocks))
    agreement = [
        blocks.agreement(index) if 0 < chars < _LONGEST_AGREEING else 0.0
        for index, chars in enumerate(blocks.chars)
    ]
    return {
        "is_headline": (distances == 0) & has_any,
        "has_headline": np.full(len(blocks), has_any),
        "after_headline": np.log1p(np.maximum(distances, 0)),
        "behind_headline": np.log1p(np.maximum(-distances, 0)),
        "agreement": np.array(agreement),
    }


def _sizes(blocks: PageBlocks, han: Rows) -> Columns:
    chars, text_chars, links = map(np.array, (blocks.chars, blocks.text_chars, blocks.links))
    weight, link_chars = np.where(han, HAN_FACTOR, 1), chars - text_chars
    return {
        "chars": np.log1p(chars * weight),
        "text_chars": np.log1p(text_chars * weight),
        "links": np.log1p(links),
        "link_share": np.where(chars > 0, link_chars / np.maximum(chars, 1), links > 0),
        "anchor_chars": np.log1p(weight * link_chars / np.maximum(links, 1)) * (links > 0),
        "is_links": np.array(blocks.is_links),
        "is_empty": chars == 0,
        "han": han,
    }


def _words(texts: Sequence[str]) -> Columns:
    points = np.frombuffer(
        "".join(f"{t}\0" for t in texts).encode("utf-32-le", "surrogatepass"), "<u4"
    )
    starts = np.append(0, np.flatnonzero(points == 0)[:-1] + 1)
    classes = _classes()[np.minimum(points, _LAST_KNOWN)]
    for place in np.flatnonzero(points > _LAST_KNOWN):
        classes[place] = _class_of(chr(points[place]))

    def counted(marks: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.add.reduceat(marks, starts, dtype=np.int64)

    letters = (classes & _LETTER) > 0
    follows = np.append((points[1:] == 0) | ((classes[1:] & _SPACE_OR_QUOTE) > 0), True)
    ends = ((classes & _FULL_STOP) > 0) | (((classes & _END) > 0) & follows)
    sizes, digits = np.array([max(len(text), 1) for text in texts]), counted((classes & _DIGIT) > 0)
    dated, timed = [], []
    for text, any_digit in zip(map(str.lower, texts), (digits > 0).tolist(), strict=True):
        in_words = any_digit or "前" in text or "ago" in text
        dated.append(
            (any_digit and DATE.search(text) is not None)
            or (in_words and _DATE_IN_WORDS.search(text) is not None)
        )
        timed.append(any_digit and _TIME.search(text) is not None)
    return {
        "sentences": np.log1p(counted(ends)),
        "digits": digits / sizes,
        "capitals": counted((classes & _CAPITAL) > 0) / sizes,
        "has_date": np.array(dated),
        "has_time": np.array(timed),
        "questions": np.log1p(counted((classes & _QUESTION) > 0)),
        "words": np.log1p(counted(letters & ~np.append(False, letters[:-1]))),
    }


def _class_of(character: str) -> int:
    """Return the class of a character, as a sum of the above."""
    return (
        _LETTER * (character.isalnum() and not character.isdecimal())
        + _DIGIT * character.isdigit()
        + _CAPITAL * character.isupper()
        + _SPACE_OR_QUOTE * (character.isspace() or character in "\"'”’」』")
        + _END * (character in ".!?…")
        + _FULL_STOP * (character in "。！？")
        + _QUESTION * (character in "?？")
    )


@cache
def _classes() -> NDArray[np.uint8]:
    return np.array([_class_of(chr(code)) for code in range(_LAST_KNOWN + 1)], dtype=np.uint8)


def _links(blocks: PageBlocks) -> Columns:
    """Return how much the texts of links share with the text of the page."""
    links, terms = blocks.links_in, _terms_said(blocks)
    is_read = links.places < _ANCHORS
    said = np.zeros(len(is_read))
    for link in np.flatnonzero(is_read).tolist():
        said[link] = _share_said(links.texts[link], terms)
    most, held = np.zeros(len(blocks)), links.counts > 0
    if held.any():
        most[held] = np.maximum.reduceat(said, links.bounds[:-1][held])
    of_read = np.maximum(links.counts, 1) / np.clip(links.counts, 1, _ANCHORS)
    return {
        "topical": np.array(blocks.shares_topical),
        "said": links.shares(said) * of_read,
        "most_said": most,
    }


def _addresses(blocks: PageBlocks) -> Columns:
    """Return where the links of a block lead, as shares of them, and how long their texts are."""
    links = blocks.links_in
    shares = links.leading
    long = [len(t) * (HAN_FACTOR if has_han(t) else 1) > _LONG_ANCHOR for t in links.texts]
    return {
        "leave": shares["elsewhere"],
        "leads_to_front": np.array(links.lead_to_front),
        "fragments": shares["fragment"],
        "scripts": shares["script"],
        "deep": shares["deep"],
        "numbered": shares["numbered"],
        "same_folder": shares["same_folder"],
        "long_anchors": links.shares(long),
        "mail": shares["mail"],
    }


def _around(blocks: PageBlocks, texts: Sequence[str]) -> Columns:
    around = [blocks.around(index) for index in range(len(blocks))]
    shapes = [blocks.shape(index) for index in range(len(blocks))]
    siblings, alike, same = Counter(around), Counter(shapes), Counter(texts)
    return {
        "siblings": np.log1p([siblings[one] for one in around]),
        "alike": np.log1p([alike[shape] for shape in shapes]),
        "repeated": np.array([same[text] > 1 and text != "" for text in texts]),
        "in_list": blocks.stands_in(("li", "ul", "ol", "dl")),
        "in_table": blocks.stands_in(("td", "th")),
        "in_paragraph": blocks.stands_in(("p",)),
    }


def _named(blocks: PageBlocks, begins: Columns) -> Columns:
    """Return the kinds that tags, classes and first words suggest, and the counts of a block."""
    levels = np.array(blocks.levels)
    areas = np.array([_AREA_NUMBERS.get(area, -1) for area in blocks.areas])
    return {
        "heading": levels > 0,
        **{f"level_{level}": levels == level for level in (1, 2, 3, 7)},
        "level_4": (levels >= 4) & (levels <= 6),
        **{f"count_{name}": np.log1p(np.array(blocks.counts(name))) for name in _COUNTED},
        **{f"area_{area or 'none'}": areas == number for area, number in _AREA_NUMBERS.items()},
        **{f"begins_{kind}": begins[kind] for kind in _BEGINS},
    }


def _since(blocks: PageBlocks, begins: Columns) -> Columns:
    """Return the kinds that the heading above a block, or an announcement before it, suggest."""
    places, is_heading = np.arange(len(blocks)), np.array(blocks.levels) > 0
    areas, is_short = np.array(blocks.areas), np.array(blocks.chars) < LONGEST_HEADING
    other = np.append(False, areas[1:] != areas[:-1]) & ~is_heading
    above = np.append(-1, _last(is_heading)[:-1])
    above[above < _last(other)] = -1  # in another area it heads nothing
    named = above >= 0
    columns = {f"under_{kind}": begins[kind][above] & named for kind in _BEGINS}
    columns["under_distance"] = np.where(named, np.log1p(places - above), 0)
    for kind in _SINCE:
        last = _last((areas == _AREAS_OF[kind]) | (is_short & begins[kind]))
        columns[f"since_{kind}"] = np.where(last >= 0, _FADING ** (places - last), 0)
    return columns


def _last(marks: Rows) -> Rows:
    """Return for each place the last one up to it that is marked, or -1."""
    last: Rows = np.maximum.accumulate(np.where(marks, np.arange(len(marks)), -1))
    return last


def _terms_said(blocks: PageBlocks) -> Set[str]:
    """Return the terms of the text near the middle of the page, its links left out."""
    found: set[str] = set()
    for index in range(len(blocks)):
        if blocks.is_near[index] and not blocks.is_links[index]:
            found.update(_terms(blocks.texts[index][:_LONGEST_READ]))
    return found


def _terms(text: str) -> Set[str]:
    return _known_terms(text) if len(text) <= _LONGEST_KNOWN else _read_terms(text)


def _read_terms(text: str) -> Set[str]:
    found = set(_LONG_WORD.findall(text.lower()))
    for run in _HAN_RUN.findall(text):
        found.update(run[i : i + 2] for i in range(len(run) - 1))
    return found


# Anchors stand on all pages of a site. A long text is of one page, and its terms take up to a
# megabyte.
_known_terms = lru_cache(maxsize=4096)(_read_terms)


def _share_said(anchor: str, terms: Set[str]) -> float:
    """Return the share of the terms of a link's text that the page's text has, of two at least."""
    own = _terms(anchor)
    return len(own & terms) / len(own) if len(own) > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Networks:
    """Several networks: a hidden layer of rectified linear units each, and a softmax.

    Attributes:
        out, out_bias: Networks by units by outputs, and networks by outputs.
    """

    hidden: Floats  # features by units, the units of one network behind those of the one before
    hidden_bias: Floats  # of each unit
    out: Floats
    out_bias: Floats

    def __call__(self, values: Floats) -> Floats:
        """Return the mean of their probabilities for each row, which sum to 1."""
        networks, units, _ = self.out.shape
        # Of a larger product OpenBLAS has all cores do a part, and they wait for each other in
        # loops: that takes several times the CPU, and much longer where the cores have other work.
        parts = [values[at : at + _ROWS] @ self.hidden for at in range(0, len(values), _ROWS)]
        active = np.maximum(np.concatenate(parts) + self.hidden_bias, 0)
        separated = active.reshape(len(values), networks, units).transpose(1, 0, 2)
        odds = separated @ self.out + self.out_bias[:, None, :]
        odds = np.exp(odds - odds.max(axis=2, keepdims=True))
        result: Floats = (odds / odds.sum(axis=2, keepdims=True)).mean(axis=0)
        return result


@dataclass(frozen=True, slots=True)
class KindModel:
    """The whole model.

    Attributes:
        mean, spread: Of the columns of :func:`network_input`.
        follows: Log-odds of each of :data:`OWN` behind each (rows), against its being there by
            chance; 0 for titles, which may stand anywhere.
        own, other: The networks for :data:`OWN` and for :data:`ELSE`.
    """

    mean: Floats
    spread: Floats
    follows: Floats
    own: Networks
    other: Networks

    def probabilities(self, values: Floats) -> tuple[Floats, Floats]:
        """Return for each block the probabilities of :data:`OWN`, and of :data:`ELSE`."""
        scaled = np.clip((values - self.mean) / self.spread, -_FARTHEST, _FARTHEST)
        return _in_order(self.own(scaled), self.follows), self.other(scaled)

    def save(self, path: str) -> None:
        """Write it to a file, the weights in 16-bit floats."""
        arrays: dict[str, Any] = {
            "mean": self.mean,
            "spread": self.spread,
            "follows": self.follows,
        }
        for name, networks in (("own", self.own), ("other", self.other)):
            for part in fields(Networks):
                values = getattr(networks, part.name)
                arrays[f"{name}_{part.name}"] = values.astype(np.float16)
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, file: str | IO[bytes]) -> KindModel:
        """Read a model from a file that :meth:`save` wrote; nothing in it is executed."""
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: values.astype(np.float32) for name, values in stored.items()}

        own, other = (
            Networks(*(arrays[f"{name}_{part.name}"] for part in fields(Networks)))
            for name in ("own", "other")
        )
        return cls(arrays["mean"], arrays["spread"], arrays["follows"], own, other)


def _in_order(own: Floats, follows: Floats) -> Floats:
    """Return the probabilities of each block among the others."""
    said, odds = np.maximum(own, _LEAST), np.exp(follows)
    steps = said[:, :, None] * odds  # from what a block is to what the next one is
    before, behind = np.ones_like(said), np.ones_like(said)
    before[1:] = _products(steps[:-1]).sum(axis=1)
    back = odds * said[:, None, :]  # from what the next block is to what a block is
    behind[:-1] = _products(back[:0:-1].transpose(0, 2, 1)).sum(axis=1)[::-1]
    found = said * before * behind
    result: Floats = found / found.sum(axis=1, keepdims=True)
    return result


def _products(steps: Floats) -> Floats:
    """Return of each matrix its product behind all before it, but for a factor, by doubling."""
    products, reach = steps.copy(), 1
    while reach < len(products):
        products[reach:] = products[:-reach] @ products[reach:]
        products /= products.max(axis=(1, 2), keepdims=True)
        reach *= 2
    return products


def network_input(blocks: PageBlocks) -> Floats:
    """Return the input of the networks for each block: its features, and the rules' verdict."""
    names = [name for name, _ in judge(blocks)]
    said = np.array([[name == kind for kind in PAPER_KINDS] for name in names], dtype=np.float32)
    return np.hstack([kind_features(blocks), said.reshape(len(names), len(PAPER_KINDS))])


def kinds_of(blocks: PageBlocks, own: Floats, other: Floats) -> list[BlockKind]:
    """Return the kinds that follow from probabilities, see :meth:`KindModel.probabilities`.

    Short text is small, as the paper has it; what is seen and has no text is a picture; the line
    with author and date is no list of links.
    """
    weighed = own.copy()
    weighed[:, _RELATED] *= RELATED_ODDS
    weighed[_without_links(blocks, weighed.argmax(axis=1).tolist()), _RELATED] = 0
    weighed /= weighed.sum(axis=1, keepdims=True)
    found = []
    for index, number in enumerate(weighed.argmax(axis=1).tolist()):
        score = float(weighed[index, number])
        if number == _ELSE:
            name = ELSE[int(other[index, :-1].argmax())]
            # Its label is none of the kinds. Here it takes .010 from the F1 of navigation and gives
            # .021 to that of noise-links; called small, .0045 of the noise links would be kept.
            if name == "noise-links" and is_byline(blocks, index):
                name = "navigation"
        else:
            name = OWN[number]
            if name == "topic":
                name = _of_text(blocks, index)
        found.append(BlockKind(name, score))
    return found


def _without_links(blocks: PageBlocks, best: Sequence[int]) -> list[int]:
    """Return the blocks called related links that are no part of a list of links.

    A list may have headings and words between its links. Where blocks called so stand together and
    none has a link, none is one; nor is the line with a date that comes before them all.
    """
    found = []
    for number, together in groupby(range(len(best)), key=best.__getitem__):
        run = list(together)
        if number == _RELATED and not any(blocks.links[index] for index in run):
            found += run
        elif number == _RELATED and not blocks.levels[run[0]] and is_dated(blocks, run[0]):
            found.append(run[0])
    return found


def _of_text(blocks: PageBlocks, index: int) -> str:
    if not blocks.chars[index]:
        return "image" if blocks.counts("images")[index] else "topic"
    weight = HAN_FACTOR if has_han(blocks.texts[index]) else 1
    return "topic" if blocks.text_chars[index] * weight >= TOPIC_CHARS else "small"


def learnt_kinds(page: PageFeatures, ranges: Sequence[range]) -> list[BlockKind]:
    """Return the kind of each block, given as ranges of nodes, in order and not overlapping."""
    if not ranges:
        return []
    blocks = PageBlocks(page, ranges)
    return kinds_of(blocks, *kind_model().probabilities(network_input(blocks)))


@cache
def kind_model() -> KindModel:
    """Return the model that ships with the project."""
    with (files("mmcrawl.blocks") / "kind_model.npz").open("rb") as file:
        return KindModel.load(file)
