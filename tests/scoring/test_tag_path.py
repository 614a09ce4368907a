"""`tag-path`: arms of links that stand in like places, pulled by an upper confidence bound."""

import pytest

from mmcrawl.scoring import Arms, tag_path

FILMS = [f"/film/{n}" for n in range(40)]
TEXTS = [f"/text/{n}" for n in range(40)]
SITE = {"/": [url for pair in zip(TEXTS, FILMS, strict=True) for url in pair]}
PLACES = {
    "film": "html body div#main ul.films li a",
    "text": "html body div.side p.more span a",
    "go": "html body table tr td.menu b a",
    "late": "html body div#main ul.films li a",
}


def place(url: str) -> str:
    return PLACES.get(url.split("/")[1], "")


def is_film(url: str) -> bool:
    return url.startswith("/film/")


@pytest.fixture
def site_crawl(made_up_crawl):
    """Make a crawl that has fetched the home page of a site."""

    def make(web=SITE, relevant=is_film, **parameters):
        crawl = made_up_crawl("tag-path", web, relevant, tag_path=place, **parameters)
        crawl.seed("/")
        crawl.run(1)
        return crawl

    return make


def test_paths_that_differ_in_one_class_share_an_arm():
    for theta, second in ((0.75, 0), (1.0, 1)):
        arms = Arms(theta, 2)
        assert arms.arm_of("html body div#main div.list ul li.item h2 a") == 0
        assert arms.arm_of("html body div#main div.list ul li.item.new h2 a") == second
        assert arms.arm_of("html body div#foot p span.small a") == second + 1
        assert arms.arm_of("") == second + 2  # in no place
        assert len(arms) == second + 3


def test_a_path_joins_the_nearest_arm():
    arms = Arms(0.3, 2)
    near = "html body div#main ul.films li a"
    numbers = [arms.arm_of(path) for path in ("table tr td b a", near, "p.more i span")]
    assert arms.arm_of("html body div#main ul.films li.new a") == numbers[1]


def test_ngrams_tell_the_same_elements_in_another_order():
    one, other = "div p ul li a b i u", "u i b a li ul p div"
    singles, pairs = Arms(0.75, 1), Arms(0.75, 2)
    assert singles.arm_of(one) == singles.arm_of(other)
    assert pairs.arm_of(one) != pairs.arm_of(other)


def test_links_in_the_place_that_brought_media_are_preferred_and_seeds_come_first(site_crawl):
    crawl = site_crawl()
    assert sum(map(is_film, crawl.run(40))) >= 25
    crawl.seed("/text/late")
    assert crawl.run(1) == ["/text/late"]
    while crawl.run(1):
        assert set(crawl.answer.ids) <= set(crawl.frontier.waiting())
    assert sorted(crawl.fetched) == sorted(["/", *FILMS, *TEXTS, "/text/late"])


def test_less_doubt_follows_what_paid_sooner(site_crawl):
    found = [sum(map(is_film, site_crawl(alpha=alpha).run(40))) for alpha in (0.1, 2.8, 50.0)]
    assert found[0] >= 38
    assert found[0] > found[1] > found[2]
    assert found[2] == pytest.approx(20, abs=2)  # turn about


def test_an_arm_that_was_never_pulled_comes_before_those_that_were(site_crawl):
    crawl = site_crawl({"/": [*FILMS, "/go/1", *TEXTS]})
    assert [url.split("/")[1] for url in crawl.run(3)] == ["film", "go", "text"]


def test_dead_links_are_pulls_that_brought_nothing(site_crawl):
    web = {"/": [*FILMS, *(f"/go/{n}" for n in range(40))]}
    crawl = site_crawl(web, alpha=0.3)
    crawl.run(30, dead="/go/")
    assert sum(url.startswith("/go/") for url in crawl.fetched) <= 3


def test_a_redirect_is_followed_at_once_and_pays_for_the_arm_of_the_link(site_crawl):
    web = {"/": [*TEXTS, *(f"/go/{n}" for n in range(40))]}
    crawl = site_crawl(web, alpha=0.0)
    while len(crawl.fetched) < 31:
        link, url = crawl.start()
        if not url.startswith("/go/"):
            crawl.finish(link, url)
            continue
        crawl.fail(link)
        crawl.apply(crawl.scorer.added(crawl.add(f"/film/{link}", parent=link)))
        target, url = crawl.start()
        assert url == f"/film/{link}"
        crawl.finish(target, url)
    assert sum(url.startswith("/text/") for url in crawl.fetched) == 1
    go = [score for url, score in crawl.scores().items() if url.startswith("/go/")]
    assert go == pytest.approx([1] * len(go), rel=0.03)  # a film a pull


def test_what_pages_taken_back_had_paid_is_taken_back(site_crawl):
    crawl = site_crawl()
    crawl.run(20)
    before = crawl.scores()
    films = [past.id for past in crawl.frontier.history() if past.relevant]
    crawl.frontier.revise(films)
    crawl.apply(crawl.scorer.revised(films))
    after = crawl.scores()
    assert all(after[url] < before[url] for url in after if is_film(url))
    assert all(after[url] == before[url] for url in after if not is_film(url))


def test_the_seed_decides_what_chance_brings(site_crawl):
    first, again, other = (site_crawl(seed=seed).run() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_links_found_late_have_the_same_chance_as_those_that_wait(site_crawl):
    late = [f"/late/{n}" for n in range(40)]
    shares = []
    for seed in range(6):
        crawl = site_crawl({"/": FILMS, "/more": late}, seed=seed)
        crawl.run(20)
        crawl.seed("/more")
        crawl.run(1)
        shares += [url.startswith("/late/") for url in crawl.run(15)]
    assert sum(shares) / len(shares) == pytest.approx(40 / 60, abs=0.1)


def test_the_waiting_links_of_an_arm_are_rarely_scored_anew(site_crawl, monkeypatch):
    number, told = 600, []
    crawl = site_crawl({"/": [f"/film/{n}" for n in range(number)]})
    apply = crawl.frontier.apply
    monkeypatch.setattr(crawl.frontier, "apply", lambda n: (told.append(len(n.ids)), apply(n)))
    crawl.run(300)
    assert sum(told) < 60 * number


def test_there_is_an_end_to_arms(monkeypatch):
    monkeypatch.setattr(tag_path, "MOST_ARMS", 2)
    arms = Arms(0.75, 2)
    assert [arms.arm_of(path) for path in ("div.a a", "p.b i", "div.a b")] == [0, 1, 0]
