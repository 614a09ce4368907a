"""The two tasks of SEWM-2008 on the hand-labelled pages of `tests/blocks/labels/pages.json`.

    python benchmarks/sewm.py FOLDER [--half judge]

FOLDER (or the variable MMCRAWL_CORPORA) holds the stored sites, as for benchmarks/blocks.py. The
tasks are those of `scrapy experiment --preset quark`, which measures on the labelled pages that
ship. Rules were made on the half "develop"; "judge" is for measuring.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from blocks import load

from mmcrawl.experiment.plan import ExperimentError
from mmcrawl.experiment.presets.quark import tables_of


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = os.environ.get("MMCRAWL_CORPORA")
    parser.add_argument("folder", type=Path, nargs="?", default=default, help="stored sites")
    parser.add_argument("--half", choices=("develop", "judge"), help="one half (default: both)")
    given = parser.parse_args()
    if given.folder is None:
        parser.error("name the folder of stored sites, or set MMCRAWL_CORPORA")
    try:
        pages = load(Path(given.folder))
    except (FileNotFoundError, ExperimentError) as error:
        print(f"{error}.", file=sys.stderr)
        return 2
    chosen = [page for page in pages if given.half in (None, page.half)]
    for table in tables_of(chosen, lambda *steps: None):
        print(f"\n{table.title}")
        for name, *cells in (table.columns, *table.rows):
            print(f"{name:<14}" + "".join(f"{cell:>13}" for cell in cells))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
