"""The pages of L3S-GN1 with what each of their texts was labelled as.

L3S-GN1 (Kohlschütter, Fankhauser & Nejdl, WSDM 2010; for research use only, so it is not here) has
621 news pages of 408 sites, each as received and as a browser wrote it with labels. The words of
both are aligned, and a text of the page as received has the label that most of its words have. A
page with less than nine words of ten in common is left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from lxml.html import HtmlElement, HTMLParser, document_fromstring

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.experiment.presets.labelled_pages import LabelledPage
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tree import read_tree

KINDS = ("else", "title", "topic", "supplement", "related-links", "comments")
"""By the number of the label. Supplements are captions and the like; all that is no content is one
kind, "else"."""

_LABEL = re.compile(r"x-nc-sel([0-5])")
_WORD = re.compile(r"\w+")
_COMMON = 0.9
_LEAST_RUN = 4  # words; shorter ones come together by chance
_SECOND_LEVEL = frozenset("co com net org ac gov edu icnetwork".split())


def gn1_pages(folder: Path) -> list[LabelledPage]:
    """Return the labelled pages, all of them "judge": they may be measured on, not trained on."""
    addresses = {}
    for line in (folder / "url-mapping.txt").read_text("utf-8", "replace").splitlines():
        name, _, url = line.partition("\t")
        addresses[name.strip("<>").removeprefix("urn:uuid:")] = url.strip()
    names = sorted(path.stem for path in (folder / "annotated").glob("*.html"))
    with ProcessPoolExecutor() as pool:
        regions = list(pool.map(partial(_regions, folder), names, chunksize=8))
    return [
        LabelledPage(
            name,
            "judge",
            "topic",
            addresses[name],
            (folder / "original" / f"{name}.html").read_bytes(),
            tuple(found),
        )
        for name, found in zip(names, regions, strict=True)
        if found
    ]


def site_of(url: str) -> str:
    """Return the site of an address: the last two names of its host, or three (`.co.uk`)."""
    names = (urlsplit(url).hostname or "").split(".")
    return ".".join(names[-3:] if names[-2:-1] and names[-2] in _SECOND_LEVEL else names[-2:])


def _regions(folder: Path, name: str) -> list[tuple[int, int, str]]:
    """Return the labelled texts of a page as received; none if it is another page."""
    labelled = [
        (word, kind)
        for text, kind in _texts((folder / "annotated" / f"{name}.html").read_bytes())
        for word in _WORD.findall(text.lower())
    ]
    tree = read_tree((folder / "original" / f"{name}.html").read_bytes())
    chars = Measures(tree).chars
    own, starts = [], []
    shown = [n for n, tag in enumerate(tree.tags) if tag == TEXT and chars[n + 1] > chars[n]]
    for node in shown:
        starts.append(len(own))
        own += _WORD.findall(tree.raw_text(node).lower())
    matcher = SequenceMatcher(None, own, [word for word, _ in labelled], autojunk=False)
    runs = matcher.get_matching_blocks()
    if sum(run.size for run in runs) < _COMMON * max(len(labelled), 1):
        return []
    votes: list[Counter[str]] = [Counter() for _ in shown]
    for run in runs:
        for offset in range(run.size if run.size >= _LEAST_RUN else 0):
            text = bisect_right(starts, run.a + offset) - 1
            votes[text][labelled[run.b + offset][1]] += 1
    sizes = [after - start for start, after in zip(starts, [*starts[1:], len(own)], strict=True)]
    return [
        (tree.starts[node], tree.ends[node], found.most_common(1)[0][0])
        for node, found, size in zip(shown, votes, sizes, strict=True)
        if found and 2 * found.total() >= size
    ]


def _texts(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the texts of an annotated page in order, each with its label."""
    waiting: list[tuple[HtmlElement, str] | tuple[str, str]] = [
        (document_fromstring(body, parser=HTMLParser(encoding="utf-8", huge_tree=True)), KINDS[0])
    ]
    while waiting:
        at, kind = waiting.pop()
        if isinstance(at, str):
            yield at, kind
            continue
        if not isinstance(at.tag, str) or at.tag in ("script", "style", "noscript", "head"):
            continue
        found = _LABEL.search(at.get("class") or "")
        own = KINDS[int(found[1])] if found else kind
        for child in reversed(at):
            waiting.append((child.tail or "", own))
            waiting.append((child, own))
        waiting.append((at.text or "", own))
