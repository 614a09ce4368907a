"""English pages in the letters of other languages, to train the content model on.

Labelled pages are English and a few are Chinese. What a model learns of their words it cannot use
on a page in Russian, Arabic or Japanese, where it should go by the layout and by what all languages
share. So some of the pages are put to it in letters that it knows no words in: letter by letter
(Russian, Arabic), or word by word in a few characters without spaces between them (Japanese).
"""

from __future__ import annotations

import random
import re
from html import escape
from itertools import pairwise
from string import ascii_letters, ascii_lowercase, ascii_uppercase

from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.tags import HIDDEN
from mmcrawl.blocks.tree import read_tree

_CYRILLIC = "абцдефгхийклмнопярстувшыжз"
_ARABIC = "ابسدعفغهيجكلمنوبقرستوثطخزض"
_TO_CYRILLIC = str.maketrans(ascii_letters, _CYRILLIC + _CYRILLIC.upper())
_TO_ARABIC = str.maketrans(ascii_lowercase + ascii_uppercase + ",?;", _ARABIC * 2 + "،؟؛")
_LATIN = re.compile(r"([A-Za-z'’]+)([ ]?)")
_STOPS = str.maketrans({".": "。", ",": "、", "?": "？", "!": "！"})
_AFTER_STOP = re.compile(r"(?<=[。、？！]) ")
_LETTERS_A_CHARACTER = 2.5
_KANA, _HAN = 0x3042, 0x4E00


def foreign_page(body: bytes, chance: random.Random) -> bytes:
    """Return a page whose visible text is in other letters, in UTF-8; its lines stay as many.

    Args:
        body: A page in English.
        chance: What decides about the letters.
    """
    letters = chance.choice(("cyrillic", "arabic", "japanese"))
    tree = read_tree(body)
    texts = [
        node
        for node in range(1, len(tree))
        if tree.tags[node] == TEXT and tree.tags[tree.parents[node]] not in HIDDEN - {"title"}
    ]
    pieces = [b"\xef\xbb\xbf", body[: tree.starts[texts[0]]]] if texts else [body]
    for node, following in pairwise([*texts, 0]):
        raw = escape(_written(tree.raw_text(node), letters), quote=False)
        end = tree.starts[following] if following else len(body)
        pieces += [raw.encode("utf-8", "replace"), body[tree.ends[node] : end]]
    return b"".join(pieces)


def _written(text: str, letters: str) -> str:
    if letters == "cyrillic":
        return text.translate(_TO_CYRILLIC)
    if letters == "arabic":
        return text.translate(_TO_ARABIC)
    return _AFTER_STOP.sub("", _LATIN.sub(_word, text).translate(_STOPS))


def _word(word: re.Match[str]) -> str:
    """A few characters for a word, the same for the same word."""
    chance = random.Random(word[1].lower())  # noqa: S311 - the same each time
    count = max(1, round(len(word[1]) / _LETTERS_A_CHARACTER))
    return "".join(
        chr((_HAN if chance.random() < 0.4 else _KANA) + chance.randrange(80)) for _ in range(count)
    )
