"""Changes of watched blocks, and the feed of them."""

import re
from dataclasses import replace
from math import inf
from time import process_time

import pytest
from lxml import etree

from mmcrawl.archive import (
    NO_ANSWER,
    Archive,
    Capture,
    Watch,
    WatchedChange,
    atom_feed,
    feed_title,
    watched_changes,
)
from mmcrawl.blocks import ElementSelector
from tests.archive.conftest import URL, lesson
from tests.databases import file_uri

uri = file_uri

OTHER = "http://physics.test/other.html"
EYE, CAMERA = "so does the eye.", "so do cameras."
ATOM = "{http://www.w3.org/2005/Atom}"
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)")


@pytest.fixture
def watched(archive: Archive) -> Archive:
    """Two pages: an advertisement changes at 2, the text at 3 and, on the other page, at 4."""
    archive.store(lesson(1))
    archive.store(lesson(2, advert="Buy mirrors"))
    archive.store(lesson(3, advert="Buy mirrors", text=CAMERA))
    archive.note_unchanged(URL, 3.5)
    archive.note_unchanged(URL, 3.6, NO_ANSWER)
    archive.store(lesson(1, url=OTHER))
    archive.store(lesson(4, url=OTHER, text=CAMERA))
    return archive


def found(archive: Archive, **watch: object) -> list[tuple[float, str]]:
    changes = watched_changes(archive, archive.changed_urls(), Watch(**watch))  # type: ignore[arg-type]
    return [(change.time, change.url) for change in changes]


def test_changes_of_all_pages_come_newest_first(watched: Archive) -> None:
    assert found(watched) == [(4, OTHER), (3, URL), (2, URL)]
    once = "http://physics.test/once.html"
    watched.store(lesson(5, url=once))
    assert {*watched.urls()} - {*watched.changed_urls()} == {once}


def test_blocks_of_other_kinds_are_not_watched(watched: Archive) -> None:
    assert found(watched, kinds={"topic"}) == [(4, OTHER), (3, URL)]
    assert found(watched, kinds={"advertisement"}) == [(2, URL)]
    assert found(watched, kinds={"title"}) == []


def test_words_outside_of_all_blocks_are_watched_as_one(watched: Archive) -> None:
    watched.store(lesson(5, advert="Buy mirrors", text=CAMERA, head="Lenses, 23 May"))
    assert found(watched, kinds={"layout"}) == [(5, URL)]
    assert found(watched)[0] == (5, URL)
    assert found(watched, selector=ElementSelector("title")) == []
    (change,) = watched_changes(watched, {URL: inf}, Watch(kinds={"layout"}))
    (layout,) = change.blocks
    assert (layout.kind, layout.change, layout.block.path) == ("layout", "changed", "")
    assert [word.text.strip() for word in layout.words if word.change == "added"] == [", 23 May"]
    feed = atom_feed([change], title="Changes", archive="a", browser="http://b.test/")
    assert b"layout changed" in feed


def test_a_selector_watches_the_blocks_that_its_elements_overlap(watched: Archive) -> None:
    assert found(watched, selector=ElementSelector("#main p")) == [(4, OTHER), (3, URL)]
    assert found(watched, selector=ElementSelector(".advert")) == [(2, URL)]
    assert found(watched, selector=ElementSelector("#main"), kinds={"title"}) == []


def test_a_selector_of_many_elements_is_asked_in_linear_time(archive: Archive) -> None:
    marks = "<p>" + 10_000 * "<i>x</i>"
    for day, word in enumerate(("lens", "lever"), start=1):
        rows = "".join(f"<div><p>{word} {n} is one of many.</p></div>" for n in range(1_000))
        archive.store(Capture(URL, f"<body>{marks}{rows}".encode(), day, content_type="text/html"))
    took = []
    for watch in (Watch(), Watch(selector=ElementSelector("i"))):
        began = process_time()
        changes = [*watched_changes(archive, {URL: inf}, watch)]
        took.append(process_time() - began)
        assert len(changes) == (watch.selector is None)
    assert took[1] < 3 * took[0] + 0.5


def test_an_answer_that_is_a_failure_is_no_change(archive: Archive) -> None:
    for time, status in ((1, 200), (2, 503), (3, 200)):
        text = CAMERA if status == 503 else EYE
        archive.store(lesson(time, status=status, text=text))
    assert found(archive) == []


def test_a_time_begins_with_its_first_moment_and_ends_before_its_last(watched: Archive) -> None:
    assert found(watched, since=3.0, until=4.0) == [(3, URL)]


