"""Labelled pages, line by line: which lines are content, and what class words say of them."""

from __future__ import annotations

import math
import random
import re
import sys
from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from content import LabelledPage, Set
from small_pages import small_page

from mmcrawl.blocks.content.metadata import page_metadata
from mmcrawl.blocks.content.model import GENRES
from mmcrawl.blocks.content.surroundings import words_around
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.tree import read_tree
from mmcrawl.text.resources import split_host

_WEIGHS = {"articles": 1.5, "small": 0.3}  # the labels of articles are the most careful
_SMALL = 1  # small pages made of each page, more of the few articles and Chinese pages
_LEAST_SITES = 3
_PRIOR, _PRIOR_SITES = 0.45, 2.0
_RUN = 5  # tokens
_NEARLY_ALL = 0.9  # of a line's tokens
_TOKEN = re.compile(r"[぀-ヿ㐀-鿿]|[^\W_]+")
_LONG_PAGE = 60_000_000  # tokens of page times tokens of truth

Votes = dict[str, tuple[float, float]]
"""By class word: how many sites have it around content, and around noise; a site votes once."""


@dataclass
class Page:
    """A labelled page, read as far as it is the same for all folds."""

    set: Set | Literal["small"]
    labelled: LabelledPage
    site: str
    genre: int
    shares: np.ndarray  # of each line, the share of its tokens that is content
    weight: np.ndarray  # of each line
    around: list[set[str]]  # class words around each line


def tokens(text: str) -> list[str]:
    return [token.lower() for token in _TOKEN.findall(text)]


def parts(body: bytes) -> tuple:
    tree = read_tree(body)
    measures = Measures(tree)
    return tree, measures, PageLines.of(tree, measures), page_metadata(tree)


