"""Pairs of snapshots whose changed parts a reader has labelled, and how well blocks match those.

Song et al. 2008 (section 3.3, figures 11 and 12) put the older page of a pair into the archive,
then the newer one, and had readers grade the changed blocks: perfect, good, normal or bad. The
paper does not print what a grade requires. It prints an example, a page of which a reader says that
CC2 to CC6 changed, and the archive reports those, or CC, or C, depending on the level. Here the
grade of a pair is the nearest place in that example, by the agreement of reported and labelled
text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Capture
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.experiment.plan import ExperimentError
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tree import read_tree

VERSIONS = 6
_TEASERS = 24
_WORDS = "lever pulley wheel lens prism field charge wave orbit spring gear magnet".split()

Layout = Callable[[Sequence[str]], str]


def versions(kind: str, number: int = VERSIONS, teasers: int = _TEASERS) -> Iterator[bytes]:
    layouts = KINDS[kind]
    texts = [_sentence(place, 0) for place in range(teasers)]
    for version in range(number):
        if version:
            place = version * 5 % teasers
            texts[place] = _sentence(place, version)
        yield layouts[version % len(layouts)](texts).encode()


def changed_text(version: int) -> str:
    """Return the sentence that is new in a version, from 1, of so many teasers as is usual."""
    return _sentence(version * 5 % _TEASERS, version)


def _sentence(place: int, version: int) -> str:
    words = [_WORDS[(place * 5 + step) % len(_WORDS)] for step in range(9)]
    return f"Report {place} on the {' '.join(words)}, edition {version}."


def _page(inside: str) -> str:
    return (
        "<!DOCTYPE html><html><head><title>Physics</title></head><body><div><a href='/'>Start</a>"
        f" <a href='/news'>News</a> <a href='/media'>Media</a></div>{inside}"
        "<div><p>All texts are made for a measurement.</p></div></body></html>"
    )


def _boxes(texts: Sequence[str], extra: str = "") -> str:
    teasers = "".join(
        f"<div><h2>Teaser {n}</h2>{extra}<p>{text}</p></div>" for n, text in enumerate(texts)
    )
    return _page(f"<div>{teasers}</div>")


def _cells(texts: Sequence[str]) -> str:
    rows = "".join(f"<tr><td><p>{text}</p></td><td><p>Aside.</p></td></tr>" for text in texts)
    return _page(f"<table>{rows}</table>")


def _entries(texts: Sequence[str]) -> str:
    return _page(f"<ul>{''.join(f'<li><p>{text}</p></li>' for text in texts)}</ul>")


def _nested(texts: Sequence[str]) -> str:
    around = 60
    deep = "<table><tr><td>" * around, "</td></tr></table>" * around
    return _page(
        "".join(f"{deep[0]}<p>{text}</p><p>Part {n}.</p>{deep[1]}" for n, text in enumerate(texts))
    )


def _bare(texts: Sequence[str]) -> str:
    return f"<p>{' '.join(texts)}"


def _scripted(texts: Sequence[str]) -> str:
    return _boxes(texts, "<script>document.write('<div><p>' + \"</div>\" + '</p>');</script>" * 4)


def _prose(texts: Sequence[str]) -> str:
    prose = "<br><br>".join(f"{text} {'Nothing else happens. ' * 12}" for text in texts)
    return _page(f"{prose}<table><tr><td>Beside</td><td>the text</td></tr></table>")


def _blank(texts: Sequence[str]) -> str:
    return _boxes(texts, "<br>&nbsp;&nbsp;<br>" + " \n\t" * 200)


def _fragments(texts: Sequence[str]) -> str:
    return "</td><div><p>" + "<div><b><p>".join(texts) + "</i></table><p class='open"


def _pictured(texts: Sequence[str]) -> str:
    return _boxes(texts, "".join(f"<img src='/{n}.jpg' width=80 height=60>" for n in range(12)))


KINDS: Mapping[str, Sequence[Layout]] = {
    "layouts": (_boxes, _cells, _entries),
    "tiny": (_boxes,),
    "complex": (_nested,),
    "simple": (_bare,),
    "scripts": (_scripted,),
    "text": (_prose,),
    "blanks": (_blank,),
    "fragments": (_fragments,),
    "images": (_pictured,),
}
"""The layouts that versions of a kind take in turn."""


_LABELS = "song2008_pairs.jsonl"


class Grade(StrEnum):
    PERFECT = "perfect"
    GOOD = "good"
    NORMAL = "normal"
    BAD = "bad"


# Of the leaves of the example (figure 3: T1 T2 B1 B2, CL, CC1 to CC6, CR1 to CR6), those that
# changed as a share of those told as changed at level 3, at 2, at 1, and without levels.
_EXAMPLE = (5 / 5, 5 / 6, 5 / 13, 5 / 17)
_LEAST = tuple((one + next_) / 2 for one, next_ in pairwise(_EXAMPLE))


def grade_of(agreement: float) -> Grade:
    """Return the grade for a share of text, told or labelled as changed, that is both.

    >>> grade_of(5 / 6)
    <Grade.GOOD: 'good'>
    """
    for grade, least in zip(Grade, _LEAST, strict=False):
        if agreement >= least:
            return grade
    return Grade.BAD


@dataclass(frozen=True, slots=True)
class ChangedPart:
    """A part of a page that changed, as a reader sees it: a teaser, a line, an entry of a list.

    Attributes:
        what: ``changed``, ``new``, ``gone``, ``moved``; ``trivial`` if nothing but a time, a number
            of comments or the like is another.
        before, after: Where it is in either page; None where it is not.
    """

    what: str
    before: tuple[int, int] | None
    after: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class PagePair:
    """Two snapshots of a page with the labels of what changed."""

    site: str
    times: tuple[int, int]  # of both, in Unix seconds
    digests: tuple[str, str]  # SHA-256 of both, 64 hex digits
    parts: tuple[ChangedPart, ...]

    def pages(self, folder: Path) -> tuple[bytes, bytes]:
        """Return both pages from a folder with ``SITE/TIME.html``."""
        first, second = (
            self._page(folder, *one) for one in zip(self.times, self.digests, strict=True)
        )
        return first, second

    def _page(self, folder: Path, time: int, digest: str) -> bytes:
        path = folder / self.site / f"{time}.html"
        try:
            body = path.read_bytes()
        except OSError as error:
            raise ExperimentError(
                f"the labelled page {path} cannot be read: {error.strerror}; name with --data the"
                " folder of snapshots SITE/TIME.html that docs/guide/presets.md describes"
            ) from error
        if sha256(body).hexdigest() != digest:
            raise ExperimentError(f"{path} is not the page that was labelled: its SHA-256 differs")
        return body


def labelled_pairs() -> list[PagePair]:
    text = files("mmcrawl.experiment.presets").joinpath("data", _LABELS).read_text("utf-8")
    return [_pair(json.loads(line)) for line in text.strip().split("\n")[1:]]


def _pair(row: dict[str, Any]) -> PagePair:
    return PagePair(
        row["site"],
        tuple(row["times"]),
        tuple(row["sha256"]),
        tuple(part for change in row["changes"] for part in _parts(change)),
    )


def _parts(change: dict[str, Any]) -> Iterator[ChangedPart]:
    """Yield the parts of a change; a list of which all entries changed is one change."""
    before, after = (_spans(change.get(side, [])) for side in ("before", "after"))
    nowhere: list[None] = [None] * max(len(before), len(after))
    for one, other in zip(before or nowhere, after or nowhere, strict=True):
        yield ChangedPart(change["what"], one, other)


def _spans(side: list[Any]) -> Sequence[tuple[int, int]]:
    """Read ``[quotation, start, end, start, end, …]``."""
    return list(zip(side[1::2], side[2::2], strict=True))


@dataclass(frozen=True, slots=True)
class Judgement:
    """How well the changed blocks of a pair agree with the labels.

    Attributes:
        agreement: Of the visible text of both pages that is told or labelled as changed, the share
            that is both. A labelled part counts as a whole once a told block has some of it, as
            blocks may be smaller than what a reader takes for one part. What is trivial is left
            out.
        told, in_vain: Blocks told as changed, added, removed or moved; and those of them without a
            labelled part, not even a trivial one.
    """

    agreement: float
    parts: int
    missed: int
    told: int
    in_vain: int
    markup_only: int  # blocks told as changed in nothing but markup; they are no part of `told`

    @property
    def grade(self) -> Grade:
        return grade_of(self.agreement)


def judge(
    pair: PagePair, pages: Sequence[bytes], archive: Archive, method: str, level: int
) -> Judgement:
    """Let an archive compare the pages of a pair, and compare the result with the labels."""
    url = f"http://{pair.site}/{pair.times[0]}-{pair.times[1]}/{method}-{level}"
    old, new = (
        archive.store(
            Capture(url, body, time, content_type="text/html"), method=method, level=level
        )
        for body, time in zip(pages, pair.times, strict=True)
    )
    if old.version is None or new.version is None:
        raise ExperimentError(f"the pages of {pair.site} at {pair.times[0]} and later are equal")
    texts = [_PageText(body) for body in pages]
    markup_only = 0
    told = []
    for change in archive.diff(old.version, new.version).blocks:
        if change.change == "changed" and not change.words:
            markup_only += 1
        elif change.change != "kept":
            blocks = (change.old, change.new)
            spans = [(b.start, b.end) if b is not None else None for b in blocks]
            told.append([text.within(s) for text, s in zip(texts, spans, strict=True)])
    return _agreement(pair.parts, texts, told, markup_only)


def _agreement(
    parts: Sequence[ChangedPart],
    texts: Sequence[_PageText],
    told: Sequence[Sequence[slice]],
    markup_only: int,
) -> Judgement:
    is_told, is_labelled, is_found, is_trivial = (
        [np.zeros(len(text.sizes), bool) for text in texts] for _ in range(4)
    )
    _mark(is_told, told)
    labelled: list[list[slice]] = []
    trivial: list[list[slice]] = []
    for part in parts:
        spans = (part.before, part.after)
        where = [text.within(span) for text, span in zip(texts, spans, strict=True)]
        (trivial if part.what == "trivial" else labelled).append(where)
    _mark(is_labelled, labelled)
    _mark(is_trivial, trivial)
    seen = [where for where in labelled if any(nodes.stop > nodes.start for nodes in where)]
    found = [where for where in seen if _any(is_told, where)]
    _mark(is_found, found)
    both = sum(int(text.sizes[nodes].sum()) for text, nodes in zip(texts, is_found, strict=True))
    either = sum(
        int(text.sizes[(of_label | of_block) & (of_label | ~ignored)].sum())
        for text, of_label, of_block, ignored in zip(
            texts, is_labelled, is_told, is_trivial, strict=True
        )
    )
    shown = [block for block in told if any(nodes.stop > nodes.start for nodes in block)]
    in_vain = sum(not _any(is_labelled, block) and not _any(is_trivial, block) for block in shown)
    return Judgement(
        both / either if either else 1.0,
        len(seen),
        len(seen) - len(found),
        len(shown),
        in_vain,
        markup_only,
    )


def _mark(masks: Sequence[NDArray[np.bool_]], places: Sequence[Sequence[slice]]) -> None:
    for place in places:
        for mask, nodes in zip(masks, place, strict=True):
            mask[nodes] = True


def _any(masks: Sequence[NDArray[np.bool_]], place: Sequence[slice]) -> bool:
    return any(mask[nodes].any() for mask, nodes in zip(masks, place, strict=True))


class _PageText:
    """The runs of visible text of a page: where they start, and how many characters they have."""

    def __init__(self, body: bytes) -> None:
        tree = read_tree(body)
        hidden = Measures(tree).hidden
        nodes = [i for i, tag in enumerate(tree.tags) if tag == TEXT and not hidden[i]]
        self._starts = np.array([tree.starts[node] for node in nodes], np.int64)
        self._ends = np.array([tree.ends[node] for node in nodes], np.int64)
        self.sizes = np.array([len(tree.text(node)) for node in nodes], np.int64)

    def within(self, span: tuple[int, int] | None) -> slice:
        """Return the runs that a byte range has a part of; none for None."""
        if span is None:
            return slice(0, 0)
        first = np.searchsorted(self._ends, span[0], "right")
        last = np.searchsorted(self._starts, span[1], "left")
        return slice(int(first), int(last))
