"""The 25 test cases of Song et al. 2008 (table 1), put to the archive of this machine.

What the paper reports is a word. Here a case on pages is a success if every version of made pages
is read back byte for byte, and every sentence that was changed stands in a block told as changed;
one on speed has the figure.
"""

from __future__ import annotations

import platform
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Capture, Version
from mmcrawl.archive.opening import open_archive
from mmcrawl.blocks.partition import Partition, partition
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, MAX_LEVEL
from mmcrawl.experiment.presets.made_versions import VERSIONS, changed_text, versions
from mmcrawl.experiment.presets.tables import PaperTable, Told

_METHOD = "bwap"
_MANY = 2_000  # pages, for "several thousands of pages one time"


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the table.

    Attributes:
        category, text: As printed, in short.
        published: What the paper reports.
        here: Returns what is measured, as it is shown.
    """

    category: str
    text: str
    published: str
    here: Callable[[], str]


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
    """Return the text of the blocks of the newer version that are told as changed; their bytes."""
    page = archive.page(new)
    changes = archive.diff(old, new).blocks
    blocks = [c.new for c in changes if c.change in ("changed", "added") and c.new is not None]
    return "\n".join(map(page.text, blocks)), sum(b.end - b.start for b in blocks)


@contextmanager
def temporary_archive() -> Iterator[Archive]:
    """Give an archive that is gone afterwards."""
    with (
        TemporaryDirectory() as folder,
        open_archive(f"sqlite:///{Path(folder, 'archive.sqlite')}") as archive,
    ):
        yield archive


def _captures(kind: str, number: int, teasers: int = 24) -> Iterator[Capture]:
    """Yield pages of a kind, each of a URL of its own."""
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
