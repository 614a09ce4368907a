"""`learned`: what it makes of a crawl, and its scores worked out by hand from weights of a test."""

from math import exp, log, sqrt

import pytest

from mmcrawl.scoring import Prospects, prior_of

SITE = {"/": ["/films/", "/texts/", "/talks/"]}
SITE |= {folder: [f"{folder}{n}.htm" for n in range(20)] for folder in SITE["/"]}
GOING_ON = {"/": [f"/{kind}/{n}" for n in range(30) for kind in ("go", "news")]}


def is_film(url: str) -> bool:
    return url.startswith(("/films/", "/talks/")) and url.endswith(".htm")


def by_kind(crawl) -> tuple[list[float], list[float]]:
    scores = crawl.scores().items()
    go = [score for url, score in scores if url.startswith("/go/")]
    return go, [score for url, score in scores if url.startswith("/news/")]


def sigmoid(log_odds: float) -> float:
    return 1 / (1 + exp(-log_odds))


def logit(share: float) -> float:
    share = min(max(share, 0.001), 0.999)  # no evidence is beyond all doubt
    return log(share / (1 - share))


LISTS = [f"/list?page={n}" for n in range(20)]
NOTES = [f"/notes/{n}.htm" for n in range(20)]
LISTS_OF_FILMS = {"/": [url for pair in zip(LISTS, NOTES, strict=True) for url in pair]}
LISTS_OF_FILMS |= {url: [f"/film/{n}a.htm", f"/film/{n}b.htm"] for n, url in enumerate(LISTS)}


def test_once_some_were_found_the_rest_of_their_folder_comes_first(made_up_crawl):
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    fetched = crawl.run()
    assert sorted(fetched) == sorted(
        ["/", *SITE["/"], *(url for one in SITE["/"] for url in SITE[one])]
    )
    assert sum(map(is_film, fetched[:44])) > 30  # of 40; the order of discovery finds 27


def test_words_that_fit_and_seeds_come_first(made_up_crawl, weighed):
    weighed({})
    words = {"/0": 0.0, "/0.5": 0.5, "/1": 1.0}
    crawl = made_up_crawl(
        "learned", {"/": [*words]}, content=lambda url: words.get(url, 0), fit=2.0
    )
    crawl.seed("/")
    crawl.run(1)
    scores = crawl.scores()
    for url, log_odds in (("/0", 0.0), ("/0.5", 1.0), ("/1", 2.0)):
        assert scores[url] == pytest.approx(sigmoid(log_odds), abs=0.15)  # / was in vain
    crawl.seed("/late")
    assert crawl.scores()["/late"] > 10


def test_the_frontier_knows_the_scores_but_for_small_changes(made_up_crawl):
    """Where fewer than 50 links wait, they are scored anew after each page."""
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    crawl.run(40)
    while waiting := crawl.frontier.waiting():
        scorer, _ = crawl.replayed()
        now = scorer.added(waiting).score
        assert [*crawl.scores().values()] == pytest.approx(now, abs=0.0101)
        crawl.run(9)


def test_only_scores_that_changed_noticeably_are_passed_on(made_up_crawl, weighed):
    weighed({"always": (-2.0, 0.0), "directory: rate": (0.5, 0.0)})
    crawl = made_up_crawl("learned", SITE, relevant=is_film)
    crawl.seed("/")
    crawl.run(9)
    before = crawl.scores()
    crawl.run(1)
    after = crawl.scores()
    named = {crawl.frontier.url(link).removeprefix("http://h.test") for link in crawl.answer.ids}
    moved = {url for url in after if url in before and after[url] != before[url]}
    assert moved <= named
    assert all(abs(after[url] - before[url]) > 0.01 for url in moved)
    assert len(named) < len(after)


@pytest.mark.parametrize("lookahead", [0.0, 0.5])
def test_pages_that_lead_to_finds_are_worth_something_themselves(made_up_crawl, weighed, lookahead):
    weighed({"always": (-2.0, 0.1), "shape: yield": (0.0, 0.1)})
    crawl = made_up_crawl(
        "learned",
        LISTS_OF_FILMS,
        relevant=lambda url: url.startswith("/film/"),
        lookahead=lookahead,
    )
    crawl.seed("/")
    half = [url for url in crawl.run() if url in {*LISTS, *NOTES}][:20]
    lists = sum(url in LISTS for url in half)
    assert lists >= 16 if lookahead else lists <= 12


def test_what_the_page_was_that_a_link_was_found_on_counts(made_up_crawl, weighed):
    weighed({"on a media page": (2.0, 0.0), "beside a media page": (1.0, 0.0)})
    web = {"/": ["/good", "/other", "/neither"]}
    web |= {url: [f"{url}/{n}" for n in range(3)] for url in web["/"]}
    crawl = made_up_crawl(
        "learned",
        web,
        relevant=lambda url: url == "/good",
        media=lambda url: url == "/other",
        variance=1e-6,
        fit=0.0,
    )
    crawl.seed("/")
    crawl.fetch("/", *web["/"])
    scores = crawl.scores()
    for url, log_odds in (("/good", 3.0), ("/other", 1.0), ("/neither", 0.0)):
        assert scores[f"{url}/0"] == pytest.approx(sigmoid(log_odds), abs=0.01)
    good = crawl.frontier.lookup("http://h.test/good")
    crawl.apply(crawl.scorer.revised([good]))
    crawl.apply(crawl.scorer.added(crawl.add("/late", parent=good)))
    assert crawl.scores()["/late"] == pytest.approx(sigmoid(1.0), abs=0.01)


