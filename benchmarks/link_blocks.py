"""What it brings to let links in navigation, advertisements and the like wait longer.

    python benchmarks/link_blocks.py OUT --sites SITES.toml

Runs `scrapy experiment` without and with MMCRAWL_LINK_BLOCKS on the demo web, on simulated webs,
each with several seeds, and on stored sites if a file names them (TOML: a table a site with
options of `scrapy experiment`). An experiment that was finished is not run again. Prints a table
in Markdown: for each algorithm the area under recall as a share of the oracle's without, and how
much it is more or less with. Of a simulated web it is the mean over the seeds, and a difference is
told with the least and the greatest of them.

How much slower the crawl is, `crawl_speed.py` tells with `--set MMCRAWL_LINK_BLOCKS=1`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

GRID = ("", "adjacency=0", "tunnel=0", "noise=0.8")
ALGORITHMS = "breadth,urlrule,learned,topicrank,shark-improved"
SEEDS = "2026,2027,2028"
_LEAST = 0.005


@dataclass(frozen=True)
class Web:
    """A web of the table: the experiments on it, one a seed, by the names of their folders."""

    name: str
    experiments: dict[str, dict[str, str]]


def webs(args: argparse.Namespace) -> list[Web]:
    """Return what is to be crawled."""
    found = [Web("demo", {"demo": {"web": "demo"}})]
    if args.sites:
        stored = tomllib.loads(args.sites.read_text(encoding="utf-8"))
        found += [Web(name, {name: options}) for name, options in stored.items()]
    for change in args.grid.split(";") if args.pages else ():
        seeds = {}
        for seed in args.seeds.split(","):
            spec = ",".join(filter(None, (f"sim:pages={args.pages},seed={seed}", change)))
            seeds[f"sim-{change}-{seed}"] = {"web": spec, "topic": "physics-senior"}
        found.append(Web(f"sim, {change}".removesuffix(", "), seeds))
    return found


def areas(
    args: argparse.Namespace, name: str, options: dict[str, str], settings: list[str]
) -> dict[str, float]:
    """Return the area of each algorithm on one web, from an experiment that is run if need be."""
    given = [word for option, value in options.items() for word in (f"--{option}", value)]
    given += [word for setting in settings for word in ("--set", setting)]
    folder = args.out / name
    words = ["--algos", args.algos, "--parallel", str(args.parallel), *given]
    places = ["--out", str(folder), "--cache", str(args.out / "truth")]
    print(f"{name} …", file=sys.stderr, flush=True)
    subprocess.run(
        [sys.executable, "-m", "scrapy", "experiment", *words, *places],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return {row["label"]: row["area_share"]["mean"] for row in results["algorithms"]}


def print_table(names: list[str], rows: dict[str, list[tuple[dict, dict]]]) -> None:
    """Print areas without, and what they gain with, then how many webs gained and lost."""
    print("| web |", " | ".join(names), "|")
    print("|---" * (1 + len(names)) + "|")
    for web, pairs in rows.items():
        cells = [_cell([(off[name], on[name]) for off, on in pairs]) for name in names]
        print(f"| {web} |", " | ".join(cells), "|")
    cells = []
    for name in names:
        gains = [mean(on[name] - off[name] for off, on in pairs) for pairs in rows.values()]
        more, less = sum(g > _LEAST for g in gains), sum(g < -_LEAST for g in gains)
        cells.append(f"{mean(gains):+.3f}; {more} better, {less} worse")
    print("| mean |", " | ".join(cells), "|")


def _cell(pairs: list[tuple[float, float]]) -> str:
    gains = [on - off for off, on in pairs]
    spread = f" ({min(gains):+.2f} to {max(gains):+.2f})" if len(gains) > 1 else ""
    return f"{mean(off for off, _ in pairs):.2f} {mean(gains):+.2f}{spread}"


def main() -> None:
    """Run the experiments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder for the experiments, one folder each")
    parser.add_argument("--sites", type=Path, help="TOML file of stored sites")
    parser.add_argument("--algos", default=ALGORITHMS)
    parser.add_argument("--pages", type=int, default=1500, help="of each simulated web, 0 for none")
    parser.add_argument("--seeds", default=SEEDS, help="of the simulated webs, parted by commas")
    parser.add_argument("--grid", default=";".join(GRID), help="simulated webs, parted by ;")
    parser.add_argument("--parallel", type=int, default=3)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="more settings of those with",
    )
    args = parser.parse_args()
    rows: dict[str, list[tuple[dict, dict]]] = {}
    for web in webs(args):
        for name, options in web.experiments.items():
            without = areas(args, name, options, ["MMCRAWL_LINK_BLOCKS=0"])
            settings = ["MMCRAWL_BLOCKS=bwap", "MMCRAWL_LINK_BLOCKS=1", *args.set]
            with_blocks = areas(args, f"{name}-blocks", options, settings)
            rows.setdefault(web.name, []).append((without, with_blocks))
    print_table(args.algos.split(","), rows)


if __name__ == "__main__":
    main()
