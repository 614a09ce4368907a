"""Improved shark-search: (3.15) to (3.17) by hand, live, and against a plain computation."""

from math import isfinite
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.frontier import NewLink, PageRecord, PastFailure, SqliteFrontier, open_store
from mmcrawl.scoring import CrawledPage, LinkSimilarity, LinkText, SharkImproved
from mmcrawl.scoring.graph import InLinks
from mmcrawl.topic import Topic

OPTICS = Topic("optics", "光学", (("光学", "optics"), ("折射", "refraction"), ("透镜", "lens")))
SIGMA, THETA, ALPHA = 0.6, 0.5, 0.4
EXACT = 1e-9


class Crawl:
    """A crawl of a made-up web with a real frontier; `topic` gives topic scores.

    A page is on topic if its topic score is above 1/2, and relevant if it holds media as well,
    which none does whose address ends in `-`.
    """

    def __init__(self, web, topic=None, content=lambda url: 0.0, **parameters):
        self.web, self.topic, self.content = web, topic or {}, content
        self.store = open_store("memory:")
        self.frontier = SqliteFrontier(self.store, self.store.job("crawl", {}))
        self.make = lambda: SharkImproved(self.frontier, LinkSimilarity(OPTICS), **parameters)
        self.scorer = self.make()
        self.answers = []

    def apply(self, answer):
        assert len(set(answer.ids)) == len(answer.ids)
        assert all(isfinite(s) and 0 <= s < 1000 for s in answer.score)
        assert all(0 <= s <= 1 for s in answer.structure)
        self.answers.append(answer)
        self.frontier.apply(answer)

    def add(self, *urls, parent=None):
        links = [NewLink(f"http://h.test{u}", content_score=self.content(u)) for u in urls]
        return list(dict.fromkeys(number for number, _ in self.frontier.add(links, parent)))

    def give(self, *urls, parent=None):
        self.apply(self.scorer.added(self.add(*urls, parent=parent)))

    def start(self):
        link = self.frontier.next()
        if link is None:
            return None
        self.apply(self.scorer.started(link.id))
        return link.id, link.url.removeprefix("http://h.test")

    def take(self, wanted):
        """Start the link that is wanted, whatever comes before it; return its id."""
        before = []
        while (taken := self.start())[1] != wanted:
            before.append(taken[0])
        for link in before:
            self.frontier.requeue(link, None, 0)
        return taken[0]

    def visit(self, *urls):
        for url in urls:
            self.finish(self.take(url), url)

    def finish(self, link, url):
        links = self.add(*self.web.get(url, ()), parent=link)
        score = self.topic.get(url, 0.0)
        on_topic, media, full = score > 0.5, not url.endswith("-"), f"http://h.test{url}"
        relevant = on_topic and media
        record = PageRecord(full, "", "", "", media, relevant, 0, 1.0, topic_score=score)
        self.frontier.complete(link, record, links)
        page = CrawledPage(link, full, relevant, media, links, score, on_topic=on_topic)
        self.apply(self.scorer.crawled(page))

    def fail(self, link):
        self.frontier.fail(link, "404")
        self.apply(self.scorer.failed(link))

    def run(self, pages=10_000):
        fetched = []
        while len(fetched) < pages and (taken := self.start()) is not None:
            self.finish(*taken)
            fetched.append(taken[1])
        return fetched

    def id(self, url):
        return self.frontier.lookup(f"http://h.test{url}")

    def waiting(self, value):
        records = map(self.frontier.record, self.frontier.waiting())
        return {record.url.removeprefix("http://h.test"): value(record) for record in records}

    def scores(self):
        return self.waiting(lambda record: record.score)

    def structures(self):
        return self.waiting(lambda record: record.structure_score)

    def replayed(self):
        """Return the scores of waiting links as a scorer gives them that is told the history."""
        scorer = self.make()
        scorer.added(self.frontier.without_parent())
        for past in self.frontier.history():
            scorer.started(past.id)
            if isinstance(past, PastFailure):
                scorer.failed(past.id)
                continue
            scorer.crawled(CrawledPage.again(past, on_topic=past.topic_score > 0.5))
        answer = scorer.added(self.frontier.waiting())
        return dict(zip(answer.ids, answer.score, strict=True))


