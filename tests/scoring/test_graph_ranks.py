"""PageRank and its kin: small graphs reckoned by hand, random ones against linear algebra."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.frontier import KnownLink
from mmcrawl.scoring import CrawledPage, LinkSimilarity, LinkText
from mmcrawl.scoring.graph import PageRank, TopicCentricPageRank, TopicRank, WeightedPageRank
from tests.scoring.conftest import OPTICS
from tests.tables import each

KINDS = [PageRank, WeightedPageRank, TopicCentricPageRank, TopicRank]

# Page 0 links to 1 and 2, page 1 to 2; 2 waits.
TRIANGLE = {0: [1, 2], 1: [2]}
WORDS = [0.0, 0.25, 0.75]


def told(kind, web, words=(), failed=(), **parameters):
    """Return a scorer that was told of pages in turn, and what it answered to the last one.

    It ranks anew after every page, unless the parameters say otherwise.
    """

    def known(link):
        return KnownLink("", words[link] if link < len(words) else 0.0, 1, None)

    scorer = kind(
        SimpleNamespace(known=known), LinkSimilarity(OPTICS), **({"growth": 0} | parameters)
    )
    answer = None
    for link in failed:
        scorer.failed(link)
    for page, links in web.items():
        answer = scorer.crawled(CrawledPage(page, "", False, False, links))
    return scorer, answer


def shares_of(scorer):
    """Return the share of its page's rank that each link gets, by page and link."""
    graph = scorer.graph
    ends = zip(graph.sources.values, graph.starts, graph.starts[1:], strict=False)
    shares = scorer.shares(graph.targets, graph.starts)
    return {
        int(page): dict(zip(graph.targets[a:b].tolist(), shares[a:b].tolist(), strict=True))
        for page, a, b in ends
    }


def by_hand(*worths):
    """Bring worths in units of what every node gets to ranks that sum to 1."""
    return pytest.approx([worth / sum(worths) for worth in worths], abs=1e-8)


# -- by hand --------------------------------------------------------------------------------------


def test_topicrank_by_hand():
    # (3.11) link(1) = 0.15 · content(0) + 0.85 · content(2) = 0.6375
    #        link(2) = 0.15 · (content(0) + content(1))/2 + 0.85 · 0 = 0.01875
    # (3.7)  P(0, 1) = 0.5 · 0.25/1 + 0.5 · 0.6375/0.65625 = 0.125 + 17/35
    #        P(0, 2) = 0.5 · 0.75/1 + 0.5 · 0.01875/0.65625 = 0.375 + 1/70
    scorer, answer = told(TopicRank, TRIANGLE, WORDS)
    to_1, to_2 = 0.125 + 17 / 35, 0.375 + 1 / 70
    assert shares_of(scorer) == {0: pytest.approx({1: to_1, 2: to_2}), 1: {2: 1.0}}
    # (3.6)  d = 0.8
    x1 = 1 + 0.8 * to_1
    assert scorer.ranks.tolist() == by_hand(1, x1, 1 + 0.8 * to_2 + 0.8 * x1)
    # (4.8)  the only waiting link has the largest rank: 0.4 · 0.75 + 0.6 · 1
    assert answer.ids == [2]
    assert answer.score == pytest.approx([0.9])
    assert answer.structure == [1.0]


@each(
    "omega, lambda_, to_1",
    [
        (1.0, 0.85, 0.25),  # content alone
        (0.0, 0.0, 0.0),  # parents alone: those of 1 have 0, those of 2 a mean of 0.125
        (0.5, 0.0, 0.125),
    ],
)
def test_omega_and_lambda_weigh_what_they_should(omega, lambda_, to_1):
    scorer, _ = told(TopicRank, TRIANGLE, WORDS, omega=omega, lambda_=lambda_)
    assert shares_of(scorer)[0] == pytest.approx({1: to_1, 2: 1 - to_1})


@each(
    "text, expected",
    [
        (LinkText("optics", "lens refraction", ""), 0.6 * 0.5 + 0.4 * 1),
        (LinkText("optics", "lens refraction", "contact"), 0.7),  # group titles do not matter
        (LinkText("optics", "lens refraction", "", from_script=True), 0.35),
    ],
)
@each("kind", [TopicCentricPageRank, TopicRank])
def test_content_of_a_link_follows_equation_3_8(kind, text, expected):
    similarity = LinkSimilarity(OPTICS)
    scorer = kind(None, similarity)
    scorer.content(LinkText("lens and refraction", "", ""))  # two concepts are the most seen so far
    assert scorer.content(text) == pytest.approx(expected)


@each("kind", [PageRank, WeightedPageRank])
def test_words_do_not_matter_to_pure_structure(kind):
    assert kind(None, LinkSimilarity(OPTICS)).content(LinkText("optics", "lens", "")) == 0


# -- any graph ------------------------------------------------------------------------------------


@st.composite
def webs(draw, most=12):
    """Draw pages in the order they are crawled, with their links; content; dead links."""
    size = draw(st.integers(1, most))
    ids = st.integers(0, size - 1)
    pages = draw(st.lists(ids, unique=True, min_size=1))
    web = {page: draw(st.lists(ids, unique=True)) for page in pages}
    words = draw(st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=size, max_size=size))
    dead = [link for link in range(size) if link not in web]
    return web, words, draw(st.lists(st.sampled_from(dead), unique=True)) if dead else []


def evenly(numbers):
    total = sum(numbers)
    return [n / total if total else 1 / len(numbers) for n in numbers]


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else 0.0


