"""New patterns are measured against all links that wait: the same as one by one, and cheaply."""

from collections import Counter
from random import Random

import pytest

from mmcrawl.scoring import NO_PATTERN, Links, LinkSimilarity, UrlRule, url_parts, urlrule
from tests.scoring.conftest import OPTICS


class OneByOne(Links):
    """Measures every waiting link against every pattern, whatever has changed."""

    def __init__(self, source):
        super().__init__()
        self.source = source

    def measure_all(self, site):
        for link in self.waiting(site).tolist():
            url = url_parts(self.source.known(link).url)
            best, gap = site.patterns.best(url), site.patterns.distance(url)
            self.pattern[link] = NO_PATTERN if best is None else best
            self.distance[link] = 1 if gap is None else max(gap, 1)


def crossing_site(dice):
    """Return links by page; directories, names and queries cross so that patterns overlap."""
    one, two, number = ("a", "b", "c"), ("x", "y"), range(1, 7)
    pages = [f"/{d}/{n}.htm" for d in one for n in number]
    pages += [f"/{d}/{e}/{n}" for d in one for e in two for n in number]
    pages += [f"/{d}/{n}/" for d in one for n in number]
    pages += [f"/show.asp?id={n}&class={c}" for n in number for c in two]
    pages += [f"//i.test/{d}/{n}" for d in one for n in number]
    pages = [f"http:{page}" if page.startswith("//") else page for page in pages]
    web = {page: dice.sample(pages, dice.randrange(9)) for page in pages}
    return {**web, "/": dice.sample(pages, 25)}


@pytest.mark.parametrize("seed", [0, 12])
def test_all_at_once_comes_to_the_same_as_one_by_one(made_up_crawl, monkeypatch, seed):
    dice = Random(seed)
    web = crossing_site(dice)
    good = {page for page in web if dice.random() < 0.6}
    options = {"m": dice.choice([1, 2]), "near": 9}
    crawl, twin = (made_up_crawl("urlrule", web, good.__contains__, **options) for _ in "12")
    monkeypatch.setattr(urlrule, "Links", lambda: OneByOne(twin.frontier))
    twin.scorer = UrlRule(twin.frontier, LinkSimilarity(OPTICS), **options)
    for each in (crawl, twin):
        each.seed("/")
    kinds = Counter()
    while (taken := crawl.start()) is not None:
        assert twin.start() == taken
        link, url = taken
        for each in (crawl, twin):
            each.finish(link, url)
        assert crawl.answer == twin.answer
        if url in good and dice.random() < 0.1:
            good.discard(url)
            for each in (crawl, twin):
                each.apply(each.scorer.revised([link]))
            assert crawl.answer == twin.answer
            kinds["revised"] += 1
        waiting = crawl.frontier.waiting()
        assert crawl.scorer.added(waiting) == twin.scorer.added(waiting)
        kinds["several"] += len(crawl.scorer.patterns()) > 2
    assert crawl.scorer.patterns() == twin.scorer.patterns()
    assert kinds["several"]