@pytest.fixture
def crawl():
    """Make crawls whose stores are closed in the end."""
    made = []

    def make(*args, **options):
        made.append(Crawl(*args, **options))
        return made[-1]

    yield make
    for one in made:
        one.store.close()


def plain_structures(frontier, sigma=SIGMA, theta=THETA, *, with_media=True):
    """(3.15) of the links that stand on pages and are not done, computed from what is on record."""
    history = list(frontier.history())
    pages = {past.id: past for past in history if not isinstance(past, PastFailure)}
    holding = {}
    for past in history:
        origin = frontier.known(past.id).parent
        if past.id not in pages:
            continue
        if origin is not None and origin not in pages:
            holding.setdefault(past.id, set()).update(holding.get(origin, ()))
        for link in past.links:
            if link != past.id and not is_failed(history, link, past):
                holding.setdefault(link, set()).add(past.id)
    children = {number: [] for number in pages}
    for link in pages:
        for parent in holding.get(link, ()):
            children[parent].append(link)
    potential = {number: past.topic_score for number, past in pages.items()}
    for _ in range(400):
        mean = {
            number: sum(potential[child] for child in own) / len(own) if own else None
            for number, own in children.items()
        }
        potential = {
            number: (1 - sigma) * past.topic_score
            + sigma * (past.topic_score if mean[number] is None else mean[number])
            for number, past in pages.items()
        }
    good = {
        number: sum(pages[c].relevant if with_media else pages[c].topic_score > 0.5 for c in own)
        for number, own in children.items()
    }
    passed = {
        number: (good[number] + theta) / (len(own) + theta) * potential[number]
        for number, own in children.items()
    }
    done = {past.id for past in history}
    return {
        link: sum(passed[parent] for parent in parents) / len(parents)
        for link, parents in holding.items()
        if link not in done and parents and frontier.known(link).parent is not None
    }


def is_failed(history, link, now):
    """Tell whether a link had led to no page by the time of `now`."""
    before = history[: history.index(now)]
    return any(past.id == link and isinstance(past, PastFailure) for past in before)


# -- by hand ------------------------------------------------------------------------------------


def test_structure_by_hand(crawl):
    web = {"/": ["/a", "/b", "/c"], "/a": ["/x", "/c"], "/b": ["/y"]}
    topic = {"/": 0.5, "/a": 0.8, "/b": 0.1}
    made = crawl(
        web, topic, content=lambda url: {"/a": 0.2, "/b": 0.1}.get(url, 0), tolerance=EXACT
    )
    made.give("/")
    assert made.scores() == {"/": 1 - ALPHA}
    made.run(1)
    # no child yet: λ = 1, P(/) = R = 0.5; all structures 0.5, divided by the largest: 1
    assert made.structures() == pytest.approx({"/a": 1, "/b": 1, "/c": 1})
    assert made.scores() == pytest.approx({"/a": 0.68, "/b": 0.64, "/c": 0.6})

    assert made.run(1) == ["/a"]
    # P(/a) = 0.8, λ(/a) = 1
    # P(/) = 0.4 · 0.5 + 0.6 · 0.8 = 0.68, λ(/) = (1 + 0.5)/(1 + 0.5) = 1
    # structure: /b 0.68; /c (0.68 + 0.8)/2 = 0.74; /x 0.8; the largest is 0.8
    assert made.structures() == pytest.approx({"/b": 0.85, "/c": 0.925, "/x": 1})
    assert made.scores() == pytest.approx({"/b": 0.04 + 0.51, "/c": 0.555, "/x": 0.6})

    made.fail(made.take("/x"))  # neither n nor n' counts it
    made.visit("/b")
    # P(/b) = 0.1; P(/) = 0.4 · 0.5 + 0.6 · (0.8 + 0.1)/2 = 0.47, λ(/) = 1.5/2.5 = 0.6
    # structure: /c (0.6 · 0.47 + 0.8)/2 = 0.541; /y 0.1
    structures = made.structures()
    assert structures["/c"] == pytest.approx(1)
    assert structures["/y"] == pytest.approx(0.1 / 0.541)


