"""Ranks on Spark, from an export in Parquet: the path for archives that do not fit one machine.

:func:`rank_export` computes the ranks of :mod:`mmcrawl.rank.ranks` with DataFrames; they agree with
those within 1e-9. :func:`rank_on_spark` is the engine of `scrapy rank --engine spark`: it exports
the archive to a folder of its own first. :mod:`mmcrawl.rank.spark_job` is what `spark-submit` runs.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank.engines import Ranked, RankJob, nothing_to_rank
from mmcrawl.rank.methods import method_named
from mmcrawl.rank.parquet import export_facts, write_export
from mmcrawl.rank.ranks import Ranking
from mmcrawl.rank.reading import Progress, Reading
from mmcrawl.rank.results import RankedPages
from mmcrawl.rank.spark_session import missing, spark_session
from mmcrawl.topic import Topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkRanks", "rank_export", "rank_on_spark"]

_PARTITIONS = "spark.sql.shuffle.partitions"
_ROWS_A_PARTITION = 500_000


@dataclass(frozen=True, eq=False)
class SparkRanks:
    """What ranking an export came to.

    Attributes:
        ranking: The ranks of its pages, by id.
        in_links: How many other pages link to each page.
        blocks, links: How many there are, links to what is not stored left out.
    """

    ranking: Ranking
    in_links: NDArray[np.int64]
    blocks: int
    links: int


def rank_on_spark(job: RankJob, archive: Archive, progress: Progress | None = None) -> Ranked:
    """Rank an archive on Spark; an engine, as :func:`mmcrawl.rank.rank_locally` is.

    The export is written to the folder for temporary files (``TMPDIR``); of an archive that is
    exported already, `mmcrawl.rank.spark_job` computes ranks without.

    Raises:
        RankError: pyspark or Java is missing, or as `rank_locally` does.
        StoreError: the archive fails.
    """
    method = method_named(job.method)
    if problem := missing():
        raise RankError(problem)
    topic = job.topic if method.needs_topic else None
    if method.needs_topic and topic is None:
        raise RankError(f"{method.name} needs a topic: name one with --topic")
    counts = archive.counts()  # before reading: what comes meanwhile makes the ranks stale
    started = time.time()
    reading = Reading(archive, at=job.at, topics=method.needs_topic, progress=progress)
    urls: list[str] = []
    versions: list[int] = []

    def noted() -> Iterator[Any]:
        for read in reading:
            urls.append(read.page.url)
            versions.append(read.page.version)
            yield read

    with tempfile.TemporaryDirectory(prefix="mmcrawl-rank-") as folder:
        write_export(noted(), folder)
        if not urls:
            raise RankError(nothing_to_rank(reading))
        with spark_session("mmcrawl rank") as spark:
            ranks = rank_export(spark, folder, method.name, topic=topic, progress=progress)
    pages = RankedPages(
        method=method.name,
        computed=started,
        at=job.at,
        topic=topic.name if topic is not None else "",
        archive_urls=counts["urls"],
        archive_versions=counts["versions"],
        urls=urls,
        versions=np.array(versions, dtype=np.int64),
        scores=ranks.ranking.scores,
    )
    return Ranked(
        pages,
        ranks.ranking,
        ranks.in_links,
        ranks.blocks,
        ranks.links,
        dict(reading.skipped),
        tuple(reading.unreadable),
    )


def rank_export(
    spark: SparkSession,
    folder: str | Path,
    method: str,
    *,
    topic: Topic | None = None,
    progress: Progress | None = None,
) -> SparkRanks:
    """Rank the pages of an export.

    Args:
        spark: The session.
        folder: Of the export, which all machines of the cluster can read.
        method: One of :data:`mmcrawl.rank.METHODS`.
        topic: For methods that need one; the export must have been written with topics.
        progress: Told of ``ranking`` (steps).

    Raises:
        RankError: there is no such export or method, it needs a topic, or there is no page.
    """
    if method_named(method).needs_topic and topic is None:
        raise RankError(f"{method} needs a topic: name one with --topic")
    export_facts(folder)
    place = Path(folder).absolute()
    frames = _Frames(*(spark.read.parquet(f"file://{place}/{name}.parquet") for name in _FILES))
    pages = frames.pages.count()
    if not pages:
        raise RankError(f"{folder} holds no page to rank")
    blocks = frames.blocks.count()
    stored = frames.links.where("target >= 0").count()

    def tell(step: int, _: float) -> None:
        if progress is not None:
            progress("ranking", step, 0)

    task = _Task(frames, pages, 1 + (stored + pages) // _ROWS_A_PARTITION, topic, tell)
    parts = spark.conf.get(_PARTITIONS)
    spark.conf.set(_PARTITIONS, str(task.partitions))  # sums by target lie as edges by source do
    try:
        return SparkRanks(_METHODS[method](task), _in_links(frames, pages), blocks, stored)
    finally:
        spark.conf.set(_PARTITIONS, parts or "200")


_FILES = ("pages", "blocks", "links")


@dataclass(frozen=True, slots=True)
class _Frames:
    pages: DataFrame
    blocks: DataFrame
    links: DataFrame


@dataclass(frozen=True, slots=True)
class _Task:
    frames: _Frames
    pages: int
    partitions: int
    topic: Topic | None
    tell: Callable[[int, float], None]


def _edges(task: _Task, edges: DataFrame) -> DataFrame:
    from mmcrawl.rank.spark_power import edges_of

    return edges_of(task.frames.pages.select("id"), edges, task.partitions)


def _surfer(task: _Task, edges: DataFrame, epsilon: float) -> Ranking:
    from mmcrawl.rank.spark_power import random_surfer

    kept = _edges(task, edges)
    try:
        return random_surfer(kept, task.pages, epsilon=epsilon, progress=task.tell)
    finally:
        kept.unpersist()


def _pagerank(task: _Task) -> Ranking:
    from mmcrawl.rank.spark_edges import even_edges, page_edges

    return _surfer(task, even_edges(page_edges(task.frames.links)), 0.15)


def _block_pagerank(task: _Task) -> Ranking:
    from mmcrawl.rank.spark_edges import block_edges

    return _surfer(task, block_edges(task.frames.blocks, task.frames.links), 0.15)


def _quarkrank(task: _Task) -> Ranking:
    from mmcrawl.rank.spark_edges import quark_edges

    return _surfer(task, quark_edges(task.frames.blocks, task.frames.links), 0.15)


def _topic_pagerank(task: _Task) -> Ranking:
    from mmcrawl.rank.spark_content import page_content_values
    from mmcrawl.rank.spark_edges import page_edges, topic_edges

    assert task.topic is not None  # noqa: S101 - rank_export asked for it
    content = page_content_values(task.frames.pages, task.frames.blocks, task.topic).persist()
    try:
        return _surfer(task, topic_edges(page_edges(task.frames.links), content), 0.2)
    finally:
        content.unpersist()


def _hits(which: int) -> Callable[[_Task], Ranking]:
    def ranked(task: _Task) -> Ranking:
        from pyspark.sql import functions as sf

        from mmcrawl.rank.spark_edges import page_edges
        from mmcrawl.rank.spark_power import authorities

        links = page_edges(task.frames.links).withColumn("weight", sf.lit(1.0)).persist()
        if links.isEmpty():
            return Ranking(np.full(task.pages, 1 / task.pages), 1, 0.0, True)
        source, target = sf.col("source"), sf.col("target")
        back = links.select(target.alias("source"), source.alias("target"), "weight")
        there, reverse = _edges(task, links), _edges(task, back)
        try:
            return authorities(there, reverse, task.pages, task.tell)[which]
        finally:
            for frame in (links, there, reverse):
                frame.unpersist()

    return ranked


_METHODS: Mapping[str, Callable[[_Task], Ranking]] = {
    "quarkrank": _quarkrank,
    "block-pagerank": _block_pagerank,
    "pagerank": _pagerank,
    "topic-pagerank": _topic_pagerank,
    "hits": _hits(0),
    "hubs": _hits(1),
}


def _in_links(frames: _Frames, pages: int) -> NDArray[np.int64]:
    from mmcrawl.rank.spark_edges import page_edges

    table = page_edges(frames.links).groupBy("target").count().toArrow()
    found = np.zeros(pages, dtype=np.int64)
    found[table["target"].to_numpy()] = table["count"].to_numpy()
    return found
