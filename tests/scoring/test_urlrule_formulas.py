"""(4.6) and (4.8) against a plain computation that keeps everything in dictionaries."""

from collections import Counter
from random import Random

import pytest

from mmcrawl.frontier import HELD
from mmcrawl.scoring import SitePatterns, url_parts

D, ALPHA, NUM2 = 0.85, 0.4, 5


class PlainUrlRule:
    """The formulas on one site, computed anew for every question.

    With `printed`, a site is probed until no link is left that may be, and learnt from as long.
    """

    def __init__(self, content, printed=False):
        self.content = content
        self.known, self.parent, self.links = [], {}, {}
        self.inflow, self.crawled = {}, {}
        self.learnt = SitePatterns(near=5, m=3, spans=printed)
        self.led_by = {}
        self.founders = {}
        self.probing = self.learning = True
        self.printed = printed
        self.probed = Counter()

    def discover(self, urls, parent):
        for url in urls:
            if url not in self.inflow:
                self.known.append(url)
                self.parent[url] = parent
                self.inflow[url] = 0.0

    def patterns(self):
        return [str(learnt.pattern) for learnt in self.learnt.learnt]

    def started(self, url):
        best = self.learnt.best(parts(url))
        self.led_by[url] = None if best is None else self.patterns()[best]
        self.distance_then = self.distance(url)
        self.probed[layer(url)] += 1

    def visited(self, url, links, relevant):
        """Spread the worth of a page, as (4.6) has it, to its links and its siblings."""
        self.discover(links, url)
        self.links[url] = links
        siblings = [link for link in self.links.get(self.parent[url], ()) if link != url]
        if links:
            share = self.rank(url, self.distance_then) / len(links)
            for link in [*links, *siblings]:
                self.inflow[link] += share
        self.crawled[url] = relevant
        if relevant and self.learning and self.learnt.add(parts(url)):
            new = self.patterns()[-1]
            self.founders[new] = [u for u, good in self.crawled.items() if good and matches(new, u)]
        self.probing = self.probing and any(map(self.may_be_probed, self.waiting()))
        self.learning = self.probing or not self.printed

    def waiting(self):
        return [url for url in self.known if url not in self.crawled]

    def may_be_probed(self, url):
        allowed = NUM2 * (layer(url) - 1)  # (4.2)
        return url in self.links["/"] or self.probed[layer(url)] < allowed

    def distance(self, url):
        gap = self.learnt.distance(parts(url))
        return max(1 if gap is None else gap, 1)

    def rank(self, url, distance):
        return (1 - D) / len(self.known) + D * self.inflow[url] / distance

    def scores(self):
        ranks = {url: self.rank(url, self.distance(url)) for url in self.waiting()}
        largest = max(ranks.values())
        structures = {url: rank / largest for url, rank in ranks.items()}
        return {url: (self.worth(url, share), share) for url, share in structures.items()}

    def worth(self, url, structure):
        """Return S of (4.8) and the rate of the pattern, None where none matches."""
        s = ALPHA * self.content(url) + (1 - ALPHA) * structure
        best = self.learnt.best(parts(url))
        if best is None:
            return s, None
        pattern = self.patterns()[best]
        fetched = [u for u, led in self.led_by.items() if led == pattern and u in self.crawled]
        return s, rate([*fetched, *self.founders[pattern]], self.crawled)


def rate(pages, relevant):
    return (sum(relevant[page] for page in pages) + 1) / (len(pages) + 2)


def layer(url):
    return url.partition("?")[0].count("/") + (url != "/")


def matches(pattern, url):
    """Tell whether a pattern of the made-up site, which ends in its only star, matches."""
    return url.startswith(
        pattern.removeprefix("http://h.test").removesuffix("/**").removesuffix("*")
    )


def parts(url):
    return url_parts(f"http://h.test{url}")


def made_up_site(seed):
    """Return links by page: news, videos and scripts that link to each other at random."""
    dice = Random(seed)
    pages = [f"/{name}/{n}.htm" for name in ("v", "news", "old") for n in range(25)]
    pages += [f"/play.php?id={n}" for n in range(15)]
    web = {page: dice.sample(pages, dice.randrange(6)) for page in pages}
    return {**web, "/": pages[::9]}


def is_media_page(url):
    return url.startswith(("/v/", "/play"))


def content(url):
    return len(url) % 5 / 8  # eighths are exact in single precision


