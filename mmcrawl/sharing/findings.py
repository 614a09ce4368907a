"""What the crawl found and learnt, published for whoever reads the database.

* ``media``: ``JOB/HASH`` of the URL; ``job``, ``number`` (of the log's entry it was published
  after), ``url``, ``title``, ``score``, ``words``, ``status``, ``visited_at`` (Unix time),
  ``extra`` (JSON text), ``resources`` (``url``, ``kind``, ``tag``, ``text``). A page that was
  dropped keeps ``number`` alone, so that it is not published again by somebody who did not hear of
  it.
* ``note``: ``JOB/patterns``; ``bytes``, compressed JSON.

A page that is published for the first time is inserted; others replace what is older. FerretDB does
not compare and replace in one step: there a coordinator that has been replaced without knowing may,
in the same millisecond, undo what its successor writes of a page.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple
from hashlib import blake2b

import zstandard
from pymongo import ASCENDING, DESCENDING, ReplaceOne

from mmcrawl.frontier.findings import MediaPageRecord, PatternRecord
from mmcrawl.page.model import MediaResource
from mmcrawl.sharing.server import Row, StoreServer

logger = logging.getLogger(__name__)

_MOST_TEXT = 3 << 20  # characters; a document may have 16 MB, a character 4 bytes
_AROUND = 64  # what field names and lengths add to a resource
_PATTERNS = "patterns"
_BEST_FIRST = {"score": DESCENDING, "url": ASCENDING}


class PublishedFindings(StoreServer):
    """A shared store's media pages and patterns."""

    def publish(
        self, changed: Sequence[MediaPageRecord], dropped: Sequence[str], number: int
    ) -> None:
        """Publish media pages, and drop some by their URLs.

        What was published at a later number stays. One round trip for pages that are new, one more
        where some are not.

        Args:
            changed: pages, new ones or changed ones.
            dropped: URLs of pages that turned out to be no media pages.
            number: of the last entry of the log that was taken into account.
        """
        rows = {page.url: self._media_row(page, number) for page in changed}
        rows |= {url: {"_id": self._media_key(url), "number": number} for url in dropped}
        known = self._insert_new("media", list(rows.values()))
        if known:
            changes = [
                ReplaceOne({"_id": row["_id"], "number": {"$lte": number}}, row) for row in known
            ]
            self._change_all("media", changes)

    def _media_key(self, url: str) -> str:
        return self._key(blake2b(url.encode(), digest_size=16).hexdigest())

    def _media_row(self, page: MediaPageRecord, number: int) -> Row:
        resources = page.resources
        lengths = [sum(map(len, astuple(one))) + _AROUND for one in resources]
        while sum(lengths) > _MOST_TEXT:
            half = len(lengths) // 2
            resources, lengths = resources[:half], lengths[:half]
        if len(resources) < len(page.resources):
            logger.warning(
                "Of the %d media of %s, %d are published: more than one document may have",
                len(page.resources),
                page.url,
                len(resources),
            )
        return {
            "_id": self._media_key(page.url),
            "job": self._prefix,
            "number": number,
            "url": page.url,
            "title": page.title,
            "score": float(page.topic_score),
            "words": list(page.words),
            "status": page.status,
            "visited_at": float(page.visited_at),
            "extra": page.extra,
            "resources": [asdict(resource) for resource in resources],
        }

    def media_pages(self) -> Iterator[MediaPageRecord]:
        """Yield the media pages, best topic score first."""
        for row in self._rows("media", self._below, _BEST_FIRST):
            yield _page(row)

    def _below(self, last: Row | None) -> Row:
        """Return the condition for the pages that come after one."""
        if last is None:
            return {"job": self._prefix}
        lower = {"score": {"$lt": last["score"]}}
        equal = {"score": last["score"], "url": {"$gt": last["url"]}}
        return {"job": self._prefix, "$or": [lower, equal]}

    def publish_patterns(self, patterns: Sequence[PatternRecord]) -> None:
        """Keep the learnt patterns in place of the former ones."""
        text = json.dumps([astuple(pattern) for pattern in patterns], ensure_ascii=False)
        content = zstandard.ZstdCompressor().compress(text.encode())
        self._refuse_long(len(content), "the list of patterns")
        self._put("note", self._key(_PATTERNS), {"bytes": content})

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns, the most general first."""
        row = self._one("note", self._key(_PATTERNS))
        if row is None:
            return []
        found = json.loads(zstandard.ZstdDecompressor().decompress(row["bytes"]))
        patterns = [PatternRecord(*fields) for fields in found]
        return sorted(patterns, key=lambda pattern: (-pattern.urls, pattern.pattern))


def _page(row: Row) -> MediaPageRecord:
    return MediaPageRecord(
        row["url"],
        row["title"],
        row["score"],
        tuple(row["words"]),
        row["status"],
        row["visited_at"],
        tuple(MediaResource(**resource) for resource in row["resources"]),
        row["extra"],
    )
