"""What ranking costs on Spark, beside the same ranks computed in this process.

    python benchmarks/rank_spark.py [--methods pagerank,quarkrank] [--rounds 1]

The graph is that of benchmarks/rank.py (100,000 pages, 1,000,000 blocks, 5,000,000 links), written
as an export first. Seconds are by the clock: Spark works in processes of its own. `start` is the
start of the session, `rank` what follows: reading the export, making edges, all steps, writing
the ranks. `here` is scipy on one core, its graph made already. `difference` is the greatest between
two ranks of one page. Another number of steps is due to Spark looking every fifth step only.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow
import pyarrow.parquet
from rank import BLOCKS, LINKS, PAGES, made_up_columns

from mmcrawl.rank import METHODS, ArchiveGraph
from mmcrawl.rank.graph import KIND_NAMES
from mmcrawl.rank.parquet import COLUMNS
from mmcrawl.rank.spark_job import rank_export, spark_session

MOST_DIFFERENT = 1e-9


def write(folder: Path, name: str, rows: int, **columns: np.ndarray) -> None:
    """Write a file of the export; columns that are not given hold zeros or nothing."""
    fields, arrays = [], []
    for column, kind in COLUMNS[name].items():
        values = columns.get(column, [""] * rows if kind == "string" else np.zeros(rows))
        fields.append(pyarrow.field(column, pyarrow.type_for_alias(kind), nullable=False))
        arrays.append(pyarrow.array(values).cast(fields[-1].type))
    facts = {"mmcrawl": json.dumps({"format": 1})}
    table = pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields, metadata=facts))
    path = folder / f"{name}.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=100_000, compression="zstd")


def export(folder: Path) -> None:
    """Write the made-up graph."""
    columns = made_up_columns()
    page, number = columns["block_page"], columns["block_number"]
    kinds = np.array(KIND_NAMES)[columns["block_kind"]]
    write(folder, "pages", PAGES, id=np.arange(PAGES))
    chars = columns["block_chars"]
    write(folder, "blocks", BLOCKS, page=page, number=number, kind=kinds, text_chars=chars)
    order = np.argsort(columns["link_block"], kind="stable")
    block, target = columns["link_block"][order], columns["link_target"][order]
    write(folder, "links", LINKS, source=page[block], block=number[block], target=target)


def main() -> int:
    """Print the table; return 1 if ranks differ."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--methods", default="pagerank,quarkrank")
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    graph = ArchiveGraph(PAGES, **made_up_columns())
    starts: list[float] = []
    found: dict[str, list[tuple[float, ...]]] = {}
    with tempfile.TemporaryDirectory() as name:
        export(Path(name))
        for _ in range(args.rounds):
            begun = time.perf_counter()
            with spark_session("benchmark") as spark:
                starts.append(time.perf_counter() - begun)
                for method in args.methods.split(","):
                    begun = time.perf_counter()
                    ranked = rank_export(spark, name, method)
                    ranked.frame.write.parquet(f"{name}/{method}-{len(starts)}")
                    middle = time.perf_counter()
                    here = METHODS[method].rank(graph, None, None)
                    ended = time.perf_counter()
                    table = pyarrow.parquet.read_table(f"{name}/{method}-{len(starts)}")
                    there = np.zeros(PAGES)
                    there[table["id"].to_numpy()] = table["score"].to_numpy()
                    off = float(np.abs(there - here.scores).max())
                    row = (ended - middle, here.steps, middle - begun, ranked.steps, off)
                    found.setdefault(method, []).append(row)
                    print(f"{method}: {middle - begun:.0f} s", file=sys.stderr, flush=True)
    print(f"Spark starts in {median(starts):.1f} s, on {os.cpu_count()} cores\n")
    print("| | here, s | steps | Spark: rank, s | steps | difference |\n|---|---|---|---|---|---|")
    for method, rows in found.items():
        here, steps, there, spark_steps, off = (
            median(column) for column in zip(*rows, strict=True)
        )
        print(
            f"| {method} | {here:.2f} | {steps:.0f} | {there:.1f} | {spark_steps:.0f} | {off:.1g} |"
        )
    return int(any(row[-1] > MOST_DIFFERENT for rows in found.values() for row in rows))


if __name__ == "__main__":
    sys.exit(main())
