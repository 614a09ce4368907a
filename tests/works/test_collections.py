"""Collections that people make of works."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from mmcrawl.errors import CollectionError
from mmcrawl.works import BEST, Collections, Shelf, Work, WorkFile
from tests.tables import each


def work(name: str) -> tuple[Work, tuple[str, ...]]:
    """Return a work of some files, each named by a letter."""
    files = tuple(WorkFile(f"http://h.test/{one}.mp3", "audio") for one in name)
    return Work(f"{sum(name.encode()):016x}", name, "anchor", "audio", files), tuple(name)


@pytest.fixture
def shelf(opener: Callable[[], Shelf]) -> Iterator[Shelf]:
    """A shelf of three works."""
    with opener() as opened:
        opened.describe([work("a"), work("b"), work("c")])
        yield opened


@pytest.fixture
def made(shelf: Shelf) -> str:
    """The id of a collection of all of them."""
    return Collections(shelf).create(" Light  and sound ", [each.id for each in shelf.works()])


def titles(shelf: Shelf, id_: str) -> list[str]:
    collections = Collections(shelf)
    return [each.title for each in collections.works(collections.find(id_))]


def test_works_are_ordered_by_hand(shelf: Shelf, made: str, opener: Callable[[], Shelf]) -> None:
    first, _, third = (each.id for each in shelf.works())
    collections = Collections(shelf)
    collections.move(made, third, -1)
    assert titles(shelf, made) == ["a", "c", "b"]
    collections.move(made, first, -5)
    collections.move(made, first, 9)
    assert titles(shelf, made) == ["c", "b", "a"]
    collections.remove(made, third)
    collections.add(made, [third, first])
    with opener() as other:
        assert titles(other, made) == ["b", "a", "c"]


def test_what_is_said_of_a_work_is_kept_and_comes_with_it(shelf: Shelf, made: str) -> None:
    second = list(shelf.works())[1].id
    Collections(shelf).describe(
        made, second, tags=("optics", "光学"), note="for Friday", rating=BEST
    )
    found = Collections(shelf).find("Light and sound")
    said = list(Collections(shelf).works(found))[1]
    assert (said.tags, said.note, said.rating) == (("optics", "光学"), "for Friday", BEST)
    assert shelf.find(second).tags == ()


def test_a_collection_is_renamed_and_deleted_and_its_works_stay(shelf: Shelf, made: str) -> None:
    collections = Collections(shelf)
    collections.rename(made, "Light", "of term 2")
    assert [(one.name, one.note) for one in collections.all()] == [("Light", "of term 2")]
    collections.delete(made)
    assert collections.all() == []
    assert len(list(shelf.works())) == 3


def test_a_work_that_becomes_part_of_another_is_that_one_in_collections(shelf, made):
    shelf.describe([work("ab"), work("c")])
    assert titles(shelf, made) == ["ab", "c"]


def test_a_work_that_is_gone_is_left_out_until_it_is_found_again(shelf: Shelf, made: str) -> None:
    shelf.describe([work("c")])
    assert titles(shelf, made) == ["c"]
    shelf.describe([work("a"), work("b"), work("c")])
    assert titles(shelf, made) == ["a", "b", "c"]


def test_of_what_two_people_do_at_once_nothing_is_lost(shelf, opener):
    made = Collections(shelf).create("Both")

    def add(number: int) -> None:
        with opener() as own:
            for turn in range(10):
                Collections(own).add(made, [f"{number}-{turn}"])

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(add, range(3)))
    assert len(Collections(shelf).find(made).members) == 30


@each(
    "do, says",
    [
        (lambda all_, id_: all_.create("  "), "a name of 1 to"),
        (lambda all_, id_: all_.find("Physics"), "no collection 'Physics'; there are: Light"),
        (lambda all_, id_: all_.move(id_, "f" * 16, 1), "is not in the collection"),
        (lambda all_, id_: all_.describe(id_, "1", rating=6), "not in the collection"),
        (lambda all_, id_: all_.add(id_, map(str, range(100_001))), "at most 100,000"),
        (lambda all_, id_: all_.rename(id_, "x", "y" * 5_001), "at most 5,000"),
        (lambda all_, id_: all_.delete("ffffffff"), "no collection"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_changes(shelf, made, do, says):
    before = Collections(shelf).all()
    with pytest.raises(CollectionError, match=says):
        do(Collections(shelf), made)
    assert Collections(shelf).all() == before
