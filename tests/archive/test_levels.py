"""Which level a page is cut at after what happened to it before."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from mmcrawl.archive import (
    MEMORY,
    REVIEW,
    Archive,
    Capture,
    LevelManager,
    StoredBlock,
    Version,
    open_archive,
)
from mmcrawl.blocks.partitioners import DEFAULT_LEVEL
from mmcrawl.errors import StoreError
from tests.tables import each

URL = "http://a.test/"
Page = dict[str, tuple[int, str]]  # path → size and content of an innermost block


class History:
    """Versions as an archive has them: pages are cut like folders, each level one deeper."""

    def __init__(self) -> None:
        self.pages: list[tuple[Version, Page]] = []
        self.asked = 0

    def add(self, page: Page, level: int, *, status: int = 200, method: str = "bwap") -> None:
        number = len(self.pages) + 1
        facts = (float(number), status, "", (), "", str(number), 1, "", "utf-8")
        version = Version(URL, number, *facts, method, level)
        self.pages.append((version, page))

    def get(self, url: str) -> Version:
        if not self.pages:
            raise StoreError("no such URL")
        return self.pages[-1][0]

    def version(self, url: str, number: int) -> Version:
        if not 1 <= number <= len(self.pages):
            raise StoreError("no such version")
        return self.pages[number - 1][0]

    def blocks_of(self, version: Version) -> list[StoredBlock]:
        self.asked += 1
        page = self.pages[version.number - 1][1]
        return list(_blocks(page, version.level))


def _blocks(page: Page, deepest: int, prefix: str = "", start: int = 0) -> Iterator[StoredBlock]:
    """Yield the blocks of a folder, each before those inside of it."""
    level = prefix.count("/") + 1
    names = dict.fromkeys(path.removeprefix(prefix).partition("/")[0] for path in page)
    for name in names:
        path = prefix + name
        inside = {p: c for p, c in page.items() if p == path or p.startswith(path + "/")}
        size = sum(size for size, _ in inside.values())
        content = "|".join(content for _, content in inside.values())
        yield StoredBlock(start, start + size, "topic", "", level, path, content)
        if level < deepest and path not in page:
            yield from _blocks(inside, deepest, path + "/", start)
        start += size


def grow(history: History, make: Callable[[int], Page], versions: int) -> list[int]:
    """Store versions as a crawl does, each at the level that is chosen; return the levels."""
    manager = LevelManager(history)
    levels = []
    for number in range(versions):
        level = manager.choose(URL).level
        history.add(make(number), level)
        levels.append(level)
    return levels


def headlines(n: int) -> Page:
    """Five headlines of which all are new each time, beside a menu that stays."""
    news = {f"body/news/{i}": (400, f"news {n} {i}") for i in range(5)}
    return {"body/menu": (3000, "menu"), **news}


def one_word(n: int) -> Page:
    """A long block in which, four levels deep, one line changes."""
    still = {f"body/text/part/{i}": (2000, f"text {i}") for i in range(5)}
    return {**still, "body/text/part/clock": (20, f"clock {n}")}


def test_a_first_version_is_cut_at_the_default_level() -> None:
    choice = LevelManager(History()).choose(URL)
    assert (choice.level, choice.is_new) == (DEFAULT_LEVEL, False)
    assert choice.reason == f"A first version is cut at level {DEFAULT_LEVEL}."


def test_blocks_that_always_change_together_are_merged() -> None:
    history = History()
    levels = grow(history, headlines, REVIEW + 1)
    assert levels == [3] * REVIEW + [2]
    history.pages.pop()
    reason = LevelManager(history).choose(URL).reason
    assert reason.startswith("Level 2 instead of 3: blocks change together")
    assert "8,000" in reason  # four changes of 2,000 bytes


def test_a_block_in_which_little_changes_is_split() -> None:
    history = History()
    assert grow(history, one_word, REVIEW + 1) == [3] * REVIEW + [4]
    history.pages.pop()
    assert "Level 4 instead of 3: blocks that make up 100% of the page" in (
        LevelManager(history).choose(URL).reason
    )


def whole(n: int) -> Page:
    """A long block that is another each time, in all its parts."""
    return {f"body/text/{i}/{j}": (1000, f"{n} {i} {j}") for i in range(2) for j in range(2)}


def test_a_split_that_shows_nothing_is_undone_and_not_tried_again_for_long() -> None:
    levels = grow(History(), whole, 20 * REVIEW)
    runs = [(level, len(list(run))) for level, run in groupby(levels)]
    again = (MEMORY + 1) * REVIEW
    assert runs[:4] == [(3, REVIEW), (2, again), (3, REVIEW), (2, again)]


@each("kind, level", [("topic", 4), ("navigation", 3)])
def test_only_what_the_page_is_there_for_is_split(kind: str, level: int) -> None:
    history = History()
    for n in range(REVIEW):
        history.add(one_word(n), level=3)
    cut = history.blocks_of
    history.blocks_of = lambda version: [  # type: ignore[method-assign]
        replace(block, kind=kind) for block in cut(version)
    ]
    assert LevelManager(history).choose(URL).level == level


def test_a_review_reads_a_bounded_number_of_versions() -> None:
    history = History()
    for n in range(40 * REVIEW):
        history.add(one_word(n), level=3)
    LevelManager(history).choose(URL)
    assert history.asked == REVIEW


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with open_archive(f"sqlite:///{tmp_path / 'archive.db'}") as opened:
        yield opened


def news(n: int) -> bytes:
    """A page of news that are all new each time, in a part of their own."""
    story = "A headline of today, and what is known of it at this hour. " * 6
    items = "".join(f"<div><h3>Story {n} {i}</h3><p>{story}{n}</p></div>" for i in range(4))
    still = "".join(
        f"<div><p>{'A paragraph that stays as it is. ' * 12}{i}</p></div>" for i in "ab"
    )
    return f"<html><body><div><div>{items}</div><div>{still}</div></div></body></html>".encode()


def test_in_a_real_archive_the_news_of_a_page_are_one_block_each(archive: Archive) -> None:
    manager = LevelManager(archive)
    levels = []
    for n in range(REVIEW + 2):
        choice = manager.choose(URL)
        capture = Capture(URL, news(n), float(n), headers=(("Content-Type", "text/html"),))
        archive.store(capture, level=choice.level if choice.is_new else None)
        levels.append(archive.get(URL).level)
    assert levels == [3] * REVIEW + [1, 1]
    cuts = [
        {block.level for block in archive.blocks_of(version)} for version in archive.versions(URL)
    ]
    assert cuts == [{1, 2}] * REVIEW + [{1}] * 2
