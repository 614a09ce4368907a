"""A topic: the set T of subject words, and the similarity of texts to it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log10, sqrt
from typing import Any, NamedTuple

from mmcrawl.errors import TopicError
from mmcrawl.text.media_kinds import DEFAULT_KINDS
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.text.segmentation import Lexicon, segment
from mmcrawl.text.words import is_stop_word
from mmcrawl.topic.page_model import PageModel

Concept = tuple[str, ...]
"""Words that mean the same, in any language; the first is the concept's name."""


class Chapter(NamedTuple):
    """A chapter of the curriculum: its title in Chinese and English, and its concepts."""

    title: str
    title_en: str
    concepts: tuple[Concept, ...]


@dataclass(frozen=True)
class Topic:
    """A set of concepts, each a set of equivalent words: a page counts alike in either language.

    Raises :class:`~mmcrawl.errors.TopicError` if it holds no concept, or a word that is none.
    """

    name: str
    """As on the command line: ``physics-senior``."""

    title: str
    """For people: 高中物理."""

    concepts: tuple[Concept, ...]
    """Words that say the topic on their own."""

    subject_words: tuple[Concept, ...] = ()
    """Words that name the subject itself (物理, physics)."""

    media: Mapping[str, tuple[Concept, ...]] = field(default_factory=dict, hash=False)
    """By media kind, words that count only when this kind is wanted."""

    wanted: frozenset[str] = frozenset(DEFAULT_KINDS)
    """The media kinds looked for: any of `MEDIA_KINDS`."""

    title_en: str = ""
    stage: str = ""
    subject: str = ""
    source: str = ""
    """Where the words come from."""

    anything: bool = False
    """Whether every page is on topic: media are looked for, whatever they are about."""

    chapters: tuple[Chapter, ...] = field(default=(), compare=False)
    """The `concepts` that belong to chapters, in the order of the curriculum."""

    learnt: tuple[PageModel, ...] = field(default=(), hash=False)
    """What was learnt from pages: judges them beside the words; its own words are for links."""

    def __post_init__(self) -> None:
        unknown = sorted({*self.media, *self.wanted} - {*MEDIA_KINDS})
        if unknown:
            raise TopicError(
                f"topic {self.name!r}: no such media kind {unknown[0]!r}; "
                f"there are {', '.join(MEDIA_KINDS)}"
            )
        if not self.terms and not self.anything and not self.learnt:
            raise TopicError(f"topic {self.name!r} holds no words; add at least one concept")

    @cached_property
    def terms(self) -> tuple[Concept, ...]:
        """T of equation 4.1: the distinct concepts for the wanted media kinds; |T| is its length.

        Concepts that share their name are one; another word of two concepts is the first one's.
        """
        parts = [self.subject_words, self.concepts]
        parts += [self.media.get(kind, ()) for kind in MEDIA_KINDS if kind in self.wanted]
        parts += [model.guide for model in self.learnt]
        return distinct(concept for part in parts for concept in part)

    @cached_property
    def by_words(self) -> "Topic | None":
        """This topic without what was learnt; None if nothing is left, which no page has words of.

        The words of what was learnt order links; pages are judged by all that it knows instead.
        """
        if not self.learnt:
            return self
        if self.concepts or self.subject_words or any(self.media.values()) or self.anything:
            return replace(self, learnt=())
        return None

    @cached_property
    def lexicon(self) -> Lexicon:
        """All words of T."""
        return Lexicon(word for concept in self.terms for word in concept)

    @cached_property
    def concept_by_word(self) -> Mapping[str, str]:
        """Name of the concept of each word, as the topic spells them."""
        return {word: concept[0] for concept in self.terms for word in concept}

    def wanting(self, kinds: Iterable[str]) -> "Topic":
        """This topic for other media kinds; :class:`~mmcrawl.errors.TopicError` for an unknown."""
        return replace(self, wanted=frozenset(kinds))

    def find(self, text: str) -> dict[str, int]:
        """Each concept found in `text`, with the number of occurrences."""
        counts: dict[str, int] = {}
        concepts = self.concept_by_word
        for word, count in self.lexicon.find(text).items():
            concept = concepts[word]
            counts[concept] = counts.get(concept, 0) + count
        return counts

    def chapter_of(self, text: str) -> Chapter | None:
        """Return the chapter that the longest word of a text is of; None for none."""
        words = sorted(self.lexicon.find(text), key=len, reverse=True)
        return next(filter(None, map(self._chapter_by_word.get, words)), None)

    @cached_property
    def _chapter_by_word(self) -> Mapping[str, Chapter]:
        return {
            word: chapter
            for chapter in reversed(self.chapters)
            for concept in chapter.concepts
            for word in concept
        }

    def concepts_in(self, *fields: str) -> frozenset[str]:
        """D ∩ T of equation 4.1, D the texts of `fields` together: names of the concepts found."""
        concepts, find = self.concept_by_word, self.lexicon.find
        return frozenset([concepts[word] for text in fields for word in find(text)])


def distinct(concepts: Iterable[Concept]) -> tuple[Concept, ...]:
    """Concepts of which no two share a word.

    A concept whose name another one holds is joined to it; otherwise a word stays where it was
    first.
    """
    key = Lexicon(()).key
    merged: list[dict[str | tuple[str, ...], str]] = []
    place: dict[str | tuple[str, ...], int] = {}
    for concept in concepts:
        words = {key(word): word for word in reversed(concept)}
        if not words:
            continue
        at = place.get(key(concept[0]), len(merged))
        if at == len(merged):
            merged.append({})
        for word_key in map(key, concept):
            if word_key not in place:
                place[word_key] = at
                merged[at][word_key] = words[word_key]
    return tuple(tuple(words.values()) for words in merged)


