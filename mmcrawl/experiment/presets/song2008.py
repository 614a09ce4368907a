"""The experiments of Song et al. 2008: the test cases of table 1, and the judged pairs of 3.3.

*Collecting and Storing Web Archive Based on Page Block*, Journal of Software 19(2).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL
from mmcrawl.experiment.plan import ExperimentError
from mmcrawl.experiment.presets.archive_cases import cases_table, temporary_archive
from mmcrawl.experiment.presets.page_pairs import (
    Grade,
    Judgement,
    PagePair,
    judge,
    labelled_pairs,
)
from mmcrawl.experiment.presets.tables import PaperTable, Told

WAYS: tuple[tuple[str, int], ...] = (
    ("bwap", DEFAULT_LEVEL),
    ("bwap", 2),
    ("bwap", 1),
    ("spcola", 1),
    ("quark", 1),
)
"""Methods and levels that pages of the pairs are cut with; the first is the archive's own."""

_PUBLISHED = ("published, 800 grades", "", "", "13 %", "1 %", "86 %", "0 %", "")
_COLUMNS = (*Grade, "perfect or good", "changes missed", "blocks told in vain")
_PAIRS = "Figures 11 and 12: changed blocks of 200 pairs of pages"
_NOTE = (
    "Published: 200 pairs of archived pages, graded by four readers; perfect and good are not"
    " printed apart, nor what a grade takes. Here: pairs of snapshots of German news pages whose"
    " changed parts one reader labelled. The grade is that of the share, in the text told or"
    " labelled as changed, of what is both: of those in the paper's example it comes nearest to,"
    " where CC2 to CC6 changed and level 3 tells them (perfect), level 2 CC (good), 1 C (normal)."
)


def tables(data: Path | None, progress: Told) -> Iterator[PaperTable]:
    """Yield table 1, and with the pages of the labelled pairs what figures 11 and 12 show.

    Args:
        data: Folder with ``SITE/TIME.html``; None leaves the pairs out, as their pages do not ship.
        progress: Is told how far it is.

    Raises:
        ExperimentError: `data` has not the pages that were labelled.
    """
    pairs = labelled_pairs()
    if data is not None:
        if not data.is_dir():
            raise ExperimentError(
                f"--data {data} is no folder; name one with snapshots SITE/TIME.html"
            )
        for pair in pairs:
            pair.pages(data)
    yield cases_table(progress)
    if data is None:
        yield PaperTable(
            _PAIRS,
            ("", *_COLUMNS),
            (_PUBLISHED,),
            "Labels of 200 pairs ship, their pages do not: name with --data the folder of snapshots"
            " SITE/TIME.html that docs/guide/presets.md describes.",
        )
        return
    yield from judged(pairs, data, progress)


def judged(pairs: Sequence[PagePair], data: Path, progress: Told) -> Iterator[PaperTable]:
    """Yield the grades of pairs by method, and by site for the first of `WAYS`."""
    found: dict[tuple[str, int], list[Judgement]] = defaultdict(list)
    of = len(WAYS) * len(pairs)
    with temporary_archive() as archive:
        for done, (way, pair) in enumerate(product(WAYS, pairs)):
            progress(done, of, f"{_name(*way)}: {pair.site}")
            found[way].append(judge(pair, pair.pages(data), archive, *way))
    progress(of, of, "")
    rows = [(_name(*way), *_cells(judgements)) for way, judgements in found.items()]
    yield PaperTable(_PAIRS, ("", *_COLUMNS), (_PUBLISHED, *rows), _NOTE)
    yield _by_site(pairs, found[WAYS[0]])


def _by_site(pairs: Sequence[PagePair], judgements: Sequence[Judgement]) -> PaperTable:
    sites: Mapping[str, list[Judgement]] = defaultdict(list)
    for pair, judgement in zip(pairs, judgements, strict=True):
        sites[pair.site].append(judgement)
    rows = [
        (site, str(len(own)), *_cells(own), f"{sum(j.markup_only for j in own):,}")
        for site, own in sites.items()
    ]
    return PaperTable(
        f"The same by site, {_name(*WAYS[0])}",
        ("site", "pairs", *_COLUMNS, "blocks of other markup only"),
        tuple(rows),
        "Labels are of what a reader sees, so that blocks told as changed in nothing but markup are"
        " counted apart.",
    )


def _name(method: str, level: int) -> str:
    return f"{method}, level {level}" if method == "bwap" else method


def _cells(judgements: Sequence[Judgement]) -> tuple[str, ...]:
    grades = Counter(judgement.grade for judgement in judgements)
    good = grades[Grade.PERFECT] + grades[Grade.GOOD]
    count = len(judgements)
    return (
        *(_share(grades[grade], count) for grade in Grade),
        _share(good, count),
        _share(sum(j.missed for j in judgements), sum(j.parts for j in judgements)),
        _share(sum(j.in_vain for j in judgements), sum(j.told for j in judgements)),
    )


def _share(part: int, of: int) -> str:
    return f"{part / of:.1%}" if of else "–"
