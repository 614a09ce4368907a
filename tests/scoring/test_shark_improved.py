"""Improved shark-search: (3.15) to (3.17) by hand, live, and against a plain computation."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.frontier import PastFailure
from mmcrawl.scoring import LinkSimilarity, LinkText, SharkImproved
from tests.scoring.conftest import OPTICS

SIGMA, THETA, ALPHA = 0.6, 0.5, 0.4
EXACT = 1e-9


@pytest.fixture
def crawl(made_up_crawl):
    """Make a crawl of a web whose pages have topic scores."""

    def make(web, topic=None, **options):
        return made_up_crawl("shark-improved", web, topic=topic or {}, **options)

    return make


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


def test_structure_by_hand(crawl):
    web = {"/": ["/a", "/b", "/c"], "/a": ["/x", "/c"], "/b": ["/y"]}
    topic = {"/": 0.5, "/a": 0.8, "/b": 0.1}
    made = crawl(
        web, topic, content=lambda url: {"/a": 0.2, "/b": 0.1}.get(url, 0), tolerance=EXACT
    )
    made.seed("/")
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
    made.fetch("/b")
    # P(/b) = 0.1; P(/) = 0.4 · 0.5 + 0.6 · (0.8 + 0.1)/2 = 0.47, λ(/) = 1.5/2.5 = 0.6
    # structure: /c (0.6 · 0.47 + 0.8)/2 = 0.541; /y 0.1
    structures = made.structures()
    assert structures["/c"] == pytest.approx(1)
    assert structures["/y"] == pytest.approx(0.1 / 0.541)


def test_content_follows_equation_3_12(crawl):
    text = LinkText("lens", "lens optics", "")
    similarity = LinkSimilarity(OPTICS)
    similarity.shark(LinkText("optics lens", "", ""), 1)  # two concepts are the most seen: 1
    scorer = SharkImproved(crawl({}).frontier, similarity)
    assert scorer.content(text) == pytest.approx(0.8 * 0.5 + 0.2 * 1)
    assert scorer.patterns() == []


def test_revision_lowers_the_links_of_the_pages_that_held_the_page_but_not_as_printed(crawl):
    topic = {"/": 0.6, "/a": 0.7, "/b": 0.6}
    for with_media in (True, False):
        web = {"/": ["/a", "/u"], "/b": ["/v"]}
        made = crawl(web, topic, tolerance=EXACT, alpha=0, with_media=with_media)
        made.seed("/", "/b")
        made.fetch("/", "/b", "/a")
        # λ(/) = 1: /u 0.4 · 0.6 + 0.6 · 0.7 = 0.66; /v 0.6
        assert made.structures() == pytest.approx({"/u": 1, "/v": 0.6 / 0.66})
        for again in range(2):  # known already; no page
            made.frontier.revise([made.id("/a")])
            made.apply(made.scorer.revised([made.id("/a"), *[made.id("/u")] * again]))
            # λ(/) = 1/3: /u 0.22
            expected = {"/u": 0.22 / 0.6, "/v": 1} if with_media else {"/u": 1, "/v": 0.6 / 0.66}
            assert made.structures() == pytest.approx(expected)
        _, told = made.replayed()
        assert {made.id(url): told[made.id(url)] for url in expected} == pytest.approx(
            {made.id(url): structure for url, structure in expected.items()}
        )


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
            made.seed(f"/redirect{link}", parent=link)


@given(
    seed=st.integers(0, 2**32),
    pages=st.integers(2, 60),
    tolerance=st.sampled_from([EXACT, 0.005, 0.05]),
    sigma=st.sampled_from([0.0, 0.6, 0.9]),
    with_media=st.booleans(),
)
def test_structures_are_those_of_the_formulas_within_the_tolerance(
    made_up_crawls, *, seed, pages, tolerance, sigma, with_media
):
    dice = Random(seed)
    web, topic = made_up_web(dice, pages)
    options = {"tolerance": tolerance, "sigma": sigma, "alpha": 0, "with_media": with_media}
    made = made_up_crawls("shark-improved", web, topic=topic, **options)
    made.seed("/0", "/1-")
    for _ in range(4):
        crawl_at_random(made, dice, steps=pages)
        expected = plain_structures(made.frontier, sigma=sigma, with_media=with_media)
        told = made.structures()
        names = {link: made.frontier.url(link).removeprefix("http://h.test") for link in expected}
        largest = made.scorer._largest  # what structures are divided by at present
        bound = tolerance / (1 - sigma)  # of a structure before it is normalised
        assert abs(largest - max(expected.values(), default=largest)) <= bound + 0.02 * largest
        for link in expected.keys() & set(made.frontier.waiting()):
            structure = expected[link]
            found = told[names[link]] * largest
            assert found <= structure + bound + 1e-7
            assert found >= min(structure, largest) - bound - 1e-7
    made.store.close()


def test_a_page_of_many_links_does_not_score_all_of_them_for_every_child(crawl):
    links = [f"/x{n}" for n in range(600)]
    made = crawl({"/": links}, {"/": 0.6} | dict.fromkeys(links[::7], 0.9))
    made.seed("/")
    made.run()
    answered = sum(len(answer.ids) for answer in made.answers)
    assert len(made.answers) > 600
    assert answered < 60 * 600  # and not 600 · 600 / 2
