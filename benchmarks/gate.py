"""Did anything get worse? All that the project promises in figures, beside the figures last kept.

    python benchmarks/gate.py [GROUP…] [--corpora FOLDER] [--keep] [--all]

Prints the figures of the groups (default: all of them, at most 15 minutes on 2 quiet cores) beside
those in `results/gate.md`, and ends with exit code 1 if one is worse by more than it may. `--keep`
puts the figures of these groups into that file: run it in the commit that makes one worse and says
why, or after one that makes many better. Rows that are as before are left out unless `--all`.

FOLDER (or the variable MMCRAWL_CORPORA) holds real pages: `web/` and `web2/` with stored sites and
their `manifest.json`, `series/`, `pages/`. Without it, or a part of it, rows say "no data".

Speeds are ratios to a fixed reference that runs in turn with them (a plain Scrapy spider, a bare
parse by lxml, warcio), so that machines compare; figures of one machine alone are not judged.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
import traceback
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from gated.row import Row, figure, read_kept, write_kept

GROUPS = ("size", "search", "text", "archive", "crawls", "speed", "memory", "start")
KEPT = Path(__file__).resolve().parent / "results" / "gate.md"
HEAD = """
# The figures last kept

`python benchmarks/gate.py --keep` writes this table, `python benchmarks/gate.py` compares with it;
what each group measures is said in `benchmarks/gated/`.
"""


def source() -> str:
    """Say when, of what and where figures are measured, in one line."""
    git = ["git", "-C", str(KEPT.parent.parent)]
    told = subprocess.run(
        [*git, "describe", "--always", "--dirty=+changes", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    cpu = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file() and "model name" in (text := info.read_text()):
        cpu = text.partition("model name")[2].partition(":")[2].partition("\n")[0].strip()
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    commit = told.stdout.strip() or "unknown"
    cores = len(os.sched_getaffinity(0))
    return f"{now}, commit {commit}, {cores} cores of {cpu}, Python {platform.python_version()}"


def print_group(group: str, rows: list[Row], kept: dict[str, float], *, whole: bool) -> list[str]:
    """Print the table of a group; return what is worse than it may be."""
    width = max(len(row.name) for row in rows) + 2
    print(f"\n{group:<{width}}{'now':>10}{'kept':>10}{'change':>9}{'bound':>8}{'at most':>9}")
    same, worse = 0, []
    for row in rows:
        before = kept.get(row.name)
        change, verdict = row.change(before), row.verdict(before)
        if not whole and not verdict and abs(change or 0) < 0.0005:
            same += 1
            continue
        cells = f"{figure(row.value):>10}{'-' if before is None else figure(before):>10}"
        cells += f"{'' if change is None else f'{change:+.1%}':>9}"
        cells += f"{'-' if row.bound is None else f'{row.bound:.0%}':>8}"
        cells += f"{'' if row.most is None else figure(row.most):>9}"
        print(f"{row.name:<{width}}{cells}  {verdict}".rstrip(), flush=True)
        if verdict == "WORSE":
            worse.append(f"{group}: {row.name}")
    if same:
        print(f"({same} as kept)")
    return worse


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--corpora", type=Path, default=os.environ.get("MMCRAWL_CORPORA"))
    parser.add_argument("--keep", action="store_true", help="put the figures into the kept table")
    parser.add_argument("--all", action="store_true", help="print rows that are as kept, too")
    given = parser.parse_args()
    if unknown := [group for group in given.groups if group not in GROUPS]:
        parser.error(f"there is no group {unknown[0]}; there are {', '.join(GROUPS)}")
    if given.corpora is not None and not given.corpora.is_dir():
        parser.error(f"there is no folder {given.corpora}")
    kept, worse, said = read_kept(KEPT), [], source()
    failed = []
    for group in given.groups or GROUPS:
        start = time.monotonic()
        try:
            rows = list(import_module(f"gated.{group}").rows(given.corpora))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the other groups still count
            traceback.print_exception(error)
            failed.append(group)
            continue
        worse += print_group(group, rows, kept.get(group, {}), whole=given.all)
        print(f"{group}: {time.monotonic() - start:.0f} s", file=sys.stderr)
        if given.keep:
            write_kept(KEPT, HEAD, {group: (said, rows)})
    if failed:
        print(f"\nNot measured, as they failed: {', '.join(failed)}")
    if given.keep:
        print(f"\nKept in {KEPT}")
    elif worse:
        print("\nWorse than kept by more than they may:", *worse, sep="\n  ")
        print("Mend it; or keep them (--keep) in a commit that says why they are worth it.")
    return 1 if failed or (worse and not given.keep) else 0


if __name__ == "__main__":
    raise SystemExit(main())
