"""Learning a topic from pages that are right and pages that are wrong.

`read_examples` finds the pages that a user names; `learn` trains a
:class:`~mmcrawl.topic.page_model.PageModel` on them by scikit-learn, which is needed for nothing
else, and says how well it does on pages it has not seen; `telling_words` are the words that stand
on good pages rather than on bad ones.
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
    from mmcrawl.learning.training import Lesson, folds_of, learn
