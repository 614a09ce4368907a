"""Link records: their fields, their life from waiting to crawled, and what outlives a crash."""

from collections import Counter

import pytest

from mmcrawl.frontier import (
    HELD,
    LinkScores,
    NewLink,
    PageRecord,
    PastFailure,
    PastPage,
    SqliteFrontier,
    Status,
)

H = "http://h.test"


def page(url, *, relevant=False, digest=0, **fields):
    known = {"title": "", "keywords": "", "description": "", "contains_media": relevant}
    known |= {"links_on_page": 0, "visited_at": 1.5}
    return PageRecord(url, relevant=relevant, digest=digest, **(known | fields))


def add(frontier, *paths, parent=None, scores=None):
    """Add links of h.test and let them go, all with the same score if none are given."""
    links = [link if isinstance(link, NewLink) else NewLink(H + link) for link in paths]
    ids = [number for number, _ in frontier.add(links, parent)]
    frontier.apply(LinkScores(ids, scores or [1.0] * len(ids), [0.0] * len(ids)))
    return ids


def crawl(frontier, link, links=(), **fields):
    """Crawl a link that must be the next one."""
    taken = frontier.next()
    assert taken.id == link
    frontier.complete(link, page(taken.url, **fields), links)


def taken(frontier):
    urls = []
    while (link := frontier.next()) is not None:
        urls.append(link.url.removeprefix(H))
    return urls


def test_a_record_holds_every_field_of_the_link_and_its_page(frontier):
    [seed] = add(frontier, NewLink(f"{H}/", anchor="学校", logical_layer=1))
    frontier.next()
    [lesson] = add(
        frontier,
        NewLink(
            f"{H}/wuli/1.htm?a=b",
            anchor="光的折射",
            group_title="初中物理",
            url_words="物理 1",
            logical_layer=2,
            physical_layer=3,
            content_score=0.25,
        ),
        parent=seed,
        scores=[0.75],
    )
    frontier.complete(seed, page(f"{H}/"), [lesson])
    frontier.apply(LinkScores([lesson], [0.75], [0.5]))
    frontier.next()
    children = add(frontier, "/a", "/b", parent=lesson)
    frontier.complete(
        lesson,
        PageRecord(f"{H}/wuli/1.htm?a=b", "折射", "光", "动画", True, False, 9, 12.5),
        children,
    )
    record = frontier.record(lesson)
    assert (record.id, record.url, record.status) == (lesson, f"{H}/wuli/1.htm?a=b", "C")
    assert (record.anchor, record.group_title, record.url_words) == (
        "光的折射",
        "初中物理",
        "物理 1",
    )
    assert (record.title, record.keywords, record.description) == ("折射", "光", "动画")
    assert record.content_intro == "物理 1 光的折射 折射 光 动画"
    assert record.anchor_path == ("学校", "光的折射")
    assert record.url_path == (f"{H}/", f"{H}/wuli/1.htm?a=b")
    assert record.internal_urls == (f"{H}/a", f"{H}/b")
    assert (record.score, record.words_score, record.structure_score) == (0.75, 0.25, 0.5)
    assert (record.logical_layer, record.physical_layer, record.links_on_page) == (2, 3, 9)
    assert (record.contains_media, record.relevant, record.visited_at) == (True, False, 12.5)
    assert record.error == ""


def test_a_link_that_was_not_fetched_has_a_record_too(frontier):
    [link] = add(frontier, "/a")
    record = frontier.record(link)
    assert (record.status, record.title, record.internal_urls) == ("W", "", ())
    assert (record.visited_at, record.contains_media, record.link_ratio) == (None, False, 0.0)
    assert (record.links_on_page, record.path_score, record.total_path_score) == (0, 0, 0)
    with pytest.raises(KeyError):
        frontier.record(link + 1)


def test_every_page_counts_for_all_on_its_way_from_the_seed(frontier):
    [seed] = add(frontier, "/")
    frontier.next()
    left, right = add(frontier, "/left", "/right", parent=seed, scores=[3.0, 1.0])
    frontier.complete(seed, page(f"{H}/"), [left, right])
    frontier.next()
    [leaf] = add(frontier, "/left/leaf", parent=left, scores=[2.0])
    frontier.complete(left, page(f"{H}/left"), [leaf])
    crawl(frontier, leaf, relevant=True)
    crawl(frontier, right, relevant=True)
    scores = [
        (record.path_score, record.total_path_score)
        for record in map(frontier.record, (seed, left, leaf, right))
    ]
    assert scores == [(2, 4), (1, 2), (1, 1), (1, 1)]
    assert frontier.record(seed).link_ratio == 0.5

    frontier.revise([leaf])
    assert not frontier.record(leaf).relevant
    scores = [(r.path_score, r.total_path_score) for r in map(frontier.record, (seed, left, leaf))]
    assert scores == [(1, 4), (0, 2), (0, 1)]


