"""Blocks: how much noise of a page each method removes, and how much of its topic it keeps.

    python benchmarks/blocks.py FOLDER [--only spcola,gdom] [--half judge] [--pages spcola]

The six measures of Wang & Zhu 2012, table 1, on the hand-labelled pages of
`tests/blocks/labels/pages.json`; FOLDER (or the variable MMCRAWL_CORPORA) holds the stored sites
they are from, as `web/` or as `web.tar.zst` (read through the program zstd).

* spcola, bwap and quark cut a page; what is kept is what `merge_blocks` makes of the kinds of their
  blocks: the text of the merged blocks, and the links in them and in the blocks of related links;
* nom, ypm and gdom say themselves what they keep; gdom-cells counts the links of table cells only,
  as printed, and gdom-links gives back the links it removed, as the printed program does.

The topic is what is labelled title or topic. Its links are those in there and those in regions of
related-links; all else is noise. The text of a list of related links is neither: whoever keeps the
links keeps it (with `--strict` it is noise). Text counts in characters. Each figure is the mean of
the pages that have such text, or such links: a page with a long transcript counts as much as any
other. `--pooled` prints sums over all pages instead. ms/page is of CPU time: reading, cutting and
telling the kinds of blocks included.

`--pages` prints a row for each page of one method, the worst first, and no table; of the half
"judge", on which nothing may be tuned, it prints none.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mmcrawl.blocks import PageTree, partition, read_tree
from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.merging import merge_blocks
from mmcrawl.blocks.partitioners.gdom import CELLS
from mmcrawl.blocks.partitioners.registry import make_partitioner
from mmcrawl.errors import BlockError
from mmcrawl.replay.demo import DemoWeb

LABELS = Path(__file__).parents[1] / "tests" / "blocks" / "labels" / "pages.json"
CUTTING = ("spcola", "bwap", "quark")
FILTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "nom": ("nom", {}),
    "ypm": ("ypm", {}),
    "gdom": ("gdom", {}),
    "gdom-cells": ("gdom", {"containers": CELLS}),
    "gdom-links": ("gdom", {"retain_links": True}),
}
"""The methods that say themselves what they keep, by the names of their rows."""
TOPIC = ("title", "topic")
RELATED = (*TOPIC, "related-links")
MEASURES = ("noise text", "noise links", "topic text", "rel. links", "text lost", "links lost")
PUBLISHED = {
    "NOM": (0.0, 0.0, 1.0, 1.0, 0.0, 0.0),
    "YPM": (0.802, 0.783, 0.923, 0.917, 0.077, 0.083),
    "GDOM": (0.883, 0.777, 0.937, 0.941, 0.063, 0.059),
    "SPCOLA": (0.915, 0.931, 0.963, 0.971, 0.037, 0.029),
}

Ranges = list[range]


@dataclass(frozen=True)
class LabelledPage:
    name: str
    half: str
    type: str
    url: str
    body: bytes
    regions: list[tuple[int, int, str]]


@dataclass(frozen=True)
class PageResult:
    """What of a page was kept: (kept, all) characters or links."""

    page: LabelledPage
    noise_text: tuple[int, int]
    noise_links: tuple[int, int]
    topic_text: tuple[int, int]
    topic_links: tuple[int, int]


def load(folder: Path) -> list[LabelledPage]:
    """Read the labelled pages.

    Raises
    ------
    FileNotFoundError
        If the folder does not hold the sites.
    ValueError
        If a page is not the one that was labelled.
    """
    labels = json.loads(LABELS.read_bytes())["pages"]
    stored = stored_files(folder, {label["source"] for label in labels})
    web = DemoWeb()
    pages = []
    for label in labels:
        source = label["source"]
        demo = source.startswith("demo:")
        body = web.get(source[5:]).body if demo else stored[source]
        if hashlib.sha256(body).hexdigest() != label["sha256"]:
            raise ValueError(f"{label['name']} is not the page that was labelled")
        url = source[5:] if demo else "http://" + source.removeprefix("web/")
        regions = [(r["start"], r["end"], r["kind"]) for r in label["regions"]]
        pages.append(LabelledPage(label["name"], label["half"], label["type"], url, body, regions))
    return pages


def stored_files(folder: Path, wanted: set[str]) -> dict[str, bytes]:
    """Return the files of `web/` by name, from the folder or from the archive."""
    if (folder / "web").is_dir():
        names = [name for name in wanted if (folder / name).is_file()]
        return {name: (folder / name).read_bytes() for name in names}
    archive = folder / "web.tar.zst"
    if not archive.is_file():
        raise FileNotFoundError(f"there is neither {folder / 'web'} nor {archive}")
    found = {}
    with (
        subprocess.Popen(["zstd", "-dcq", str(archive)], stdout=subprocess.PIPE) as zstd,
        tarfile.open(fileobj=zstd.stdout, mode="r|") as members,
    ):
        for member in members:
            if member.name in wanted and (file := members.extractfile(member)):
                found[member.name] = file.read()
    return found


# ---------------------------------------------------------------- what a method keeps


def kept_by_kinds(method: str) -> Callable[[LabelledPage], tuple[Ranges, Ranges]]:
    def kept(page: LabelledPage) -> tuple[Ranges, Ranges]:
        merged = merge_blocks(partition(page.body, method=method, url=page.url))
        topic = [block.nodes for block in merged.topic_blocks]
        return topic, topic + [block.nodes for block in merged.related_links]

    return kept


def kept_by_filter(method: str) -> Callable[[LabelledPage], tuple[Ranges, Ranges]]:
    partitioner, options = FILTERS[method]
    keep = make_partitioner(partitioner, **options).kept  # type: ignore[attr-defined]

    def kept(page: LabelledPage) -> tuple[Ranges, Ranges]:
        tree = read_tree(page.body)
        return keep(tree, Measures(tree))

    return kept


def method_of(name: str) -> Callable[[LabelledPage], tuple[Ranges, Ranges]]:
    """Return what tells the ranges of nodes whose text, and whose links, a method keeps.

    Raises
    ------
    ImportError, BlockError
        If there is no such method.
    """
    if name in FILTERS:
        return kept_by_filter(name)
    make_partitioner(name)
    return kept_by_kinds(name)


# ---------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Truth:
    """Of each node of a page: visible characters, whether it is a link, and what it is labelled."""

    chars: np.ndarray
    links: np.ndarray
    kinds: np.ndarray

    @classmethod
    def of(cls, page: LabelledPage, tree: PageTree) -> Truth:
        measures = Measures(tree)
        links = [
            (tag == "area" or (tag == "a" and not measures.hidden[node]))
            and "href" in tree.attributes(node)
            for node, tag in enumerate(tree.tags)
        ]
        kinds = [
            label_of(page, tree.starts[node], tree.ends[node]) if tag in (TEXT, "a", "area") else ""
            for node, tag in enumerate(tree.tags)
        ]
        return cls(np.diff(measures.chars), np.array(links), np.array(kinds))


def label_of(page: LabelledPage, start: int, end: int) -> str:
    """Return the kind of the region that most of a byte range lies in, or ""."""
    first = max(bisect_right(page.regions, (start, sys.maxsize, "")) - 1, 0)
    best, kind = 0, ""
    for at in range(first, len(page.regions)):
        region_start, region_end, region_kind = page.regions[at]
        if region_start >= end:
            break
        overlap = min(end, region_end) - max(start, region_start)
        if overlap > best:
            best, kind = overlap, region_kind
    return kind


def mask(ranges: Iterable[range], count: int) -> np.ndarray:
    found = np.zeros(count, dtype=bool)
    for nodes in ranges:
        found[nodes.start : nodes.stop] = True
    return found


def result_of(
    page: LabelledPage, truth: Truth, kept: tuple[Ranges, Ranges], strict: bool
) -> PageResult:
    count = len(truth.chars)
    text, links = (mask(ranges, count) for ranges in kept)
    topic, related = np.isin(truth.kinds, TOPIC), np.isin(truth.kinds, RELATED)
    noise = (truth.kinds != "") & ~(topic if strict else related)

    def share(values: np.ndarray, chosen: np.ndarray, wanted: np.ndarray) -> tuple[int, int]:
        return int(values[chosen & wanted].sum()), int(values[wanted].sum())

    return PageResult(
        page,
        noise_text=share(truth.chars, text, noise),
        noise_links=share(truth.links, links, (truth.kinds != "") & ~related),
        topic_text=share(truth.chars, text, topic),
        topic_links=share(truth.links, links, related),
    )


def mean_share(pairs: Iterable[tuple[int, int]], pooled: bool) -> float:
    held = [(kept, total) for kept, total in pairs if total]
    if not held:
        return float("nan")
    if pooled:
        return sum(kept for kept, _ in held) / sum(total for _, total in held)
    return sum(kept / total for kept, total in held) / len(held)


def figures(results: list[PageResult], pooled: bool) -> tuple[float, ...]:
    """Return the six measures in the order of the paper's table."""
    noise_text = mean_share((r.noise_text for r in results), pooled)
    noise_links = mean_share((r.noise_links for r in results), pooled)
    text = mean_share((r.topic_text for r in results), pooled)
    links = mean_share((r.topic_links for r in results), pooled)
    return 1 - noise_text, 1 - noise_links, text, links, 1 - text, 1 - links


