"""The index of a collection, in a file and in a database."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from mmcrawl.errors import StoreError
from mmcrawl.media import MediaFile, MediaIndex, State

NOW, LATER, MUCH_LATER = 1_000.0, 1_060.0, 2_000.0


def media(*paths: str, host: str = "http://h.test") -> list[MediaFile]:
    return [MediaFile(f"{host}/{path}", "video", added_at=NOW) for path in paths]


def urls(files: list[MediaFile]) -> list[str]:
    return [file.url.rpartition("/")[2] for file in files]


def held(file: MediaFile, digest: str, size: int) -> MediaFile:
    return replace(file, state=State.HELD, digest=digest, size=size)


def settle(index: MediaIndex, file: MediaFile, owner: str) -> bool:
    return index.settle([file], owner) == 1


def test_an_address_is_noted_once_and_keeps_its_record(index: MediaIndex) -> None:
    assert index.add(media("a", "b", "a")) == 2
    [first] = index.take("me", NOW, LATER, 1)
    assert settle(index, held(first, "d1", 5), "me")
    assert index.add(media("b", "a", "c")) == 1
    assert urls(list(index.files())) == ["a", "b", "c"]
    assert urls(list(index.files([State.HELD]))) == ["a"]
    found = index.find("http://h.test/a")
    assert found == replace(first, state=State.HELD, digest="d1", size=5, owner="", lease_until=0.0)
    assert index.find("http://h.test/none") is None


def test_what_one_has_taken_no_other_can_take_or_settle(index: MediaIndex) -> None:
    index.add(media("a", "b", "c"))
    mine = index.take("me", NOW, LATER, 2)
    assert urls(mine) == ["a", "b"]
    assert [(file.state, file.owner, file.tries) for file in mine] == [(State.TAKEN, "me", 1)] * 2
    assert urls(index.take("other", NOW, LATER, 9)) == ["c"]
    assert index.take("third", NOW, LATER, 9) == []
    assert not settle(index, held(mine[0], "d", 1), "other")
    assert index.owners() == {"me", "other"}
    assert settle(index, held(mine[0], "d", 1), "me")
    assert not settle(index, held(mine[0], "e", 1), "me")
    assert [file.digest for file in index.files([State.HELD])] == ["d"]


def test_many_are_settled_together_but_for_those_of_others(index: MediaIndex) -> None:
    index.add(media(*map(str, range(50))))
    mine, theirs = index.take("me", NOW, LATER, 45), index.take("other", NOW, LATER, 9)
    failed = [replace(file, state=State.FAILED, reason="no") for file in (*mine, *theirs)]
    assert index.settle(failed, "me") == 45
    assert index.owners() == {"other"}
    assert index.settle([], "me") == 0


def test_a_lease_that_ran_out_goes_to_another_and_a_renewed_one_does_not(index: MediaIndex) -> None:
    index.add(media("a"))
    [mine] = index.take("me", NOW, LATER, 1)
    index.renew("me", LATER + 100)
    assert index.take("other", LATER + 50, MUCH_LATER, 1) == []
    [theirs] = index.take("other", LATER + 101, MUCH_LATER, 1)
    assert (theirs.owner, theirs.tries) == ("other", 2)
    assert not settle(index, held(mine, "late", 1), "me")
    assert settle(index, held(theirs, "right", 1), "other")
    assert [file.digest for file in index.files()] == ["right"]


def test_those_of_a_living_process_do_not_hide_those_of_a_dead_one(index: MediaIndex) -> None:
    index.add(media("a", "b", "c"))
    for owner, count in {"alive": 2, "dead": 1}.items():
        index.take(owner, NOW, LATER, count)
    late = index.take("me", LATER + 1, MUCH_LATER, 1, lives=lambda owner: owner == "alive")
    assert urls(late) == ["c"]


def test_those_of_busy_hosts_wait_and_what_is_given_back_waits_again(index: MediaIndex) -> None:
    index.add([*media("a", "b"), *media("c", host="http://k.test:81")])
    assert urls(index.take("me", NOW, LATER, 9, busy={"h.test"})) == ["c"]
    assert urls(index.take("me", NOW, LATER, 9, busy={"k.test"})) == ["a", "b"]
    index.give_back("me")
    assert index.owners() == set()
    assert urls(index.take("other", NOW, LATER, 9)) == ["a", "b", "c"]


def test_those_that_failed_can_be_asked_for_again(index: MediaIndex) -> None:
    index.add(media("a", "b", "c"))
    one, two, three = index.take("me", NOW, LATER, 3)
    settle(index, replace(one, state=State.FAILED, reason="HTTP 404"), "me")
    settle(index, replace(two, state=State.SKIPPED, reason="too large"), "me")
    settle(index, held(three, "d", 1), "me")
    assert index.again([State.FAILED]) == 1
    assert urls(index.take("me", NOW, LATER, 9)) == ["a"]
    assert index.again([State.FAILED, State.SKIPPED]) == 1


def test_the_summary_counts_equal_files_once(index: MediaIndex) -> None:
    index.add(media("a", "b", "c", "d", "e", "f"))
    taken = index.take("me", NOW, LATER, 5)
    for file, digest, size in zip(taken, ("x", "x", "y"), (10, 10, 7), strict=False):
        settle(index, held(file, digest, size), "me")
    settle(index, replace(taken[3], state=State.FAILED, reason="HTTP 404"), "me")
    summary = index.summary()
    assert summary.addresses == {State.HELD: 3, State.FAILED: 1, State.TAKEN: 1, State.WAITING: 1}
    assert summary.held == {"video": 2}
    assert summary.held_bytes == {"video": 17}
    assert summary.reasons == {"HTTP 404": 1}


def test_many_who_take_at_once_take_each_address_once(store, index, tmp_path):
    index.add(media(*map(str, range(60))))
    taken: dict[str, list[str]] = {}

    def take(owner: str) -> None:
        with MediaIndex(store, tmp_path / "crawl-media") as own:
            taken[owner] = []
            while some := own.take(owner, NOW, LATER, 7):
                taken[owner] += urls(some)

    threads = [threading.Thread(target=take, args=(f"o{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = [path for paths in taken.values() for path in paths]
    assert sorted(together, key=int) == list(map(str, range(60)))


def test_what_a_cursor_meets_twice_or_as_others_made_it_is_taken_once(index, monkeypatch):
    index.add(media("a", "b", "c"))
    once = index._store.range

    def disturbed(*given, **more):
        found = [row for row in once(*given, **more) for _ in range(2)]
        return [
            (url, row | {"state": "taken", "lease_until": LATER}) if "/c" in url else (url, row)
            for url, row in found
        ]

    monkeypatch.setattr(index._store, "range", disturbed)
    assert urls(index.take("me", NOW, LATER, 9)) == ["a", "b"]


def test_there_is_no_collection_where_none_was_begun(store: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no collection .* begins one"):
        MediaIndex(store, tmp_path / "crawl-media", create=False)
