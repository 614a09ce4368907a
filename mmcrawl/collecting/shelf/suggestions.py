"""Words for topics that people hand in, until somebody takes them into the topic or declines them.

The page of words and the table of who handed them in of Yang 2009 (5.1.1, 5.2.2).
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

from mmcrawl.collecting.shelf.records import SUGGESTIONS, Record
from mmcrawl.collecting.shelf.shelf import Shelf
from mmcrawl.errors import MissingRecordError, TopicError
from mmcrawl.topic.topic import Concept

MOST_WAITING = 1_000
"""Suggestions that may wait to be decided: nobody can fill the store."""

MOST_DECIDED = 1_000
"""Decided suggestions that are remembered, so as not to be asked again: the last handed in."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A concept that somebody wants to have in a topic.

    Attributes:
        topic: Name of the topic.
        words: Words that mean the same.
        by: Who handed it in, as they called themselves.
        at: Unix time.
        accepted: What was decided; None if nothing is.
    """

    topic: str
    words: Concept
    by: str
    at: float
    accepted: bool | None = None

    @property
    def id(self) -> str:
        """The same for the same words for a topic, however they are written."""
        said = "\0".join((self.topic, *sorted(word.casefold() for word in self.words)))
        return hashlib.blake2b(said.encode(errors="surrogatepass"), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The suggestions of a shelf."""

    shelf: Shelf
    _now: Callable[[], float] = field(default=time.time)

    def waiting(self) -> list[Suggestion]:
        """Return those that nothing is decided of, the oldest first."""
        found = map(_from_record, self.shelf.records(SUGGESTIONS).values())
        return sorted((one for one in found if one.accepted is None), key=lambda one: one.at)

    def put(self, topic: str, concepts: Iterable[Concept], by: str = "") -> int:
        """Keep what is handed in; return how much of it is new.

        What waits already, or was decided before, is left as it is.

        Raises:
            TopicError: too many suggestions wait.
        """
        made = [Suggestion(topic, words, by, self._now()) for words in concepts]
        handed = {one.id: one for one in made}
        new: dict[str, Record] = {}

        def change(before: Mapping[str, Record]) -> dict[str, Record]:
            new.clear()
            new.update({i: asdict(one) for i, one in handed.items() if i not in before})
            wait = sum(record["accepted"] is None for record in before.values())
            if new and wait + len(new) > MOST_WAITING:
                raise TopicError(f"{wait} suggestions wait to be decided; come back later")
            return new

        self.shelf.change(SUGGESTIONS, change)
        return len(new)

    def decide(self, id_: str, *, accepted: bool) -> Suggestion:
        """Note what was decided; return what it is about. The oldest above the most are forgotten.

        Raises:
            MissingRecordError: there is none of that id that waits.
        """
        decided: list[Suggestion] = []

        def change(before: Mapping[str, Record]) -> dict[str, Record]:
            if id_ not in before or before[id_]["accepted"] is not None:
                raise MissingRecordError("this suggestion does not wait any more")
            decided[:] = [replace(_from_record(before[id_]), accepted=accepted)]
            old = [(one["at"], i) for i, one in before.items() if one["accepted"] is not None]
            gone = sorted(old, reverse=True)[MOST_DECIDED - 1 :]
            return {i: {} for _, i in gone} | {id_: asdict(decided[0])}

        self.shelf.change(SUGGESTIONS, change)
        return decided[0]


def _from_record(record: Record) -> Suggestion:
    return Suggestion(**{**record, "words": tuple(record["words"])})
