"""The graphs of :mod:`mmcrawl.rank.graph` as DataFrames: edges (source, target, weight) of pages.

Parameters are those of the functions of :mod:`mmcrawl.rank.ranks` by default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from mmcrawl.rank.content import TopicContent
from mmcrawl.rank.graph import KIND_WEIGHTS, LEAST_CHARS, LEAST_DISTANCE, REST_WEIGHT
from mmcrawl.rank.records import BlockRecord, PageRecord, ReadPage
from mmcrawl.topic.topic import Topic


def page_edges(links: DataFrame) -> DataFrame:
    """Return (source, target): a row for each page and each other page it links to."""
    return _to_others(links).select("source", "target").distinct()


def even_edges(edges: DataFrame) -> DataFrame:
    """Return edges of pages that share evenly among those they link to (PageRank)."""
    return _shared(edges.withColumn("weight", sf.lit(1.0)))


def topic_edges(
    edges: DataFrame, content: DataFrame, *, omega: float = 0.5, lambda_: float = 0.85
) -> DataFrame:
    """Return edges with P(T, p) of Topic-PageRank (Yang 2009, 3.7 and 3.11).

    Args:
        edges: (source, target).
        content: (id, content) of all pages.
        omega, lambda_: ω and λ, in [0, 1].
    """
    to_source = content.select(sf.col("id").alias("source"), sf.col("content").alias("of_source"))
    to_target = content.select(sf.col("id").alias("target"), sf.col("content").alias("of_target"))
    known = edges.join(to_source, "source").join(to_target, "target")
    linked_from = known.groupBy("target").agg(sf.avg("of_source").alias("from_mean"))
    links_to = known.groupBy("source").agg(sf.avg("of_target").alias("to_mean"))
    links_to = links_to.withColumnRenamed("source", "target")
    mean_from = sf.lit(1 - lambda_) * sf.coalesce("from_mean", sf.lit(0.0))
    mean_to = sf.lit(lambda_) * sf.coalesce("to_mean", sf.lit(0.0))
    known = (
        known.join(linked_from, "target", "left")
        .join(links_to, "target", "left")
        .withColumn("neighbours", mean_from + mean_to)
    )
    page = Window.partitionBy("source")
    weight = omega * _share("of_target", page) + (1 - omega) * _share("neighbours", page)
    return known.select("source", "target", weight.alias("weight"))


def page_content_values(pages: DataFrame, blocks: DataFrame, topic: Topic) -> DataFrame:
    """Return (id, content) of all pages, as :class:`mmcrawl.rank.content.TopicContent` tells it.

    Args:
        pages, blocks: Of an export with topics.
        topic: What is looked for.
    """
    own = blocks.where(sf.col("topic") != "").groupBy("page")
    topics = own.agg(sf.collect_list(sf.struct("kind", "topic")).alias("topics"))
    rows = pages.join(topics, sf.col("id") == sf.col("page"), "left")

    def content(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        told = TopicContent(topic)
        for batch in batches:
            values = [told.of(_read(**row)) for row in batch.to_pylist()]
            columns = [batch.column("id"), pyarrow.array(values, pyarrow.float64())]
            yield pyarrow.RecordBatch.from_arrays(columns, ["id", "content"])

    return rows.select("id", "url", "title", "topics").mapInArrow(
        content, "id long, content double"
    )


def block_edges(
    blocks: DataFrame,
    links: DataFrame,
    *,
    kind_weights: Mapping[str, float] | None = None,
) -> DataFrame:
    """Return W_P = X·Z, rows made to sum to 1 (Cai et al. 2004).

    Args:
        blocks, links: Of an export.
        kind_weights: As :func:`mmcrawl.rank.graph.block_importance` takes them. Its α is left out:
            it is the same for all blocks of a page, whose edges are made to sum to 1 at the end.
    """
    page = Window.partitionBy("page")
    to_here = page.orderBy("number").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    size = sf.greatest(sf.col("text_chars"), sf.lit(LEAST_CHARS)).cast("double")
    middle = (sf.sum("size").over(to_here) - sf.col("size") / 2) / sf.sum("size").over(page)
    value = sf.col("size") / sf.greatest(sf.abs(middle - 0.5), sf.lit(LEAST_DISTANCE))
    weighed = blocks.withColumn("size", size).withColumn("importance", value)
    if kind_weights is not None:
        by_kind = sf.col("importance") * _kind_weight(kind_weights)
        weighed = weighed.withColumn("importance", by_kind)
    pairs = _to_others(links).select("source", "block", "target").distinct()
    each = sf.count(sf.lit(1)).over(Window.partitionBy("source", "block"))
    pairs = pairs.withColumn("share", sf.lit(1.0) / each)
    same = (sf.col("page") == sf.col("source")) & (sf.col("number") == sf.col("block"))
    edges = (
        pairs.join(weighed.select("page", "number", "importance"), same)
        .groupBy("source", "target")
        .agg(sf.sum(sf.col("importance") * sf.col("share")).alias("weight"))
    )
    return _shared(edges)


def quark_edges(blocks: DataFrame, links: DataFrame) -> DataFrame:
    """Return W_P with kinds of blocks weighing in (QuarkRank)."""
    return block_edges(blocks, links, kind_weights=KIND_WEIGHTS)


def _to_others(links: DataFrame) -> DataFrame:
    return links.where((sf.col("target") >= 0) & (sf.col("target") != sf.col("source")))


def _shared(edges: DataFrame) -> DataFrame:
    """Return edges with weights divided by their sum over all of one source."""
    total = sf.sum("weight").over(Window.partitionBy("source"))
    return edges.withColumn("weight", sf.col("weight") / total)


def _share(name: str, page: WindowSpec) -> Column:
    total = sf.sum(name).over(page)
    even = sf.lit(1.0) / sf.count(sf.lit(1)).over(page)
    return sf.when(total > 0, sf.col(name) / total).otherwise(even)


def _kind_weight(weights: Mapping[str, float]) -> Column:
    found = sf.lit(REST_WEIGHT)
    for kind, weight in weights.items():
        found = sf.when(sf.col("kind") == kind, sf.lit(weight)).otherwise(found)
    return found


def _read(id: int, url: str, title: str, topics: list[dict[str, str]] | None) -> ReadPage:
    page = PageRecord(id, url, "", 1, 0.0, 200, "", title, 0)
    blocks = (
        BlockRecord(id, number, 1, told["kind"], 1.0, 0, 0, 0, told["topic"])
        for number, told in enumerate(topics or ())
    )
    return ReadPage(page, tuple(blocks), ())
