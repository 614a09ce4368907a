"""What the words of a link say of its page: the content scores of the paper's algorithms."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mmcrawl.page import Page
from mmcrawl.scoring.base import LinkText
from mmcrawl.topic import BooleanModel, Topic, VectorSpaceModel

__all__ = ["LinkSimilarity"]

_SCRIPT_WEIGHT = 0.5
_CACHED_TEXTS = 16_384


class LinkSimilarity:
    """Content similarity of links to a topic, every part scaled to [0, 1] by the largest seen.

    With a hundred subject words |D ∩ T| / |T| is tiny for any anchor, and the cosine of a title of
    four words as well; unscaled they would vanish beside the structure score they are added to.
    Words of links that only a script names count half.

    Args:
        topic: what is looked for.
    """

    def __init__(self, topic: Topic) -> None:
        self._boolean = BooleanModel(topic)
        self._vectors = VectorSpaceModel(topic)
        self._words = lru_cache(maxsize=_CACHED_TEXTS)(self._vectors.words)

    def observe(self, page: Page) -> None:
        """Count a crawled page: its title, headings and group titles are a document of (3.13)."""
        texts = {page.title, page.headings, *(group.title for group in page.groups)}
        self._vectors.observe({word for text in texts if text for word in self._words(text)})

    def shark(self, text: LinkText, beta: float) -> float:
        """Return Score(title) · [β · Score(anchor) + (1 − β) · Score(url)] (3.12, 4.7), in [0, 1].

        A link without a group title has no factor to apply: 1 is used.
        """
        own = beta * self._share(text.anchor) + (1 - beta) * self._share(text.url_words)
        if own and text.group_title:
            vectors = self._vectors
            own *= vectors.scaled(vectors.score(self._words(text.group_title)))
        return own * (_SCRIPT_WEIGHT if text.from_script else 1.0)

    def state(self) -> dict[str, Any]:
        """Return what was learnt, as plain data."""
        return {"boolean": self._boolean.state(), "vectors": self._vectors.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` gave."""
        self._boolean.restore(state["boolean"])
        self._vectors.restore(state["vectors"])

    def _share(self, text: str) -> float:
        return self._boolean.scaled(self._boolean.score(text)) if text else 0.0