def test_news_reaches_the_grandparents_and_goes_round_in_circles(crawl):
    web = {"/": ["/a", "/w"], "/a": ["/b", "/"], "/b": ["/c"]}
    made = crawl(web, {"/b": 0.9, "/a": 0.5, "/": 0.5}, tolerance=EXACT, alpha=0)
    made.give("/")
    made.visit("/", "/a", "/b")
    # p = P(/), a = P(/a), b = P(/b) = 0.9:
    #   p = 0.2 + 0.6 · a          a = 0.2 + 0.6 · (p + 0.9)/2 = 0.47 + 0.3 · p
    #   p = 0.2 + 0.282 + 0.18 · p  =>  p = 0.482/0.82
    # λ(/) = 0.5/1.5 (/a is not on topic); structure of /w = p/3, of /c = 0.9
    assert made.structures() == pytest.approx({"/w": 0.482 / 0.82 / 3 / 0.9, "/c": 1})


def test_a_page_that_links_to_itself_is_not_its_own_child(crawl):
    made = crawl({"/": ["/", "/a"], "/1": ["/b"]}, {"/": 0.4, "/1": 0.8}, tolerance=EXACT)
    made.give("/", "/1")
    made.run(2)
    # nothing is known of children: λ = 1, P = R; as its own child / would have λ = 0.5/1.5
    assert made.structures() == pytest.approx({"/a": 0.4 / 0.8, "/b": 1})


def test_a_page_knows_of_links_that_were_crawled_before_it(crawl):
    web = {"/1": ["/n"], "/2": ["/n", "/x"]}
    made = crawl(web, {"/1": 0.9, "/n": 0.2, "/2": 0.6}, tolerance=EXACT, alpha=0)
    made.give("/1")
    made.run()
    made.give("/2")
    made.run(1)
    # λ(/2) = 0.5/1.5; P(/2) = 0.4 · 0.6 + 0.6 · 0.2 = 0.36; structure of /x = 0.12, the only one
    assert plain_structures(made.frontier) == {made.id("/x"): pytest.approx(0.12)}
    assert made.structures() == {"/x": 1}


def test_content_follows_equation_3_12(crawl):
    text = LinkText("lens", "lens optics", "")
    similarity = LinkSimilarity(OPTICS)
    similarity.shark(LinkText("optics lens", "", ""), 1)  # two concepts are the most seen: 1
    scorer = SharkImproved(crawl({}).frontier, similarity)
    assert scorer.content(text) == pytest.approx(0.8 * 0.5 + 0.2 * 1)
    assert scorer.patterns() == []


def test_a_redirect_makes_its_target_a_child_of_the_pages_that_hold_it(crawl):
    web = {"/": ["/old", "/w"]}
    made = crawl(web, {"/": 0.5, "/new": 0.9}, tolerance=EXACT)
    made.give("/")
    made.run(1)
    old = made.take("/old")
    made.fail(old)
    made.give("/new", parent=old)
    assert made.structures() == {"/w": 1, "/new": 1}
    made.visit("/new")
    # λ(/) = 1, P(/) = 0.4 · 0.5 + 0.6 · 0.9 = 0.74
    link = made.id("/w")
    assert plain_structures(made.frontier) == {link: pytest.approx(0.74)}
    [answer] = made.answers[-1:]
    assert dict(zip(answer.ids, answer.structure, strict=True)) == {link: 1}


