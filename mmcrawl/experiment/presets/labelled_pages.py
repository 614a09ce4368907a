"""Pages with labelled parts, for measuring partitioners.

`docs/guide/presets.md` describes the form of the labels, `data/pages/README.md` the kinds.
"""

import hashlib
import json
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from mmcrawl.blocks.content.page_type import PAGE_TYPES
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.experiment.plan import ExperimentError
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tree import PageTree
from mmcrawl.replay.opening import DemoWeb

LABELS = "pages.json"
KINDS = frozenset(
    """
    title topic related-links navigation noise-links advertisement copyright image comments other
    """.split()
)
TOPIC = ("title", "topic")
"""The kinds of what a page is about."""

RELATED = (*TOPIC, "related-links")
"""The kinds of what leads to pages on the topic."""

_DEMO = "demo:"

Ranges = list[range]
"""Ranges of nodes of a tree."""


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page with its labels.

    Attributes:
        half: "develop" if methods were made with it, "judge" if not; "" where there are no halves.
        regions: start and end in bytes, and kind, of each part, ascending.
    """

    name: str
    half: str
    type: str
    url: str
    body: bytes
    regions: tuple[tuple[int, int, str], ...]


def pages_in(folder: Path | None) -> list[LabelledPage]:
    """Return the labelled pages of a folder, or those that ship."""
    place = folder or files("mmcrawl.experiment.presets").joinpath("data", "pages")
    try:
        labels = place.joinpath(LABELS).read_bytes()
    except OSError as error:
        raise ExperimentError(
            f"{place} has no {LABELS} that can be read ({error.strerror}); give a folder of"
            " labelled pages, as the guide to experiments tells"
        ) from error

    def read(source: str) -> bytes:
        if folder and not (folder / source).resolve().is_relative_to(folder.resolve()):
            raise ExperimentError(f"{LABELS}: the source {source!r} is not in {folder}")
        return place.joinpath(source).read_bytes()

    return labelled_pages(labels, read)


def labelled_pages(labels: bytes, read: Callable[[str], bytes]) -> list[LabelledPage]:
    """Return the pages of labels (JSON as `pages.json`), read from the demo web or by `read`."""
    try:
        entries = json.loads(labels)["pages"]
        pages = [_page(entry, read) for entry in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise ExperimentError(
            f"{LABELS} is not in the form of labels ({error!r}); the guide to experiments tells it"
        ) from error
    if not pages:
        raise ExperimentError(f"{LABELS} names no pages; there is nothing to measure on")
    return pages


def _page(entry: Mapping[str, Any], read: Callable[[str], bytes]) -> LabelledPage:
    name, source = str(entry["name"]), str(entry["source"])
    try:
        body = _demo_page(source) if source.startswith(_DEMO) else read(source)
    except OSError as error:
        raise ExperimentError(
            f"{LABELS}: the page {source} of {name} cannot be read: {error.strerror or error}"
        ) from error
    if hashlib.sha256(body).hexdigest() != entry.get("sha256", hashlib.sha256(body).hexdigest()):
        raise ExperimentError(f"{LABELS}: {source} is not the page that was labelled as {name}")
    if entry["type"] not in PAGE_TYPES:
        raise ExperimentError(f"{LABELS}: {name} has a type that is none of {_all(PAGE_TYPES)}")
    regions = tuple((int(r["start"]), int(r["end"]), str(r["kind"])) for r in entry["regions"])
    ends = [0, *(end for _, end, _ in regions)]
    for before, (start, end, kind) in zip(ends, regions, strict=False):
        if kind not in KINDS:
            raise ExperimentError(
                f"{LABELS}: {name} has a region {kind!r}; kinds are {_all(KINDS)}"
            )
        if not before <= start < end <= len(body):
            raise ExperimentError(
                f"{LABELS}: the region {start} to {end} of {name} is empty, in another, before the"
                f" one before it, or beyond the {len(body)} bytes of the page"
            )
    own = source.removeprefix(_DEMO)
    url = own if own != source else f"http://{source.removeprefix('web/')}"
    return LabelledPage(
        name, entry.get("half", ""), entry["type"], entry.get("url", url), body, regions
    )


def _demo_page(source: str) -> bytes:
    answer = DemoWeb().get(source.removeprefix(_DEMO))
    if answer is None:
        raise FileNotFoundError("the demo web has no such page")
    return answer.body


def _all(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


@dataclass(frozen=True, slots=True)
class NodeLabels:
    """Of each node of a page: visible characters, whether it is a link, and what it is labelled."""

    chars: np.ndarray[Any, np.dtype[np.int64]]
    links: np.ndarray[Any, np.dtype[np.bool_]]
    kinds: np.ndarray[Any, np.dtype[np.str_]]

    @classmethod
    def of(cls, page: LabelledPage, tree: PageTree) -> "NodeLabels":
        measures = Measures(tree)
        links = [
            (tag == "area" or (tag == "a" and not measures.hidden[node]))
            and "href" in tree.attributes(node)
            for node, tag in enumerate(tree.tags)
        ]
        kinds = [
            _kind_at(page, tree.starts[node], tree.ends[node]) if tag in (TEXT, "a", "area") else ""
            for node, tag in enumerate(tree.tags)
        ]
        return cls(np.diff(measures.chars), np.array(links), np.array(kinds))


def _kind_at(page: LabelledPage, start: int, end: int) -> str:
    """Return the kind of the region that most of a byte range lies in, or ""."""
    first = max(bisect_right(page.regions, (start, sys.maxsize, "")) - 1, 0)
    best, kind = 0, ""
    for region_start, region_end, region_kind in page.regions[first:]:
        if region_start >= end:
            break
        overlap = min(end, region_end) - max(start, region_start)
        if overlap > best:
            best, kind = overlap, region_kind
    return kind


def mask(ranges: Ranges, count: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return for each of `count` nodes whether it is in one of some ranges."""
    found = np.zeros(count, dtype=bool)
    for nodes in ranges:
        found[nodes.start : nodes.stop] = True
    return found
