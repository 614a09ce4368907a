"""Ranks on a Spark cluster, for archives that do not fit one machine.

::

    python -m mmcrawl.rank.spark_job EXPORT RESULT --method quarkrank

`spark-submit` takes this file as well. EXPORT (`scrapy archive export-parquet`) and RESULT are
paths or URIs that Hadoop knows on every machine of the cluster (``hdfs://…``, ``s3a://…``,
``file://…``). RESULT becomes a folder of Parquet files: (id, url, score) of all pages.

Graphs and steps are those of :mod:`mmcrawl.rank.graph` and :mod:`mmcrawl.rank.ranks`, in SQL: edges
are rows (source, target, weight), ranks agree with the local ones within 1e-9, and only counts,
sums and changes reach the driver.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from mmcrawl.errors import MmcrawlError, RankError
from mmcrawl.rank.graph import KIND_WEIGHTS, LEAST_CHARS, LEAST_DISTANCE, REST_WEIGHT
from mmcrawl.rank.parquet import COLUMNS
from mmcrawl.rank.ranks import MOST_STEPS, TOLERANCE
from mmcrawl.rank.records import OWN_KINDS, TopicContent
from mmcrawl.topic.loading import topic_of
from mmcrawl.topic.topic import Topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SETTINGS = {
    # Ranks are hundreds of small, equal steps: edges are not partitioned again, and never so few
    # that they are sent to all machines.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_LOCAL = {
    "spark.master": "local[*]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.ui.enabled": "false",
}
_ROWS_A_PARTITION = 500_000
_LOOK_EVERY = 5  # steps: measuring the change takes one more pass over the ranks


@contextmanager
def spark_session(name: str) -> Iterator[SparkSession]:
    """Open a session: on the cluster that `spark-submit`, ``SPARK_MASTER`` or
    ``spark-defaults.conf`` names, else on all cores of this machine, with 4 GB."""
    if missing := [one for one in ("pyspark", "pyarrow", "pandas") if find_spec(one) is None]:
        raise RankError(f"Spark needs {missing[0]}: pip install 'mmcrawl[spark]'")
    from py4j.protocol import Py4JError
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given, settings = SparkConf(), dict(_SETTINGS)
    if master := os.environ.get("SPARK_MASTER"):
        settings["spark.master"] = master
    elif not given.contains("spark.master"):
        settings |= _LOCAL
    builder = SparkSession.builder.appName(name)
    for key, value in settings.items():
        if key == "spark.master" or not given.contains(key):
            builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:  # whatever Java says
        raise RankError(
            f"Spark does not start ({_first_line(error)}); it needs Java 17 or newer, on the PATH"
            " or where JAVA_HOME says"
        ) from error
    try:
        yield spark
    except (Py4JError, PySparkException, ConnectionError) as error:
        raise RankError(f"Spark failed: {_first_line(error)}") from error
    finally:
        with suppress(Py4JError, ConnectionError):  # Java may have died
            spark.stop()


def _first_line(error: Exception) -> str:
    # What Java throws is in the second line; the first one says who called it.
    text = str(error).removeprefix("An error occurred while calling ").strip()
    return re.sub(r"^o\d+\.\w+\.\s*:?\s*", "", text).partition("\n")[0][:300]


def _topic_edges(
    spark: SparkSession, topic: Topic | None, *, omega: float = 0.5, lambda_: float = 0.85
) -> DataFrame:
    """Return edges with P(T, p) of Topic-PageRank (Yang 2009, 3.7 and 3.11)."""
    if topic is None:
        raise RankError("topic-pagerank needs a topic: name one with --topic")
    _page_content(spark, topic).persist().createOrReplaceTempView("content")
    share = "if(sum({0}) OVER page > 0, {0} / sum({0}) OVER page, 1D / count(1) OVER page)"
    return spark.sql(
        f"""
        WITH known AS (
            SELECT e.source, e.target, b.content AS own,
                avg(a.content) OVER (PARTITION BY e.target) AS linking
            FROM (SELECT DISTINCT source, target FROM links) e
            JOIN content a ON a.id = e.source JOIN content b ON b.id = e.target
        ), linked AS (SELECT source AS id, avg(own) AS linked FROM known GROUP BY source),
        around AS (
            SELECT source, target, own,
                {1 - lambda_}D * linking + {lambda_}D * coalesce(linked, 0D) AS near
            FROM known LEFT JOIN linked ON id = target
        )
        SELECT source, target,
            {omega}D * {share.format("own")} + {1 - omega}D * {share.format("near")} AS weight
        FROM around WINDOW page AS (PARTITION BY source)
        """
    )


def _page_content(spark: SparkSession, topic: Topic) -> DataFrame:
    """Return (id, content) of all pages, as :class:`mmcrawl.rank.records.TopicContent` says."""
    kinds = ", ".join(f"'{kind}'" for kind in OWN_KINDS)
    rows = spark.sql(
        f"""
        SELECT id, url, title, coalesce(topics, array()) AS topics FROM pages LEFT JOIN (
            SELECT page, collect_list(topic) AS topics FROM blocks
            WHERE topic != '' AND kind IN ({kinds}) GROUP BY page
        ) ON id = page
        """
    )

    def content(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        told = TopicContent(topic)
        for batch in batches:
            columns = (batch.column(name).to_pylist() for name in ("title", "url", "topics"))
            values = pyarrow.array(map(told.score, *columns), pyarrow.float64())
            yield pyarrow.RecordBatch.from_arrays([batch.column("id"), values], ["id", "content"])

    return rows.mapInArrow(content, "id long, content double")


def _block_edges(
    spark: SparkSession, topic: Topic | None, kinds: Mapping[str, float] | None = None
) -> DataFrame:
    """Return W_P = X·Z, rows made to sum to 1 (Cai et al. 2004).

    α of :func:`mmcrawl.rank.graph.block_importance` is left out: it is the same for all blocks of
    a page, whose edges are made to sum to 1 at the end.
    """
    cases = " ".join(f"WHEN '{kind}' THEN {weight}D" for kind, weight in (kinds or {}).items())
    by_kind = f"CASE kind {cases} ELSE {REST_WEIGHT}D END" if kinds else "1D"
    return spark.sql(
        f"""
        WITH sized AS (
            SELECT *, double(greatest(text_chars, {LEAST_CHARS})) AS size FROM blocks
        ), placed AS (
            SELECT *, (-size / 2 + sum(size) OVER before) / sum(size) OVER all AS middle
            FROM sized WINDOW all AS (PARTITION BY page),
                before AS (PARTITION BY page ORDER BY number ROWS UNBOUNDED PRECEDING)
        ), pairs AS (
            SELECT *, 1D / count(1) OVER (PARTITION BY source, block) AS share
            FROM (SELECT DISTINCT source, block, target FROM links)
        )
        SELECT source, target, sum(
            share * size / greatest(abs(middle - 0.5D), {LEAST_DISTANCE}D) * {by_kind}
        ) AS weight
        FROM pairs JOIN placed ON source = page AND block = number GROUP BY source, target
        """
    )


class RankedFrame(NamedTuple):
    """Ranks as rows (id, url, score) on the cluster, steps taken, and the change of the last."""

    frame: DataFrame
    steps: int
    change: float


def _surfer(spark: SparkSession, edges: DataFrame, epsilon: float, partitions: int) -> RankedFrame:
    """Solve what :func:`mmcrawl.rank.ranks.random_surfer` solves, by the same steps.

    Besides those of the graph, each node has an edge to itself of weight 0 that is marked `own`:
    so each is in every result, and its rank before the step comes along in the same pass. A step
    is one join and one sum; edges stay where they are, separated by source.
    """
    share = "weight / sum(weight) OVER (PARTITION BY source) AS weight"
    own = spark.sql("SELECT id, id, 0D, 1D FROM pages")
    rows = edges.selectExpr("source", "target", share, "0D AS own").unionAll(own)
    rows = rows.repartition(partitions, "source").sortWithinPartitions("source").persist()
    rows.createOrReplaceTempView("edges")
    size = spark.table("pages").count()
    ranks = spark.sql(f"SELECT id AS source, 1D / {size} AS rank FROM pages")
    durable = spark.conf.get("spark.checkpoint.dir", None)
    change, taken = 1.0, 0
    while change > TOLERANCE and taken < MOST_STEPS:
        taken += 1
        step = """
            SELECT target AS source, sum(rank * weight) AS value, sum(rank * own) AS before
            FROM {ranks} JOIN edges USING (source) GROUP BY target
            """
        sums = spark.sql(step, ranks=ranks)
        sums = sums.checkpoint() if durable else sums.localCheckpoint()  # else the plan grows
        jumps = (1 - (1 - epsilon) * _total(sums, "value")) / size
        ranks = sums.selectExpr("source", "before", f"value * {1 - epsilon}D + {jumps}D AS rank")
        if taken % _LOOK_EVERY == 0 or taken == MOST_STEPS:
            change = _total(ranks, "abs(rank - before)")
    scores = f"SELECT id, url, rank / {_total(ranks, 'rank')}D AS score FROM pages JOIN {{ranks}}"
    return RankedFrame(spark.sql(f"{scores} ON id = source", ranks=ranks), taken, change)


def _total(frame: DataFrame, what: str) -> float:
    row = frame.selectExpr(f"sum({what})").first()
    return float(row[0]) if row is not None else 0.0


_EDGES: Mapping[str, tuple[Callable[[SparkSession, Topic | None], DataFrame], float]] = {
    "quarkrank": (lambda spark, topic: _block_edges(spark, topic, KIND_WEIGHTS), 0.15),
    "block-pagerank": (_block_edges, 0.15),
    "pagerank": (
        lambda spark, _: spark.sql("SELECT DISTINCT source, target, 1D AS weight FROM links"),
        0.15,
    ),
    "topic-pagerank": (_topic_edges, 0.2),
}
"""By method of :mod:`mmcrawl.rank.ranks` its edges and ε; hits and hubs are for one machine."""


def rank_export(
    spark: SparkSession, export: str, method: str, *, topic: Topic | None = None
) -> RankedFrame:
    """Rank the pages of an export by one of `_EDGES`; topic-pagerank needs one with topics."""
    from pyspark.errors import PySparkException

    if method not in _EDGES:
        raise RankError(f"Spark ranks by {', '.join(_EDGES)}, not by {method}")
    for name in ("pages", "blocks", "links"):
        path = f"{export.rstrip('/')}/{name}.parquet"
        try:
            rows = spark.read.parquet(path).select(*COLUMNS[name])
        except PySparkException as error:
            raise RankError(
                f"{path} is no file of an export ({_first_line(error)}); `scrapy archive"
                " export-parquet FOLDER` writes one"
            ) from error
        if name == "links":
            rows = rows.where("target >= 0 AND target != source")
        rows.createOrReplaceTempView(name)
    if spark.table("pages").isEmpty():
        raise RankError(f"{export} holds no page to rank")
    count = spark.table("pages").count() + spark.table("links").count()
    partitions = 1 + count // _ROWS_A_PARTITION
    # As many for sums by target as there are for edges by source: then edges stay where they are.
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    edges, epsilon = _EDGES[method]
    return _surfer(spark, edges(spark, topic), epsilon, partitions)


def main(words: list[str] | None = None) -> int:
    """Run the job that the command line describes; return the exit code."""
    parser = argparse.ArgumentParser(prog="spark_job", description="Ranks of an export on Spark.")
    parser.add_argument("--method", choices=list(_EDGES), default="quarkrank")
    parser.add_argument("--topic", default="", help="topic-pagerank: topics by name or file")
    parser.add_argument("--keywords", default="", help="topic-pagerank: words instead of a topic")
    parser.add_argument("export", help="folder of the export, as Hadoop names it")
    parser.add_argument("result", help="new folder for the result, the same way")
    options = parser.parse_args(words)
    try:
        topic = topic_of(options.topic, options.keywords)
        if (options.method == "topic-pagerank") != (topic is not None):
            raise RankError("--topic or --keywords goes with topic-pagerank, and only with it")
        with spark_session("mmcrawl rank") as spark:
            place = spark._jvm.org.apache.hadoop.fs.Path(options.result)  # type: ignore[union-attr, unused-ignore]
            if place.getFileSystem(spark._jsc.hadoopConfiguration()).exists(place):
                raise RankError(f"{options.result} exists; name a new folder")
            ranked = rank_export(spark, options.export, options.method, topic=topic)
            ranked.frame.write.parquet(options.result, compression="zstd")
    except MmcrawlError as error:
        print(f"spark_job: {error}", file=sys.stderr)
        return 1
    if ranked.change > TOLERANCE:
        change = f"after {ranked.steps} steps ranks still change by {ranked.change:g} a step"
        print(f"spark_job: {change}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
