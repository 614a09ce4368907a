"""When the order of the algorithms that Yang 2009 published appears, on simulated webs.

    python benchmarks/published_order.py [--pages 1000] [--seeds 10]

Table 5-6 has recall by URL rules > improved Shark-Search > Topic-PageRank, after 21, 29 and 36 % of
the breadth-first crawl's pages. Here each algorithm of `--preset yang2009` crawls simulated sites
up to these shares, `urlrule-2009` with several NUM(2); for each kind of web the mean recall, and on
how many of the webs that order appears. Nothing is fitted: the first kind of web is what the thesis
says of its sites, media on 4.1 % of the pages, in few directories, behind tunnels; the others are
unlike that in one thing each. One process, about 6 CPU seconds a web.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import mean

from search_lab import Web, crawl

from mmcrawl.experiment.measures import pages_at_share
from mmcrawl.experiment.presets.yang2009_published import FOCUSED, PUBLISHED
from mmcrawl.experiment.truth import truth_of

BASE = "sites=8,media=0.041,adjacency=1"
CHANGES = {
    "two": "tunnel=2",
    "one": "tunnel=1",
    "none": "tunnel=0",
    "none, media on 15 %": "tunnel=0,media=0.15",
    "none, media anywhere": "tunnel=0,adjacency=0",
    "none, one site": "tunnel=0,sites=1",
}
NUM2 = (5, 18, 60)


def spec(changes: str, pages: int, seed: int) -> str:
    """Return the web of some changes to `BASE`."""
    named = dict(pair.split("=") for pair in f"{BASE},{changes}".split(","))
    given = ",".join(f"{name}={value}" for name, value in named.items())
    return f"sim:pages={pages},seed={seed},{given}"


def recalls(name: str) -> dict[str, float]:
    """Return the recall of each algorithm on a web, at its share of the pages."""
    web, everything = Web("sim", name, "", ""), PUBLISHED["breadth"].pages
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "truth.db"
        whole = crawl(web, "breadth", "topic", Path(folder), store=f"sqlite:///{store}")
        truth = truth_of(store)
        verdicts = truth.judge(map(truth.kind, whole.pages))
        least = pages_at_share(len(truth), PUBLISHED["urlrule-2009"].pages / everything)
        found = {"breadth": sum(verdicts[:least])}
        for algorithm in FOCUSED:
            most = pages_at_share(len(truth), PUBLISHED[algorithm.label].pages / everything)
            for num2 in NUM2 if algorithm.name == "urlrule-2009" else (None,):
                given = dict(algorithm.parameters) | ({"num2": f"{num2}"} if num2 else {})
                named = f"{algorithm.name}:{';'.join(f'{k}={v}' for k, v in given.items())}"
                run = crawl(web, named, "topic", Path(folder), most=most)
                label = f"NUM(2) {num2}" if num2 else algorithm.label
                found[label] = sum(truth.judge(map(truth.kind, run.pages)))
    return {label: count / max(len(truth.relevant), 1) for label, count in found.items()}


def row(name: str, webs: list[dict[str, float]]) -> str:
    """Return a row of the table: mean recalls, and how often the order is the published one."""
    cells = [f"{mean(web[label] for web in webs):.2f}" for label in webs[0]]
    for wanted in ("order", "first"):
        counts = []
        for num2 in NUM2:
            rules = f"NUM(2) {num2}"
            counts.append(
                sum(
                    web[rules] > web["shark-improved"] > web["topicrank"]
                    if wanted == "order"
                    else web[rules] > max(v for k, v in web.items() if "NUM" not in k)
                    for web in webs
                )
            )
        cells.append(" / ".join(map(str, counts)))
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1000, help="of a web")
    parser.add_argument("--seeds", type=int, default=10, help="webs of each kind")
    args = parser.parse_args()
    labels = [
        "breadth",
        *(a.label for a in FOCUSED[:-1]),
        *(f"URL rules, NUM(2) {n}" for n in NUM2),
    ]
    counted = (f"{what}, NUM(2) {' / '.join(map(str, NUM2))}" for what in ("order", "rules first"))
    head = ["pages off topic before the media", *labels, *counted]
    print(f"| {' | '.join(head)} |", "|---" * len(head) + "|", sep="\n", flush=True)
    for name, changes in CHANGES.items():
        webs = [recalls(spec(changes, args.pages, seed)) for seed in range(1, args.seeds + 1)]
        print(row(name, webs), flush=True)


if __name__ == "__main__":
    main()
