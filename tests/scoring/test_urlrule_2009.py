"""Chapter 4 of the thesis as printed: probing (4.2), then nothing but what matches a pattern."""

from collections import Counter

import pytest

from mmcrawl.frontier import HELD, PatternRecord
from mmcrawl.scoring import layer_of

VIDEOS = [f"/v/{n}" for n in range(20)]
NEWS = [f"/n/{n}" for n in range(20)]


def is_video(url):
    return url.startswith("/v/")


def deep(layer, count, name="p"):
    return [f"{'/d' * (layer - 2)}/{name}{n}" for n in range(count)]


def layers(made):
    return dict(sorted(Counter(layer_of(url) for url in made.fetched).items()))


@pytest.fixture
def crawl(made_up_crawl):
    """Make a crawl from `/`, which leads to `/list` and that to all the pages named."""

    def make(*links, relevant=is_video, web=(), **parameters):
        pages = {"/": ["/list"], "/list": links, **dict(web)}
        crawl = made_up_crawl("urlrule-2009", pages, relevant, **parameters)
        crawl.seed("/")
        return crawl

    return make


def test_probing_takes_num_n_pages_of_layer_n_down_to_the_tenth(crawl):
    made = crawl(*(link for layer in range(2, 13) for link in deep(layer, 20)), num2=2)
    made.run()
    wanted = {n: 2 * (n - 1) for n in range(2, 11)}
    assert layers(made) == {1: 1, **wanted}  # the seed; /list is one of layer 2
    assert set(made.scores().values()) == {HELD}


def test_probing_is_breadth_first_whatever_words_and_patterns_say(crawl):
    links = [*NEWS, *VIDEOS, "/v/w/1"]
    made = crawl(*links, num2=50)
    made.content = lambda url: float(url in VIDEOS[5:])
    assert made.run() == ["/", "/list", *links]


def test_all_links_of_the_seed_page_are_probed(made_up_crawl):
    web = {"/": deep(5, 40), deep(5, 1)[0]: deep(6, 40)}
    made = made_up_crawl("urlrule-2009", web, num2=3)
    made.seed("/")
    made.run()
    assert layers(made) == {1: 1, 5: 40, 6: 15}


def test_a_redirect_of_the_seed_leads_to_the_page_probing_begins_at(made_up_crawl):
    for home in ("/index.html", "http://www.h.test/"):
        made = made_up_crawl("urlrule-2009", {home: deep(5, 40), "/d/d/d/d/p0": []}, num2=3)
        made.seed("/")
        made.redirect(made.start()[0], home)
        assert made.run() == [home, *deep(5, 40)] if home[0] == "/" else [home, *deep(5, 12)]


def test_a_site_found_on_another_begins_at_the_page_it_was_found_by(crawl):
    far = [f"http://i.test{path}" for path in deep(12, 20)]
    made = crawl(*far, web={far[0]: far[:5]})
    assert made.run() == ["/", "/list", *far[:5]]


def test_probes_under_way_count_against_the_numbers(crawl):
    made = crawl(*deep(3, 30), num2=4)
    made.run(2)
    under_way = list(iter(made.start, None))
    assert len(under_way) == 8
    made.fail(under_way[0][0])
    for taken in under_way[1:]:
        made.finish(*taken)
        assert made.frontier.ready == 0


def test_a_probe_that_leads_to_a_known_page_is_given_back(crawl):
    made = crawl(*deep(3, 30), num2=1)
    made.run(2)
    link, _ = made.start()
    made.frontier.leave(link, "known")
    made.apply(made.scorer.repeated(link))
    assert made.run() == deep(3, 3)[1:]


def test_when_probing_is_over_links_that_match_are_fetched_and_no_others(crawl):
    links = [f"/a{url}" for pair in zip(NEWS, VIDEOS, strict=True) for url in pair]
    made = crawl(*links, num2=4, relevant=lambda url: url.startswith("/a/v"))
    probed = made.run(14)
    assert probed == ["/", "/list", *links[:12]]
    assert sorted(made.run()) == sorted(url for url in links[12:] if "/v/" in url)
    assert made.scores() == dict.fromkeys((url for url in links[12:] if "/n/" in url), HELD)
    assert made.scorer.patterns() == [
        PatternRecord("h.test", "http://h.test/a/v/*/**", 6, len(VIDEOS), 0)
    ]


def test_the_last_probe_that_fails_ends_probing_too(crawl):
    links = [f"/a{url}" for url in VIDEOS]
    made = crawl(*links, num2=2, m=2, relevant=lambda url: url.startswith("/a/v"))
    made.run(7)
    made.fail(made.start()[0])
    assert sorted(made.run()) == sorted(links[6:])


def test_no_pattern_is_learnt_in_guided_search(crawl):
    links = [f"/a{url}" for url in VIDEOS]
    new = [f"/a/v/9?id={n}" for n in range(8)]  # near what matches, but with a query
    made = crawl(*links, num2=2, relevant=lambda url: True, web={links[9]: new})
    made.run()
    assert [pattern.pattern for pattern in made.scorer.patterns()] == ["http://h.test/a/v/*/**"]
    assert made.scores() == dict.fromkeys(new, HELD)


def test_sites_without_a_pattern_are_told_and_what_to_do(crawl):
    hosts = [f"http://{name}.test/" for name in "abcdefg"]
    made = crawl(*deep(3, 40), *hosts)
    made.run(1)
    assert made.scorer.remarks() == []
    made.run()
    [remark] = made.scorer.remarks()
    assert "No pattern was learnt on h.test, a.test, b.test, c.test, d.test and 3 more" in remark
    assert all(what in remark for what in ("num2", "smaller m", "algo=urlrule"))
    with_pattern = crawl(*VIDEOS)
    with_pattern.run()
    assert with_pattern.scorer.remarks() == []
