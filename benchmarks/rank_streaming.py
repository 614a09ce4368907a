"""PageRank of edges that stay on disk, beside the same in memory: how large may a graph be?

    python benchmarks/rank_streaming.py [PAGES [LINKS]]

Streaming keeps two arrays of ranks, and reads the Parquet file of edges once a step. Both take the
same steps (`mmcrawl.rank.ranks.random_surfer`); what is printed is of processes of their own.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import csr_matrix

from mmcrawl.rank.ranks import random_surfer

STEPS = 10
BATCH = 1 << 20  # edges that are in memory at a time


def write(path: Path, pages: int, links: int) -> None:
    """Write edges by source, their weight 1/C(source); targets are popular as 1/√number is."""
    rng = np.random.default_rng(1)
    sources = np.sort(rng.integers(0, pages, links, dtype=np.int32))
    weights = (1 / np.bincount(sources, minlength=pages).clip(1)).astype(np.float32)
    columns = {"source": pa.int32(), "target": pa.int32(), "weight": pa.float32()}
    with pq.ParquetWriter(path, pa.schema(columns), compression="zstd") as file:
        for some in np.array_split(sources, max(1, links // BATCH)):
            targets = (rng.random(len(some)) ** 2 * pages).astype(np.int32)
            file.write_table(pa.table([some, targets, weights[some]], schema=file.schema))


def peak() -> int:
    """Return the most bytes of memory that this process has had."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def measure(how: str, path: Path, pages: int) -> None:
    """Print CPU seconds a step, peak memory above that of an empty run, and a checksum."""
    before = peak()
    file = pq.ParquetFile(path)

    def streamed(ranks: np.ndarray) -> np.ndarray:
        following = np.zeros(pages)
        for batch in file.iter_batches(BATCH, use_threads=False):
            source, target, weight = (column.to_numpy() for column in batch.columns)
            np.add.at(following, target, ranks[source] * weight)
        return following

    if how == "memory":
        edges = file.read(use_threads=False)
        source, target, weight = (edges[name].to_numpy() for name in edges.column_names)
        passed_on = csr_matrix((weight, (target, source)), shape=(pages, pages)).dot
        del edges, source, target, weight
    else:
        passed_on = streamed
    began, taken = time.process_time(), 0

    def progress(steps: int, change: float) -> None:
        nonlocal taken
        taken = steps
        if steps == STEPS:
            each = (time.process_time() - began) / steps
            held = (peak() - before) / 1e6
            print(f"{how}: {each:.2f} CPU s a step, {held:,.0f} MB, change {change:.6g}")
            raise SystemExit

    random_surfer(passed_on, pages, epsilon=0.15, progress=progress)


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        return measure(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    pages, links = (int(word) for word in (*sys.argv[1:], "2000000", "40000000")[:2])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges.parquet")
        write(path, pages, links)
        size = path.stat().st_size
        print(f"{pages:,} pages, {links:,} links, {size / 1e6:,.0f} MB of Parquet", flush=True)
        for how in ("memory", "streaming"):
            words = [sys.executable, __file__, "--measure", how, str(path), str(pages)]
            subprocess.run(words, check=True)
    return None


if __name__ == "__main__":
    main()
