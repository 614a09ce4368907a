"""A topic: the set T of subject words that pages are compared with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from mmcrawl.errors import TopicError
from mmcrawl.text.media_kinds import DEFAULT_KINDS
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.text.segmentation import Lexicon
from mmcrawl.topic.page_model import PageModel

Concept = tuple[str, ...]
"""Words that mean the same, in any language; the first is the concept's name."""


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
        """Name of each concept that stands in `text`, with how often its words do."""
        counts: dict[str, int] = {}
        concepts = self.concept_by_word
        for word, count in self.lexicon.find(text).items():
            concept = concepts[word]
            counts[concept] = counts.get(concept, 0) + count
        return counts

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
