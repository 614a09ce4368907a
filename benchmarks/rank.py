"""What ranking costs, and whether blocks help.

    python benchmarks/rank.py speed [--peers PYTHON]
    python benchmarks/rank.py help FOLDER [--most 1500] [--pages 600] [--seeds 2026,2027]

`speed`: a made-up graph of 100,000 pages, 1,000,000 blocks and 5,000,000 links is ranked; each
figure is of a process of its own: CPU seconds and peak memory, the making of the graph left out of
the former, not of the latter. Beside it PageRank of the same pages by igraph and scikit-network,
those that PYTHON has installed, to the same tolerance where they take one. The exit code is 1 if
QuarkRank takes more than 10 s of CPU or 2 GB.

`help`: stored sites (FOLDER holds a folder a host, `manifest.json`, and `media/<host>.jsonl` with
the pages that hold media), the demo web and simulated webs, which know their relevant pages, are
crawled by breadth, as far as `--most` pages, each into an archive of its own, and ranked. Of the
first 10 % of pages by each rank: the share that are media pages, and that are media pages or *topic
pages* (a text of their own, as `page_content` tells; not an independent judge). And how far down,
in % of all pages, the median is of *navigation targets* (pages that more than half of the site's
pages link to: of this no kind of block is asked) and of *advertisement targets* (pages that blocks
of the kind advertisement link to, as the ranked blocks have it). Ties go by URL.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from urllib.parse import unquote, urljoin, urlsplit

import numpy as np

PAGES, BLOCKS, LINKS = 100_000, 1_000_000, 5_000_000
SITE = 1_000  # pages
MOST_SECONDS, MOST_BYTES = 10.0, 2 << 30
METHODS = ("pagerank", "block-pagerank", "quarkrank")
TOP = 0.1


# -- speed --------------------------------------------------------------------------------------


def made_up_columns() -> dict[str, np.ndarray]:
    """Return pages and sizes of blocks, and links of which few pages have most.

    Sites have 1,000 pages; four links in five stay within the site.
    """
    dice = np.random.default_rng(2026)
    block_page = np.sort(dice.integers(0, PAGES, BLOCKS, dtype=np.int32))
    starts = np.searchsorted(block_page, np.arange(PAGES))
    link_block = dice.integers(0, BLOCKS, LINKS, dtype=np.int32)
    site = block_page[link_block] // SITE * SITE
    inside, skewed = dice.random(LINKS) < 0.8, dice.random(LINKS) ** 3
    return {
        "block_page": block_page,
        "block_number": (np.arange(BLOCKS) - starts[block_page]).astype(np.int32),
        "block_chars": dice.geometric(1 / 300, BLOCKS).astype(np.int32),
        "block_kind": dice.integers(1, 10, BLOCKS, dtype=np.int8),
        "link_block": link_block,
        "link_target": np.where(inside, site + SITE * skewed, PAGES * skewed).astype(np.int32),
    }


def run_ours(name: str) -> None:
    """Rank by one of our methods."""
    from mmcrawl.rank import METHODS as KNOWN
    from mmcrawl.rank import ArchiveGraph, block_ranks

    graph = ArchiveGraph(PAGES, **made_up_columns())
    begun = time.process_time()
    rank = KNOWN[name].rank if name in KNOWN else lambda graph, *_: block_ranks(graph)
    ranking = rank(graph, None, None)
    report(begun, float(ranking.scores.sum()), ranking.steps)


def run_peer(name: str) -> None:
    """Compute PageRank by another library, building its graph included."""
    columns = made_up_columns()
    source, target = columns["block_page"][columns["link_block"]], columns["link_target"]
    if name == "igraph":
        import igraph

        begun = time.process_time()
        graph = igraph.Graph(n=PAGES, edges=np.column_stack((source, target)), directed=True)
        graph.simplify()
        total = sum(graph.pagerank(damping=0.85))
    else:
        from scipy import sparse
        from sknetwork.ranking import PageRank

        begun = time.process_time()
        ones = np.ones(LINKS, dtype=bool)
        matrix = sparse.csr_matrix((ones, (source, target)), shape=(PAGES, PAGES))
        total = float(PageRank(0.85, n_iter=1_000, tol=1e-12).fit_predict(matrix).sum())
    report(begun, total)


def report(begun: float, total: float, steps: int = 0) -> None:
    """Print what the process took."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    used = time.process_time() - begun
    print(json.dumps({"seconds": used, "bytes": memory, "total": total, "steps": steps}))