def aligned(texts: Sequence[str], truth: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each line's tokens that stand in the truth, and how many it has.

    What stands in the order of the truth comes first; then what stands elsewhere and is a run of
    the truth, as far as the truth has more of its tokens: a page often has its text twice, and the
    truth holds one.
    """
    lines = [tokens(text) for text in texts]
    counts = np.array([len(line) for line in lines], dtype=np.int64)
    found = [token for line in lines for token in line]
    line_of = np.repeat(np.arange(len(lines)), counts)
    wanted = tokens(truth)
    hit = np.zeros(len(found))
    if found and wanted:
        quick = len(found) * len(wanted) > _LONG_PAGE
        matcher = SequenceMatcher(None, found, wanted, autojunk=quick)
        for at, _, size in matcher.get_matching_blocks():
            if size >= 2 or (size == 1 and counts[line_of[at]] == 1):
                hit[at : at + size] = 1
        _add_runs(lines, wanted, hit)
    shares = np.bincount(line_of, hit, minlength=len(lines)) / np.maximum(counts, 1)
    return shares, counts


def _add_runs(lines: Sequence[Sequence[str]], wanted: Sequence[str], hit: np.ndarray) -> None:
    """Mark tokens of lines that are runs of the truth, of which the truth has more."""
    found = [token for line in lines for token in line]
    left = Counter(wanted)
    left.subtract(found[at] for at in np.flatnonzero(hit))
    runs = {n: set(zip(*(wanted[i:] for i in range(n)), strict=False)) for n in range(2, _RUN + 1)}
    start = 0
    for line in lines:
        before = hit[start : start + len(line)]
        start += len(line)
        size = min(_RUN, len(line))
        if size < 2 or before.mean() >= _NEARLY_ALL:
            continue
        after = before.copy()
        for at in range(len(line) - size + 1):
            if tuple(line[at : at + size]) in runs[size]:
                after[at : at + size] = 1
        more = Counter(line[at] for at in np.flatnonzero(after > before))
        if sum(min(n, max(0, left[token])) for token, n in more.items()) >= 0.6 * more.total():
            before[:] = after
            left.subtract(more)


def small_pages(name: Set, labelled: LabelledPage) -> list[LabelledPage]:
    """Return small pages made of a page's lines; they belong to its site."""
    _, _, lines, _ = parts(labelled.body)
    shares, _ = aligned(lines.texts, labelled.truth)
    content = [text for text, share in zip(lines.texts, shares, strict=True) if share > 0.9]
    noise = [text for text, share in zip(lines.texts, shares, strict=True) if share < 0.1]
    chance = random.Random(f"{name} {labelled.key}")  # noqa: S311 - the same each time
    made = (
        small_page(content, noise, chance)
        for _ in range(4 if name in ("articles", "zh") else _SMALL)
    )
    return [
        LabelledPage(labelled.key, body, labelled.url, kind, truth)
        for body, truth, kind in filter(None, made)
    ]


def read_page(name: Set, labelled: LabelledPage) -> Page | None:
    tree, _, lines, _ = parts(labelled.body)
    if not len(lines):
        return None
    shares, counts = aligned(lines.texts, labelled.truth)
    weight = np.sqrt(counts + 0.5)
    weight *= 30 / weight.sum() * _WEIGHS.get(name, 1)
    genre = GENRES.index(labelled.kind if labelled.kind in GENRES else "article")
    host = urlsplit(labelled.url or "").hostname or labelled.key
    return Page(
        set=name,
        labelled=labelled,
        site=split_host(host).top_domain_under_public_suffix or host,
        genre=genre,
        shares=shares,
        weight=weight,
        around=[words_around(tree, first) for first in lines.firsts],
    )


def votes(pages: Iterable[Page]) -> dict[str, Votes]:
    """Return by site and class word: shares of the text around which it stands, content or not.

    Every site has one vote for a word.
    """
    sums: dict[str, dict[str, list[float]]] = {}
    for page in pages:
        on_page: dict[str, list[float]] = {}
        for words, is_content, weight in zip(
            page.around, page.shares >= 0.5, page.weight, strict=True
        ):
            for word in words:
                on_page.setdefault(word, [0.0, 0.0])[0 if is_content else 1] += weight
        site = sums.setdefault(page.site, {})
        for word, (content_weight, noise) in on_page.items():
            total = content_weight + noise
            entry = site.setdefault(word, [0.0, 0.0])
            entry[0] += content_weight / total
            entry[1] += noise / total
    return {
        site: {word: (a / (a + b), b / (a + b)) for word, (a, b) in words.items()}
        for site, words in sums.items()
    }


def totals(by_site: dict[str, Votes]) -> Votes:
    """Return the votes of all sites, by word."""
    sums: dict[str, list[float]] = {}
    for words in by_site.values():
        for word, (a, b) in words.items():
            entry = sums.setdefault(word, [0.0, 0.0])
            entry[0] += a
            entry[1] += b
    return {word: (a, b) for word, (a, b) in sorted(sums.items())}


def class_weights(votes_of: Votes) -> dict[str, float]:
    """Return the log-odds of the class words that stand on enough sites."""
    base = math.log(_PRIOR / (1 - _PRIOR))
    return {
        word: math.log((a + _PRIOR_SITES * _PRIOR) / (b + _PRIOR_SITES * (1 - _PRIOR))) - base
        for word, (a, b) in votes_of.items()
        if round(a + b) >= _LEAST_SITES
    }


def known_elsewhere(by_site: dict[str, Votes]) -> dict[str, Mapping[str, float]]:
    """Return for each site the weights of class words that the other sites give."""
    all_votes = totals(by_site)
    everywhere = class_weights(all_votes)
    known: dict[str, Mapping[str, float]] = {}
    for site, words in by_site.items():
        others = {w: (all_votes[w][0] - a, all_votes[w][1] - b) for w, (a, b) in words.items()}
        known[site] = ChainMap({**dict.fromkeys(words, 0.0), **class_weights(others)}, everywhere)
    return known
