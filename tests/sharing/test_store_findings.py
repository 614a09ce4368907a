"""Media pages and patterns, as people read them from the database."""

from __future__ import annotations

import logging
import random

import pytest

from mmcrawl.frontier import (
    Findings,
    MediaPageRecord,
    PatternRecord,
    open_store,
)
from mmcrawl.page.model import MediaResource


def page(url, score=0.5, *resources, title="t"):
    media = tuple(MediaResource(f"http://m/{r}", r.split(".")[1], "a", r) for r in resources)
    return MediaPageRecord(url, title, score, ("光", "optics"), 200, 1.5, media)


def test_media_pages_are_those_of_a_single_process(stores):
    store = open_store("memory:")
    findings = Findings(store, store.job("j", {}))
    kinds = ("audio", "video", "animation")
    pages = []
    for number in range(60):
        dice = random.Random(number)
        media = sorted({f"{dice.randrange(9)}.{dice.choice(kinds)}" for _ in range(3)})
        pages.append(page(f"http://a/{number}", dice.randrange(5) / 4, *media))
    for one in pages:
        findings.add_media_page(one)
    for url in ("http://a/3", "http://a/4"):
        findings.drop_media_page(url)
    stores[0].publish(pages[:40], [], 1)
    stores[0].publish(pages[40:], ["http://a/3", "http://a/4"], 2)
    assert list(stores[1].media_pages()) == list(findings.media_pages())
    store.close()


def test_what_was_published_later_stays(stores):
    old, new = page("http://a/", title="old"), page("http://a/", 0.5, "1.video", title="new")
    stores[0].publish([new], ["http://b/"], 7)
    stores[1].publish([old, page("http://b/")], [], 6)
    stores[1].publish([], ["http://a/"], 5)
    assert list(stores[2].media_pages()) == [new]
    stores[1].publish([old], [], 7)
    assert list(stores[2].media_pages()) == [old]
    stores[1].publish([page("http://b/")], ["http://a/"], 8)
    assert [one.url for one in stores[2].media_pages()] == ["http://b/"]
    stores[1].publish([], [], 9)


def test_pages_go_on_behind_the_last_one_when_answers_are_small(stores, monkeypatch):
    monkeypatch.setattr("mmcrawl.sharing.server._MANY", 2)
    pages = [page(f"http://a/{n}", random.Random(n).randrange(3) / 2) for n in range(11)]
    stores[0].publish(pages, [], 1)
    expected = sorted(pages, key=lambda one: (-one.topic_score, one.url))
    assert list(stores[1].media_pages()) == expected


def test_a_page_with_too_many_media_is_cut_and_told(shared, caplog):
    media = tuple(MediaResource(f"http://m/{n}", "audio", "a", "x" * 1_000) for n in range(20_000))
    with caplog.at_level(logging.WARNING):
        shared.publish([page("http://a/").with_resources(media)], [], 1)
    (found,) = shared.media_pages()
    assert 1_000 < len(found.resources) < 20_000
    assert found.resources == media[: len(found.resources)]
    assert f"Of the 20000 media of http://a/, {len(found.resources)} are published" in caplog.text


def test_patterns_are_replaced(stores):
    assert stores[0].patterns() == []
    few = [
        PatternRecord("h", "a*", 1, 2, 1),
        PatternRecord("h", "c*", 5, 2, 1),
        PatternRecord("h", "b*", 5, 2, 1),
    ]
    stores[0].publish_patterns([PatternRecord("h", "z*", 9, 2, 1)])
    stores[1].publish_patterns(few)
    assert [(one.pattern, one.urls) for one in stores[2].patterns()] == [
        ("b*", 5),
        ("c*", 5),
        ("a*", 1),
    ]


def test_many_patterns(shared):
    many = [PatternRecord(f"http://{n}", f"http://{n}/*", n, 2, 1) for n in range(100_000, 0, -1)]
    shared.publish_patterns(many)
    assert shared.patterns() == many


@pytest.mark.parametrize("url", ["http://é/", "http://a/" + "x" * 5_000])
def test_unusual_urls(shared, url):
    shared.publish([page(url)], [], 1)
    shared.publish([page(url, title="new")], [], 2)
    assert [(one.url, one.title) for one in shared.media_pages()] == [(url, "new")]
