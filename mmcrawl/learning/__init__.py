"""Learns a topic from pages that fit and pages that do not.

`read_examples` finds the pages that a user names; `learn` trains a
:class:`~mmcrawl.topic.page_model.PageModel` on them by scikit-learn, which is needed for nothing
else, and measures it on pages it has not seen; `telling_words` returns the words that distinguish
the pages that fit.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.learning.examples import (
        Example,
        Examples,
        TellingWord,
        read_examples,
        sampled,
        suggested_words,
        telling_words,
    )
    from mmcrawl.learning.training import Lesson, learn
