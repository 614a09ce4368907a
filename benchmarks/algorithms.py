"""All algorithms on many webs: the tables of docs/algorithms.md.

Runs `scrapy experiment` on the demo web, on a grid of simulated webs, and on stored sites if a file
names them, one after another; an experiment that was finished is not run again. Prints two tables
in Markdown: the area under recall as a share of the oracle's, and the recall at 21 % of the pages.

A file of stored sites is TOML: `[NAME]`, then `web`, `seeds`, `topic` or `keywords`, `sites`, each
as the option of that name of `scrapy experiment`.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from statistics import mean

GRID = (
    "",
    "adjacency=0",
    "adjacency=0.5",
    "adjacency=1",
    "tunnel=0",
    "tunnel=6",
    "media=0.03",
    "noise=0.8",
    "dynamic=1,banner=1",
    "sites=12",
    "media=0.01",
    "flat=1,media=0.01",
    "flat=1,media=0.03,menu=300",
)
MEASURES = {
    "area_share": "Area, as a share of the oracle's",
    "recall_at_share": "Recall when 21 % of the pages were fetched",
}


def main() -> None:
    """Run the experiments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder for the experiments, one folder each")
    parser.add_argument("--sites", type=Path, help="TOML file of stored sites")
    parser.add_argument("--algos", default="all")
    parser.add_argument("--pages", type=int, default=3000, help="pages of each simulated web")
    parser.add_argument("--seed", type=int, default=2026, help="of the simulated webs")
    parser.add_argument("--grid", default=";".join(GRID), help="simulated webs, parted by ;")
    parser.add_argument("--parallel", type=int, default=3)
    args = parser.parse_args()
    webs: dict[str, dict[str, str]] = {"demo": {"web": "demo"}}
    if args.sites:
        webs |= tomllib.loads(args.sites.read_text(encoding="utf-8"))
    for change in args.grid.split(";"):
        spec = ",".join(filter(None, (f"sim:pages={args.pages},seed={args.seed}", change)))
        webs[f"sim {change}".strip()] = {"web": spec, "topic": "physics-senior"}
    for name, options in webs.items():
        run(args, name, options)
    for measure, title in MEASURES.items():
        print(f"\n{title}\n")
        print_table([(name, results(args.out, name)) for name in webs], measure)


def run(args: argparse.Namespace, name: str, options: dict[str, str]) -> None:
    """Run one experiment, unless it was finished."""
    given = [word for option, value in options.items() for word in (f"--{option}", value)]
    folder, cache = args.out / name.replace(" ", "-"), args.out / "truth"
    words = ["--algos", args.algos, "--parallel", str(args.parallel), *given]
    places = ["--out", str(folder), "--cache", str(cache)]
    command = [sys.executable, "-m", "scrapy", "experiment", *words, *places]
    print(f"{name} …", file=sys.stderr, flush=True)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def results(out: Path, name: str) -> dict:
    """Return what an experiment measured."""
    return json.loads((out / name.replace(" ", "-") / "results.json").read_text(encoding="utf-8"))


def print_table(rows: list[tuple[str, dict]], measure: str) -> None:
    """Print one measure of all algorithms, the best of each web in bold."""
    names = sorted(algorithm["label"] for algorithm in rows[0][1]["algorithms"])
    columns: list[list[float]] = [[] for _ in names]
    print("| web | pages | relevant |", " | ".join(names), "|")
    print("|---" * (3 + len(names)) + "|")
    for name, result in rows:
        means = {row["label"]: row[measure]["mean"] for row in result["algorithms"]}
        values = [means[name] for name in names]
        best = round(max(values), 3)
        cells = [f"**{v:.2f}**" if round(v, 3) == best else f"{v:.2f}" for v in values]
        truth = result["truth"]
        print(f"| {name} | {truth['pages']} | {truth['relevant']} |", " | ".join(cells), "|")
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    print("| mean | | |", " | ".join(f"{mean(column):.2f}" for column in columns), "|")


if __name__ == "__main__":
    main()
