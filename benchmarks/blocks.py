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

`scrapy experiment --preset wang2012` prints the same table of the labelled pages that ship, whose
measuring this is; here are times, types of pages, and the page at which a method fails.

`--pages` prints a row for each page of one method, the worst first, and no table; of the half
"judge", on which nothing may be tuned, it prints none.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from mmcrawl.errors import BlockError
from mmcrawl.experiment.plan import ExperimentError
from mmcrawl.experiment.presets.labelled_pages import LabelledPage, labelled_pages
from mmcrawl.experiment.presets.wang2012 import (
    CUTTING,
    FILTERS,
    MEASURES,
    PUBLISHED,
    Kept,
    kept_of,
    method_of,
    six_measures,
)

LABELS = Path(__file__).parents[1] / "tests" / "blocks" / "labels" / "pages.json"
WIDTH = max(map(len, MEASURES)) + 2


def load(folder: Path) -> list[LabelledPage]:
    """Read the labelled pages.

    Raises
    ------
    FileNotFoundError
        If the folder does not hold the sites.
    ExperimentError
        If a page is missing, or not the one that was labelled.
    """
    labels = LABELS.read_bytes()
    stored = stored_files(folder, {label["source"] for label in json.loads(labels)["pages"]})

    def read(source: str) -> bytes:
        if source not in stored:
            raise FileNotFoundError(f"it is not in {folder}")
        return stored[source]

    return labelled_pages(labels, read)


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


def run(method: str, pages: list[LabelledPage], strict: bool) -> tuple[list[Kept], float]:
    """Return what a method kept of each page, and its CPU milliseconds a page."""
    keep = method_of(method)
    keep(pages[0])
    seconds, results = 0.0, []
    for page in pages:
        start = time.process_time()
        kept = keep(page)
        seconds += time.process_time() - start
        results.append(kept_of(page, kept, strict=strict))
    return results, 1000 * seconds / len(pages)


def print_table(title: str, rows: dict[str, tuple[tuple[float, ...], float | None]]) -> None:
    print(
        f"\n{title}\n{'':<10}"
        + "".join(f"{name:>{WIDTH}}" for name in MEASURES)
        + f"{'ms/page':>9}"
    )
    for name, (values, speed) in rows.items():
        cells = "".join(f"{value:>{WIDTH}.1%}" for value in values)
        print(f"{name:<10}{cells}" + (f"{speed:>9.1f}" if speed is not None else ""))


def print_pages(results: list[Kept]) -> None:
    def loss(result: Kept) -> float:
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
    except (FileNotFoundError, ExperimentError) as error:
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
            rows[method] = six_measures(part, pooled=given.pooled), speed
        rows |= {name: (values, None) for name, values in PUBLISHED.items()}
        print_table(f"{half}, {count} pages (published: capitals, 1,000 other pages)", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
