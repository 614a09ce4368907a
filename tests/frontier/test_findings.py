"""Media pages, their resources and learnt patterns, kept with the crawl."""

from dataclasses import replace

import pytest

from mmcrawl.frontier import (
    BarrenDirectory,
    BoilerplateMedia,
    Findings,
    MediaPageRecord,
    PatternRecord,
    barren_directories,
    open_store,
)
from mmcrawl.page import MediaResource

LEVER = MediaResource("http://h.test/lever.swf", "animation", "embed", "杠杆")
SONG = MediaResource("http://h.test/song.mp3", "audio", "a", "")
FILM = MediaResource("http://h.test/film.webm", "video", "source", "film", ("http://h.test/f.mp4",))


def media_page(path, *resources, score=0.5, words=("光", "kinetic energy")):
    return MediaPageRecord(f"http://h.test/{path}", "题", score, words, 200, 1.5, resources)


def counts(**known):
    return dict.fromkeys(("pages", "audio", "video", "animation", "simulation"), 0) | known


@pytest.fixture
def findings(store):
    return Findings(store, store.job("crawl", {}))


def test_a_page_kept_again_takes_the_place_of_the_former(findings):
    findings.add_media_page(media_page("a", LEVER, SONG))
    findings.add_media_page(media_page("a", SONG, FILM, score=0.75))
    assert list(findings.media_pages()) == [media_page("a", SONG, FILM, score=0.75)]
    assert findings.pages_showing([LEVER.url]) == []


def test_the_best_pages_come_first(findings):
    for path, score in (("b", 0.6), ("low", 0.5), ("a", 0.6), ("top", 0.9)):
        findings.add_media_page(media_page(path, score=score))
    paths = [page.url.rpartition("/")[2] for page in findings.media_pages()]
    assert paths == ["top", "a", "b", "low"]
    assert [page.topic_score for page in findings.best(2)] == [0.9, 0.6]


def test_lists_of_what_other_pages_show_are_not_among_the_best(findings):
    pages = (media_page("all", LEVER, SONG, FILM), media_page("1", LEVER), media_page("2", SONG))
    for page in pages:
        findings.add_media_page(page)
    assert findings.best(3) == [pages[1], pages[2], pages[0]]  # it alone shows the film
    findings.add_media_page(media_page("3", FILM))
    assert [page.url[-1] for page in findings.best(3)] == ["1", "2", "3"]


def test_pages_are_found_by_what_they_show(findings):
    one, two = media_page("1", LEVER, SONG), media_page("2", SONG)
    for page in (one, two, media_page("3", FILM)):
        findings.add_media_page(page)
    assert findings.pages_showing([LEVER.url]) == [one]
    assert findings.pages_showing([SONG.url, LEVER.url]) == [one, two]
    assert findings.pages_showing(["http://h.test/other.mp3"]) == []


def test_media_are_new_that_no_media_page_shows_under_any_address(findings):
    assert findings.count_new([LEVER, SONG, LEVER]) == 2
    findings.add_media_page(media_page("1", LEVER))
    secure = replace(LEVER, url=LEVER.url.replace("http:", "https:"))
    assert findings.count_new([secure, SONG]) == 1
    findings.drop_media_page("http://h.test/1")
    assert findings.count_new([secure, SONG]) == 2


def test_a_page_dropped_is_gone_with_its_resources(findings):
    findings.add_media_page(media_page("1", LEVER, SONG))
    findings.add_media_page(media_page("2", SONG))
    assert findings.counts() == counts(pages=2, audio=1, animation=1)  # each resource once
    findings.drop_media_page("http://h.test/1")
    findings.drop_media_page("http://h.test/never")
    assert list(findings.media_pages()) == [media_page("2", SONG)]
    assert findings.counts() == counts(pages=1, audio=1)


def test_patterns_take_the_place_of_the_former_ones(findings):
    findings.keep_patterns([PatternRecord("h.test", "http://h.test/old/*", 4, 3, 1)])
    new = [
        PatternRecord("h.test", "http://h.test/b/*", 4, 3, 1),
        PatternRecord("h.test", "http://h.test/c/*", 9, 3, 1),
        PatternRecord("h.test", "http://h.test/a/*", 4, 3, 1),
    ]
    findings.keep_patterns(new)
    assert findings.patterns() == [new[1], new[2], new[0]]
    findings.keep_patterns([])
    assert findings.patterns() == []