_UNSEEN = 1  # documents a word is taken to stand in that none has held yet


class _Scaled:
    """Remembers the largest similarity, by which others are brought to a comparable size."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.largest = 0.0
        """The largest value that ``score`` has given, in [0, 1]."""

    def scaled(self, value: float) -> float:
        """`value`, one that ``score`` gave, divided by the largest so far: in [0, 1].

        With a large T every similarity is tiny; in a weighted sum it needs this size. As
        `largest` may still grow, keep raw values and scale them when they are used.
        """
        return min(1.0, value / self.largest) if self.largest else 0.0

    def _seen(self, value: float) -> float:
        self.largest = max(self.largest, value)
        return value


class BooleanModel(_Scaled):
    """Share of the topic's concepts that a text holds.

    Notes:
        Yang (2009), equation 4.1 (and 3.9, 3.10): sim(D) = |D ∩ T| / |T|. T counts concepts: a word
        and its translation are one element.
    """

    def score(self, *fields: str) -> float:
        """sim(D) in [0, 1], D being the words of all `fields` (title, anchor, URL text…)."""
        return self._seen(len(self.topic.concepts_in(*fields)) / max(len(self.topic.terms), 1))

    def state(self) -> dict[str, Any]:
        """What was learnt, as plain data for JSON."""
        return {"largest": self.largest}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state` returned, else :class:`KeyError` or :class:`ValueError`."""
        self.largest = float(state["largest"])


class VectorSpaceModel(_Scaled):
    """Cosine of a text's word weights and the topic, weights being learnt from the pages so far.

    Args:
        topic: its concepts are the query: w_i(q) = 1 for each, 0 for any other word.
        max_words: how many distinct words are counted. When there are more, the rarest that are not
            of the topic are forgotten, about a tenth of all; they then weigh as a word never seen.
            At least 1.

    Notes:
        Yang (2009), equation 3.13 with the square that its print lost, and 3.14::

            w_i(d) = tf_i · lg(N/n_i + 0.01) / sqrt(Σ (tf_i · lg(N/n_i + 0.01))²)
            Score  = Σ w_i(d) · w_i(q) / (|w(d)| · |w(q)|) = Σ_{i ∈ T} w_i(d) / sqrt(|T|)

        The sum under the root is over all words of the text, so that other words lower its score.
        N documents were observed, n_i of them hold word i. A word in none is taken to be in one,
        and N to be at least 1, so a weight is never negative.
    """

    def __init__(self, topic: Topic, max_words: int = 200_000) -> None:
        super().__init__(topic)
        if max_words < 1:
            raise ValueError(f"max_words must be at least 1, not {max_words}")
        self.max_words = max_words
        self.documents = 0
        self._holding: Counter[str] = Counter()
        self._concepts = frozenset(concept[0] for concept in topic.terms)

    def words(self, text: str) -> list[str]:
        """The words of `text` as this model counts them.

        A word of the topic is given as its concept's name, any other as
        :func:`~mmcrawl.text.segment` does; stop words that are not of the topic are left out.
        """
        topic = self.topic
        lexicon = topic.lexicon
        concepts = topic.concept_by_word
        return [
            concepts.get(word, word)
            for word in segment(text, lexicon)
            if word in concepts or not is_stop_word(word)
        ]

    def observe(self, words: Iterable[str]) -> None:
        """Count one document, `words` as :meth:`words` gives them."""
        self.documents += 1
        self._holding.update(set(words))
        if len(self._holding) > self.max_words:
            self._forget()

    def score(self, words: Iterable[str]) -> float:
        """Similarity in [0, 1] of a text, `words` as :meth:`words` gives them; 0 for no words."""
        of_topic = square = 0.0
        for word, frequency in Counter(words).items():
            weight = frequency * self._rarity(word)
            square += weight * weight
            if word in self._concepts:
                of_topic += weight
        if not square:
            return self._seen(0.0)
        return self._seen(min(1.0, of_topic / sqrt(square * max(len(self._concepts), 1))))

    def state(self) -> dict[str, Any]:
        """What was learnt, as plain data for JSON."""
        return {
            "largest": self.largest,
            "documents": self.documents,
            "words": dict(self._holding),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state` returned, else :class:`KeyError` or :class:`ValueError`."""
        words = {str(word): int(count) for word, count in state["words"].items()}
        documents = int(state["documents"])
        if any(not 0 < count <= documents for count in words.values()):
            raise ValueError("a word stands in more documents than there are, or in none")
        self.largest = float(state["largest"])
        self.documents = documents
        self._holding = Counter(words)

    def _rarity(self, word: str) -> float:
        """lg(N/n_i + 0.01), greater than 0."""
        return log10(max(self.documents, 1) / self._holding.get(word, _UNSEEN) + 0.01)

    def _forget(self) -> None:
        room = self.max_words * 9 // 10
        least = 0
        while len(self._holding) > room and least < self.documents:
            least += 1
            kept = {
                word: count
                for word, count in self._holding.items()
                if count > least or word in self._concepts
            }
            self._holding = Counter(kept)
