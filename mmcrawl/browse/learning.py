"""Topics that are learnt in the browser: marks, the pages to mark next, and learning from them."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from mmcrawl.archive.archive import Archive
from mmcrawl.browse.catalogue import WorksOfStore
from mmcrawl.browse.programs import Command, Programs
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
from mmcrawl.works.collections import Marks, Suggestions

_OFFERED = 10  # pages, to be marked
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
    """Topics that are learnt from marked pages. Any thread may ask it.

    Attributes:
        programs: That learn, by the name of the topic.
    """

    def __init__(self, catalogue: WorksOfStore, archive: Archive, uri: str) -> None:
        self._catalogue, self._archive, self._uri = catalogue, archive, uri
        self._lock = Lock()
        self.programs = Programs()
        self._candidates = lru_cache(_MOST_TOPICS)(self._look)

    def names(self) -> list[str]:
        """Return the names of what is learnt, or marked for, sorted."""
        learnt = {name for name in own_topic_names() if (OWN_TOPICS / f"{name}{LEARNT}").is_file()}
        return sorted(learnt.union(Marks(self._catalogue).topics()))

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

    def mark(self, name: str, url: str, *, is_good: bool | None) -> None:
        """Mark a page, or take its mark back with None."""
        learnt_file(name)  # which refuses a name that is none
        Marks(self._catalogue).put(name, url, is_good=is_good)

    def keep_words(self, name: str, text: str) -> None:
        """Write a topic of words, see :func:`mmcrawl.topic.loading.keep_words`."""
        with self._lock:  # no suggestion is taken into the same file meanwhile
            keep_words(name, text)

    def decide(self, id_: str, *, accepted: bool) -> None:
        """Take what was handed in into its topic, or decline it."""
        suggestions = Suggestions(self._catalogue)
        with self._lock:
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
        marked = {mark.url for mark in Marks(self._catalogue).of(name)}
        doublings = self._archive.counts()["versions"].bit_length()
        found = self._candidates(name, model.stamp if model else (0, 0), doublings)
        return _spread(one for one in found if one.url not in marked)

    def _look(self, name: str, stamp: tuple[int, int], _: int) -> list[Candidate]:
        model = self.model(name)
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
        marks = Marks(self._catalogue).of(name) if name else []
        right = [*(m.url for m in marks if m.is_good), *found]
        wrong = [m.url for m in marks if not m.is_good]
        return suggested_words(right, wrong, self._archive, pages=_READ, most=_SUGGESTED)

    # -- learning ---------------------------------------------------------------------------

    def learn(self, name: str) -> None:
        """Learn from the marks and what was learnt from before, in a process of its own."""
        learnt_file(name)
        with self._lock:
            if self._catalogue.can_keep and name not in self.programs.running():
                self.programs.require_room()
                command = ["topic", "learn", name, "--marks", *self._catalogue.arguments]
                command += ["-a", f"archive={self._uri}"]
                said = self._catalogue.folder / f"learning-{name}.log"
                self.programs[name] = Command().begin(command, said)


def _spread(candidates: Iterator[Candidate]) -> list[Candidate]:
    """Return the first ones, not too many of one site; more of it where there are no others."""
    found, of_site = [], Counter[str]()
    for one in candidates:
        of_site[one.site] += 1
        found.append((of_site[one.site] > _OF_A_SITE, one))
    return [one for _, one in sorted(found, key=lambda each: each[0])][:_OFFERED]
