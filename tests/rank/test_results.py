"""Ranks that are kept beside their archive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mmcrawl.archive import Archive
from mmcrawl.errors import RankError, StoreError
from mmcrawl.rank import (
    RankedPages,
    RankJob,
    TopicContent,
    open_ranks,
    rank_pages,
    save_ranks,
)
from mmcrawl.topic import topic_from_keywords
from tests.rank.conftest import Keep, both_stores
from tests.rank.graphs import read_page


@pytest.fixture
def star(keep: Keep) -> None:
    """Store two pages that link to a third, which links to the first."""
    keep("http://h.test/a", "<p>See <a href=c>levers</a></p>")
    keep("http://h.test/b", "<p>See <a href=c>levers</a></p>")
    keep("http://h.test/c", "<p>Back to <a href=a>the start</a></p>")


def pages(scores: list[float], method: str = "pagerank", computed: float = 1.0) -> RankedPages:
    urls = [f"http://h.test/{n}?b=1&a={n}" for n in range(len(scores))]
    versions = np.arange(len(scores)) + 1
    return RankedPages(method, computed, None, "", 1, 1, urls, versions, np.array(scores))


@both_stores
@pytest.mark.usefixtures("star")
def test_ranks_are_found_by_any_spelling_of_a_url(uri: str, archive: Archive, keep: Keep) -> None:
    ranked = rank_pages(RankJob(uri, "pagerank"), archive)
    save_ranks(uri, ranked.pages)
    with open_ranks(uri) as ranks:
        assert len(ranks) == 3
        assert set(ranks) == {"http://h.test/a", "http://h.test/b", "http://h.test/c"}
        assert ranks["http://h.test/c#top"] == max(ranks.values())
        assert ranks["http://H.test:80/c"] == ranks["http://h.test/c"]
        assert "http://h.test/none" not in ranks
        found = ranks.scores(["http://h.test/none", "http://h.test/c"])
        assert found.tolist() == [0.0, ranks["http://h.test/c"]]
        assert (ranks.method, ranks.at, ranks.topic) == ("pagerank", None, "")
        assert ranks.computed == ranked.pages.computed
        assert not ranks.is_stale(archive)
        keep("http://h.test/a", "<p>Another text</p>", time=2.0)
        assert ranks.is_stale(archive)
    assert {row["url"][-1]: row["in_links"] for row in ranked.rows()} == {"a": 1, "b": 0, "c": 2}


@both_stores
def test_of_each_method_the_last_result_is_kept(uri: str, archive: Archive) -> None:
    del archive  # a database needs one
    save_ranks(uri, pages([0.4, 0.6], "pagerank", computed=1.0))
    save_ranks(uri, pages([1.0], "hits", computed=3.0))
    save_ranks(uri, pages([0.2, 0.3, 0.5], "pagerank", computed=2.0))
    with open_ranks(uri) as ranks:
        assert (ranks.method, len(ranks)) == ("hits", 1)
    with open_ranks(uri, "pagerank") as ranks:
        assert ranks.computed == 2.0
        assert sorted(ranks.values()) == [0.2, 0.3, 0.5]
    with pytest.raises(RankError, match="no ranks by hubs"):
        open_ranks(uri, "hubs")


def test_a_reader_notices_that_ranks_were_computed_anew(uri: str, archive: Archive) -> None:
    del archive
    save_ranks(uri, pages([0.4, 0.6], computed=1.0))
    with open_ranks(uri) as ranks:
        save_ranks(uri, pages([0.3, 0.7], computed=2.0))
        with pytest.raises(StoreError, match=r"pagerank in .* was recomputed"):
            list(ranks)


@pytest.mark.usefixtures("star")
def test_rows_come_from_the_highest_rank_on_ties_by_url(uri: str, archive: Archive) -> None:
    ranked = rank_pages(RankJob(uri, "pagerank"), archive)
    rows = list(ranked.rows(2))
    assert [row["place"] for row in rows] == [1, 2]
    assert rows[0]["url"] == "http://h.test/c"
    assert rows[0]["times_average"] == pytest.approx(3 * rows[0]["score"])
    assert len(list(ranked.rows())) == 3


@pytest.mark.usefixtures("star")
def test_topic_pagerank_prefers_pages_about_the_topic(
    uri: str, archive: Archive, keep: Keep
) -> None:
    keep("http://h.test/d", "<p><a href=optics>One</a> <a href=shoes>Two</a></p>")
    for name, words in (("optics", "A lens bends light"), ("shoes", "Leather and laces")):
        keep(f"http://h.test/{name}", f"<title>{words}</title><h1>{words}</h1>")
    topic = topic_from_keywords("lens, light")
    ranked = rank_pages(RankJob(uri, "topic-pagerank", topic=topic), archive)
    scores = dict(zip(ranked.pages.urls, ranked.pages.scores, strict=True))
    assert scores["http://h.test/optics"] > scores["http://h.test/shoes"]
    assert ranked.pages.topic == "keywords"
    with pytest.raises(RankError, match="needs a topic"):
        rank_pages(RankJob(uri, "topic-pagerank"), archive)


def test_content_goes_by_the_words_of_title_url_and_text() -> None:
    content = TopicContent(topic_from_keywords("lens, light, mirror, ray"))
    read = read_page(1, [(5, "topic", []), (5, "navigation", [])])
    text, bar = read.blocks
    assert content.of(read) == 0
    assert content.of(replace(read, page=replace(read.page, title="A lens"))) == 0.25
    assert content.of(replace(read, page=replace(read.page, url="http://h.test/ray/"))) == 0.25
    assert content.of(replace(read, blocks=(replace(text, topic="light ray"), bar))) == 0.5
    assert content.of(replace(read, blocks=(text, replace(bar, topic="light ray")))) == 0


def test_an_archive_without_pages_cannot_be_ranked(uri: str, archive: Archive, keep: Keep) -> None:
    with pytest.raises(RankError, match="the archive is empty"):
        rank_pages(RankJob(uri, "pagerank"), archive)
    keep("http://h.test/gone", "<p>Not here</p>", status=404)
    with pytest.raises(RankError, match=r"no page to rank .*1 × status 404"):
        rank_pages(RankJob(uri, "pagerank"), archive)
