"""The content scores of the paper's algorithms: what the words of a link say of its page."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mmcrawl.page.model import Page
from mmcrawl.scoring.base import LinkText
from mmcrawl.topic.topic import BooleanModel, Topic, VectorSpaceModel

_SCRIPT_WEIGHT = 0.5
_CACHED_TEXTS = 16_384


class LinkSimilarity:
    """Content similarity of links to a topic, every part scaled to [0, 1] by the largest seen.

    With a hundred subject words |D ∩ T| / |T| is tiny for any anchor, and the cosine of a title of
    four words as well; unscaled they would vanish beside the structure score they are added to.
    Words of links that only a script names count half.

    Args:
        topic: what is looked for.

    Attributes:
        kinds: of media that are wanted.
    """

    def __init__(self, topic: Topic) -> None:
        self.kinds = topic.wanted
        self._boolean = BooleanModel(topic)
        self._vectors = VectorSpaceModel(topic)
        self._words = lru_cache(maxsize=_CACHED_TEXTS)(self._vectors.words)

    def observe(self, page: Page) -> list[str]:
        """Count a crawled page; return its words."""
        words = self.page_words(page)
        self.count(words)
        return words

    def page_words(self, page: Page) -> list[str]:
        """Return the words of a page, a document of (3.13): title, headings and group titles."""
        texts = {page.title, page.headings, *(group.title for group in page.groups)}
        return sorted({word for text in texts if text for word in self._words(text)})

    def count(self, words: list[str]) -> None:
        """Count a crawled page by its words."""
        self._vectors.observe(words)

    def shark(self, text: LinkText, beta: float) -> float:
        """Return Score(title) · [β · Score(anchor) + (1 − β) · Score(url)] (3.12, 4.7), in [0, 1].

        A link without a group title has no factor to apply: 1 is used.
        """
        own = beta * self._share(text.anchor) + (1 - beta) * self._share(text.url_words)
        if own and text.group_title:
            vectors = self._vectors
            own *= vectors.scaled(vectors.score(self._words(text.group_title)))
        return own * (_SCRIPT_WEIGHT if text.from_script else 1.0)

    def neighborhood(self, text: LinkText, beta: float) -> float:
        """Return β · sim(anchor) + (1 − β) · context (Hersovici et al. 1998), in [0, 1].

        The context of an anchor on topic counts 1, that of another one by the words around it:
        group title and URL words.
        """
        anchor = self._share(text.anchor)
        context = 1.0 if anchor else self._share(text.group_title, text.url_words)
        own = beta * anchor + (1 - beta) * context
        return own * (_SCRIPT_WEIGHT if text.from_script else 1.0)

    def topicrank(self, text: LinkText) -> float:
        """Return 0.6 · sim(anchor) + 0.4 · sim(url) (3.8), in [0, 1]."""
        own = 0.6 * self._share(text.anchor) + 0.4 * self._share(text.url_words)
        return own * (_SCRIPT_WEIGHT if text.from_script else 1.0)

    def note(self, words: list[str]) -> dict[str, Any]:
        """Return the changes caused by an observed page and its links, as plain data."""
        return {"words": words, "largest": [*self.largest]}

    def take_note(self, note: Mapping[str, Any]) -> None:
        """Restore what `note` returned for the next page."""
        self._vectors.observe(note["words"])
        self._boolean.largest, self._vectors.largest = note["largest"]

    @property
    def largest(self) -> tuple[float, float]:
        """The largest similarities seen, by which others are scaled."""
        return self._boolean.largest, self._vectors.largest

    def state(self) -> dict[str, Any]:
        """Return what was learnt, as plain data."""
        return {"boolean": self._boolean.state(), "vectors": self._vectors.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self._boolean.restore(state["boolean"])
        self._vectors.restore(state["vectors"])

    def _share(self, *texts: str) -> float:
        return self._boolean.scaled(self._boolean.score(*texts)) if any(texts) else 0.0
