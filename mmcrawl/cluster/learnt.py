"""What workers tell each other of what they learnt: how rare words are, and what links promise.

* ``learnt``: ``JOB/WORKER``; ``token``, a random one each time, and ``bytes``.

Each tells what it has learnt itself, all of it, in place of what it told before, when that has
grown by half. What a crawl knows is the sum of what its workers tell, those that are gone
included. So nothing is decided together: workers that have not heard of each other for a while
order their links a little otherwise, that is all.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field

import bson
from bson.errors import BSONError

from mmcrawl.cluster.packing import packed, unpacked
from mmcrawl.cluster.store import SharedStore
from mmcrawl.frontier.findings import PatternRecord
from mmcrawl.scoring.link_model import Contribution

logger = logging.getLogger(__name__)

_MOST_BYTES = 14 << 20  # a document may have 16 MB


@dataclass(frozen=True, slots=True)
class Learnt:
    """What a worker learnt.

    Attributes:
        pages: so many pages it was learnt from.
        words: how many of them hold each word.
        largest: the largest similarities, by which others are scaled.
        link_model: of links; None for algorithms that have none to share.
        learnt_links: so many links of each part had ended when it was learnt.
        merged: workers whose contribution this one holds as its own.
        patterns: of the sites of its parts.
    """

    pages: int = 0
    words: Mapping[str, int] = field(default_factory=dict)
    largest: tuple[float, ...] = ()
    link_model: Contribution | None = None
    learnt_links: Mapping[int, int] = field(default_factory=dict)
    merged: tuple[str, ...] = ()
    patterns: tuple[PatternRecord, ...] = ()

    def encode(self) -> bytes:
        """Return it as bytes."""
        plain = {
            "pages": self.pages,
            "words": list(self.words.items()),
            "largest": self.largest,
            "link_model": None if self.link_model is None else self.link_model.encode(),
            "learnt_links": list(self.learnt_links.items()),
            "merged": self.merged,
            "patterns": [astuple(pattern) for pattern in self.patterns],
        }
        return packed(bson.encode(plain))

    @classmethod
    def decode(cls, data: bytes) -> Learnt:
        """Return what `encode` wrote.

        Raises:
            ValueError: it did not write this.
        """
        try:
            plain = bson.decode(unpacked(data))
            link_model = plain["link_model"]
            return cls(
                int(plain["pages"]),
                {str(word): int(count) for word, count in plain["words"]},
                tuple(map(float, plain["largest"])),
                None if link_model is None else Contribution.decode(link_model),
                {int(part): int(settled) for part, settled in plain["learnt_links"]},
                tuple(map(str, plain["merged"])),
                tuple(PatternRecord(*values) for values in plain["patterns"]),
            )
        except (ValueError, BSONError, LookupError, TypeError) as error:
            raise ValueError(f"it is not what a worker learnt: {error}") from error


def learnt_patterns(documents: SharedStore) -> list[PatternRecord]:
    """Return the patterns that workers have told, the most general first."""
    best: dict[str, PatternRecord] = {}
    for name in documents.names("learnt"):
        for row in documents.some("learnt", [name]).values():
            with suppress(ValueError):  # the crawl goes on without it
                for pattern in Learnt.decode(row["bytes"]).patterns:
                    known = best.get(pattern.pattern)
                    if known is None or pattern.hits + pattern.misses > known.hits + known.misses:
                        best[pattern.pattern] = pattern
    return sorted(best.values(), key=lambda pattern: (-pattern.urls, pattern.pattern))


class LearntStore:
    """Where workers tell what they learnt.

    Args:
        documents: of the job.
        name: of this worker.

    Attributes:
        token: of what it told last, "" if that is nothing.
        learnt_links: so many links of each part had ended when somebody learnt from it last.
        has_begun: what was told before this worker came is known.
    """

    def __init__(self, documents: SharedStore, name: str) -> None:
        self._documents = documents
        self._name = name
        self._tokens: dict[str, str] = {}
        self._merged: set[str] = set()
        self.token = ""
        self.learnt_links: dict[int, int] = {}
        self.has_begun = False

    def publish(self, learnt: Learnt) -> None:
        """Tell what this worker learnt; what it has merged need not be told any more."""
        token = secrets.token_hex(4)
        row = {"token": token, "bytes": learnt.encode()}
        if len(row["bytes"]) > _MOST_BYTES:
            logger.warning("What this worker learnt is too much to be told; others go on without")
            return
        self._documents.put("learnt", self._name, row)
        self.token = token
        self._documents.delete("learnt", learnt.merged)

    def hear(self, tokens: Mapping[str, str]) -> dict[str, Learnt]:
        """Return what others learnt that was not heard yet, by their names.

        Args:
            tokens: of others, as their signs tell.
        """
        if self.has_begun:
            new = [name for name, token in tokens.items() if token != self._tokens.get(name, "")]
        else:
            new = self._documents.names("learnt")
        self.has_begun = True
        heard = {}
        for name in new:
            row = self._documents.one("learnt", name)  # one by one: they may be large
            if row is None:
                continue
            token = str(row.get("token", ""))
            if token == self._tokens.get(name):  # of who was killed before its sign told of it
                continue
            self._tokens[name] = token
            try:
                learnt = Learnt.decode(row["bytes"])
            except ValueError:  # the crawl goes on without it
                continue
            self._merged.update(learnt.merged)
            heard[name] = learnt
            for part, settled in learnt.learnt_links.items():
                self.learnt_links[part] = max(settled, self.learnt_links.get(part, 0))
        for name in self._merged | {self._name}:
            heard.pop(name, None)
        return heard