def test_a_page_far_from_the_seed_takes_no_more_steps_than_one_near_it(frontier):
    steps = []
    [link] = add(frontier, "/0")
    for depth in range(1, 301):
        frontier.take(link)
        [below] = add(frontier, f"/{depth}", parent=link)
        done = []
        frontier.store.db.set_progress_handler(lambda done=done: done.append(1), 1)
        frontier.complete(link, page(f"{H}/{depth - 1}"), [below])
        frontier.store.db.set_progress_handler(None, 0)
        steps.append(len(done))
        link = below
    assert max(steps[-10:]) < 1.5 * max(steps[10:20])
    assert frontier.record(0).total_path_score == 300


def test_a_link_waits_runs_and_ends(frontier):
    add(frontier, "/crawled", "/moved", "/broken", "/waiting")
    status = [frontier.record(frontier.next().id).status for _ in range(3)]
    assert status == [Status.RUNNING] * 3
    frontier.complete(0, page(f"{H}/crawled"), [])
    frontier.leave(1, "redirects to /other")
    frontier.fail(2, "404")
    records = [frontier.record(link) for link in range(4)]
    assert "".join(record.status for record in records) == "CCEW"
    assert [record.error for record in records] == ["", "redirects to /other", "404", ""]
    assert frontier.counts == {"W": 1, "R": 0, "C": 2, "E": 1}
    assert (len(frontier), frontier.ready, frontier.pages) == (4, 1, 1)
    assert frontier.errors() == Counter({"404": 1})
    assert [(type(past), past.id, past.url) for past in frontier.history()] == [
        (PastPage, 0, f"{H}/crawled"),
        (PastFailure, 1, f"{H}/moved"),
        (PastFailure, 2, f"{H}/broken"),
    ]
    assert frontier.waiting() == [3]


@pytest.mark.parametrize("ending", ["complete", "leave", "fail", "requeue"])
def test_only_a_running_link_can_end(frontier, ending):
    [link] = add(frontier, "/a")
    arguments = {"complete": (page(f"{H}/a"), []), "requeue": (None, 0)}.get(ending, ("",))
    with pytest.raises(ValueError, match="link 0 is not running"):
        getattr(frontier, ending)(link, *arguments)
    assert frontier.record(link).status == "W"
    assert frontier.counts[Status.WAITING] == 1


def test_a_link_is_taken_in_once_however_many_come_with_it(frontier, monkeypatch):
    monkeypatch.setattr("mmcrawl.frontier.sqlite._RECENT_KEYS", 10)
    others = [NewLink(f"{H}/{n}") for n in range(30)]
    batch = [NewLink(f"{H}/a?x=1&y=2", anchor="first"), *others]
    batch += [NewLink("HTTP://H.test/a?y=2&x=1&PHPSESSID=ab#top", anchor="second")]
    answer = frontier.add(batch)
    assert (answer[0], answer[-1]) == ((0, True), (0, False))
    assert len(frontier) == 31
    assert frontier.add(batch) == [(number, False) for number, _ in answer]
    assert frontier.counts[Status.WAITING] == 31
    assert frontier.record(0).anchor == "first"
    assert frontier.lookup(f"{H}/a?y=2&x=1") == 0
    assert frontier.lookup(f"{H}/other") is None


def test_a_link_is_held_until_it_has_a_score_and_while_its_score_says_so(frontier):
    [(link, _)] = frontier.add([NewLink(f"{H}/a")])
    assert (frontier.ready, frontier.next(), frontier.waiting()) == (0, None, [link])
    frontier.apply(LinkScores([link], [1.0], [0.0]))
    assert frontier.ready == 1
    frontier.apply(LinkScores([link], [HELD], [0.0]))
    assert (frontier.ready, frontier.next()) == (0, None)
    frontier.apply(LinkScores([link], [0.0], [0.5]))
    assert taken(frontier) == ["/a"]
    frontier.apply(LinkScores([link], [9.0], [0.0]))  # not waiting any more
    assert (frontier.record(link).score, frontier.record(link).structure_score) == (0.0, 0.5)


def test_hosts_that_are_not_ready_are_passed_over(frontier):
    add(frontier, "/a", NewLink("https://i.test:8443/b"), scores=[9.0, 1.0])
    assert frontier.next(lambda origin: origin != H).url == "https://i.test:8443/b"
    assert frontier.next(lambda origin: origin != H) is None
    assert taken(frontier) == ["/a"]


