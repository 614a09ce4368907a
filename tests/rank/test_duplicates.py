"""Pages that say the same, or nearly."""

from __future__ import annotations

import random
from contextlib import closing

import numpy as np
import pytest

from mmcrawl.archive import Archive
from mmcrawl.errors import RankError, StoreError
from mmcrawl.rank import (
    LEAST_TOKENS,
    bands,
    digest,
    find_duplicates,
    groups_of,
    open_duplicates,
    open_ranks,
    open_results,
    save_duplicates,
    sketch,
)
from tests.rank.conftest import Keep, both_stores

WORDS = [f"{a}{b}" for a in ("lev", "pul", "mom", "for", "bal") for b in ("er", "ley", "ent", "ce")]
HAN = "杠杆是一种简单机械在力的作用下能绕着固定点转动的硬棒就是滑轮定滑轮动滑轮支点阻力臂"


def prose(words: int, seed: int) -> str:
    own = random.Random(seed)
    return " ".join(own.choice(WORDS) + str(own.randint(0, 99)) for _ in range(words))


def han(characters: int, seed: int) -> str:
    own = random.Random(seed)
    return "".join(own.choice(HAN) for _ in range(characters))


def edited(text: str, place: int = 50) -> str:
    words = text.split(" ")
    return " ".join([*words[:place], "another", *words[place + 1 :]])


def html(text: str, site: str = "school", menu: int = 5) -> str:
    items = "".join(f"<li><a href='/{site}/{n}'>{site} item {n}</a></li>" for n in range(menu))
    return (
        f"<title>{site}</title><ul class='nav'>{items}</ul><div id='main'><h1>About it</h1>"
        f"<p>{text}</p></div><div class='footer'><p>Copyright 2024 {site}. All rights"
        " reserved.</p></div>"
    )


def test_a_new_menu_makes_no_new_page(archive: Archive, keep: Keep) -> None:
    text = prose(150, 1)
    keep("http://a.test/1", html(text, "school", 5))
    keep("http://b.test/1", html(text, "museum", 14))
    keep("http://b.test/2", html(prose(150, 2), "museum", 14))
    keep("http://b.test/3", html("", "museum", 14))
    found = find_duplicates(archive)
    [group] = found.groups
    assert group.urls == ("http://a.test/1", "http://b.test/1")
    assert (group.exact, group.hosts, group.versions) == (True, 2, (1, 1))


@pytest.mark.parametrize("text", [prose(100, 3), han(200, 3)])
def test_a_small_edit_makes_a_near_copy(archive: Archive, keep: Keep, text: str) -> None:
    changed = edited(text) if " " in text else text[:60] + "一" + text[61:]
    keep("http://a.test/1", html(text))
    keep("http://a.test/2", html(changed))
    keep("http://a.test/3", html(prose(100, 4) + han(50, 4)))
    [group] = find_duplicates(archive, near=0.8).groups
    assert group.urls == ("http://a.test/1", "http://a.test/2")
    assert (group.exact, group.hosts) == (False, 1)
    assert find_duplicates(archive, near=1).groups == ()
    with pytest.raises(RankError, match="near must be above 0 and at most 1"):
        find_duplicates(archive, near=float("nan"))


def test_many_pages_are_read_by_several_processes(archive: Archive, keep: Keep) -> None:
    for number in range(70):
        keep(f"http://a.test/{number:02}", html(prose(40, number % 35)))
    found = find_duplicates(archive)
    assert found.pages == 70
    assert sorted(group.urls for group in found.groups) == [
        (f"http://a.test/{number:02}", f"http://a.test/{number + 35}") for number in range(35)
    ]


def test_redirects_error_pages_and_what_came_later_are_left_out(
    archive: Archive, keep: Keep
) -> None:
    text = html(prose(150, 1))
    keep("http://a.test/1", text, time=1.0)
    keep("http://a.test/2", text, time=2.0, status=404)
    keep("http://a.test/3", text, time=2.0, status=301, to="http://a.test/1")
    keep("http://a.test/4", text, time=9.0)
    assert find_duplicates(archive, at=5.0).groups == ()
    assert len(find_duplicates(archive).groups) == 1


@both_stores
def test_groups_are_kept_beside_the_archive(archive: Archive, uri: str, keep: Keep) -> None:
    with pytest.raises(RankError, match="`scrapy archive duplicates` finds out"):
        open_duplicates(uri)
    for number in range(6):
        keep(f"http://a.test/{number}", html(prose(100, number % 3 if number < 5 else 9)))
    save_duplicates(uri, find_duplicates(archive))
    kept = open_duplicates(uri)
    assert kept["http://a.test/0"] == kept["http://a.test/3"] == kept["HTTP://A.test/3#part"]
    assert kept["http://a.test/1"] == kept["http://a.test/4"] != kept["http://a.test/0"]
    assert kept.get("http://a.test/5") is None
    assert set(kept) == {f"http://a.test/{n}" for n in (0, 3, 1, 4)}
    assert (len(kept), kept.groups, kept.near) == (4, 2, 0.8)
    assert not kept.is_stale(archive)
    keep("http://a.test/7", html(prose(100, 1)))
    assert kept.is_stale(archive)
    with pytest.raises(RankError, match="the archive has no ranks"):
        open_ranks(uri)
    save_duplicates(uri, find_duplicates(archive, near=1))
    assert open_duplicates(uri).near == 1


def test_sketches_tell_the_share_of_common_shingles() -> None:
    own, new = prose(1000, 7).split(), prose(300, 8).split()
    other = own[:700] + new
    one, two = ({tuple(words[i : i + 4]) for i in range(len(words) - 3)} for words in (own, other))
    share = len(one & two) / len(one | two)
    assert (sketch(own) == sketch(other)).mean() == pytest.approx(share, abs=0.12)
    for near in (0.3, 0.8, 0.98):  # bands find what is just near enough
        count, rows = bands(near)
        assert count * rows <= 128
        assert (1 - near**rows) ** count <= 0.02


def test_chains_make_one_group_and_strangers_none() -> None:
    rng = np.random.default_rng(1)
    base = rng.integers(0, 2**32, 128, dtype=np.uint32)
    near, far = base.copy(), base.copy()
    near[:15], far[:30] = 1, 1  # 88 % and 77 % as the first; 88 % as each other
    alone = rng.integers(0, 2**32, 128, dtype=np.uint32)
    digests = [bytes([n]) * 16 for n in range(4)]
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        sketches = [[base, near, far, alone][n] for n in order]
        groups = groups_of([digests[n] for n in order], sketches, 0.85).tolist()
        by_text = dict(zip(order, groups, strict=True))
        assert by_text[0] == by_text[1] == by_text[2] != by_text[3]
        assert by_text[3] == order.index(3)
        assert by_text[0] == min(order.index(n) for n in (0, 1, 2))


def test_short_texts_are_compared_word_for_word(archive: Archive, keep: Keep) -> None:
    words = prose(LEAST_TOKENS - 6, 5)
    keep("http://a.test/1", html(words))
    keep("http://a.test/2", html(words))
    keep("http://a.test/3", html(edited(words, 3)))
    [group] = find_duplicates(archive, near=0.1).groups
    assert group.urls == ("http://a.test/1", "http://a.test/2")
    assert digest(["a", "b"]) != digest(["ab"])


def test_damaged_results_are_told(archive: Archive, uri: str) -> None:
    with closing(open_results(uri, create=True)) as store:
        store.put("result", {"duplicates": {"written": 1, "facts": {"near": 0.8}}})
    with pytest.raises(StoreError, match=r"duplicates in .* is damaged .*; find them again"):
        open_duplicates(uri)