def test_a_change_has_the_words_that_changed(watched: Archive) -> None:
    [change] = watched_changes(watched, {URL: inf}, Watch({"topic"}))
    assert (change.old.number, change.new.number) == (2, 3)
    [block] = change.blocks
    assert (block.change, block.kind) == ("changed", "topic")
    assert block.new.path.endswith("div/p")
    words = {word.change: word.text for word in block.words}
    assert ("does the eye" in words["removed"], "do cameras" in words["added"]) == (True, True)


def test_a_block_that_came_or_went_has_its_whole_text(archive: Archive) -> None:
    full = lesson(1)
    advert = full.body[full.body.index(b"<div class") : full.body.index(b"<p>Copyright")]
    archive.store(full)
    archive.store(replace(full, body=full.body.replace(advert, b""), time=2))
    archive.store(replace(full, time=3))
    added, removed = watched_changes(archive, {URL: inf}, Watch({"advertisement"}))
    for change, name in ((added, "added"), (removed, "removed")):
        [block] = change.blocks
        assert [(word.change, word.text) for word in block.words] == [
            (name, "Advertisement: Buy lenses now")
        ]
        assert block.change == name


def test_a_version_that_cannot_be_read_is_told_of_and_others_are_shown(
    watched: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = watched.page
    damaged = {URL: lambda one: one, OTHER: lambda one: replace(one, digest="00")}
    monkeypatch.setattr(watched, "page", lambda one: page(damaged[one.url](one)))
    said: list[str] = []
    changes = watched_changes(watched, watched.changed_urls(), Watch({"topic"}), failed=said.append)
    assert [change.url for change in changes] == [URL]
    assert len(said) == 1
    assert f"from version 1 to 2 of {OTHER} could not be determined" in said[0]


def feed(changes: list[WatchedChange], title: str = "Changes") -> etree._Element:
    written = atom_feed(
        changes, title=title, archive="a.db", browser="http://b.test/", own="http://b.test/w?a&b"
    )
    return etree.fromstring(written)


def texts(element: etree._Element, name: str) -> list[str]:
    return ["".join(each.itertext()) for each in element.findall(ATOM + name)]


def test_a_feed_has_what_atom_demands(watched: Archive) -> None:
    changes = [*watched_changes(watched, watched.changed_urls(), Watch())]
    root = feed(changes, feed_title("physics.test", "topic,title", "p > b"))
    assert texts(root, "title") == ["Changes: physics.test: topic,title: p > b"]
    entries = root.findall(ATOM + "entry")
    assert len(entries) == 3
    assert root.find(f"{ATOM}author/{ATOM}name").text == "mmcrawl"
    for element in (root, *entries):
        for name in ("id", "title", "updated"):
            assert len(texts(element, name)) == 1
        assert DATE.fullmatch(texts(element, "updated")[0])
        assert all(
            link.get("href").startswith("http://b.test/") for link in element.iter(f"{ATOM}link")
        )
    ids = [one.text for one in root.iter(f"{ATOM}id")]
    assert len({*ids}) == 4
    assert all(one.startswith("urn:uuid:") for one in ids)
    assert texts(root, "updated") == texts(entries[0], "updated") == ["1970-01-01T00:00:04+00:00"]
    assert [link.get("rel") for link in root.findall(f"{ATOM}link")] == ["alternate", "self"]
    [link] = entries[1].findall(f"{ATOM}link")
    assert link.get("href").endswith("diff?url=http%3A%2F%2Fphysics.test%2Flevers.html&old=2&new=3")
    [content] = entries[1].findall(f"{ATOM}content")
    assert content.get("type") == "text"
    assert "+ do cameras" in content.text.split("\n")


def test_an_entry_keeps_its_id_when_others_come(watched: Archive) -> None:
    def ids() -> list[str]:
        changes = [*watched_changes(watched, watched.changed_urls(), Watch({"topic"}))]
        return [entry.find(f"{ATOM}id").text for entry in feed(changes).iter(f"{ATOM}entry")]

    before = ids()
    for time, text in ((5, EYE), (6, CAMERA)):  # the same change again, at another time
        watched.store(lesson(time, advert="Buy mirrors", text=text))
    after = ids()
    assert after[2:] == before
    assert len({*after}) == len(after)


def test_words_of_pages_cannot_break_a_feed(archive: Archive) -> None:
    archive.store(lesson(1))
    archive.store(lesson(2, text="&lt;script&gt;alert(1)&lt;/script&gt; \x0b\x1b \u202e ]]&gt;"))
    root = feed([*watched_changes(archive, {URL: inf}, Watch())])
    (told,) = texts(root.find(f"{ATOM}entry"), "content")
    assert "<script>alert(1)</script>" in told
    assert not re.search("[\x0b\x1b\u202e]", told)
