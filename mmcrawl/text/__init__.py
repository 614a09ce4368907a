"""Words: cut out of text and URLs, stemmed, looked up in lexicons, distinguished from stop words.

Text goes through one normal form first (:func:`unify`), so that 力學 and 力学, ``Ｘ`` and ``x`` are
the same. :class:`Lexicon` finds a topic's words in Chinese and in alphabetic scripts,
:func:`segment` cuts a text into all its words, :func:`url_words` translates the words of a URL.
Dictionaries are read on first use.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.text.media_kinds import (
        ANIMATION,
        CHINESE,
        DEFAULT_KINDS,
        KINDS,
        is_paging,
        kind_named,
        names_kind,
        names_media,
    )
    from mmcrawl.text.patterns import greedy, linear
    from mmcrawl.text.resources import data_lines, is_public_suffix, split_host
    from mmcrawl.text.segmentation import Lexicon, segment
    from mmcrawl.text.url_words import (
        UrlTable,
        UrlWord,
        split_url,
        translate_url,
        url_table,
        url_text,
        url_words,
    )
    from mmcrawl.text.words import has_han, is_stop_word, stem, unify
    from mmcrawl.text.writing import (
        CsvWriter,
        as_called,
        harmless,
        printable,
        xml_document,
        xml_text,
    )

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