@pytest.mark.parametrize("wrong", [{"sigma": 1.0}, {"theta": 0.0}, {"tolerance": 0.0}])
def test_parameters_without_a_solution_are_refused(crawl, wrong):
    with pytest.raises(ValueError, match="must be a number from"):
        crawl({}, **wrong)


# -- live feedback ------------------------------------------------------------------------------


def test_what_siblings_turn_out_to_be_changes_the_order_of_what_waits(crawl):
    """Two lists of equal promise; the one whose links are good is crawled, the other left."""
    good, bad = [f"/g{n}" for n in range(6)], [f"/b{n}" for n in range(6)]
    web = {"/": ["/bad", "/good"], "/bad": bad, "/good": good}
    topic = {"/": 0.6, "/bad": 0.6, "/good": 0.6} | dict.fromkeys(good, 0.9)
    made = crawl(web, topic, content=lambda url: float(url in web))
    made.give("/")
    fetched = made.run()
    assert fetched[:3] == ["/", "/bad", "/good"]
    assert fetched[3] == "/b0"  # equal scores: what was found first
    assert fetched[4:] == good + bad[1:]


def test_what_grandchildren_turn_out_to_be_changes_the_order_of_what_waits(crawl):
    """/p1 and /p2 have each a link left; what lies behind their other links decides."""
    web = {
        "/": ["/p1", "/p2"],
        "/p1": ["/q1", "/w1"],
        "/p2": ["/q2", "/w2"],
        "/q2": ["/deep"],
    }
    topic = {"/": 0.4, "/p1": 0.4, "/p2": 0.4, "/q1": 0.2, "/q2": 0.2, "/deep": 0.5}
    content = {"/q1": 1.0, "/q2": 1.0, "/deep": 1.0}
    made = crawl(web, topic, content=lambda url: content.get(url, 0.0))
    made.give("/")
    made.run(5)
    before = made.structures()
    assert before["/w1"] == before["/w2"]
    assert made.run(1) == ["/deep"]
    after = made.structures()
    assert after["/w1"] < after["/w2"]
    assert made.run(1) == ["/w2"]  # found after /w1


def test_a_parent_found_later_changes_a_waiting_link(crawl):
    web = {"/": ["/a", "/u", "/v"], "/a": ["/v"]}
    made = crawl(web, {"/": 0.4, "/a": 0.5}, content=lambda url: float(url == "/a"))
    made.give("/")
    assert made.run(3) == ["/", "/a", "/v"]


def test_links_on_the_waiting_list_are_scored_anew_when_the_largest_structure_falls(crawl):
    web = {"/": ["/a", "/b"], "/a": [f"/x{n}" for n in range(4)]}
    made = crawl(web, {"/": 0.1, "/a": 0.9}, tolerance=EXACT)
    made.give("/")
    made.run(2)
    low = made.structures()["/b"]
    made.visit("/x0", "/x1", "/x2", "/x3")
    assert made.structures() == {"/b": 1}
    assert low < 1


def test_a_find_far_above_all_that_waits_is_felt_at_once(crawl):
    links = [f"/x{n}" for n in range(1000)]
    web = {"/": links, "/x0": ["/y0"], "/x1": ["/y1"]}
    made = crawl(web, {"/": 0.1, "/x0": 0.1, "/x1": 0.5}, content=lambda url: float(url in web))
    made.give("/")
    made.visit("/", "/x0")
    made.visit("/x1")
    # P(/x1) = 0.5; the others are on / with λ = 0.5/2.5, P = 0.04 + 0.6 · (0.1 + 0.5)/2 = 0.22
    structures = made.structures()
    assert structures.pop("/y1") == 1
    assert structures.pop("/y0") == pytest.approx(0.1 / 0.5)
    # to a tolerance of 0.005, divided by 0.5
    assert max(structures.values()) == pytest.approx(0.2 * 0.22 / 0.5, abs=0.01)


