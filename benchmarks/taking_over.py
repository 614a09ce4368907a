"""What it takes to take over a large part of a shared crawl whose worker died.

    python benchmarks/taking_over.py --links 100000 --algo urlrule,learned,shark

A worker crawls one host of a made web until so many links are known, and dies. Another one takes
the part over from its snapshot and log, in RAM: seconds of CPU for reading and putting its rows,
then for telling its history to the algorithm, which is done step by step while other pages are
fetched; the longest step, in ms; bytes in the store.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from mmcrawl.sharing.log import PartLogs  # noqa: E402
from mmcrawl.sharing.messages import Taken  # noqa: E402
from mmcrawl.sharing.places import Rules  # noqa: E402
from tests.sharing.memory import Gang, MadeWeb, MemoryStore  # noqa: E402


def crawled(links: int, algo: str) -> Gang:
    """Return the crawl of one host of which so many links are known; its worker is dead."""
    gang = Gang(MadeWeb(1, 4 * links), Rules(parts=1, rest=0.0), algo=algo)
    gang.pages_a_step = 200
    worker = gang.join()
    while not worker.job.parts.jobs or len(worker.job.parts.jobs[0].frontier) < links:
        gang.pass_time(1.0)
    while not worker.job.parts.is_reported:
        gang.pages_a_step = 0
        gang.pass_time(1.0)
    worker.die()
    return gang


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--links", type=int, default=100_000)
    parser.add_argument("--algo", default="urlrule,learned,shark")
    arguments = parser.parse_args()
    columns = ("links", "pages", "MB", "rows, s", "history, s", "step, ms")
    print(f"{'':<16}" + "".join(f"{column:>12}" for column in columns))
    for algo in arguments.algo.split(","):
        gang = crawled(arguments.links, algo)
        job = gang._made("heir").job
        told = job.exchange._learnt.hear({})
        job._mixture.hear(told, as_own=False)
        began = time.process_time()
        stored = PartLogs(MemoryStore(gang.tables), "heir").read([0])[0]
        taken = Taken(0, stored, job.exchange._learnt.taught.get(0, 0))
        steps = job._hearing._take(taken)
        next(steps)
        rows = time.process_time() - began
        longest, began = 0.0, time.process_time()
        last = began
        for _ in steps:
            now = time.process_time()
            longest, last = max(longest, now - last), now
        now = time.process_time()
        heir = job.parts.jobs[0]
        values = (
            f"{len(heir.frontier):,}",
            f"{heir.pages:,}",
            f"{(stored.size + stored.log) / 1e6:.1f}",
            f"{rows:.2f}",
            f"{now - began:.2f}",
            f"{1000 * max(longest, now - last):.0f}",
        )
        print(f"{algo:<16}" + "".join(f"{value:>12}" for value in values), flush=True)
        job.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