@pytest.mark.parametrize(("steps", "found"), [(0, False), (1, True), (3, False), (3, True)])
def test_all_links_of_a_redirect_are_evidence_of_what_it_led_to(
    made_up_crawl, weighed, steps, found
):
    """Each counts once, and none before it is known where it leads."""
    weighed({"directory: rate": (1.0, 0.0)})
    crawl = made_up_crawl("learned", GOING_ON, lambda url: "end" in url, variance=1e-6, fit=0.0)
    crawl.seed("/")
    crawl.fetch("/")
    for number in range(10):
        link = crawl.take(f"/go/{number}")
        for step in range(steps):
            url = f"/step{step}/{'end' * (step == steps - 1)}{number}"
            crawl.redirect(link, url)
            link = crawl.take(url)
        if found and steps:
            crawl.finish(link, url)
        else:
            crawl.fail(link)
    crawl.fetch("/news/0")
    fetched = 2 + 10 * (steps + 1)
    good = 10 * (steps + 1) if found and steps else 0
    rate = (good + 5 * (good + 0.5) / (fetched + 5)) / (fetched + 5)
    go, news = by_kind(crawl)
    for scores, relevant, pages in ((go, 10 * (good > 0), 10), (news, 0, 1)):
        expected = sigmoid(logit((relevant + rate) / (pages + 1)) - logit(rate))
        assert scores == pytest.approx([expected] * len(scores), abs=0.01)


def test_links_that_redirect_to_a_page_taken_back_are_taken_back_too(made_up_crawl, weighed):
    weighed({"rate": (0.5, 0.0), "directory: rate": (1.0, 0.0), "directory: yield": (0.0, 0.2)})
    crawls = []
    for wanted in ("/film/", "none"):
        crawl = made_up_crawl("learned", GOING_ON, lambda url, of=wanted: of in url, variance=1e-6)
        crawl.seed("/")
        crawl.fetch("/")
        for number in range(10):
            crawl.redirect(crawl.take(f"/go/{number}"), f"/film/{number}")
            crawl.fetch(f"/film/{number}")
        crawls.append(crawl)
    taken_back, never = crawls
    films = [taken_back.frontier.lookup(f"http://h.test/film/{number}") for number in range(10)]
    taken_back.apply(taken_back.scorer.revised(films))
    for scores, expected in zip(by_kind(taken_back), by_kind(never), strict=True):
        assert scores == pytest.approx(expected, abs=0.02)


def test_a_page_taken_back_is_evidence_as_if_it_had_never_been_relevant(made_up_crawl, weighed):
    weighed({"rate": (1.0, 0.0), "directory: rate": (1.0, 0.0), "directory: yield": (0.0, 0.2)})
    crawls = []
    for films in (is_film, lambda url: is_film(url) and "talks" not in url):
        crawl = made_up_crawl("learned", SITE, relevant=films, variance=1e-6)
        crawl.seed("/")
        crawl.fetch("/", *SITE["/"])
        crawl.fetch(*(url for folder in SITE["/"] for url in SITE[folder][:10]))
        crawls.append(crawl)
    taken_back, never = crawls
    talks = [p.id for p in taken_back.frontier.history() if p.relevant and "talks" in p.url]
    taken_back.apply(taken_back.scorer.revised(talks))
    taken_back.apply(taken_back.scorer.revised([0, *talks]))  # known already; never relevant
    waiting = never.frontier.waiting()
    expected = never.scorer.added(waiting)
    revised = taken_back.scorer.added(waiting)
    assert revised.ids == expected.ids
    assert revised.score == pytest.approx(expected.score, abs=1e-4)
    assert revised.structure == pytest.approx(expected.structure, abs=1e-6)


@pytest.mark.parametrize(("barren", "found"), [(8, 0), (3, 5)])
def test_what_was_tried_least_is_worth_more_until_something_was_found(
    made_up_crawl, monkeypatch, barren, found
):
    monkeypatch.setattr(Prospects, "prior", prior_of({"always": (-30.0, 0.0)}))
    crawl = made_up_crawl("learned", {}, relevant=lambda url: "/films/" in url, novelty=0.8)
    tried = [
        *(f"/texts/{n}.htm" for n in range(barren)),
        *(f"/films/{n}.htm" for n in range(found)),
    ]
    crawl.seed(*tried)
    crawl.run()
    crawl.seed("/texts/last.htm", "/new/1.htm")
    scores = crawl.scores()
    weight = 0.8 * 5 / (5 + found)
    assert scores["/new/1.htm"] - 10 == pytest.approx(weight, abs=1e-3)  # of seeds
    expected = weight / sqrt(1 + barren) * 10 / (10 + barren)
    assert scores["/texts/last.htm"] - 10 == pytest.approx(expected, abs=1e-3)


def test_lists_promise_less_with_each_that_brought_nothing(made_up_crawl, weighed):
    """Each list is a directory; those of /tags/ were for nothing, from /films/ films were found."""
    weighed({"always": (-30.0, 0.4)})
    lists = [f"/{kind}/{n}/" for n in range(20) for kind in ("tags", "films")]
    web = {"/": lists} | {f"/films/{n}/": [f"/film{n}.htm"] for n in range(20)}
    crawl = made_up_crawl("learned", web, lambda url: "/film" in url and ".htm" in url, novelty=0)
    crawl.seed("/")
    crawl.fetch("/", *lists[:20], *(f"/film{n}.htm" for n in range(10)))
    scores = crawl.scores()
    assert scores["/films/19/"] == pytest.approx(0.4, abs=1e-3)
    assert scores["/tags/19/"] == pytest.approx(0.4 * 10 / (10 + 10), abs=1e-3)