def test_the_largest_structure_is_looked_up_more_often_when_few_links_are_left(crawl):
    links = [f"/x{n}" for n in range(300)]
    made = crawl({"/": links, "/x0": ["/y"]}, {"/": 0.5} | dict.fromkeys(links[::2], 0.7))
    made.give("/")
    while len(made.frontier.waiting()) > 3 or made.id("/y") is None:
        made.visit(made.frontier.url(made.frontier.waiting()[0]).removeprefix("http://h.test"))
    for _ in range(2):
        made.run(1)
        assert max(made.structures().values()) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("with_media", [True, False])
def test_as_printed_children_on_topic_count_without_media_too(crawl, with_media):
    web = {"/": ["/a-", "/b", "/u"], "/2": ["/c-", "/d", "/v"]}
    topic = {"/": 0.6, "/2": 0.6, "/a-": 0.7, "/b": 0.2, "/c-": 0.2, "/d": 0.7}
    made = crawl(web, topic, tolerance=EXACT, alpha=0, with_media=with_media)
    made.give("/", "/2")
    made.visit(*topic)
    # both pages: P = 0.4 · 0.6 + 0.6 · 0.45 = 0.51; λ = 1.5/2.5, but 0.5/2.5 if /a- is not good
    assert plain_structures(made.frontier, with_media=with_media) == {
        made.id("/u"): pytest.approx(0.51 * (0.2 if with_media else 0.6)),
        made.id("/v"): pytest.approx(0.51 * 0.6),
    }
    assert made.structures() == pytest.approx({"/u": 1 / 3 if with_media else 1, "/v": 1})


def test_revision_lowers_the_links_of_the_pages_that_held_the_page(crawl):
    web = {"/": ["/a", "/u"], "/b": ["/v"]}
    made = crawl(web, {"/": 0.6, "/a": 0.7, "/b": 0.6}, tolerance=EXACT, alpha=0)
    made.give("/", "/b")
    made.run(2)
    made.visit("/a")
    # λ(/) = 1: /u 0.4 · 0.6 + 0.6 · 0.7 = 0.66; /v 0.6
    assert made.structures() == pytest.approx({"/u": 1, "/v": 0.6 / 0.66})
    made.frontier.revise([made.id("/a")])
    made.apply(made.scorer.revised([made.id("/a")]))
    # λ(/) = 1/3: /u 0.22
    assert made.structures() == pytest.approx({"/u": 0.22 / 0.6, "/v": 1})
    assert made.replayed() == pytest.approx({made.id("/u"): 0.22 / 0.6, made.id("/v"): 1})
    before = made.scores()
    made.apply(made.scorer.revised([made.id("/a"), made.id("/u")]))  # known already; no page
    assert made.scores() == before


def test_as_printed_it_changes_nothing_that_a_page_holds_no_media_of_its_own(crawl):
    topic = {"/": 0.6, "/a": 0.7, "/b": 0.6}
    made = crawl({"/": ["/a", "/u"], "/b": ["/v"]}, topic, alpha=0, with_media=False)
    made.give("/", "/b")
    made.visit("/", "/b", "/a")
    before = made.scores()
    made.frontier.revise([made.id("/a")])
    made.apply(made.scorer.revised([made.id("/a")]))
    assert made.scores() == before
    assert made.replayed() == {made.id(url): score for url, score in before.items()}


# -- against a plain computation ----------------------------------------------------------------


def made_up_web(dice, pages):
    """Return a web with a few links that stand on every page, and topic scores."""
    names = [f"/{n}{'-' * (n % 2)}" for n in range(pages)]
    everywhere = names[: dice.randrange(4)]
    web = {name: [*everywhere, *dice.choices(names, k=dice.choice([0, 1, 3, 8]))] for name in names}
    topic = {name: dice.choice([0.0, 0.0, 0.3, 0.6, 0.9]) for name in names}
    return web, topic


