"""Ranks of blocks and of media, on archives small enough to reckon by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mmcrawl.archive import Archive, Capture
from mmcrawl.errors import RankError
from mmcrawl.rank import (
    KIND_WEIGHTS,
    GraphBuilder,
    Ranked,
    RankJob,
    Reading,
    block_importance,
    blocks_to_pages,
    pages_to_blocks,
    quarkrank,
    rank_blocks,
    rank_media,
)
from tests.rank.conftest import HTML, Keep
from tests.rank.graphs import dense_ranks

TEXT = "<p>A lever is a beam on a pivot; effort at one end moves the load at the other.</p>"
LESSON = f"""<ul id="nav"><li><a href="/">Home</a></li><li><a href="/c">All lessons</a></li></ul>
<div><h1>Levers</h1>{TEXT * 6}<video src="/lever.mp4"></video><a href="/b">pulleys</a></div>
<div><p>Copyright 2024, the school. <a href="/jingle.mp3">Our jingle</a></p></div>"""
WEB = {
    "http://h.test/a": LESSON,
    "http://h.test/b": f"<div>{TEXT}<a href=/a>levers</a> <a href=/lever.mp4>film</a></div>",
    "http://h.test/c": f"<div>{TEXT}<a href=/a>levers</a> <a href=/lone.swf>drawing</a></div>",
}


def job(method: str = "quarkrank") -> RankJob:
    return RankJob(uri="", method=method)


@pytest.fixture
def web(archive: Archive) -> Archive:
    """The archive of WEB, its pages stored backwards: ids go by address."""
    for url in sorted(WEB, reverse=True):
        archive.store(Capture(url, WEB[url].encode(), 1.0, headers=HTML))
    return archive


def by(ranked: Ranked, *names: str) -> dict[tuple[Any, ...], float]:
    return {tuple(row[name] for name in names): row["score"] for row in ranked.rows()}


@pytest.mark.parametrize(
    ("method", "weights"), [("quarkrank", KIND_WEIGHTS), ("block-pagerank", None)]
)
def test_blocks_are_ranked_over_the_block_graph(web: Archive, method: str, weights: Any) -> None:
    pages = list(Reading(web))
    graph = GraphBuilder.of(pages)
    to_blocks = pages_to_blocks(graph, block_importance(graph, kind_weights=weights))
    expected = dense_ranks((blocks_to_pages(graph) @ to_blocks).toarray(), 0.15)
    blocks = [(read.page.url, block) for read in pages for block in read.blocks]
    wanted = {
        (url, block.start, block.end, block.kind, block.topic): score
        for (url, block), score in zip(blocks, expected, strict=True)
    }
    ranked = rank_blocks(job(method), web)
    found = by(ranked, "url", "start", "end", "kind", "topic")
    assert len(found) == len(wanted) > 4
    assert found == pytest.approx(wanted, abs=1e-9)
    assert sum(found.values()) == pytest.approx(1)
    [first] = ranked.rows(1)
    assert (first["place"], first["score"]) == (1, max(found.values()))
    assert first["times_average"] == pytest.approx(first["score"] * len(found))


def test_media_get_the_rank_of_pages_by_the_weight_of_blocks(web: Archive) -> None:
    pages = list(Reading(web))
    graph = GraphBuilder.of(pages)
    ranks, weight = quarkrank(graph).scores, block_importance(graph, kind_weights=KIND_WEIGHTS)
    body = LESSON.encode()
    weights = dict(zip(((b.page, b.number) for p in pages for b in p.blocks), weight, strict=True))

    def around(page: int, body: bytes, what: bytes) -> float:
        """Weigh the deepest block around a place of a page."""
        place = body.index(what)
        held = [b for b in pages[page].blocks if b.start <= place < b.end]
        return float(weights[page, max(held, key=lambda b: b.level).number])

    others = [WEB[f"http://h.test/{name}"].encode() for name in "bc"]
    given = {
        "lever.mp4": ranks[0] * around(0, body, b"<video")
        + ranks[1] * around(1, others[0], b"<a href=/lever.mp4"),
        "jingle.mp3": ranks[0] * around(0, body, b'<a href="/jingle'),
        "lone.swf": ranks[2] * around(2, others[1], b"<a href=/lone"),
    }
    whole = sum(given.values())
    ranked = rank_media(job(), web)
    expected = {(f"http://h.test/{name}",): value / whole for name, value in given.items()}
    assert by(ranked, "url") == pytest.approx(expected, abs=1e-12)
    facts = {
        row["url"][14:]: (row["kind"], row["pages"], row["best_page"]) for row in ranked.rows()
    }
    best = "a" if ranks[0] * around(0, body, b"<video") > ranks[1] else "b"
    assert facts == {
        "lever.mp4": ("video", 2, f"http://h.test/{best}"),
        "jingle.mp3": ("audio", 1, "http://h.test/a"),
        "lone.swf": ("animation", 1, "http://h.test/c"),
    }


def test_media_stand_in_the_deepest_block_around_them(archive: Archive) -> None:
    film = '<figure><iframe src="/film.mp4" width="640" height="360"></iframe></figure>'
    song = f'{TEXT * 3}<p>{TEXT[3:-4] * 3} <a href="/song.mp3">A song</a> of it.</p>'
    links = "".join(f"<li><a href=/{n}>Lesson {n} on levers</a></li>" for n in range(5))
    body = f"""<body><header><a href="/">School</a></header><main>
<article><h1>Levers</h1>{film}{song}</article>
<section><h2>More</h2><ul>{links}</ul></section></main></body>"""
    capture = Capture("http://h.test/a", body.encode(), 1.0, headers=HTML)
    archive.store(capture, method="bwap", level=3)
    [read] = Reading(archive, media=True)
    blocks = {block.number: block for block in read.blocks}
    found = {one.url[14:]: blocks[one.block] for one in read.media}
    assert len(found) == len(read.media) == 2
    outer, inner = found["film.mp4"], found["song.mp3"]
    assert outer.level < inner.level
    assert outer.start <= inner.start < inner.end <= outer.end
    [link] = [link for link in read.links if link.url.endswith("song.mp3")]
    assert link.block == inner.number


def test_what_cannot_be_ranked_is_told(archive: Archive, keep: Keep) -> None:
    with pytest.raises(RankError, match="empty"):
        rank_media(job(), archive)
    with pytest.raises(RankError, match="hits does not rank blocks; quarkrank and block-pagerank"):
        rank_blocks(job("hits"), archive)
    archive.store(Capture("http://h.test/a.bin", bytes(range(256)), 1.0))
    with pytest.raises(RankError, match="no blocks"):
        rank_blocks(job(), archive)
    keep("http://h.test/b", "<p>Pulleys</p>")
    with pytest.raises(RankError, match="no page of the archive shows or links to"):
        rank_media(job(), archive)
    keep("http://h.test/c", "<p><a href=b>Pulleys</a> <a href=x.mp3>a song</a></p>")
    with pytest.raises(RankError, match="rank 0 by hits"):
        rank_media(job("hits"), archive)
    assert np.isclose(rank_media(job("hubs"), archive).scores.sum(), 1)