def expected_of(scorer, links):
    """Return what is expected of links apart from patterns and the formulas."""
    terms = ("chance that it is relevant", "what it leads to", "novelty of its directory", "seed")
    return [sum(scorer.parts(link).get(term, 0) for term in terms) for link in links]


def test_all_scores_of_a_site_are_those_of_the_formulas(made_up_crawl):
    web = made_up_site(seed=0)
    crawl = made_up_crawl("urlrule", web, is_media_page, content)
    plain, compared, largest = PlainUrlRule(content), 0, 0.0
    for answer in answers_after_each_page(crawl, plain, web):
        expected = plain.scores()
        promised, most = expected_of(crawl.scorer, answer.ids), max(answer.structure)
        largest = max(largest, most)
        for name, score, structure, promise in zip(
            names_of(crawl, answer), answer.score, answer.structure, promised, strict=True
        ):
            (worth, rate), share = expected[name]
            assert structure / most == pytest.approx(share), name
            worth += (1 - ALPHA) * (structure - share)  # shares of what was the largest before
            assert score == pytest.approx(promise + 0.3 * (rate or 0) + 0.1 * worth), name
        compared += len(answer.ids)
    assert compared > 20
    assert largest == pytest.approx(1)  # after all links of the site were scored anew
    assert set(plain.patterns()) == {pattern.pattern for pattern in crawl.scorer.patterns()}


def test_guided_search_as_printed_goes_by_s_alone_and_holds_what_does_not_match(made_up_crawl):
    web = made_up_site(seed=1)
    crawl = made_up_crawl("urlrule-2009", web, is_media_page, content, num2=NUM2)
    plain, held, compared = PlainUrlRule(content, printed=True), 0, 0
    for answer in answers_after_each_page(crawl, plain, web):
        if plain.probing:
            assert {*answer.score} <= {1.0, HELD}
            continue
        expected, most = plain.scores(), max(answer.structure)
        for name, score, structure in zip(
            names_of(crawl, answer), answer.score, answer.structure, strict=True
        ):
            (worth, rate), share = expected[name]
            assert structure / most == pytest.approx(share), name
            worth += (1 - ALPHA) * (structure - share)  # shares of what was the largest before
            assert score == (HELD if rate is None else pytest.approx(worth)), name
            held += rate is None
        compared += len(answer.ids)
    assert compared > held > 0
    assert set(plain.patterns()) == {pattern.pattern for pattern in crawl.scorer.patterns()}


def answers_after_each_page(crawl, plain, web):
    """Crawl to the end; yield the scores of all waiting links after each page."""
    crawl.seed("/")
    plain.discover(["/"], None)
    while (taken := crawl.start()) is not None:
        link, url = taken
        plain.started(url)
        crawl.finish(link, url)
        plain.visited(url, web[url], is_media_page(url))
        if (answer := crawl.scorer.added(crawl.frontier.waiting())).ids:
            yield answer


def names_of(crawl, answer):
    return [crawl.frontier.url(n).removeprefix("http://h.test") for n in answer.ids]


def test_the_many_siblings_of_a_page_are_scored_once_for_2_percent_of_them(made_up_crawl):
    pages = [f"/{n}.htm" for n in range(300)]
    crawl = made_up_crawl("urlrule", {"/": pages, **{page: ["/", "/0.htm"] for page in pages}})
    crawl.seed("/")
    crawl.run(10)
    given = []
    for _ in range(100):
        crawl.run(1)
        given.append(len(crawl.answer.ids))
    assert sum(given) / len(given) < 100  # not all that wait for every page
    assert max(given[:25]) > 250  # but they are scored


def structures(crawl):
    """Return the structure scores of the waiting links."""
    records = map(crawl.frontier.record, crawl.frontier.waiting())
    return {record.url.removeprefix("http://h.test"): record.structure_score for record in records}


@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
def test_content_and_structure_are_weighed_by_alpha(made_up_crawl, alpha):
    words = {"/a/1": 0.0, "/b/1": 0.5, "/c/1": 1.0}
    crawl = made_up_crawl(
        "urlrule", {"/": list(words)}, content=lambda url: words.get(url, 0.0), alpha=alpha
    )
    crawl.seed("/")
    crawl.run(1)
    promised = expected_of(crawl.scorer, crawl.frontier.waiting())
    place = structures(crawl)
    s = {url: alpha * own + (1 - alpha) * place[url] for url, own in words.items()}
    expected = {url: p + 0.1 * s[url] for url, p in zip(words, promised, strict=True)}
    assert crawl.scores() == pytest.approx(expected)