def crawl_at_random(made, dice, steps):
    """Fetch, fail and redirect; several links are under way at once, and end in any order."""
    under_way = []
    for _ in range(steps):
        if dice.random() < 0.5 and (taken := made.start()) is not None:
            under_way.append(taken)
        if not under_way or dice.random() < 0.3:
            continue
        link, url = under_way.pop(dice.randrange(len(under_way)))
        fate = dice.random()
        if fate < 0.8:
            made.finish(link, url)
            continue
        made.fail(link)
        if fate > 0.9:
            made.give(f"/redirect{link}", parent=link)


@given(
    seed=st.integers(0, 2**32),
    pages=st.integers(2, 60),
    tolerance=st.sampled_from([EXACT, 0.005, 0.05]),
    sigma=st.sampled_from([0.0, 0.6, 0.9]),
    with_media=st.booleans(),
)
def test_structures_are_those_of_the_formulas_within_the_tolerance(
    seed, pages, tolerance, sigma, with_media
):
    dice = Random(seed)
    web, topic = made_up_web(dice, pages)
    made = Crawl(web, topic, tolerance=tolerance, sigma=sigma, alpha=0, with_media=with_media)
    made.give("/0", "/1-")
    for _ in range(4):
        crawl_at_random(made, dice, steps=pages)
        expected = plain_structures(made.frontier, sigma=sigma, with_media=with_media)
        told = made.structures()
        names = {link: made.frontier.url(link).removeprefix("http://h.test") for link in expected}
        largest = largest_by(made.scorer)
        bound = tolerance / (1 - sigma)  # of a structure before it is normalised
        assert abs(largest - max(expected.values(), default=largest)) <= bound + 0.02 * largest
        for link in expected.keys() & set(made.frontier.waiting()):
            structure = expected[link]
            found = told[names[link]] * largest
            assert found <= structure + bound + 1e-7
            assert found >= min(structure, largest) - bound - 1e-7
    made.store.close()


def largest_by(scorer):
    """Return what structures are divided by at present."""
    return scorer._largest


@given(seed=st.integers(0, 2**32), pages=st.integers(2, 60))
def test_a_scorer_that_is_told_the_history_is_where_it_was(seed, pages):
    dice = Random(seed)
    web, topic = made_up_web(dice, pages)
    made = Crawl(web, topic, content=lambda url: len(url) % 3 / 4)
    made.give("/0", "/1-")
    crawl_at_random(made, dice, steps=2 * pages)
    waiting = made.frontier.waiting()
    assert made.replayed() == {link: made.frontier.record(link).score for link in waiting}
    made.store.close()


# -- cost ---------------------------------------------------------------------------------------


def test_a_page_of_many_links_does_not_score_all_of_them_for_every_child(crawl):
    links = [f"/x{n}" for n in range(3000)]
    made = crawl({"/": links}, {"/": 0.6} | dict.fromkeys(links[::7], 0.9))
    made.give("/")
    made.run()
    answered = sum(len(answer.ids) for answer in made.answers)
    assert len(made.answers) > 3000
    assert answered < 200 * 3000  # and not 3000 · 3000 / 2


def test_a_link_that_all_pages_hold_does_not_cost_every_page_all_of_them(crawl):
    pages = [f"/x{n}" for n in range(400)]
    web = {"/": [*pages, "/nav"]} | {page: ["/nav", f"{page}/own"] for page in pages}
    made = crawl(web, dict.fromkeys(pages, 0.3), content=lambda url: float(url != "/nav"))
    made.give("/")
    made.run(250)
    answered = sum(len(answer.ids) for answer in made.answers)
    assert answered < 250 * 110


# -- the lists of pages -------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 100)), unique=True))
def test_the_pages_of_a_link_are_those_it_was_added_with(pairs):
    inlinks = InLinks()
    inlinks.reserve(6)
    for link, page in pairs:
        inlinks.add([link], page)
    for link in range(6):
        expected = sorted(page for other, page in pairs if other == link)
        assert sorted(inlinks.of(link).tolist()) == expected
        assert inlinks.count(link) == len(expected)
