"""The experiments of Song et al. 2008: the test cases of table 1, and the judged pairs of 3.3.

*Collecting and Storing Web Archive Based on Page Block*, Journal of Software 19(2).
"""

from __future__ import annotations

import platform
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Capture, Version
from mmcrawl.archive.opening import open_archive
from mmcrawl.blocks.partition import Partition, partition
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, MAX_LEVEL
from mmcrawl.experiment.plan import ExperimentError
from mmcrawl.experiment.presets.page_pairs import (
    VERSIONS,
    Grade,
    Judgement,
    PagePair,
    changed_text,
    judge,
    labelled_pairs,
    versions,
)
from mmcrawl.experiment.presets.tables import PaperTable, Told

_METHOD = "bwap"
_MANY = 2_000  # pages, for "several thousands of pages one time"


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the table.

    Attributes:
        category, text: As printed, in short.
    """

    category: str
    text: str
    published: str
    here: Callable[[], str]  # returns what is measured, as it is shown


def cases_table(progress: Told) -> PaperTable:
    """Run all cases; takes some seconds."""
    rows = []
    for number, case in enumerate(CASES):
        progress(number, len(CASES), case.text)
        rows.append((str(number + 1), case.category, case.text, case.published, case.here()))
    progress(len(CASES), len(CASES), "")
    return PaperTable(
        "Table 1: test cases",
        ("", "category", "case", "published", "here"),
        tuple(rows),
        f"Published: words, without pages or figures. Here: made pages, {VERSIONS} versions of each"
        " kind in which one sentence after the other changes. A success: all are read back byte for"
        " byte, and all changed sentences stand in blocks told as changed; the share is that of"
        " told blocks in the bytes of the pages. Times are CPU times of this machine. Text that"
        " stands beside blocks is layout, which is kept, and told as changed only as a whole: the"
        " failure is that of the paper. A dash: no run tells it; coverage, MongoDB, other systems"
        " are matters of the test suite.",
    )


def _kept(kind: str, levels: Sequence[int] = (DEFAULT_LEVEL,)) -> str:
    """Store the versions of a kind, cut at some levels in turn, and compare them."""
    bodies = list(versions(kind))
    with temporary_archive() as archive:
        stored = []
        for n, body in enumerate(bodies):
            capture = Capture("http://made.test/", body, float(n), content_type="text/html")
            made = archive.store(capture, method=_METHOD, level=levels[n % len(levels)]).version
            stored += [made] if made is not None else []
        same = sum(archive.rebuild(v).body == body for v, body in zip(stored, bodies, strict=False))
        told = [_told(archive, old, new) for old, new in pairwise(stored)]
    found = sum(changed_text(n) in text for n, (text, _) in enumerate(told, 1))
    share = sum(size for _, size in told) / max(1, sum(map(len, bodies[1:])))
    success = same == len(bodies) and found == len(bodies) - 1
    return (
        f"{'Success' if success else 'Failure'}: {same} of {len(bodies)} read back,"
        f" {found} of {len(bodies) - 1} changes told, in {share:.0%} of the bytes"
    )


def _told(archive: Archive, old: Version, new: Version) -> tuple[str, int]:
    """Return text and bytes of the blocks of the newer version that are reported as changed."""
    page = archive.page(new)
    changes = archive.diff(old, new).blocks
    blocks = [c.new for c in changes if c.change in ("changed", "added") and c.new is not None]
    return "\n".join(map(page.text, blocks)), sum(b.end - b.start for b in blocks)


@contextmanager
def temporary_archive() -> Iterator[Archive]:
    with (
        TemporaryDirectory() as folder,
        open_archive(f"sqlite:///{Path(folder, 'archive.sqlite')}") as archive,
    ):
        yield archive


def _captures(kind: str, number: int, teasers: int = 24) -> Iterator[Capture]:
    for n, body in enumerate(versions(kind, number, teasers)):
        yield Capture(f"http://made.test/{n}", body, float(n), content_type="text/html")


def _memory() -> str:
    with temporary_archive() as archive:
        archive.store_many(_captures("tiny", 50))
        tracemalloc.start()
        try:
            archive.store_many(_captures("images", 50))
            before = tracemalloc.get_traced_memory()[0]
            archive.store_many(_captures("tiny", 400))
            left = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
    return f"{max(0, left) / 1e6:.1f} MB left after 400 pages"


def _peak() -> str:
    with temporary_archive() as archive:
        tracemalloc.start()
        try:
            archive.store_many(_captures("tiny", 400))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    return f"{peak / 1e6:.0f} MB at most, for 400 pages in one commit"


def _rates(kind: str, number: int, teasers: int = 24) -> tuple[float, float]:
    """Measure how fast pages of a kind are stored: pages and bytes in a CPU second."""
    captures = list(_captures(kind, number, teasers))
    start = process_time()
    with temporary_archive() as archive:
        archive.store_many(captures)
    seconds = process_time() - start
    return number / seconds, sum(len(capture.body) for capture in captures) / seconds


def _rate(kind: str, number: int, teasers: int = 24) -> str:
    pages, size = _rates(kind, number, teasers)
    return f"{pages:,.0f} pages a second, {size / 1e6:.1f} MB"


def _beside(kind: str, other: str, number: int) -> str:
    """Measure how fast pages with images are stored, beside the same without."""
    (pages, size), (others, others_size) = _rates(kind, number), _rates(other, number)
    answer = "Better" if size > others_size else "Not better"
    return (
        f"{answer}: {pages:,.0f} pages a second, {size / 1e6:.1f} MB; the same without images"
        f" {others:,.0f}, {others_size / 1e6:.1f} MB"
    )


def _times() -> dict[str, float]:
    """Return the CPU milliseconds a page that each step takes."""
    captures = list(_captures("images", 60))
    steps: dict[str, float] = {}

    def timed(name: str, work: Callable[[], object]) -> None:
        start = process_time()
        work()
        steps[name] = 1e3 * (process_time() - start) / len(captures)

    pages: list[Partition] = []
    timed("cutting", lambda: pages.extend(partition(c.body, method=_METHOD) for c in captures))
    timed("labels and topics", lambda: [(b.kind, b.topic) for page in pages for b in page])
    with temporary_archive() as archive:
        timed("storing", lambda: archive.store_many(captures))
        stored = [archive.get(capture.url) for capture in captures]
        timed("reading back", lambda: [archive.rebuild(version) for version in stored])
    return steps


def _processing() -> str:
    steps = _times()
    page = sum(steps.values())
    return f"No: {page:.1f} ms a page; a crawl waits a second between two pages of a host"


def _storing() -> str:
    steps = _times()
    cutting = steps["cutting"] + steps["labels and topics"]
    answer = "No" if steps["storing"] <= cutting else "Yes"
    return f"{answer}: {steps['storing']:.2f} ms a page, cutting and labels {cutting:.1f} ms"


def _bottleneck() -> str:
    steps = _times()
    name = max(steps, key=lambda step: steps[step])
    return f"{name}, {steps[name] / sum(steps.values()):.0%} of the time"


def _system() -> str:
    return f"Success on {platform.system()}, where this ran"


def _no_run() -> str:
    return "–"


CASES: tuple[Case, ...] = (
    Case("functional", "layouts change frequently", "Success", partial(_kept, "layouts")),
    Case("functional", "tiny change", "Success", partial(_kept, "tiny")),
    Case("functional", "abnormally complex structure", "Success", partial(_kept, "complex")),
    Case("functional", "abnormally simple structure", "Success", partial(_kept, "simple")),
    Case("functional", "many scripts", "Success", partial(_kept, "scripts")),
    Case("functional", "mostly text", "Failure", partial(_kept, "text")),
    Case("functional", "a lot of blanks", "Success", partial(_kept, "blanks")),
    Case("functional", "fragmentary pages", "Success", partial(_kept, "fragments")),
    Case("functional", "lots of images", "Success", partial(_kept, "images")),
    Case("functional", "great partition level", "Success", partial(_kept, "tiny", (MAX_LEVEL,))),
    Case("functional", "small partition level", "Success", partial(_kept, "tiny", (1,))),
    Case("functional", "unstable partition level", "Success", partial(_kept, "tiny", (1, 3, 2))),
    Case("white box", "walk through the code", "Done", _no_run),
    Case("white box", "code coverage", "Done", _no_run),
    Case("white box", "objects are released", "Done", _memory),
    Case("performance", "processing takes longer than collecting", "No", _processing),
    Case("performance", "storing takes longer than processing", "No", _storing),
    Case("performance", "bottleneck", "None", _bottleneck),
    Case("performance", "several thousand pages at once", "Good", partial(_rate, "tiny", _MANY)),
    Case("performance", "many images", "Better", partial(_beside, "images", "tiny", 400)),
    Case("performance", "large pages", "Good", partial(_rate, "text", 40, 2_000)),
    Case("performance", "limited memory", "Normal", _peak),
    Case("integration", "Windows, Linux, Unix", "Success", _system),
    Case("integration", "J2EE: JTA, JAAS", "Partly success", _no_run),
    Case("integration", "Oracle, SQLServer, DB2", "Success", lambda: "Success on SQLite"),
)
"""The rows of the table, in its order."""


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
    """Yield table 1, and with a folder of ``SITE/TIME.html`` figures 11 and 12 of its pairs."""
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
