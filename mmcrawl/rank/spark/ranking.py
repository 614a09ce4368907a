"""The ranks of :mod:`mmcrawl.rank.ranks` as DataFrames; they agree with those within 1e-9."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from mmcrawl.errors import RankError
from mmcrawl.rank.ranks import method_named
from mmcrawl.rank.spark.edges import (
    block_edges,
    even_edges,
    page_content_values,
    page_edges,
    quark_edges,
    topic_edges,
)
from mmcrawl.rank.spark.power import (
    RankedFrame,
    alike,
    authorities,
    edges_of,
    random_surfer,
    ranked,
)
from mmcrawl.rank.spark.session import export_table
from mmcrawl.topic.topic import Topic

_ROWS_A_PARTITION = 500_000


def rank_export(
    spark: SparkSession,
    export: str,
    method: str,
    *,
    topic: Topic | None = None,
) -> RankedFrame:
    """Rank the pages of an export: (id, url, score) of each, with scores that sum to 1.

    Args:
        spark: The session; its number of shuffle partitions is set to suit the export.
        export: Path or URI that Hadoop can read from every machine of the cluster.
        method: One of :data:`mmcrawl.rank.METHODS`.
        topic: For methods that need one; the export must have been written with topics.

    Raises:
        RankError: there is no such export or method, it needs a topic, or there is no page.
    """
    if method_named(method).needs_topic and topic is None:
        raise RankError(f"{method} needs a topic: name one with --topic")
    tables = [export_table(spark, export, name) for name in ("pages", "blocks", "links")]
    pages, blocks, links = tables
    count = pages.count()
    if not count:
        raise RankError(f"{export} holds no page to rank")
    stored = links.where("target >= 0").count()
    partitions = 1 + (stored + count) // _ROWS_A_PARTITION
    # As many for sums by target as there are for edges by source: then edges stay where they are.
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    task = _Task(pages, blocks, links, count, partitions, topic)
    found = _METHODS[method](task)
    rows = pages.select("id", "url").join(found.frame, "id")
    return RankedFrame(rows, found.steps, found.change, found.settled)


@dataclass(frozen=True, slots=True)
class _Task:
    pages: DataFrame
    blocks: DataFrame
    links: DataFrame
    count: int  # of pages
    partitions: int
    topic: Topic | None

    def edges(self, edges: DataFrame) -> DataFrame:
        return edges_of(self.pages.select("id"), edges, self.partitions)


def _surfer(task: _Task, edges: DataFrame, epsilon: float) -> RankedFrame:
    kept = task.edges(edges)
    try:
        return random_surfer(kept, task.count, epsilon=epsilon)
    finally:
        kept.unpersist()


def _topic_pagerank(task: _Task) -> RankedFrame:
    assert task.topic is not None  # noqa: S101 - rank_export asked for it
    content = page_content_values(task.pages, task.blocks, task.topic).persist()
    try:
        return _surfer(task, topic_edges(page_edges(task.links), content), 0.2)
    finally:
        content.unpersist()


def _hits(task: _Task, *, hubs: bool) -> RankedFrame:
    links = page_edges(task.links).withColumn("weight", sf.lit(1.0)).persist()
    if links.isEmpty():
        return ranked(alike(links, task.count), 1, 0.0)
    source, target = sf.col("source"), sf.col("target")
    back = links.select(target.alias("source"), source.alias("target"), "weight")
    there, reverse = task.edges(links), task.edges(back)
    try:
        return authorities(there, reverse, task.count, hubs=hubs)
    finally:
        for frame in (there, reverse, links):
            frame.unpersist()


_METHODS: Mapping[str, Callable[[_Task], RankedFrame]] = {
    "quarkrank": lambda task: _surfer(task, quark_edges(task.blocks, task.links), 0.15),
    "block-pagerank": lambda task: _surfer(task, block_edges(task.blocks, task.links), 0.15),
    "pagerank": lambda task: _surfer(task, even_edges(page_edges(task.links)), 0.15),
    "topic-pagerank": _topic_pagerank,
    "hits": lambda task: _hits(task, hubs=False),
    "hubs": lambda task: _hits(task, hubs=True),
}
