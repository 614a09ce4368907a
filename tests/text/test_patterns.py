"""Patterns find the same where groups cannot be repeated possessively."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import START_TAG, TOKEN
from mmcrawl.text import greedy, linear
from tests.tables import each

PAGE = (
    b'<!doctype html>\n<html lang="en"><head><title>a < b</title><script>if (a<b) "</p>"</script>'
    b"<!-- x --><style>p>a{}</style></head><body class='a>b' x=>1 < 2 <p>three<iframe a></iframe>"
)


def test_only_repeated_groups_are_greedy() -> None:
    assert greedy(r"(?:a++|b)*+c?+(d)?+[)]++") == r"(?:a++|b)*c?+(d)?[)]++"
    assert greedy(rb"(?>a)++") == rb"(?>a)+"


def test_a_page_is_cut_into_its_tags_and_texts() -> None:
    tokens = TOKEN.findall(PAGE)
    assert b"".join(tokens) == PAGE
    assert tokens[:4] == [b"<!doctype html>", b"\n", b'<html lang="en">', b"<head>"]
    assert b"1 < 2 " in tokens


@each("pattern", [TOKEN, START_TAG])
@given(text=st.lists(st.sampled_from("< > / ! - = \" ' a script iframe p".split()), max_size=40))
def test_both_forms_find_the_same(pattern: re.Pattern[bytes], text: list[str]) -> None:
    for page in ("".join(text).encode(), " ".join(text).encode()):
        weak = re.compile(greedy(pattern.pattern), pattern.flags)
        assert weak.findall(page) == linear(pattern.pattern, pattern.flags).findall(page)
