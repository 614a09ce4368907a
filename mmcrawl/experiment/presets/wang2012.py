"""The experiment of Wang & Zhu 2012: what methods remove and keep of pages, and a crawl by blocks.

Its six measures are those of section 4, table 1. Noise is everything on a page that is not its
topic: the share of it that is removed; of the topic, the shares that are kept and lost; each in
characters of text, and in links. Links to more on the topic, related links, count as links of the
topic. The text of a list of them counts as neither, since it stays with the links.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.merging import merge_blocks
from mmcrawl.blocks.partition import partition
from mmcrawl.blocks.partitioners.registry import make_partitioner
from mmcrawl.experiment.laboratory import run_experiment
from mmcrawl.experiment.plan import Algorithm, Plan
from mmcrawl.experiment.presets.baselines import CELLS, Gdom, Ypm, nom
from mmcrawl.experiment.presets.labelled_pages import (
    RELATED,
    TOPIC,
    LabelledPage,
    NodeLabels,
    Ranges,
    mask,
    pages_in,
)
from mmcrawl.experiment.presets.tables import PaperTable, Told, percent
from mmcrawl.page.html.tree import PageTree, read_tree

CUTTING = ("spcola", "bwap", "quark")
"""The methods that cut a page: what is kept is what `merge_blocks` makes of their blocks."""

FILTERS: dict[str, Callable[[PageTree, Measures], tuple[list[range], list[range]]]] = {
    "nom": nom,
    "ypm": Ypm(),
    "gdom": Gdom(),
    "gdom-cells": Gdom(containers=CELLS),
    "gdom-links": Gdom(retain_links=True),
}
"""The methods that say themselves what they keep, by the names of their rows.