def plain_shares(kind, web, words, dead, lambda_=0.85):
    """The formulas, for one page after another, in lists."""
    parents = {p: [q for q, links in web.items() if p in links] for p in range(len(words))}
    mean_out = mean([len(links) for links in web.values()])

    def out_degree(link):
        return len(web[link]) if link in web else 0 if link in dead else mean_out

    def link_worth(p):
        to, away = parents[p], web.get(p, [])
        held = len(away) / max(len(to) + len(away), 1) if lambda_ == "auto" else lambda_
        return (1 - held) * mean([words[q] for q in to]) + held * mean([words[b] for b in away])

    def of_page(links):
        content = evenly([words[p] for p in links])
        if kind is PageRank:
            return [1 / len(links) for _ in links]
        if kind is WeightedPageRank:
            to = evenly([len(parents[p]) for p in links])
            away = evenly([out_degree(p) for p in links])
            return [a * b for a, b in zip(to, away, strict=True)]
        if kind is TopicCentricPageRank:
            return content
        worth = evenly([link_worth(p) for p in links])
        return [0.5 * a + 0.5 * b for a, b in zip(content, worth, strict=True)]

    return {page: dict(zip(links, of_page(links), strict=True)) for page, links in web.items()}


def plain_ranks(shares, nodes, d):
    """Solve x = 1 + d Pᵀ x for the nodes, and bring x to a sum of 1."""
    place = {node: i for i, node in enumerate(nodes)}
    matrix = np.eye(len(nodes))
    for page, links in shares.items():
        for link, share in links.items():
            matrix[place[link], place[page]] -= d * share
    worth = np.linalg.solve(matrix, np.ones(len(nodes)))
    return dict(zip(nodes, worth / worth.sum(), strict=True))


@each("kind", KINDS)
@given(web=webs())
def test_ranks_are_those_of_linear_algebra(kind, web):
    pages, words, dead = web
    scorer, _ = told(kind, pages, words, dead)
    nodes = sorted({*pages, *(link for links in pages.values() for link in links)})
    shares = plain_shares(kind, pages, words, dead)
    expected = plain_ranks(shares, nodes, d=0.8 if kind is TopicRank else 0.85)
    assert {n: scorer.ranks[n] for n in nodes} == pytest.approx(expected, abs=1e-7)
    assert scorer.ranks.sum() == pytest.approx(1)
    assert set(np.flatnonzero(scorer.ranks)) == set(nodes)


@given(lambda_=st.sampled_from([0.3, "auto"]), web=webs())
def test_lambda_is_a_number_or_the_share_of_its_links_that_a_page_holds(lambda_, web):
    pages, words, dead = web
    scorer, _ = told(TopicRank, pages, words, dead, lambda_=lambda_)
    expected = plain_shares(TopicRank, pages, words, dead, lambda_)
    found = shares_of(scorer)
    for page, shares in expected.items():
        assert found.get(page, {}) == pytest.approx(shares, abs=1e-6)


@given(kind=st.sampled_from(KINDS), web=webs())
def test_a_batch_leaves_nothing_of_the_estimates(kind, web):
    pages, words, dead = web
    # While the graph is small, a batch comes after the first page and after every tenth from there.
    padding = range(100, 100 + 10 - (len(pages) - 1) % 10)
    pages = pages | {page: [] for page in padding}
    seldom, _ = told(kind, pages, words, dead, growth=1e9)
    always, _ = told(kind, pages, words, dead)
    assert seldom.ranks == pytest.approx(always.ranks, abs=1e-8)


@each("kind", KINDS)
@given(web=webs(most=10))
def test_between_batches_a_page_gives_its_links_their_shares_of_its_rank(kind, web):
    pages, words, dead = web
    d = 0.8 if kind is TopicRank else 0.85
    scorer, _ = told(kind, {50: [51]}, words, dead, growth=1e9)
    unlinked = scorer.ranks[50]
    expected, settled = dict(enumerate(scorer.ranks.tolist())), {50, *dead}
    for page, links in list(pages.items())[:9]:
        answer = scorer.crawled(CrawledPage(page, "", False, False, links))
        for node in {page, *links}:
            expected[node] = expected[node] or unlinked
        rank = expected[page]
        if links:
            shares = scorer.shares(np.array(links), np.array([0, len(links)]))
            for link, share in zip(links, shares, strict=True):
                expected[link] += d * rank * share
        assert dict(enumerate(scorer.ranks)) == pytest.approx(expected)
        settled.add(page)
        waiting = [link for link in links if link not in settled]
        all_waiting = [node for node, rank in expected.items() if rank and node not in settled]
        assert answer.ids in (waiting, all_waiting)  # all, if one has outgrown them


@each("alpha", [0.0, 0.4, 1.0])
def test_topicrank_weighs_content_and_structure_by_alpha(alpha):
    # 1 and 2 wait; P(0, ·) = 0.5 · (1/4, 3/4) + 0.5 · (1/2, 1/2), no link(p) being known
    # x1 = 1 + 0.8 · 0.375 = 1.3; x2 = 1 + 0.8 · 0.625 = 1.5
    _, answer = told(TopicRank, {0: [1, 2]}, WORDS, alpha=alpha)
    expected = [alpha * 0.25 + (1 - alpha) * 1.3 / 1.5, alpha * 0.75 + (1 - alpha)]
    assert answer.score == pytest.approx(expected)
