"""Media that stand on most pages of a site belong to none of them."""

import pytest

from mmcrawl.frontier import BoilerplateMedia, open_store

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