`gdom-cells` counts the links of table cells only, as printed by its authors; `gdom-links` gives
back the links it removed, as their program does.
"""

MEASURES = (
    "noise text removed",
    "noise links removed",
    "topic text kept",
    "related links kept",
    "topic text lost",
    "related links lost",
)
PUBLISHED = {
    "NOM": (0.0, 0.0, 1.0, 1.0, 0.0, 0.0),
    "YPM": (0.802, 0.783, 0.923, 0.917, 0.077, 0.083),
    "GDOM": (0.883, 0.777, 0.937, 0.941, 0.063, 0.059),
    "SPCOLA": (0.915, 0.931, 0.963, 0.971, 0.037, 0.029),
}
"""Table 1, on 1,000 pages of CWT200G, which were judged by people and are not published."""

_BY_MODEL = tuple(f"{name}:kinds=learnt" for name in CUTTING)
_ROWS = (*FILTERS, *CUTTING, *_BY_MODEL)
_NOTE = (
    "Published: 1,000 other pages. Here: means over the pages that have such text, or such links."
    " gdom-cells counts links in table cells only, as its authors print it; gdom-links gives back"
    " the links it removed, as their program does; bwap, quark and the model of kinds"
    " (kinds=learnt) are not in the paper."
)
_LINKS = {"all links": {}, "links of related blocks": {"links": "related"}}
_ALGORITHMS = tuple(
    Algorithm(f"{name}, {links}", name, arguments)
    for name in ("breadth", "shark-improved", "urlrule")
    for links, arguments in _LINKS.items()
)
_BUDGET = 0.4
Keep = Callable[[LabelledPage], tuple[Ranges, Ranges]]
"""Returns the ranges of nodes whose text, and whose links, a method keeps."""


def tables(data: Path | None, progress: Told) -> Iterator[PaperTable]:
    """Yield table 1 for each half of the pages, and, where no data is given, the crawls."""
    pages = pages_in(data)
    kept: dict[str, list[Kept]] = {}
    for number, name in enumerate(_ROWS):
        progress(number, len(_ROWS), f"{name} on {len(pages)} pages")
        keep = method_of(name)
        kept[name] = [kept_of(page, keep(page)) for page in pages]
    for half in dict.fromkeys(page.half for page in pages):
        yield _measures(
            half, {n: [k for k in own if k.page.half == half] for n, own in kept.items()}
        )
    if data is None:
        yield crawls("demo", {}, progress)


# ---------------------------------------------------------------- what a method keeps


def method_of(name: str) -> Keep:
    """Return a function of which nodes of a page a method keeps."""
    if name in FILTERS:
        return _kept_by_filter(name)
    make_partitioner(name)
    return kept_by_kinds(name)


def kept_by_kinds(method: str) -> Keep:
    """Return a function of which nodes are in blocks of the topic, and of related links."""
    method = method if ":" in method else f"{method}:kinds=rules"

    def kept(page: LabelledPage) -> tuple[Ranges, Ranges]:
        merged = merge_blocks(partition(page.body, method=method, url=page.url))
        topic = [block.nodes for block in merged.topic_blocks]
        return topic, topic + [block.nodes for block in merged.related_links]

    return kept


def _kept_by_filter(name: str) -> Keep:
    keep = FILTERS[name]

    def kept(page: LabelledPage) -> tuple[Ranges, Ranges]:
        tree = read_tree(page.body)
        return keep(tree, Measures(tree))

    return kept


# ---------------------------------------------------------------- measuring


@dataclass(frozen=True, slots=True)
class Kept:
    """The kept part of a page: (kept, all) characters or links."""

    page: LabelledPage
    noise_text: tuple[int, int]
    noise_links: tuple[int, int]
    topic_text: tuple[int, int]
    topic_links: tuple[int, int]


def kept_of(page: LabelledPage, kept: tuple[Ranges, Ranges], *, strict: bool = False) -> Kept:
    """Compare what a method kept of a page with its labels."""
    labels = NodeLabels.of(page, read_tree(page.body))
    text, links = (mask(ranges, len(labels.chars)) for ranges in kept)
    topic, related = np.isin(labels.kinds, TOPIC), np.isin(labels.kinds, RELATED)
    labelled = labels.kinds != ""

    def share(values: Any, chosen: Any, wanted: Any) -> tuple[int, int]:
        return int(values[chosen & wanted].sum()), int(values[wanted].sum())

    return Kept(
        page,
        noise_text=share(labels.chars, text, labelled & ~(topic if strict else related)),
        noise_links=share(labels.links, links, labelled & ~related),
        topic_text=share(labels.chars, text, topic),
        topic_links=share(labels.links, links, related),
    )


def six_measures(results: Sequence[Kept], *, pooled: bool = False) -> tuple[float, ...]:
    """Return `MEASURES` in their order, NaN where no page has such text or links.

    Args:
        pooled: whether to sum over all pages; by default each page counts as much as any other.
    """
    noise_text = _mean_share((r.noise_text for r in results), pooled)
    noise_links = _mean_share((r.noise_links for r in results), pooled)
    text = _mean_share((r.topic_text for r in results), pooled)
    links = _mean_share((r.topic_links for r in results), pooled)
    return 1 - noise_text, 1 - noise_links, text, links, 1 - text, 1 - links


def _mean_share(pairs: Iterable[tuple[int, int]], pooled: bool) -> float:
    held = [(kept, total) for kept, total in pairs if total]
    if not held:
        return float("nan")
    if pooled:
        return sum(kept for kept, _ in held) / sum(total for _, total in held)
    return sum(kept / total for kept, total in held) / len(held)


def _measures(half: str, kept: dict[str, list[Kept]]) -> PaperTable:
    """Table 1, the published line of a method before its own."""
    rows = []
    for name, own in kept.items():
        if name.upper() in PUBLISHED:
            rows.append((f"{name.upper()}, published", *map(percent, PUBLISHED[name.upper()])))
        rows.append((name, *map(percent, six_measures(own))))
    pages = f"{len(kept[_ROWS[0]])} pages" + (f", half {half}" if half else "")
    return PaperTable(
        f"Table 1: noise removed and topic kept, {pages}", ("method", *MEASURES), tuple(rows), _NOTE
    )


# ---------------------------------------------------------------- crawling


class _Lines(io.StringIO):
    """Tells each line that crawls say, and counts those that are done."""

    def __init__(self, progress: Told) -> None:
        super().__init__()
        self._progress, self._done = progress, 0

    def write(self, text: str) -> int:
        self._done += text.count(": done")
        if text.strip():
            self._progress(self._done, 1 + len(_ALGORITHMS), text.strip())
        return len(text)


def crawls(web: str, arguments: dict[str, str], progress: Told) -> PaperTable:
    """Crawl a web with all links, and without those of blocks off topic."""
    plan = Plan(web, arguments, _ALGORITHMS, _BUDGET, settings={"MMCRAWL_BLOCKS": "spcola"})
    plan.check()
    with TemporaryDirectory(prefix="mmcrawl-") as folder:
        outcome = run_experiment(
            plan,
            Path(folder, "crawls"),
            cache=Path(folder, "truth"),
            parallel=2,
            console=Console(file=_Lines(progress)),
        )
    found: dict[str, tuple[str, ...]] = {}
    for row in outcome.results["algorithms"]:
        shares = (row[name]["mean"] for name in ("precision", "recall", "area_share"))
        found[row["label"]] = (f"{row['fetched']['mean']:g}", *map(percent, shares))
    rows = [(algorithm.label, *found[algorithm.label]) for algorithm in _ALGORITHMS]
    return PaperTable(
        f"Section 4: crawls of the web {web}, with and without links of blocks off topic",
        ("crawl", "pages", "precision", "recall", "area"),
        tuple(rows),
        "Published: no figures; the paper says that the crawl becomes markedly better. It drops the"
        " blocks that are off topic, and keeps navigation; so does -a links=related with the blocks"
        f" of spcola. After {_BUDGET:.0%} of the pages; area is that under recall, as a share of an"
        " oracle's.",
    )