def speed(peers: str | None, rounds: int) -> int:
    """Print the table of speed; return the exit code."""
    jobs = [(sys.executable, name) for name in (*METHODS, "hits", "block ranks", "graph alone")]
    jobs += [(peers, name) for name in ("igraph", "scikit-network") if peers]
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(rounds):  # alternating, so that other work on the machine hits all alike
        for python, name in jobs:
            words = [str(python), __file__, "one", name]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            else:
                found.setdefault(name, []).append(json.loads(done.stdout))
    print("| | CPU s | peak MB | steps | sum of ranks |\n|---|---|---|---|---|")
    for name, runs in found.items():
        seconds = median(run["seconds"] for run in runs)
        memory = median(run["bytes"] for run in runs)
        steps, total = runs[0]["steps"] or "", runs[0]["total"]
        print(f"| {name} | {seconds:.2f} | {memory / 1e6:.0f} | {steps} | {total:.12f} |")
    ours = found["quarkrank"]
    slow = median(run["seconds"] for run in ours) > MOST_SECONDS
    return int(slow or median(run["bytes"] for run in ours) > MOST_BYTES)


# -- does it help -------------------------------------------------------------------------------


@dataclass
class Web:
    """A web to crawl: its name, where to begin, its hosts, and which pages are media pages."""

    name: str
    web: object
    starts: tuple[str, ...]
    hosts: set[str]
    is_media: Callable[[str], bool]


def normal(url: str) -> str:
    """Return what the spellings of one file have in common."""
    parts = urlsplit(url)
    path = unquote(parts.path).lower()
    for ending in ("index.html", "index.htm", ".html", ".htm"):
        path = path.removesuffix(ending)
    return f"{parts.hostname}{path.rstrip('/')}?{parts.query}"


def stored_webs(folder: Path) -> list[Web]:
    """Return the stored sites."""
    from mmcrawl.replay import open_web

    web = open_web(str(folder))
    found = []
    for host, facts in json.loads((folder / "manifest.json").read_text("utf-8")).items():
        truth = folder / "media" / f"{host}.jsonl"
        lines = truth.read_text("utf-8").splitlines() if truth.exists() else []
        pages = [page for page in map(json.loads, lines) if page["content"]]
        media = {normal(f"http://{host}/{page['page']}") for page in pages}
        found.append(Web(host, web, (facts["start"],), {host}, lambda u, m=media: normal(u) in m))
    return found


def generated_webs(pages: int, seeds: list[str]) -> list[Web]:
    """Return the demo web and simulated webs."""
    from mmcrawl.replay import open_web

    changes = ("", "noise=0.8")
    sims = [f"sim:pages={pages},seed={seed},{change}" for change in changes for seed in seeds]
    found = []
    for spec in ("demo", *(sim.rstrip(",") for sim in sims)):
        web = open_web(spec)
        hosts = {str(urlsplit(url).hostname) for url in web.page_urls()}
        found.append(Web(spec, web, web.start_urls(), hosts, web.relevant_urls().__contains__))
    return found


def crawled(web: Web, uri: str, most: int) -> set[str]:
    """Crawl a web by breadth into an archive; return the URLs of its topic pages."""
    from mmcrawl.archive import Capture, open_archive
    from mmcrawl.blocks import page_content
    from mmcrawl.page import parse_page

    hosts = web.hosts | {o for o, host in web.web.aliases().items() if host in web.hosts}
    waiting, known, topical = deque(web.starts), set(web.starts), set()
    captures, found = [], 0
    while waiting and found < most:
        url = waiting.popleft()
        answer = web.web.get(url)
        if answer is None:
            continue
        captures.append(Capture(url, answer.body, 1.0, answer.status, answer.headers))
        kind = answer.header("content-type") or ""
        links = [urljoin(url, answer.header("location") or "")]
        found += answer.status == 200
        if answer.status == 200 and "html" in kind:
            links = [link.url for link in parse_page(answer.body, url, kind).links]
            if page_content(answer.body, url=url).page_type == "topic":
                topical.add(url)
        for link in links:
            if link not in known and urlsplit(link).hostname in hosts:
                known.add(link)
                waiting.append(link)
    with open_archive(uri) as archive:
        archive.store_many(captures)
    return topical


