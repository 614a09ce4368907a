"""What runs on a cluster: ranks of an export, or its pages cut anew, written as Parquet.

::

    python -m mmcrawl.rank.spark_job rank EXPORT RESULT --method quarkrank
    python -m mmcrawl.rank.spark_job partition EXPORT RESULT --method quark --level 2

`spark-submit` takes this file as well. EXPORT and RESULT are paths or URIs that Hadoop knows on
every machine of the cluster (``hdfs://…``, ``s3a://…``, ``file://…``). RESULT becomes a folder of
Parquet files: (id, url, score) of all pages, or the columns of ``blocks.parquet``; docs/parquet.md
describes them.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from mmcrawl.blocks.partitioners.registry import partitioner_names
from mmcrawl.errors import MmcrawlError, RankError
from mmcrawl.rank.ranks import METHODS, method_named
from mmcrawl.rank.spark.session import is_free, spark_session
from mmcrawl.topic.loading import topic_of
from mmcrawl.topic.topic import Topic

if TYPE_CHECKING:  # pyspark is asked for by the session, which says what is missing
    from pyspark.sql import DataFrame, SparkSession


def main(words: list[str] | None = None) -> int:
    """Do what the words of the command line say; return the exit code."""
    options = _parser().parse_args(words)
    try:
        topic = _topic(options) if options.what == "rank" else None
        with spark_session(f"mmcrawl {options.what}") as spark:
            if not is_free(spark, options.result):
                raise RankError(f"{options.result} exists; name a new folder")
            frame = (_ranks if options.what == "rank" else _blocks)(spark, options, topic)
            frame.write.parquet(options.result, compression="zstd")
    except MmcrawlError as error:
        print(f"spark_job: {error}", file=sys.stderr)
        return 1
    return 0


def _ranks(spark: SparkSession, options: argparse.Namespace, topic: Topic | None) -> DataFrame:
    from mmcrawl.rank.spark.ranking import rank_export

    ranked = rank_export(spark, options.export, options.method, topic=topic)
    if not ranked.settled:
        print(
            f"spark_job: after {ranked.steps} steps ranks still change by {ranked.change:g} a step",
            file=sys.stderr,
        )
    return ranked.frame


def _blocks(spark: SparkSession, options: argparse.Namespace, _: Topic | None) -> DataFrame:
    from mmcrawl.rank.spark.blocks import partition_export

    return partition_export(spark, options.export, method=options.method, level=options.level)


def _topic(options: argparse.Namespace) -> Topic | None:
    topic = topic_of(options.topic, options.keywords)
    if method_named(options.method).needs_topic != (topic is not None):
        raise RankError("--topic or --keywords goes with topic-pagerank, and only with it")
    return topic


def _level(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"give a whole number from 1, not {text}")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m mmcrawl.rank.spark_job", description="Ranks and blocks on Spark."
    )
    kinds = parser.add_subparsers(dest="what", required=True)
    rank = kinds.add_parser("rank", help="rank the pages of an export")
    rank.add_argument("--method", choices=list(METHODS), default=next(iter(METHODS)))
    rank.add_argument("--topic", default="", help="topic-pagerank: topics by name or file")
    rank.add_argument("--keywords", default="", help="topic-pagerank: words instead of a topic")
    cut = kinds.add_parser("partition", help="cut the pages of an export with bodies anew")
    cut.add_argument("--method", choices=partitioner_names(), default="bwap")
    cut.add_argument("--level", type=_level, default=1, help="greatest level of the blocks, from 1")
    for kind in (rank, cut):
        kind.add_argument("export", help="folder of the export, as Hadoop names it")
        kind.add_argument("result", help="new folder for the result, the same way")
    return parser


if __name__ == "__main__":
    sys.exit(main())
