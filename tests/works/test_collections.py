"""Collections that people make of works."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from mmcrawl.errors import CollectionError
from mmcrawl.works import BEST, Catalogue, Collections, Work, WorkFile
from tests.tables import each


def work(name: str) -> tuple[Work, tuple[str, ...]]:
    """Return a work of some files, each named by a letter."""
    files = tuple(WorkFile(f"http://h.test/{one}.mp3", "audio") for one in name)
    return Work(f"{sum(name.encode()):016x}", name, "anchor", "audio", files), tuple(name)


@pytest.fixture
def catalogue(opener: Callable[[], Catalogue]) -> Iterator[Catalogue]:
    """A catalogue of three works."""
    with opener() as opened:
        opened.describe([work("a"), work("b"), work("c")])
        yield opened


@pytest.fixture
def made(catalogue: Catalogue) -> str:
    """The id of a collection of all of them."""
    return Collections(catalogue).create(
        " Light  and sound ", [each.id for each in catalogue.works()]
    )


def titles(catalogue: Catalogue, id_: str) -> list[str]:
    collections = Collections(catalogue)
    return [each.title for each in collections.works(collections.find(id_))]


def test_works_are_ordered_by_hand(catalogue, made, opener, monkeypatch):
    monkeypatch.setattr("mmcrawl.works.catalogue._AT_ONCE", 2)  # fewer than there are
    first, _, third = (each.id for each in catalogue.works())
    collections = Collections(catalogue)
    collections.move(made, third, -1)
    assert titles(catalogue, made) == ["a", "c", "b"]
    collections.move(made, first, -5)
    collections.move(made, first, 9)
    assert titles(catalogue, made) == ["c", "b", "a"]
    collections.remove(made, third)
    collections.add(made, [third, first])
    with opener() as other:
        assert titles(other, made) == ["b", "a", "c"]


def test_what_is_said_of_a_work_is_kept_and_comes_with_it(catalogue: Catalogue, made: str) -> None:
    second = list(catalogue.works())[1].id
    Collections(catalogue).describe(
        made, second, tags=("optics", "光学"), note="for Friday", rating=BEST
    )
    found = Collections(catalogue).find("Light and sound")
    said = list(Collections(catalogue).works(found))[1]
    assert (said.tags, said.note, said.rating) == (("optics", "光学"), "for Friday", BEST)
    assert catalogue.find(second).tags == ()


def test_a_collection_is_renamed_and_deleted_and_its_works_stay(catalogue, made):
    collections = Collections(catalogue)
    collections.rename(made, "Light", "of term 2")
    assert [(one.name, one.note) for one in collections.all()] == [("Light", "of term 2")]
    collections.delete(made)
    assert collections.all() == []
    assert len(list(catalogue.works())) == 3


def test_a_work_that_becomes_part_of_another_is_that_one_in_collections(catalogue, made):
    catalogue.describe([work("ab"), work("c")])
    assert titles(catalogue, made) == ["ab", "c"]


def test_a_work_that_is_gone_is_left_out_until_it_is_found_again(catalogue, made):
    catalogue.describe([work("c")])
    assert titles(catalogue, made) == ["c"]
    catalogue.describe([work("a"), work("b"), work("c")])
    assert titles(catalogue, made) == ["a", "b", "c"]


def test_of_what_two_people_do_at_once_nothing_is_lost(catalogue, opener):
    made = Collections(catalogue).create("Both")

    def add(number: int) -> None:
        with opener() as own:
            for turn in range(4):
                Collections(own).add(made, [f"{number}-{turn}"])

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(add, range(3)))
    assert len(Collections(catalogue).find(made).members) == 12


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
def test_what_is_wrong_is_said_and_nothing_changes(catalogue, made, do, says):
    before = Collections(catalogue).all()
    with pytest.raises(CollectionError, match=says):
        do(Collections(catalogue), made)
    assert Collections(catalogue).all() == before