def measured(web: Web, uri: str, topical: set[str]) -> dict[str, dict[str, float]]:
    """Return the measures of each method on a crawled web, and of all its pages."""
    from mmcrawl.archive import open_archive
    from mmcrawl.rank import METHODS as KNOWN
    from mmcrawl.rank import GraphBuilder, Reading
    from mmcrawl.rank.graph import KIND_NAMES, page_links

    builder, urls = GraphBuilder(), []
    with open_archive(uri, read_only=True) as archive:
        for read in Reading(archive, topics=False):
            builder.add(read)
            urls.append(read.page.url)
    graph = builder.graph()
    media = np.array([web.is_media(url) for url in urls])
    wanted = media | np.array([url in topical for url in urls])
    in_links = np.bincount(page_links(graph).indices, minlength=graph.pages)
    hosts = [urlsplit(url).hostname for url in urls]
    of_host = np.array([hosts.count(host) for host in hosts])
    navigation = in_links > of_host / 2
    advert = graph.block_kind[graph.link_block] == KIND_NAMES.index("advertisement")
    advertised = np.zeros(graph.pages, dtype=bool)
    advertised[graph.link_target[advert]] = True
    rows = {"all pages": {"pages": graph.pages, "media": media.mean(), "wanted": wanted.mean()}}
    rows["all pages"] |= {"nav": navigation.sum(), "ad": advertised.sum()}
    first = max(1, round(TOP * graph.pages))
    for name in METHODS:
        order = np.argsort(-KNOWN[name].rank(graph, None, None).scores, kind="stable")
        place = np.empty(graph.pages)
        place[order] = 100 * np.arange(graph.pages) / graph.pages
        rows[name] = {
            "media": media[order[:first]].mean(),
            "wanted": wanted[order[:first]].mean(),
            "nav": np.median(place[navigation]) if navigation.any() else np.nan,
            "ad": np.median(place[advertised]) if advertised.any() else np.nan,
        }
    return rows


def print_help(found: dict[str, dict[str, dict[str, float]]]) -> None:
    """Print a table for each measure, and in how many webs blocks made it better."""
    titles = {
        "media": "media pages among the first 10 %, in %",
        "wanted": "media and topic pages among the first 10 %, in %",
        "nav": "median place of navigation targets, in % of the pages (more is further down)",
        "ad": "median place of advertisement targets, in % of the pages",
    }
    for measure, title in titles.items():
        scale = 100 if measure in ("media", "wanted") else 1
        base = "all pages" if scale == 100 else "how many"
        print(f"\n{title}\n\n| web | pages | {base} |", " | ".join(METHODS), "|")
        print("|---" * (3 + len(METHODS)) + "|")
        shown = {w: rows for w, rows in found.items() if rows["all pages"][measure] > 0}
        for web, rows in shown.items():
            everyone = rows["all pages"]
            cells = [f"{scale * rows[name][measure]:.1f}" for name in METHODS]
            start = f"{scale * everyone[measure]:.1f}" if scale == 100 else int(everyone[measure])
            print(f"| {web} | {everyone['pages']} | {start} |", " | ".join(cells), "|")
        cells = []
        for name in METHODS:
            gains = [scale * (r[name][measure] - r["pagerank"][measure]) for r in shown.values()]
            better, worse = sum(g > 0.05 for g in gains), sum(g < -0.05 for g in gains)
            cells.append(f"{mean(gains):+.1f}; {better} more, {worse} less" if gains else "–")
        print("| against pagerank, mean | | |", " | ".join(cells), "|")


def webs_of(args: argparse.Namespace) -> list[Web]:
    """Return all webs that are asked for."""
    return stored_webs(args.folder) + generated_webs(args.pages, args.seeds.split(","))


def examined(args: argparse.Namespace, number: int) -> dict[str, dict[str, float]]:
    """Crawl and rank one web."""
    web = webs_of(args)[number]
    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{folder}/pages.db"
        topical = crawled(web, uri, args.most)
        found = measured(web, uri, topical)
    print(f"{web.name} is done", file=sys.stderr, flush=True)
    return found


def help_table(args: argparse.Namespace) -> int:
    """Crawl, rank and print."""
    names = [web.name for web in webs_of(args)]
    with ProcessPoolExecutor(args.parallel) as pool:
        found = pool.map(examined, [args] * len(names), range(len(names)))
        print_help(dict(zip(names, found, strict=True)))
    return 0


def main() -> int:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    kinds = parser.add_subparsers(required=True, dest="what")
    fast = kinds.add_parser("speed")
    fast.add_argument("--peers", metavar="PYTHON", help="with igraph or scikit-network")
    fast.add_argument("--rounds", type=int, default=3)
    one = kinds.add_parser("one")
    one.add_argument("name")
    helps = kinds.add_parser("help")
    helps.add_argument("folder", type=Path)
    helps.add_argument("--pages", type=int, default=600, help="of each simulated web")
    helps.add_argument("--seeds", default="2026,2027")
    helps.add_argument("--most", type=int, default=1500, help="pages of a web that are crawled")
    helps.add_argument("--parallel", type=int, default=3)
    args = parser.parse_args()
    if args.what == "speed":
        return speed(args.peers, args.rounds)
    if args.what == "help":
        return help_table(args)
    if args.name in ("igraph", "scikit-network"):
        run_peer(args.name)
    elif args.name == "graph alone":
        made_up_columns()
        report(time.process_time(), 0.0)
    else:
        run_ours(args.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
