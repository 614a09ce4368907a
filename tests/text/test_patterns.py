"""Patterns find the same where groups cannot be repeated possessively."""

import re
from importlib import import_module

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.blocks import START_TAG, TOKEN
from mmcrawl.text import greedy, linear
from tests.tables import each
from tests.text.pumping import Attack, Found, attacks, patterns_of, possessive_groups, seconds

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


FIRST, SMALL, LARGE = 2_000, 10_000, 100_000  # characters
FLOOR = 0.003  # seconds: what is faster with the first text is linear, or costs nothing
RATIO = 35  # of the times for the large and the small text: linear work takes 10, quadratic 100
PATIENCE = 1.0
NOT_PUMPED = {
    "mmcrawl.replay.opening": "reads our own pages",
    "mmcrawl.experiment.report": "reads drawings that our own program made",
}
"""Patterns that no long text of a stranger meets, and why."""


def test_every_pattern_of_the_code_is_linear() -> None:
    found = list(patterns_of("mmcrawl"))
    assert len(found) > 350
    read = [one for one in found if not one.where.startswith(tuple(NOT_PUMPED))]
    slow = {one.where: attack for one in read if (attack := _slow(one))}
    assert not slow, "\n".join(f"{where}: {attack}" for where, attack in slow.items())


def test_every_pattern_of_the_tables_of_hosts_is_linear() -> None:
    hosts = import_module("mmcrawl.page.media")
    read = [one for domain in hosts._domains() for one, _ in hosts._items_of(domain)]
    assert len(read) > 300
    found = (Found(pattern, pattern.pattern, frozenset(["match"])) for pattern in read)
    assert [one.where for one in found if _slow(one)] == []


def test_groups_are_repeated_possessively_only_where_every_python_can() -> None:
    assert list(possessive_groups("mmcrawl")) == []


def _slow(found: Found) -> Attack | None:
    for attack in attacks(found.pattern):
        first = attack.text(FIRST, found.pattern)
        if seconds(found, first, 1, PATIENCE) < FLOOR:
            continue
        least = seconds(found, first, 2, PATIENCE)
        if least > PATIENCE / 4:
            return attack
        if least < FLOOR or _is_within(found, attack, 4 * FIRST, 9 * least):
            continue
        least = seconds(found, attack.text(SMALL, found.pattern), 2, PATIENCE)
        if least > PATIENCE:
            return attack
        if not _is_within(found, attack, LARGE, RATIO * max(least, FLOOR)):
            return attack
    return None


def _is_within(found: Found, attack: Attack, size: int, bound: float) -> bool:
    return seconds(found, attack.text(size, found.pattern), 1, bound) <= bound
