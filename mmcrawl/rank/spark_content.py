"""How near pages are to a topic, computed where the pages lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from mmcrawl.rank.content import TopicContent
from mmcrawl.rank.records import BlockRecord, PageRecord, ReadPage
from mmcrawl.topic import Topic

__all__ = ["page_content_values"]


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


def _read(id: int, url: str, title: str, topics: list[dict[str, str]] | None) -> ReadPage:
    page = PageRecord(id, url, "", 1, 0.0, 200, "", title, 0)
    blocks = (
        BlockRecord(id, number, 1, told["kind"], 1.0, 0, 0, 0, told["topic"])
        for number, told in enumerate(topics or ())
    )
    return ReadPage(page, tuple(blocks), ())
