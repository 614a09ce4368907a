"""Topics: what a crawl looks for, and how similar a text is to it.

A :class:`Topic` is a set of concepts, each a set of equivalent words in Chinese and English. It
comes from a file that ships with mmcrawl, from the user's own file, or from a few keywords
(`loading.py`); or it is learnt from pages, a :class:`PageModel`. :class:`BooleanModel` and
:class:`VectorSpaceModel` return a text's similarity to it in [0, 1]. Begin with `topic.py`.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
    from mmcrawl.topic.loading import (
        learnt_topic,
        load_topic,
        load_topics,
        own_topic_names,
        topic_from_keywords,
        topic_names,
        union,
    )
    from mmcrawl.topic.page_model import PageModel
    from mmcrawl.topic.topic import BooleanModel, Concept, Topic, VectorSpaceModel
