"""Topics that are learnt in the browser: marks, the pages to mark next, and learning from them."""

import subprocess
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from mmcrawl.archive.archive import Archive
from mmcrawl.browse import programs
from mmcrawl.browse.arguments import Problem
from mmcrawl.browse.catalogue import WorksOfStore
from mmcrawl.errors import MissingStoreError
from mmcrawl.learning.examples import TellingWord, sampled, suggested_words
from mmcrawl.scoring.relevance import LearntTest
from mmcrawl.topic.loading import (
    LEARNT,
    OWN_TOPICS,
    add_words,
    keep_words,
    learnt_file,
    own_topic_names,
    topic_names,
)
from mmcrawl.topic.page_model import PageModel
from mmcrawl.topic.topic import Concept
from mmcrawl.works.catalogue import Catalogue, open_catalogue
from mmcrawl.works.collections import Mark, Marks, Suggestion, Suggestions

OFFERED = 10
"""Pages that are offered to be marked."""

_LOOKED_AT = 200  # pages of the archive, drawn by chance, of which the least sure are offered
_SECONDS = 5.0  # that looking at them may take
_OF_A_SITE = 3  # pages that are offered at most, where there are others
_READ = 100  # marked pages of a kind that words are suggested from
_SUGGESTED = 40
_MOST_TOPICS = 50  # whose pages are remembered


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may be marked.

    Attributes:
        probability: That it is right, None if nothing is learnt yet.
    """

    url: str
    title: str
    site: str
    probability: float | None


class TopicDesk:
    """Topics that are learnt from marked pages. Any thread may ask it."""

    def __init__(self, catalogue: WorksOfStore, archive: Archive, uri: str) -> None:
        self._catalogue, self._archive, self._uri = catalogue, archive, uri
        self._lock = Lock()
        self._learning: dict[str, subprocess.Popen[bytes]] = {}
        self._looked_at: dict[str, tuple[tuple[int, int], list[Candidate]]] = {}

    @property
    def can_mark(self) -> bool:
        """Whether there is a store that marks can be kept in."""
        return self._catalogue.can_describe

    def names(self) -> list[str]:
        """Return the names of what is learnt, or marked for, sorted."""
        learnt = {name for name in own_topic_names() if (OWN_TOPICS / f"{name}{LEARNT}").is_file()}
        with self._marks() as marks:
            return sorted(learnt.union(marks.topics() if marks else ()))

    def names_of_words(self) -> list[str]:
        """Return the names of the user's own topics of words that can be changed here, sorted.

        Those that only add words to a topic that ships are among them.
        """
        names = sorted((*own_topic_names(), *topic_names()))
        return [name for name in names if (OWN_TOPICS / f"{name}.txt").is_file()]

    def model(self, name: str) -> PageModel | None:
        """Return what is learnt, None if nothing is."""
        path = learnt_file(name)
        return PageModel.load(path) if path.is_file() else None

    def marks(self, name: str) -> list[Mark]:
        """Return the pages that are marked for a topic, the latest first."""
        with self._marks() as marks:
            return marks.of(name) if marks else []

    def marks_of_page(self, url: str) -> dict[str, bool]:
        """Return for which topics a page is marked, and whether as right."""
        with self._marks() as marks:
            return {} if marks is None else marks.of_page(url)

    def mark(self, name: str, url: str, *, is_good: bool | None) -> None:
        """Mark a page, or take its mark back with None."""
        with self._to_write() as records:
            learnt_file(name)
            Marks(records).put(name, url, is_good=is_good)

    def keep_words(self, name: str, text: str) -> None:
        """Write a topic of words, see :func:`mmcrawl.topic.page_model.keep_words`."""
        with self._lock:  # no suggestion is taken into the same file meanwhile
            keep_words(name, text)

    # -- words that people hand in -------------------------------------------------------------

    def suggestions(self) -> list[Suggestion]:
        """Return the words that were handed in and wait to be decided, the oldest first."""
        with self._to_read() as records:
            return Suggestions(records).waiting() if records else []

    def suggest(self, topic: str, concepts: Iterable[Concept], by: str) -> int:
        """Keep words that are handed in for a topic; return how many concepts of them are new."""
        with self._to_write() as records:
            return Suggestions(records).put(topic, concepts, by)

    def decide(self, id_: str, *, accepted: bool) -> None:
        """Take what was handed in into its topic, or decline it."""
        with self._to_write() as records, self._lock:
            suggestions = Suggestions(records)
            if accepted:
                wanted = next((one for one in suggestions.waiting() if one.id == id_), None)
                if wanted is not None:  # the words first: what is decided is not asked again
                    add_words(wanted.topic, wanted.words)
            suggestions.decide(id_, accepted=accepted)

    # -- what to mark next ------------------------------------------------------------------

    def least_sure(self, name: str) -> list[Candidate]:
        """Return pages of the archive about which the model is least sure, those first.

        Before anything is learnt they are drawn by chance. Pages that are marked are not among
        them, nor are those that were learnt from.
        """
        model = self.model(name)
        marked = {mark.url for mark in self.marks(name)}
        return _spread(one for one in self._candidates(name, model) if one.url not in marked)

    def _candidates(self, name: str, model: PageModel | None) -> Sequence[Candidate]:
        stamp = model.stamp if model else (0, 0)
        with self._lock:
            known = self._looked_at.get(name)
        if known is not None and known[0] == stamp and known[1]:
            return known[1]
        found = self._look(model, stamp)
        with self._lock:
            if len(self._looked_at) >= _MOST_TOPICS:
                self._looked_at.clear()
            self._looked_at[name] = stamp, found
        return found

    def _look(self, model: PageModel | None, stamp: tuple[int, int]) -> list[Candidate]:
        test = LearntTest(model) if model else None
        without: Collection[str] = {*model.good, *model.bad} if model else ()
        ends, found, seen = time.monotonic() + _SECONDS, [], set()
        for example in sampled(self._archive, _LOOKED_AT, stamp[0], without):
            if time.monotonic() > ends:
                break
            if example.likeness in seen:
                continue
            seen.add(example.likeness)
            probability = test.probability(example.page) if test else None
            found.append(Candidate(example.name, example.page.title, example.site, probability))
        return sorted(found, key=lambda one: abs((one.probability or 0.5) - 0.5))

    def suggested(self, name: str, found: Sequence[str] = ()) -> list[TellingWord]:
        """Return words that are more frequent on right pages than on others.

        Args:
            name: topic that pages are marked for, "" for none; if none is marked as wrong, the
                others are drawn by chance.
            found: addresses of more right pages.
        """
        marks = self.marks(name) if name else []
        right = [*(m.url for m in marks if m.is_good), *found]
        wrong = [m.url for m in marks if not m.is_good]
        return suggested_words(right, wrong, self._archive, pages=_READ, most=_SUGGESTED)

    # -- learning ---------------------------------------------------------------------------

    def learn(self, name: str) -> None:
        """Learn from the marks and what was learnt from before, in a process of its own."""
        learnt_file(name)
        with self._lock:
            if not self.can_mark or self.is_learning(name):
                return
            programs.require_room(self._learning.values())
            self._catalogue.folder.mkdir(parents=True, exist_ok=True)
            command = ["topic", "learn", name, "--marks", *self._catalogue.arguments]
            with self._log(name).open("wb") as said:
                command += ["-a", f"archive={self._uri}"]
                self._learning[name] = programs.begin(command, said)

    def is_learning(self, name: str) -> bool:
        return programs.runs(self._learning.get(name))

    def failure(self, name: str) -> str:
        process = self._learning.get(name)
        return programs.failure(process, self._log(name)) if process else ""

    def close(self) -> None:
        programs.end_all(self._learning.values())

    def _log(self, name: str) -> Path:
        return self._catalogue.folder / f"learning-{name}.log"

    @contextmanager
    def _marks(self) -> Iterator[Marks | None]:
        """Open the marks; None if there are none."""
        with self._to_read() as records:
            yield Marks(records) if records else None

    @contextmanager
    def _to_read(self) -> Iterator[Catalogue | None]:
        """Open what is kept beside the crawl, None if nothing is."""
        if not self.can_mark:
            yield None
            return
        try:
            records = open_catalogue(self._catalogue.store, self._catalogue.folder, create=False)
        except MissingStoreError:
            yield None
            return
        with records:
            yield records

    def _to_write(self) -> Catalogue:
        if not self.can_mark:
            raise Problem(400, "unmarked")
        return open_catalogue(self._catalogue.store, self._catalogue.folder)


def _spread(candidates: Iterator[Candidate]) -> list[Candidate]:
    """Return the first ones, not too many of one site; more of it where there are no others."""
    chosen: list[Candidate] = []
    rest: list[Candidate] = []
    of_site = Counter[str]()
    for one in candidates:
        of_site[one.site] += 1
        (chosen if of_site[one.site] <= _OF_A_SITE else rest).append(one)
        if len(chosen) == OFFERED:
            break
    return [*chosen, *rest][:OFFERED]
