"""Which characters belong to which script, and one spelling for the variants of a character."""

import re
import unicodedata
from functools import cache

from mmcrawl.text.resources import data_lines

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
"""Han characters, as the inside of a regular expression's character class."""

_HAN = re.compile(f"[{HAN}]")

# What NFKC changes inside words: superscripts, combining marks, compatibility ideographs,
# ligatures, full-width letters and digits, half-width kana. Full-width punctuation, of which
# every Chinese page is full, is dropped anyway and must not cost a pass.
_COMPATIBILITY = re.compile(
    "[\u00b2\u00b3\u00b9\u0300-\u036f\u2070-\u209c\uf900-\ufb06"
    "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f]"
)
# Sorting a run of combining marks takes quadratic time; between slices it is cut. A slice ends
# before no mark, unless there are too many.
_LONG_TEXT = 512
_SLICES = re.compile("(?s).{1,512}(?![\u0300-\u036f\uff9e\uff9f])|.{1,512}")


def has_han(text: str) -> bool:
    """Whether `text` holds a Han character."""
    return not text.isascii() and _HAN.search(text) is not None


def unify(text: str) -> str:
    """`text` in lower case, full-width forms made plain (NFKC), traditional characters simplified.

    Only traditional characters that stand for one simplified character are replaced
    (table derived from CC-CEDICT). Linear in the length; texts without variants take a fast path.

    >>> unify("牛頓 Ｐｈｙｓｉｃｓ")
    '牛顿 physics'
    """
    if text.isascii():
        return text.lower()
    if _COMPATIBILITY.search(text) is not None:
        slices = (text,) if len(text) <= _LONG_TEXT else _SLICES.findall(text)
        text = "".join([unicodedata.normalize("NFKC", part) for part in slices])
    traditional, table = _simplifying()
    found = len(traditional.findall(text))
    if found * 8 > len(text):
        text = text.translate(table)
    elif found:  # a few in a simplified text: faster than looking at each character
        text = traditional.sub(lambda old: table[ord(old[0])], text)
    return text.replace("’", "'").lower()


@cache
def _simplifying() -> tuple[re.Pattern[str], dict[int, str]]:
    pairs = (line.split("\t") for line in data_lines("url_words", "traditional.tsv"))
    table = {ord(old): new for old, new in pairs}
    return re.compile(f"[{''.join(map(chr, table))}]"), table