def run(method: str, pages: list[LabelledPage], strict: bool) -> tuple[list[PageResult], float]:
    """Return what a method kept of each page, and its CPU milliseconds a page."""
    keep = method_of(method)
    keep(pages[0])
    seconds, results = 0.0, []
    for page in pages:
        start = time.process_time()
        kept = keep(page)
        seconds += time.process_time() - start
        results.append(result_of(page, Truth.of(page, read_tree(page.body)), kept, strict))
    return results, 1000 * seconds / len(pages)


# ---------------------------------------------------------------- printing


def print_table(title: str, rows: dict[str, tuple[tuple[float, ...], float | None]]) -> None:
    print(f"\n{title}\n{'':<10}" + "".join(f"{name:>13}" for name in MEASURES) + f"{'ms/page':>9}")
    for name, (values, speed) in rows.items():
        cells = "".join(f"{value:>13.1%}" for value in values)
        print(f"{name:<10}{cells}" + (f"{speed:>9.1f}" if speed is not None else ""))


def print_pages(results: list[PageResult]) -> None:
    def loss(result: PageResult) -> float:
        noise = [kept / total for kept, total in (result.noise_text, result.noise_links) if total]
        topic = [kept / total for kept, total in (result.topic_text, result.topic_links) if total]
        return sum(noise) + sum(1 - share for share in topic)

    names = ("noise text", "noise links", "topic text", "topic links")
    print(f"{'kept of':<28}" + "".join(f"{name:>15}" for name in names))
    for result in sorted(results, key=loss, reverse=True):
        pairs = (result.noise_text, result.noise_links, result.topic_text, result.topic_links)
        cells = "".join(f"{f'{kept}/{total}':>15}" for kept, total in pairs)
        print(f"{result.page.name:<28}{cells}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=os.environ.get("MMCRAWL_CORPORA"),
        help="folder with the stored sites (default: the variable MMCRAWL_CORPORA)",
    )
    methods = (*CUTTING, *FILTERS)
    parser.add_argument("--only", default=",".join(methods), help="methods, parted by ,")
    parser.add_argument("--half", choices=("develop", "judge"), help="one half (default: both)")
    parser.add_argument("--type", choices=("topic", "hub", "media"), help="pages of one type")
    parser.add_argument("--pooled", action="store_true", help="sums over pages, not means")
    parser.add_argument("--strict", action="store_true", help="text of related links is noise")
    parser.add_argument("--pages", metavar="METHOD", help="a row for each page of one method")
    given = parser.parse_args()
    if given.folder is None:
        parser.error("name the folder of stored sites, or set MMCRAWL_CORPORA")
    return given


def main() -> int:
    given = arguments()
    try:
        pages = [p for p in load(Path(given.folder)) if given.type in (None, p.type)]
    except (FileNotFoundError, ValueError) as error:
        print(f"{error}.", file=sys.stderr)
        return 2
    if given.pages:
        shown = [page for page in pages if page.half == "develop"]
        print_pages(run(given.pages, shown, given.strict)[0])
        return 0
    results = {}
    for method in given.only.split(","):
        try:
            results[method] = run(method, pages, given.strict)
        except (ImportError, AttributeError, BlockError) as error:
            print(f"{method} is left out: {error}", file=sys.stderr)
    for half in [given.half] if given.half else ["develop", "judge", "all"]:
        rows: dict[str, tuple[tuple[float, ...], float | None]] = {}
        count = 0
        for method, (found, speed) in results.items():
            part = [r for r in found if half in ("all", r.page.half)]
            count = len(part)
            rows[method] = figures(part, given.pooled), speed
        rows |= {name: (values, None) for name, values in PUBLISHED.items()}
        print_table(f"{half}, {count} pages (published: capitals, 1,000 other pages)", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