def test_requests_that_differ_in_their_body_or_ask_not_to_be_filtered_are_links_of_their_own(
    frontier,
):
    url = f"{H}/search"
    links = [
        NewLink(url),
        NewLink(url, extra=b"POST q=1"),
        NewLink(url, extra=b"POST q=2"),
        NewLink(url, extra=b"POST q=1"),
        NewLink(url, filtered=False),
        NewLink(url, filtered=False),
    ]
    assert [number for number, _ in frontier.add(links)] == [0, 1, 2, 1, 3, 4]
    assert frontier.lookup(url) == 0


def test_the_request_of_a_link_is_given_back_with_it(frontier):
    add(frontier, NewLink(f"{H}/a", request=b"\x80\x00blob", priority=3, logical_layer=4))
    link = frontier.next()
    assert (link.request, link.priority, link.logical_layer) == (b"\x80\x00blob", 3, 4)
    add(frontier, "/b", parent=link.id)
    frontier.requeue(link.id, b"retry", -1)
    between = frontier.next()
    assert (between.url, between.parent) == (f"{H}/b", link.id)
    again = frontier.next()
    assert (again.id, again.request, again.priority, again.parent) == (link.id, b"retry", -1, None)


def test_history_is_told_in_the_order_in_which_pages_were_crawled(frontier):
    add(frontier, "/a", "/b", "/c", scores=[1.0, 2.0, 3.0])
    third, second = frontier.next(), frontier.next()
    frontier.complete(third.id, page(f"{H}/c-as-answered", relevant=True), [])
    frontier.complete(second.id, page(f"{H}/b"), [0, 2])
    past = list(frontier.history())
    assert [(p.id, p.url, p.relevant, p.contains_media, p.links) for p in past] == [
        (2, f"{H}/c-as-answered", True, True, []),
        (1, f"{H}/b", False, False, [0, 2]),
    ]
    assert list(frontier.outlinks(1)) == [0, 2]
    assert list(frontier.outlinks(0)) == []


def test_the_alias_of_a_page_is_another_page_of_the_same_bytes(frontier):
    one, other = add(frontier, "/a", "/c")
    crawl(frontier, one, digest=77, relevant=True)
    crawl(frontier, other, digest=79, relevant=False)
    assert frontier.alias(f"{H}/b", 77) == f"{H}/a"
    assert frontier.alias(f"{H}/b", 79) is None
    assert frontier.alias(f"{H}/a", 77) is None
    assert frontier.alias(f"{H}/b", 78) is None
    assert frontier.alias(f"{H}/b", 0) is None


def test_two_jobs_of_a_store_know_nothing_of_each_other(store):
    one, two = (SqliteFrontier(store, store.job(name, {})) for name in ("one", "two"))
    add(one, "/x", "/a")
    assert two.lookup(f"{H}/a") is None
    add(two, NewLink("http://other.test/"), "/a")
    crawl(one, 0, digest=5)
    assert (len(one), one.pages, one.waiting()) == (2, 1, [1])
    assert (len(two), two.pages, two.waiting()) == (2, 0, [0, 1])
    assert two.alias(f"{H}/b", 5) is None
    assert list(two.history()) == []
    assert (one.url(0), two.url(0)) == (f"{H}/x", "http://other.test/")
    assert two.without_parent() == [0, 1]
    assert taken(one) == ["/a"]
    one.fail(1, "404")
    assert (one.errors(), two.errors()) == (Counter({"404": 1}), Counter())
    assert ([past.id for past in one.history()], list(two.history())) == ([0, 1], [])
    assert two.ready == 2


def test_a_link_that_waits_takes_the_request_that_is_given_for_its_address(frontier):
    plain, own = NewLink(f"{H}/about"), NewLink(f"{H}/about", request=b"own")
    [(number, _)] = frontier.add([plain])
    frontier.apply(LinkScores([number], [0.5], [0.0]))
    assert frontier.add([own, NewLink(f"{H}/about", request=b"later")]) == [(number, False)] * 2
    waiting = frontier.next()
    assert (waiting.id, waiting.request) == (number, b"own")
    frontier.add([NewLink(f"{H}/about", request=b"late")])
    frontier.requeue(number, waiting.request, 0)
    assert frontier.next().request == b"own"


def test_links_that_are_known_are_forgotten_when_they_are_rolled_back(frontier):
    """Their numbers are given again."""
    add(frontier, "/a")
    frontier.known(0)
    frontier.store.roll_back()
    with pytest.raises(LookupError):
        frontier.known(0)
