"""Which new versions count as changes of a page: by the kinds of the blocks whose words differ."""

from math import inf

import pytest

from mmcrawl.archive import (
    COUNTED,
    DAY,
    Archive,
    Capture,
    RevisitRules,
    Watch,
    due,
    open_archive,
    watched_changes,
)
from mmcrawl.archive import archive as module
from tests.archive.conftest import URL, lesson
from tests.databases import file_uri

uri = file_uri

PAIR = (1, 2)
LATER = 100 * DAY


def kinds_between(archive: Archive, *captures: object) -> set[str]:
    for capture in captures:
        assert archive.store(capture).version is not None  # type: ignore[arg-type]
    return set(archive.changed_kinds(URL, [PAIR])[PAIR])


@pytest.mark.parametrize(
    ("what", "kinds"),
    [
        ({"advert": "Buy mirrors"}, {"advertisement"}),
        ({"text": "so do cameras."}, {"topic", "main-text"}),
        (
            {"text": "so do cameras.", "advert": "Buy mirrors"},
            {"topic", "main-text", "advertisement"},
        ),
        ({"nav": '<a href="/c">Games</a>'}, {"navigation"}),
        ({"head": "Lenses, 23 May"}, {"layout"}),  # it stands in no block
        ({"head": "Lenses, 23 May", "text": "so do cameras."}, {"layout", "topic", "main-text"}),
        ({"style": "wide"}, set()),  # of the markup alone
        ({"status": 404}, {"body"}),
    ],
)
def test_a_change_is_of_the_kinds_of_blocks_whose_words_differ(archive, what, kinds):
    assert kinds_between(archive, lesson(0), lesson(1, **what)) == kinds  # type: ignore[arg-type]


def test_a_block_that_only_moved_is_no_change(archive: Archive) -> None:
    capture = lesson(0)
    advert = capture.body[capture.body.index(b"<div class") : capture.body.index(b"<p>Copy")]
    body = capture.body.replace(advert, b"").replace(b"<ul>", advert + b"<ul>")
    moved = type(capture)(URL, body, 1, headers=capture.headers)
    assert kinds_between(archive, capture, moved) == set()


def rotating(archive: Archive, days: int = 8) -> None:
    """Store a page that is visited daily: its advertisement is another each time, its text once."""
    for day in range(days):
        text = "so does the eye." if day < 5 else "so do cameras."
        archive.store(lesson(day * DAY, advert=f"Buy lens number {day}", text=text))


def test_an_advertisement_that_rotates_does_not_bring_a_page_sooner(archive: Archive) -> None:
    rotating(archive)
    (by_block,) = due(archive, LATER)
    assert by_block.why.startswith("Changed at 1 of 7 visits, at 6 more in nothing that counts")
    (by_byte,) = due(archive, LATER, RevisitRules(kinds=None))
    assert by_byte.why.startswith("Changed at 7 of 7 visits, ")
    assert by_byte.next_visit < by_block.next_visit
    (of_adverts,) = due(archive, LATER, RevisitRules(kinds=frozenset({"advertisement"})))
    assert of_adverts == by_byte
    between = (by_byte.next_visit + by_block.next_visit) / 2
    assert due(archive, between) == []


ARTICLE = """<!DOCTYPE html><html lang="en"><head><title>Lenses</title></head><body>
<div id="nav"><a href="/">Home</a> <a href="/a">Lessons</a></div>
<div id="main"><h1>How lenses bend light</h1>
<p>A lens bends light towards its axis, and the image stands where the rays meet again, upside down
and smaller than the thing itself, as everybody has seen who held a glass between sun and paper.</p>
<p>{text} Spectacles are older than telescopes by three hundred years, and nobody knows who was the
first to wear them, although the town of Pisa and its neighbours have claimed it often enough.</p>
</div>
<div id="more"><h2>More on lenses</h2><ul><li><a href="/l/{n}">Lenses of crystal, part {n}</a></li>
<li><a href="/m/{n}">Lenses of water, part {n}</a></li><li><a href="/t/{n}">How telescopes are made,
part {n}</a></li></ul></div></body></html>"""


def article(day: int, text: str = "Crystal was first.") -> Capture:
    body = ARTICLE.format(text=text, n=day).encode()
    return Capture(URL, body, day * DAY, headers=(("Content-Type", "text/html; charset=utf-8"),))


def test_links_that_rotate_beside_an_article_are_no_change_of_it(archive: Archive) -> None:
    for day in range(5):
        text = "Glass came later." if day == 4 else "Crystal was first."
        assert archive.store(article(day, text)).version is not None
    changed = archive.changed_kinds(URL, [(1, 2), (4, 5)])
    assert "related-links" in changed[1, 2]
    assert "main-text" not in changed[1, 2]
    assert "main-text" in changed[4, 5]
    (found,) = due(archive, LATER)
    assert found.why.startswith("Changed at 1 of 4 visits, at 3 more in nothing that counts")
    (seen,) = watched_changes(archive, {URL: inf}, Watch(COUNTED))
    assert {block.kind for block in seen.blocks} >= {"topic", "related-links"}
    assert len([*watched_changes(archive, {URL: inf}, Watch({"related-links"}))]) == 4


def test_what_changed_is_found_once(archive, uri, monkeypatch):
    rotating(archive)
    with open_archive(uri, read_only=True) as reader:
        before = due(reader, LATER)  # notes nothing
    asked: list[object] = []
    compare = module.difference
    monkeypatch.setattr(module, "difference", lambda *two: asked.append(two) or compare(*two))
    assert due(archive, LATER) == before
    assert len(asked) == 7
    with open_archive(uri, read_only=True) as reader:
        assert due(reader, LATER) == before
    archive.store(lesson(8 * DAY, advert="Buy no lens"))
    due(archive, LATER)
    assert len(asked) == 8
