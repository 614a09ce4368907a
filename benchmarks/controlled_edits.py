"""Whether a comparison of versions tells what was done to a page: known edits of real pages.

    python benchmarks/controlled_edits.py FOLDER… [--pages 6] [--half tune|judge] [--each]

FOLDER holds pages (``.html``, ``.htm``), or a folder of them for each site, of which one page is
taken. Of a page, the edit is made in the bytes, where a parser that knows no blocks says its text
and elements stand; both are archived and compared. *As expected* is an edit of which exactly the
words that it added and removed are told, moved blocks where and only where something moved, and
whatever else is written in its row. *Missed* is one that changed bytes of which nothing is told.

Pages are halved by the name of their site: comparison was made with ``tune``, ``judge`` was kept
aside.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from _page_edits import EDITS, Edit, Page, words

from mmcrawl.archive import Archive, Capture, Difference
from mmcrawl.experiment.presets.archive_cases import temporary_archive

_LEAST_TEXTS = 5  # of 40 characters and more


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was told of an edit, and what of it was not as expected."""

    told: str
    faults: tuple[str, ...]
    missed: bool
    seconds: float


def outcome(archive: Archive, name: str, edit: Edit) -> Outcome:
    """Archive both pages, compare them and judge what is told."""
    versions = [
        archive.store(
            Capture(f"http://edits.test/{name}", body, n, content_type="text/html")
        ).version
        for n, body in enumerate((edit.old, edit.new), 1)
    ]
    old, new = versions
    if old is None or new is None:
        raise LookupError
    pages = archive.page(old), archive.page(new)
    for page in pages:
        page.blocks  # noqa: B018  cut apart from comparing
    begin = time.process_time()
    found = archive.diff(old, new)
    seconds = time.process_time() - begin
    removed, added = _words_told(archive, found)
    faults = []
    if (removed, added) != (words(edit.removed), words(edit.added)):
        faults.append(f"-{' '.join(removed.elements())[:60]} +{' '.join(added.elements())[:60]}")
    if edit.moved != bool(found.count("moved")):
        faults.append(f"{found.count('moved')} moved")
    told = Counter((b.change, b.kind) for b in found.blocks if b.change != "kept")
    if edit.kind and not any(kind == edit.kind for _, kind in told):
        faults.append("kind")
    if edit.verdict and found.verdict != edit.verdict:
        faults.append(f"verdict {getattr(found, 'verdict', '')!r}")
    missed = not told and not found.layout_changed
    said = Counter(change for change, _ in told.elements())
    text = ", ".join(f"{n} {change}" for change, n in said.items()) or "-"
    return Outcome(text, tuple(faults), missed, seconds)


def _words_told(archive: Archive, found: Difference) -> tuple[Counter[str], Counter[str]]:
    old, new = archive.page(found.old), archive.page(found.new)
    removed: Counter[str] = Counter()
    added: Counter[str] = Counter()
    for change in found.blocks:
        if change.words:
            continue
        if change.change == "removed" and change.old:
            removed += words(old.text(change.old))
        elif change.change == "added" and change.new:
            added += words(new.text(change.new))
    changes = [*found.layout_words, *(w for b in found.blocks for w in b.words)]
    for word in changes:
        if word.change == "removed":
            removed += words(word.text)
        elif word.change == "added":
            added += words(word.text)
    return removed, added


def pages_of(folder: Path, count: int, half: str | None) -> Iterator[tuple[str, Path]]:
    """Yield pages with text enough, one a site, in an order that no name of a page decides."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in folder.rglob("*.htm*"):
        if path.is_file():
            found[path.relative_to(folder).parts[0]].append(path)
    yielded = 0
    for site, paths in sorted(found.items(), key=lambda one: _order(one[0])):
        if half and (_order(site)[0] in "01234567") != (half == "tune"):
            continue
        for path in sorted(paths, key=lambda p: _order(str(p.relative_to(folder))))[:20]:
            body = path.read_bytes()
            page = Page(body, random.Random(0))
            if "body" in page.tree.tags and len(page.long_texts()) >= _LEAST_TEXTS:
                yield f"{folder.name}/{site}", path
                yielded += 1
                break
        if yielded == count:
            return


def _order(name: str) -> str:
    return sha256(name.encode()).hexdigest()


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    arguments.add_argument("--pages", type=int, default=4, help="of each folder")
    arguments.add_argument("--half", choices=("tune", "judge"))
    arguments.add_argument("--each", action="store_true", help="print what is not as expected")
    options = arguments.parse_args()
    chosen = [p for f in options.folders for p in pages_of(f, options.pages, options.half)]
    found: dict[str, list[Outcome]] = {name: [] for name in EDITS}
    with temporary_archive() as archive:
        for number, (site, path) in enumerate(chosen):
            for name, make in EDITS.items():
                page = Page(path.read_bytes(), random.Random(f"{site} {name}"))
                try:
                    told = outcome(archive, f"{number}/{name}", make(page))
                except (LookupError, UnicodeError):
                    continue  # the page has nothing to do this to
                found[name].append(told)
                if options.each and (told.faults or told.missed):
                    print(f"{name} | {path} | {told.told} | {'; '.join(told.faults)}")
    _print(chosen, found)
    return 0


def _print(chosen: Sequence[object], found: dict[str, list[Outcome]]) -> None:
    print(f"{len(chosen)} pages")
    print("| edit | pages | as expected | missed | most often told of blocks |")
    print("|---|---|---|---|---|")
    for name, told in found.items():
        good = sum(not one.faults for one in told)
        missed = sum(one.missed for one in told)
        usual = "; ".join(text for text, _ in Counter(t.told for t in told).most_common(2))
        print(f"| {name} | {len(told)} | {good} | {missed} | {usual} |")
    every = [one for told in found.values() for one in told]
    good = sum(not one.faults for one in every)
    print(
        f"all {len(every)}: {good} as expected, {sum(o.missed for o in every)} missed; "
        f"{1000 * sum(o.seconds for o in every) / max(1, len(every)):.1f} ms of CPU a comparison"
    )


if __name__ == "__main__":
    sys.exit(main())
