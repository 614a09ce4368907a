"""Archived pages cut anew, with another method or level, many at once.

An export with bodies (`scrapy archive export-parquet FOLDER --bodies`) is all that is needed; the
archive stays as it is, and each machine needs mmcrawl, not the archive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from mmcrawl.blocks.partition import partition
from mmcrawl.blocks.partitioners.registry import make_partitioner
from mmcrawl.rank.parquet import COLUMNS, record_batches
from mmcrawl.rank.reading import block_record
from mmcrawl.rank.records import BlockRecord
from mmcrawl.rank.spark.session import export_table

_SPARK_TYPES = {"int64": "long", "int32": "int", "double": "double", "string": "string"}


def block_rows(
    page: int, url: str, body: bytes, *, method: str, level: int, encoding: str = ""
) -> Iterator[BlockRecord]:
    """Yield all blocks of a page, each before those inside of it.

    Args:
        page: Its id.
        url: Of the page.
        body: As received.
        method, level: As :func:`mmcrawl.blocks.partition` takes them.
        encoding: Python codec name of the body, "" to find it out.
    """
    cut = partition(body, method=method, level=level, encoding=encoding or None, url=url)
    blocks = list(cut)
    chars = cut.measures.chars
    for number, block in enumerate(blocks):
        inner = sum(
            int(chars[child.nodes.stop] - chars[child.nodes.start]) for child in block.children
        )
        size = int(chars[block.nodes.stop] - chars[block.nodes.start])
        yield block_record(cut, block, page, number, size - inner, topics=True)


def partition_export(
    spark: SparkSession, export: str, *, method: str = "bwap", level: int = 1
) -> DataFrame:
    """Return the blocks of all pages of HTML of an export, cut anew: the columns of its blocks.

    Args:
        spark: The session.
        export: Path or URI of an export with bodies, which Hadoop can read from every machine.
        method, level: As :func:`mmcrawl.blocks.partition` takes them.

    Raises:
        RankError: there is no such export, or it has no bodies.
        BlockError: there is no such method.
    """
    bodies = export_table(spark, export, "bodies").where("method != ''")
    make_partitioner(method)

    def cut(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for row in batch.to_pylist():
                found = block_rows(
                    row["page"],
                    row["url"],
                    row["body"],
                    method=method,
                    level=level,
                    encoding=row["encoding"],
                )
                yield from record_batches("blocks", found)

    schema = ", ".join(f"{name} {_SPARK_TYPES[kind]}" for name, kind in COLUMNS["blocks"].items())
    parts = max(bodies.rdd.getNumPartitions(), spark.sparkContext.defaultParallelism)
    return bodies.repartition(parts, "page").mapInArrow(cut, schema)
