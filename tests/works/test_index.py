"""The index of works answers as the catalogue it was made from."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mmcrawl.works import FACETS, Asked, Catalogue, Correction, Work, WorkFile, WorkIndex

Pair = tuple[Catalogue, WorkIndex]


def work(number: int, title: str, **values: object) -> tuple[Work, tuple[str, ...]]:
    url = f"http://h.test/{number}.mp3"
    file = WorkFile(url, "audio", "audio/mpeg", digest="d" * 64 if number % 2 else "")
    return replace(Work(f"{number:016x}", title, "anchor", "audio", (file,)), **values), (url,)


WORKS = [
    work(1, "Levers", topic="physics", languages=("en",)),
    work(2, "杠杆 \ud800", topic="physics", kind="video"),
    work(3, "Pulleys and levers", topic="music", creator="Archimedes"),
    work(4, "A tone", topic="music", kind="video", level="primary"),
]


@pytest.fixture
def pair(opener: Callable[[], Catalogue], tmp_path: Path) -> Iterator[Pair]:
    with opener() as catalogue, closing(WorkIndex(tmp_path / "works-index.db")) as index:
        catalogue.describe(WORKS)
        yield catalogue, index


def ids(index: WorkIndex, asked: Asked, **how: object) -> list[int]:
    return [int(entry.id, 16) for entry in index.entries(asked, **how)]


def agree(pair: Pair) -> None:
    """Compare what the index says of every facet, alone and of two, with the works themselves."""
    catalogue, index = pair
    index.update(catalogue)
    works = {work.id: work for work in catalogue.works()}
    shown = index.entries(Asked())
    assert [entry.id for entry in shown] == [*works]
    for entry in shown:
        whole = works[entry.id]
        found = (entry.title, entry.topic, entry.kind, entry.changed_at)
        title = whole.title.encode("utf-8", "replace").decode()
        assert found == (title, whole.topic, whole.kind, whole.changed_at)
    for chosen in [(), (("kind", "video"),), (("kind", "audio"), ("topic", "music"))]:
        total, counts = index.counts(Asked(facets=chosen))
        assert total == len(index.entries(Asked(facets=chosen))) == index.size(Asked("", chosen))
        for facet in FACETS:
            others = Asked(facets=tuple(one for one in chosen if one[0] != facet))
            there = Counter(getattr(entry, facet) for entry in index.entries(others))
            assert counts[facet] == there


def test_an_index_says_what_the_catalogue_says_whatever_was_corrected(pair: Pair) -> None:
    catalogue, _ = pair
    agree(pair)
    first, second, *_ = (work.id for work in catalogue.works())
    catalogue.correct([Correction(first, {"title": "Wheels", "topic": "music"})])
    agree(pair)
    catalogue.correct([Correction(first, {"title": None}), Correction(second, {"hidden": True})])
    agree(pair)
    catalogue.correct([Correction(second, {"hidden": None})])
    agree(pair)
    catalogue.describe([*WORKS[1:], work(5, "Sails")])
    agree(pair)


def test_words_are_found_wherever_they_stand_and_however_they_are_written(pair: Pair) -> None:
    catalogue, index = pair
    index.update(catalogue)
    assert ids(index, Asked("LEVERS")) == [1, 3]
    assert ids(index, Asked("levers archimedes")) == [3]
    assert ids(index, Asked("槓桿")) == [2]
    assert index.counts(Asked("levers"))[1]["topic"] == {"physics": 1, "music": 1}
    assert ids(index, Asked("levers", (("topic", "music"),))) == [3]


def test_what_changed_last_comes_first_and_a_range_of_time_is_had(pair: Pair) -> None:
    catalogue, index = pair
    third = [work.id for work in catalogue.works()][2]
    catalogue.correct([Correction(third, {"level": "university"})])
    index.update(catalogue)
    assert ids(index, Asked(), most=1, order="changed_at DESC") == [3]
    at = index.named([third])[0].changed_at
    assert ids(index, Asked(since=at), order="changed_at") == [3]
    assert index.size(Asked(until=at)) == 3
    assert [int(entry.id, 16) for entry in index.at("http://h.test/4.mp3")] == [4]


def test_an_index_that_is_lost_damaged_or_in_nobodys_folder_is_made_anew(pair, tmp_path):
    catalogue, _ = pair
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"no database" * 1_000)
    for path in (damaged, tmp_path / "no" / "folder.db", None):
        with closing(WorkIndex(path)) as index:
            agree((catalogue, index))