def test_parts_that_take_many_pages_for_nothing_are_named_by_the_rule_that_ends_them():
    forum = [(f"http://a.test/luntan/show.asp?sid={n}", False) for n in range(187)]
    lessons = [(f"http://a.test/wuli/{n}.htm", n == 5) for n in range(90)]
    few = [(f"http://a.test/few/{n}.htm", False) for n in range(19)]
    count = len(forum + lessons + few)
    assert barren_directories([*few, *forum, *lessons]) == [
        BarrenDirectory("http://a.test/luntan/** never", 187, count)
    ]
    script = [(url.replace("luntan/", ""), is_good) for url, is_good in forum]
    assert [one.rule for one in barren_directories(script)] == ["http://a.test/show.asp?** never"]
    assert not barren_directories(few)


H = "http://h.test"
NAV = f"{H}/clouds.swf"


@pytest.fixture
def boilerplate(store):
    return BoilerplateMedia(store, store.job("crawl", {}))


def see(boilerplate, *pages):
    """Count pages given as (path, resources); return what each made known as site-wide."""
    return [boilerplate.add(H + path, resources) for path, *resources in pages]


def test_a_resource_on_five_pages_and_most_of_the_site_is_site_wide(boilerplate):
    found = see(boilerplate, *[(f"/{n}", NAV, f"{H}/{n}.mp3") for n in range(5)])
    assert found == [[], [], [], [], [NAV]]
    assert NAV in boilerplate
    assert f"{H}/0.mp3" not in boilerplate


def test_half_of_the_pages_is_not_most_and_a_part_of_a_site_has_its_own_frame(boilerplate):
    see(boilerplate, *[(f"/other{n}",) for n in range(5)])
    found = see(boilerplate, *[(f"/{n}", NAV) for n in range(6)])
    assert found == [[], [], [], [], [], [NAV]]  # 5 of 10, then 6 of 11
    frame = f"{H}/frame.swf"
    assert see(boilerplate, *[(f"/club/{n}", frame) for n in range(5)])[-1] == [frame]


def test_a_song_that_the_pages_of_a_deep_directory_repeat_is_not_site_wide(boilerplate):
    song = f"{H}/song.mp3"
    see(boilerplate, *[(f"/{year}/",) for year in range(2000, 2020)])
    see(boilerplate, *[(f"/2019/{n}.htm",) for n in range(20)])
    pages = [f"{H}/2019/05/{n}.htm" for n in range(9)]
    assert [boilerplate.add(page, [song, NAV], {NAV}) for page in pages] == [
        [], [], [], [], [NAV], [], [], [], [],
    ]  # fmt: skip
    assert song not in boilerplate


def test_hosts_are_counted_apart(boilerplate):
    see(boilerplate, *[(f"/{n}", NAV) for n in range(4)])
    assert boilerplate.add("http://i.test/", [NAV]) == []
    assert boilerplate.add(f"{H}/4", [NAV]) == [NAV]


def test_what_was_found_is_told_once_and_stays(boilerplate):
    see(boilerplate, *[(f"/{n}", NAV) for n in range(5)])
    assert see(boilerplate, *[(f"/{n}",) for n in range(5, 50)], ("/50", NAV)) == [[]] * 46
    assert NAV in boilerplate


def test_a_resource_counts_once_for_a_page_in_every_section_of_it(boilerplate):
    assert boilerplate.add(f"{H}/a/0", iter([NAV, NAV, NAV, NAV, NAV])) == []
    see(boilerplate, *[("/x",)] * 6)
    found = [boilerplate.add(f"{H}/a/{n}", iter([NAV])) for n in range(1, 5)]
    assert found == [[], [], [], [NAV]]  # by section /a/, of which an iterator must reach


def test_counts_and_finds_are_there_after_resuming(tmp_path):
    uri = f"sqlite:///{tmp_path}/crawl.db"
    for pages, expected in ((range(4), [[]] * 4), (range(4, 5), [[NAV]]), (range(5, 6), [[]])):
        with open_store(uri) as store:
            boilerplate = BoilerplateMedia(store, store.job("crawl", {}))
            assert see(boilerplate, *[(f"/{n}", NAV) for n in pages]) == expected
            store.commit()
    with open_store(uri) as store:
        assert NAV in BoilerplateMedia(store, store.job("crawl", {}))
        assert NAV not in BoilerplateMedia(store, store.job("other", {}))
