"""One spelling for the variants of a character, in time linear in the text."""

import unicodedata

from mmcrawl.text import unify
from tests.tables import each


def test_a_long_run_of_combining_marks_is_unified_in_time_linear_in_its_length():
    marks = "\u0301\u0323" * 200_000  # two minutes if all were sorted
    assert set(unify(f"a{marks}")) <= {*"aáạ\u0301\u0323"}


@each("text", ["e\u0301", "x\u0323\u0301", "ｶﾞ", "Ｐ", "²"])
@each("before", range(508, 514))
def test_a_long_text_is_unified_as_a_short_one(text, before):
    whole = "a" * before + text + "b" * 600 + text
    assert unify(whole) == unicodedata.normalize("NFKC", whole).lower()
