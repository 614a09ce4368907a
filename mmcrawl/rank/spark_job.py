"""What runs on a cluster: ranks of an export, or its pages cut anew, written as Parquet.

::

    python -m mmcrawl.rank.spark_job rank EXPORT RESULT --method quarkrank
    python -m mmcrawl.rank.spark_job partition EXPORT RESULT --method quark --level 2

`spark-submit` takes this file as well. RESULT becomes a folder of Parquet files: (id, url, score)
of all pages, or the columns of ``blocks.parquet``; docs/parquet.md describes them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mmcrawl.blocks import partitioner_names
from mmcrawl.errors import MmcrawlError, RankError
from mmcrawl.rank.methods import METHODS, method_named
from mmcrawl.rank.spark import rank_export
from mmcrawl.rank.spark_blocks import partition_export
from mmcrawl.rank.spark_session import spark_session
from mmcrawl.topic import Topic, load_topics, topic_from_keywords

__all__ = ["main"]


def main(words: list[str] | None = None) -> int:
    """Do what the words of the command line say; return the exit code."""
    asked = _parser().parse_args(words)
    result = Path(asked.result).absolute()
    try:
        if result.exists():
            raise RankError(f"{result} exists; name a new folder")
        if asked.what == "rank":
            _rank(asked, result)
        else:
            with spark_session("mmcrawl partition") as spark:
                blocks = partition_export(
                    spark, asked.export, method=asked.method, level=asked.level
                )
                blocks.write.parquet(f"file://{result}", compression="zstd")
    except MmcrawlError as error:
        print(f"spark_job: {error}", file=sys.stderr)
        return 1
    return 0


def _rank(asked: argparse.Namespace, result: Path) -> None:
    topic = _topic(asked.topic, asked.keywords)
    if method_named(asked.method).needs_topic != (topic is not None):
        raise RankError("--topic or --keywords goes with topic-pagerank, and only with it")
    with spark_session("mmcrawl rank") as spark:
        ranks = rank_export(spark, asked.export, asked.method, topic=topic)
        import pyarrow

        scores = pyarrow.array(ranks.ranking.scores)
        ids = pyarrow.array(range(len(scores)), pyarrow.int64())
        table = spark.createDataFrame(pyarrow.table({"id": ids, "score": scores}))
        pages = spark.read.parquet(f"file://{Path(asked.export).absolute()}/pages.parquet")
        rows = pages.select("id", "url").join(table, "id")
        rows.write.parquet(f"file://{result}", compression="zstd")


def _topic(names: str, keywords: str) -> Topic | None:
    if names and keywords:
        raise RankError("give either --topic or --keywords, not both")
    if keywords:
        return topic_from_keywords(keywords)
    return load_topics(names) if names else None


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
        kind.add_argument("export", help="folder of the export")
        kind.add_argument("result", help="folder for the result; it must not exist")
    return parser


if __name__ == "__main__":
    sys.exit(main())
