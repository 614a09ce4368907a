"""Works that are kept, in a file or a database, and what an editor says of them."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from mmcrawl.errors import CollectionError, StoreError, TopicError
from mmcrawl.works import (
    Catalogue,
    Evidence,
    Licence,
    Marks,
    Suggestion,
    Suggestions,
    Work,
    WorkFile,
    open_catalogue,
    read_corrections,
)
from tests.tables import each


def work(*names: str, title: str = "Levers") -> tuple[Work, tuple[str, ...]]:
    """Return a work of some files as `describe` gives it."""
    files = tuple(WorkFile(f"http://h.test/{name}.mp3", "audio") for name in names)
    number = sum(names[0].encode())
    return Work(f"{number:016x}", title, "anchor", "audio", files), names


@pytest.fixture
def catalogue(opener: Callable[[], Catalogue]) -> Iterator[Catalogue]:
    """An empty catalogue."""
    with opener() as opened:
        yield opened


def corrections(catalogue: Catalogue, *said: dict[str, object]) -> int:
    return catalogue.correct(read_corrections(map(json.dumps, said), "said.jsonl"))


def test_works_are_kept_in_their_order_with_all_they_have(catalogue, opener):
    licence = Licence("CC-BY-4.0", "http://l", Evidence("text", "under CC BY"), 0.6)
    first, keys = work("b", title="杠杆 \ud800")
    first = replace(first, licences=(licence,), languages=("zh",))
    second, others = work("a")
    assert catalogue.describe([(first, keys), (second, others)]) == 2
    with opener() as again:
        assert [replace(each, changed_at=0) for each in again.works()] == [first, second]
        assert replace(again.find(second.id), changed_at=0) == second
        assert time.time() - 60 < again.find(second.id).changed_at <= time.time()


def test_describing_anew_replaces_works_and_keeps_their_ids(catalogue: Catalogue) -> None:
    catalogue.describe([work("b", "c"), work("x")])
    before = [each.id for each in catalogue.works()]
    catalogue.describe([work("x"), work("a", "b", "c", title="More")])
    now = [(each.id, each.title) for each in catalogue.works()]
    assert now == [(before[1], "Levers"), (before[0], "More")]
    catalogue.describe([work("a"), work("b", "c")])
    small, large = (each.id for each in catalogue.works())
    assert large == before[0] != small  # of one that falls apart the larger part keeps it


def test_corrections_win_over_what_is_found_anew_also_later(catalogue: Catalogue) -> None:
    catalogue.describe([work("a")])
    (found,) = catalogue.works()
    assert corrections(catalogue, {"work": found.id, "title": "Pulleys", "level": "primary"}) == 1
    catalogue.describe([])
    assert list(catalogue.works()) == []
    catalogue.describe([work("a", title="Wheels")])
    (now,) = catalogue.works()
    assert (now.title, now.title_source, now.level) == ("Pulleys", "editor", "primary")
    assert now.corrected == ("level", "title")
    corrections(catalogue, {"work": found.id, "title": None})
    (now,) = catalogue.works()
    assert (now.title, now.level, now.corrected) == ("Wheels", "primary", ("level",))


def test_corrections_follow_a_work_into_the_one_it_is_part_of(catalogue: Catalogue) -> None:
    catalogue.describe([work("a"), work("b", "c")])
    part, whole = (each.id for each in catalogue.works())
    said = {"work": part, "creator": "Ann", "title": "Of the part"}
    corrections(catalogue, said, {"work": whole, "title": "Of the whole"})
    catalogue.describe([work("a", "b", "c")])
    (now,) = catalogue.works()
    assert (now.id, now.title, now.creator) == (whole, "Of the whole", "Ann")
    assert set(catalogue.corrections()) == {whole}


def test_a_work_changes_when_it_is_found_otherwise_or_corrected(catalogue: Catalogue) -> None:
    catalogue.describe([work("a"), work("b")])
    first, second = catalogue.works()
    catalogue.describe([work("a"), work("b", title="Pulleys")])
    same, other = catalogue.works()
    assert same == first
    assert other.changed_at > second.changed_at
    corrections(catalogue, {"work": first.id, "title": "Wheels"})
    corrected, still = catalogue.works()
    assert corrected.changed_at > other.changed_at
    assert still == other


def test_the_revision_grows_with_whatever_is_written(catalogue, opener):
    numbers = [catalogue.revision()]
    catalogue.describe([work("a")])
    numbers.append(catalogue.revision())
    (found,) = catalogue.works()
    corrections(catalogue, {"work": found.id, "title": "Wheels"})
    numbers.append(catalogue.revision())
    assert numbers == sorted(set(numbers))
    with opener() as other:
        assert other.revision() == numbers[-1]


def test_of_two_editors_at_once_neither_is_lost(catalogue, opener):
    catalogue.describe([work("a")])
    (found,) = catalogue.works()

    def correct(number: int) -> None:
        with opener() as own:
            for turn in range(4):
                field = ("title", "creator", "caption", "topic")[number]
                corrections(own, {"work": found.id, field: f"{field} {turn}"})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(correct, range(4)))
    (now,) = catalogue.works()
    assert now.corrected == ("caption", "creator", "title", "topic")
    assert (now.title, now.caption) == ("title 3", "caption 3")


def test_an_editor_says_licence_language_and_what_is_to_be_hidden(catalogue: Catalogue) -> None:
    catalogue.describe([work("a"), work("b")])
    first, second = (each.id for each in catalogue.works())
    corrections(
        catalogue,
        {"work": first, "licence": "CC-BY-SA-4.0", "languages": ["zh_cn"], "date": "2012-03"},
        {"work": second, "hidden": True},
    )
    (now,) = catalogue.works()
    assert now.languages == ("zh-CN",)
    assert now.licence.code == "CC-BY-SA-4.0"
    assert now.licence.evidence.source == "editor"
    assert catalogue.find(second).id == second


@each(
    "line, says",
    [("no json", "line 1"), ('{"title": "x"}', "id of a work"),
     ('{"work": "0", "tittle": "x"}', "no field 'tittle'"),
     ('{"work": "0", "level": "third form"}', "give one of kindergarten"),
     ('{"work": "0", "date": "yesterday"}', "YYYY-MM-DD"),
     ('{"work": "0", "licence": "do what you like"}', "CC-BY-SA-4.0"),
     ('{"work": "0", "languages": ["Klingonese"]}', "zh-CN"),
     ('{"work": "0", "title": 5}', "give a text"), ('{"work": "0", "title": "x"}', "no work '0'")],
)  # fmt: skip
def test_a_wrong_correction_is_named_and_nothing_changes(catalogue, line, says):
    catalogue.describe([work("a")])
    (found,) = catalogue.works()
    good = json.dumps({"work": found.id, "title": "Pulleys"})
    lines = [line] if says == "line 1" else [good, line]
    with pytest.raises(CollectionError, match=says):
        catalogue.correct(read_corrections(lines, "said.jsonl"))
    assert list(catalogue.works()) == [found]


def test_there_are_no_works_before_they_are_described(store: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="works describe"):
        open_catalogue(store, tmp_path / "crawl-media", create=False)


def test_marks_are_kept_changed_and_taken_back(store: str, tmp_path: Path) -> None:
    times = iter((1.0, 2.0, 3.0))
    with open_catalogue(store, tmp_path / "crawl-media") as catalogue:
        marks = Marks(catalogue, lambda: next(times))
        marks.put("fiddles", "http://h.test/a", is_good=True)
        marks.put("fiddles", "http://h.test/b", is_good=False)
        marks.put("drums", "http://h.test/a", is_good=False)
    with open_catalogue(store, tmp_path / "crawl-media") as catalogue:
        marks = Marks(catalogue)
        said = [(mark.url, mark.is_good) for mark in marks.of("fiddles")]
        assert said == [("http://h.test/b", False), ("http://h.test/a", True)]
        assert marks.of_page("http://h.test/a") == {"fiddles": True, "drums": False}
        marks.put("fiddles", "http://h.test/a", is_good=False)
        marks.put("drums", "http://h.test/a", is_good=None)
        assert marks.of_page("http://h.test/a") == {"fiddles": False}
        assert marks.topics() == ["fiddles"]


def test_suggestions_wait_until_they_are_decided_once(store, tmp_path, monkeypatch):
    times = iter(range(9))
    with open_catalogue(store, tmp_path / "crawl-media") as catalogue:
        assert Suggestions(catalogue).waiting() == []
        suggestions = Suggestions(catalogue, lambda: next(times))
        assert suggestions.put("optics", [("折射", "refraction"), ("lens",)], "Li") == 2
        assert suggestions.put("optics", [("Refraction", "折射"), ("prism",)]) == 1
        assert suggestions.put("drums", [("lens",)]) == 1
    with open_catalogue(store, tmp_path / "crawl-media", create=False) as catalogue:
        assert not catalogue.is_described
        suggestions = Suggestions(catalogue)
        waiting = suggestions.waiting()
        first = Suggestion("optics", ("折射", "refraction"), "Li", 0)
        assert waiting[0] == first
        others = [(one.topic, one.words[0]) for one in waiting[1:]]
        assert others == [("optics", "lens"), ("optics", "prism"), ("drums", "lens")]
        assert suggestions.decide(first.id, accepted=False) == replace(first, accepted=False)
        with pytest.raises(TopicError, match="already decided"):
            suggestions.decide(first.id, accepted=True)
        assert suggestions.put("optics", [first.words]) == 0
        assert suggestions.waiting() == waiting[1:]
        with pytest.raises(TopicError, match="3 suggestions are waiting"):
            suggestions.put("optics", [(f"lens{n}",) for n in range(1_000)])
        assert suggestions.waiting() == waiting[1:]

        monkeypatch.setattr("mmcrawl.works.collections.MOST_DECIDED", 1)
        suggestions.decide(waiting[1].id, accepted=True)
        assert suggestions.put("optics", [first.words, waiting[1].words]) == 1  # the older one
