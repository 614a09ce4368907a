"""Words: cut out of text and URLs, stemmed, looked up in lexicons, told apart from stop words.

Text goes through one normal form first (:func:`unify`), so that 力學 and 力学, ``Ｘ`` and ``x`` are
the same. :class:`Lexicon` finds a topic's words in Chinese and in alphabetic scripts,
:func:`segment` cuts a text into all its words, :func:`url_words` translates the words of a URL.
Dictionaries are read on first use.
"""

from mmcrawl.text.public_suffixes import is_public_suffix, split_host
from mmcrawl.text.scripts import has_han, unify
from mmcrawl.text.segmentation import Lexicon, segment
from mmcrawl.text.url_words import UrlWord, split_url, translate_url, url_text, url_words
from mmcrawl.text.words import is_stop_word, stem

__all__ = [
    "Lexicon",
    "UrlWord",
    "has_han",
    "is_public_suffix",
    "is_stop_word",
    "segment",
    "split_host",
    "split_url",
    "stem",
    "translate_url",
    "unify",
    "url_text",
    "url_words",
]
