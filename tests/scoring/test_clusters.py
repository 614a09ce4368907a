"""How the media pages of a site become patterns."""

from mmcrawl.scoring import SitePatterns, url_parts
from tests.tables import each


def parts(path):
    return url_parts(f"http://h/{path}")


def learn(*paths, near=5, m=3):
    """Return what was learnt from media pages, and after which of them something was."""
    site = SitePatterns(near, m)
    return site, [path for path in paths if site.add(parts(path))]


def live(site):
    return {str(learnt.pattern): learnt.urls for learnt in site.learnt if learnt.urls}


@each("m, near", [(1, 5), (3, 5), (3, 4)])
def test_a_cluster_of_more_than_m_pages_nearer_than_near_yields_a_pattern(m, near):
    paths = [f"v/{n}" for n in range(m + 2)]  # at distance 4
    site, told = learn(*paths, near=near, m=m)
    assert told == [f"v/{m}"] * (near > 4)
    assert live(site) == ({"http://h/v/*": m + 2} if near > 4 else {})


def test_any_two_pages_of_a_cluster_are_near_each_other():
    site, _ = learn("a/1", "a/2", "b/2", "b/3")  # a chain of fours, whose ends are eight apart
    assert live(site) == {}
    site, _ = learn("a/1", "a/2", "b/2", "b/3", near=9)
    assert live(site) == {"http://h/*/*": 4}


def test_pages_with_other_query_keys_stay_apart():
    site, _ = learn("c?id=1", "c?id=2", "c?no=1", "c?no=2", m=1)
    assert live(site) == {"http://h/c?id=*": 2, "http://h/c?no=*": 2}


def test_the_same_page_counts_once():
    site, told = learn("v/1", "v/1", "v/1", "v/1", "v/1")
    assert (live(site), told) == ({}, [])


def test_a_url_takes_the_pattern_that_generalises_most_urls():
    site, _ = learn("a/2", "b/1", "a/1", "c/1", m=1)
    assert live(site) == {"http://h/a/*": 2, "http://h/*/1": 3}
    assert str(site.learnt[site.best(parts("a/1"))].pattern) == "http://h/*/1"
    assert str(site.learnt[site.best(parts("a/9"))].pattern) == "http://h/a/*"
    assert site.best(parts("z/9")) is None
    alike, _ = learn("a/2", "b/1", "a/1", m=1)  # of two alike, the older
    assert live(alike) == {"http://h/a/*": 2, "http://h/*/1": 2}
    assert str(alike.learnt[alike.best(parts("a/1"))].pattern) == "http://h/a/*"


def test_distance_is_that_to_the_nearest_pattern():
    site, _ = learn("v/1", "v/2", "film?id=1", "film?id=2", m=1)
    assert site.distance(parts("v/9")) == 0
    assert site.distance(parts("w/9")) == 4
    assert site.distance(parts("film?no=1")) == 1
    assert SitePatterns(5, 3).distance(parts("v/9")) is None
    assert site.distance(url_parts("http://i/v/9")) is None


def test_what_is_removed_is_forgotten_and_its_pattern_retired():
    site, _ = learn("v/1", "v/2", "v/3", "v/4", "w/1", "w/2", "w/3", "w/4")
    index = site.best(parts("w/9"))
    site.remove([parts("v/2"), parts("never/seen")])
    assert live(site) == {"http://h/w/*": 4}
    assert (site.best(parts("v/9")), site.best(parts("w/9"))) == (None, index)
    assert site.distance(parts("v/9")) == 4  # to the pattern that is left
    assert site.add(parts("v/2"))
    assert live(site) == {"http://h/v/*": 4, "http://h/w/*": 4}
    assert len(site.learnt) == 2


def test_a_retired_pattern_loses_its_pages_from_its_rate():
    site, _ = learn("v/1", "v/2", "v/3", "v/4")
    [pattern] = site.learnt
    assert pattern.rate == 5 / 6  # Laplace's rule on 4 of 4
    site.remove([parts("v/1"), parts("v/2"), parts("v/3")])
    assert (pattern.crawled, pattern.relevant) == (4, 1)
    site.remove([parts("v/1"), parts("v/4")])
    assert (pattern.crawled, pattern.relevant) == (4, 0)


def test_a_site_without_order_keeps_the_work_per_page_bounded():
    site = SitePatterns(5, 3)
    for n in range(600):
        site.add(parts(f"d{n}/e{n}/f{n}"))
    assert live(site) == {}
    assert len(site._clusters) <= 257
    for n in range(4):
        site.add(parts(f"v/{n}"))
    assert live(site) == {"http://h/v/*": 4}
