"""What all link-graph algorithms do: when they rank anew, what waits, what a replay comes to."""

import numpy as np
import pytest

from mmcrawl.scoring import CrawledPage
from mmcrawl.scoring.graph import LinkGraph, RescoreSchedule, converge

every_algorithm = pytest.mark.parametrize("algorithm", ["pagerank", "topicrank", "hits"])


@every_algorithm
def test_seeds_and_targets_of_redirects_come_before_all_that_is_ranked(made_up_crawl, algorithm):
    web = {"/": ["/a", "/b", "/c", "/late"]}
    crawl = made_up_crawl(algorithm, web, content=lambda url: float(url in {"/b", "/second"}))
    crawl.seed("/first", "/second", "/", "/late")
    order = ["/second", "/first", "/"] if algorithm == "topicrank" else ["/first", "/second", "/"]
    assert crawl.run(3) == order  # content tells seeds apart
    assert crawl.scores()["/late"] == crawl.scores()["/a"]  # a page links to it
    link, _ = crawl.start()
    crawl.redirect(link, "/target")
    assert crawl.run(1) == ["/target"]


@every_algorithm
def test_a_link_that_outgrows_all_others_brings_them_down(made_up_crawl, algorithm):
    web = {"/": [f"/{n}" for n in range(9)] + ["/hub"]} | {f"/{n}": ["/hub"] for n in range(9)}
    crawl = made_up_crawl(algorithm, web, growth=1e9)
    crawl.seed("/")
    crawl.run(1)
    hub = crawl.frontier.lookup("http://h.test/hub")
    answers = []
    for link in range(1, 9):  # the order they were found in; the hub is busy
        page = CrawledPage(link, "", False, False, [hub])
        answers.append(crawl.scorer.crawled(page))
    assert [answer.structure[answer.ids.index(hub)] for answer in answers] != [1.0] * 8
    assert all(max(answer.structure) <= 2 for answer in answers)
    whole = [answer for answer in answers if len(answer.ids) > 1]
    assert 1 <= len(whole) <= 4
    for answer in whole:
        assert answer.structure[answer.ids.index(hub)] == 1
        assert sorted(answer.structure)[-2] < 0.5


@every_algorithm
def test_a_dead_link_is_scored_no_more_but_stays_where_it_is_linked(made_up_crawl, algorithm):
    web = {"/": ["/dead", "/a", "/b"], "/a": ["/dead", "/c"], "/b": ["/a"]}
    crawl = made_up_crawl(algorithm, web, growth=0)
    crawl.seed("/")
    crawl.run(1)
    link, url = crawl.start()
    assert url == "/dead"
    crawl.fail(link)
    assert crawl.answer.ids == []
    assert "/c" in crawl.run()
    assert link not in crawl.answer.ids
    assert crawl.scorer.ranks[link] > 0
    assert crawl.scorer.ranks.sum() == pytest.approx(1)


def test_batches_come_when_the_graph_has_grown_and_often_while_it_is_small():
    graph, schedule, due = LinkGraph(), RescoreSchedule(0.1), []
    graph.admit(np.array([0]))
    for page in range(3_000):
        new = np.arange(8 * page + 1, 8 * page + 9)
        graph.admit(new)
        graph.add_page(page, new)
        if schedule.due(graph):
            due.append(page + 1)
    assert due[:5] == [1, 2, 3, 4, 5]
    small = [pages for pages in due if pages <= 1_250]  # 16 nodes and edges a page, up to 20,000
    assert max(np.diff(small)) == 10
    large = [pages for pages in due if pages > 1_260]
    assert np.diff(large) / large[:-1] == pytest.approx(0.1, rel=0.02)


def test_iteration_stops_at_the_tolerance_or_after_the_most_steps():
    steps = []

    def halve(ranks):
        steps.append(1)
        return ranks / 2

    assert converge(halve, np.array([1.0]), tolerance=0.1, most=50).tolist() == [1 / 16]
    assert len(steps) == 4
    assert converge(halve, np.array([1.0]), tolerance=0.0, most=3).tolist() == [1 / 8]
