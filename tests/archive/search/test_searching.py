"""Searching: the same on both stores."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mmcrawl.archive import (
    Archive,
    Hit,
    Results,
    Search,
    as_filter,
    leaves,
    open_archive,
    open_search,
)
from mmcrawl.archive.search import index, searching
from mmcrawl.errors import SearchError, StoreError
from tests.archive.search.pages import (
    CHINESE,
    DAY,
    ENGLISH,
    GERMAN,
    JANUARY,
    TRADITIONAL,
    capture,
    mixed_web,
    store_all,
)
from tests.databases import database_uri
from tests.tables import each

server_uri = database_uri


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Archive, Search]]:
    """The mixed archive and its index, for tests that only look."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('mixed') / 'archive.db'}"
    with open_archive(uri) as archive, open_search(uri, archive) as search:
        store_all(archive, mixed_web())
        search.update()
        yield archive, search


@pytest.fixture
def mixed(archived: tuple[Archive, Search]) -> Search:
    return archived[1]


def urls(results: Results) -> list[str]:
    return [hit.url for hit in results.hits]


def every(results: Results) -> list[Hit]:
    return [one for hit in results.hits for one in (hit, *hit.more)]


FOUND: dict[str, list[str]] = {
    "pivot beam": [ENGLISH],  # all words of a block, in any order
    "pivot newton": [],
    "xylophone": [],
    "pivots BEAMS": [ENGLISH],
    "牛顿": [CHINESE, TRADITIONAL],
    "Straße": [GERMAN],
    "uber": [GERMAN],
    "ÜBER": [GERMAN],
    '"laws of motion"': [ENGLISH],
    '"motion of laws"': [],
    '"量子力学 和牛顿"': [CHINESE],
    "newton lang:de": [GERMAN],
    "newton lang:de -gesetze": [],
    'newton lang:en -"laws of motion"': [],
    'newton lang:en -"motion of laws"': [ENGLISH],
    "topic:力学": [CHINESE, TRADITIONAL],
    "topic:Hebel": [GERMAN],
    "site:physics.test": [ENGLISH],
    "site:ysics.test": [],
    "url:http://wuli.test/tw": [TRADITIONAL],
    "url:wuli.test/tw": [TRADITIONAL],
    "site:wuli.test site:physik.test -url:wuli.test/tw": [CHINESE, GERMAN],
    "lang:de": [GERMAN],
    "lang:zh": [CHINESE, TRADITIONAL],
    "lang:zh-tw": [TRADITIONAL],
    "media:animation": [CHINESE],
    "media:audio media:video": [ENGLISH, GERMAN],
    "beam from:2024-01-01 to:2024-01-01": [ENGLISH],
    "beam to:2023-12-31": [],
    "beam from:2024-01-15 to:2024-01-20": [ENGLISH],
    "beam from:2024-02-01": [],
    "wheels from:2024-03-01": [ENGLISH],
    "kurse": [GERMAN],  # a word of a menu
}


@each("query", FOUND)
def test_a_query_finds_pages(mixed: Search, query: str) -> None:
    assert sorted(urls(mixed.search(query))) == sorted(FOUND[query])


def test_chinese_words_are_found_in_either_script_and_in_longer_ones(mixed: Search) -> None:
    assert mixed.search("牛頓") == mixed.search("牛顿")
    hits = every(mixed.search("力学 site:wuli.test lang:zh-cn"))
    hit = next(hit for hit in hits if "量子力学" in hit.snippet.text)
    start, end = hit.snippet.marks[0]
    assert hit.snippet.text[start:end] == "力学"


def test_any_part_of_a_chinese_word_is_found(archive: Archive, search: Search) -> None:
    url = "http://erhu.test/"
    archive.store(capture(url, 1, title="二泉映月", text="阿炳作曲的二胡名曲，流传很广。"))
    search.update()
    for part in ("二泉", "泉映", "二泉映月", "泉", "月", "二胡名曲", '"二胡 名曲"'):
        (hit,) = search.search(part).hits
        marked = "".join(hit.snippet.text[start:end] for start, end in hit.snippet.marks)
        assert marked == part.replace(" ", "").strip('"'), part
    for other in ('"月二"', '"映月 二泉"', '"名曲流传"'):  # a word ends where its sentence does
        assert search.search(other).total == 0


def test_a_hit_tells_its_media(mixed: Search) -> None:
    (hit,) = mixed.search("media:video").hits
    assert hit.media == ("video",)
    found = [(m.kind, m.url) for m in mixed.read(hit).media]
    assert found == [("video", "http://www.physics.test/lever.mp4")]


def test_a_hit_is_the_last_version_in_the_time(mixed: Search) -> None:
    (hit,) = mixed.search("newton motion").hits
    assert (hit.version, hit.time) == (3, JANUARY + 60 * DAY)
    assert (hit.first_version, hit.first_time) == (1, JANUARY)
    (hit,) = mixed.search("newton motion to:2024-02-10").hits
    assert hit.version == 2


def test_a_visit_that_found_nothing_new_counts_as_seen(archive: Archive, search: Search) -> None:
    store_all(archive, mixed_web())
    search.update()
    archive.note_unchanged(CHINESE, JANUARY + 70 * DAY)
    assert CHINESE not in urls(search.search("牛顿 from:2024-03-01"))
    search.update()
    (hit,) = search.search("牛顿 from:2024-03-01").hits
    assert (hit.url, hit.version) == (CHINESE, 1)


# ---------------------------------------------------------------- order and counts


def test_hits_of_a_page_are_grouped_by_scores_of_their_kinds(mixed: Search) -> None:
    (hit,) = [hit for hit in mixed.search("levers").hits if hit.url == ENGLISH]
    assert hit.blocks == 1 + len(hit.more) >= 2
    scores = [hit.score, *(one.score for one in hit.more)]
    assert scores == sorted(scores, reverse=True)
    assert len({one.digest for one in (hit, *hit.more)}) == len(scores)
    by_kind = {hit.kind: hit.score for hit in every(mixed.search("hebel"))}
    assert by_kind["title"] == max(by_kind.values())


def test_main_text_comes_first_and_menus_only_if_nothing_else_matches(
    archive: Archive, search: Search
) -> None:
    said = "这是物理课的内容，牛顿定律。" * 6
    for day, (name, title, text) in enumerate(
        (("a", "首页", "欢迎。" * 9), ("b", "化学", "化学实验。" * 9), ("c", "讲义", said),
         ("d", "物理", "欢迎来到这里。" * 9)),
    ):  # fmt: skip
        page = capture(f"http://wuli.test/{name}", day, title=title, text=text, menu="物理")
        archive.store(page)
    search.update()
    found = search.search("物理")
    assert sorted(urls(found)) == ["http://wuli.test/c", "http://wuli.test/d"]
    assert {hit.kind for hit in every(found)} <= {"title", "topic"}
    assert (found.total, found.beside) == (2, 2)
    assert "navigation" not in found.counts.kinds
    assert search.search("物理", everywhere=True).total == 4
    assert search.search("物理 kind:navigation").total == 4
    assert search.search("2").total == 4  # which menus only have


def test_pages_are_shown_in_portions_and_counted_whole(mixed: Search) -> None:
    everything = mixed.search("kind:title kind:topic")
    assert everything.total == len(everything.hits) == 4
    for offset in range(4):
        portion = mixed.search("kind:title kind:topic", limit=1, offset=offset)
        assert portion == Results(4, everything.hits[offset : offset + 1], everything.counts)
    assert mixed.search("kind:title", limit=0).hits == ()
    counts = mixed.search("-kind:navigation", limit=1).counts
    assert counts.media == {"animation": 1, "audio": 1, "video": 1}
    assert counts.hosts == {"wuli.test": 2, "physik.test": 1, "www.physics.test": 1}
    assert "navigation" not in counts.kinds


def test_counts_are_what_the_filters_find(mixed: Search) -> None:
    counts = mixed.search("newton -lang:xx").counts
    fields = {"kind": counts.kinds, "media": counts.media, "site": counts.hosts}
    assert counts.kinds
    for field, found in fields.items():
        for value, number in found.items():
            assert mixed.search(f"newton {as_filter(field, value)}").total == number


def test_orders(mixed: Search, archive: Archive, search: Search) -> None:
    def ordered(order: object) -> list[str]:
        return urls(mixed.search("kind:title kind:topic", order=order))  # type: ignore[arg-type]

    assert ordered("newest") == [GERMAN, ENGLISH, TRADITIONAL, CHINESE]
    assert ordered("oldest") == [ENGLISH, CHINESE, TRADITIONAL, GERMAN]
    ranks = {TRADITIONAL: 0.2, GERMAN: 0.5, "http://unknown.test/": 0.9}
    others = [url for url in ordered("relevance") if url not in ranks]
    assert ordered(ranks) == [GERMAN, TRADITIONAL, *others]
    with pytest.raises(SearchError, match="no order 'best'"):
        ordered("best")
    with pytest.raises(SearchError, match="not be negative"):
        mixed.search("lever", offset=-1)
    names = [f"http://h.test/{name}" for name in "cab"]
    store_all(archive, [capture(name, 1, text="the same lever") for name in names])
    search.update()
    assert urls(search.search("lever")) == sorted(names)  # what is alike


# ---------------------------------------------------------------- what is shown


def test_a_hit_shows_its_block_as_archived(archived: tuple[Archive, Search]) -> None:
    archive, mixed = archived
    for hit in every(mixed.search("newton")):
        version = archive.version(hit.url, hit.version)
        found = mixed.read(hit)
        assert found.block in leaves(archive.blocks_of(version))
        assert (found.block.digest, found.block.kind) == (hit.digest, hit.kind)
        assert (hit.topic, hit.time) == (found.block.topic, version.time)


def test_a_headline_that_matches_best_gives_way_to_the_text(mixed: Search) -> None:
    (hit,) = mixed.search("hebel to:2024-01-31", limit=1).hits
    assert (hit.kind, hit.more[0].kind) == ("topic", "title")
    assert hit.score == hit.more[0].score  # the page stays where it was
    assert hit.snippet.text.startswith("Ein Hebel ist ein Balken")
    (asked,) = mixed.search("hebel kind:title to:2024-01-31", limit=1).hits
    assert (asked.kind, asked.snippet.text) == ("title", "Der Hebel")


def test_a_word_with_a_soft_hyphen_is_found_and_shown_as_one(archive, search):
    archive.store(
        capture("http://ship.test/", 0, text="Das Dampf&shy;schiff. " + "Es fährt. " * 20)
    )
    search.update()
    (hit,) = search.search("dampfschiff").hits
    assert hit.snippet.text.startswith("Das Dampfschiff.")


def test_what_was_purged_since_the_update_is_not_shown(archive: Archive, search: Search) -> None:
    store_all(archive, mixed_web())
    search.update()
    archive.purge(url=CHINESE)
    results = search.search("牛顿")
    assert (results.total, urls(results)) == (2, [TRADITIONAL])
    archive.store(capture(CHINESE, 200, text="Something else."))  # numbered as before
    assert urls(search.search("牛顿")) == [TRADITIONAL]


QUERIES = [
    "lever",
    "newton",
    "newton -gesetze",
    '"laws of motion"',
    "力學",
    "牛顿 定律",
    "topic:力学",
    "kind:navigation",
    "kind:title kind:topic -lang:de",
    "media:video media:audio media:animation",
    "site:wuli.test",
    "url:https://",
    "from:2024-01-20 to:2024-02-20",
    "copyright",
    "der ist ein",
]


def test_an_archive_in_a_database_is_searched_as_one_in_a_file(mixed, server_uri, tmp_path):
    path = tmp_path / "index"
    with open_archive(server_uri) as archive, Search(archive, path) as search:
        for one in mixed_web():
            archive.store(one)
            search.update()
        for query in QUERIES:
            expected = mixed.search(query)
            assert expected.hits
            assert search.search(query) == expected, query


# ---------------------------------------------------------------- opening


def test_an_unknown_uri_gets_a_sentence(archive: Archive) -> None:
    with pytest.raises(StoreError, match="is not understood"):
        open_search("ftp://h/x", archive)


def test_an_index_that_is_being_made_is_read_as_none(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'crawl.db'}"
    with open_archive(uri) as archive:
        store_all(archive, mixed_web())
        (tmp_path / "crawl.db-search").touch()
        with open_search(uri, archive, read_only=True) as reader:
            assert reader.search("lever").total == 0
            with open_search(uri, archive) as writer:
                writer.update()
            assert reader.search("lever").total == 1
            assert reader.stats().stored_bytes > 0


@pytest.mark.parametrize("content", [b"no database, but somebody's text " * 40, None])
def test_a_file_of_something_else_is_left_alone(archive, tmp_path, content):
    path = tmp_path / "other.db-search"
    if content is None:
        with closing(sqlite3.connect(path)) as db:
            db.executescript("CREATE TABLE mine (x); INSERT INTO mine VALUES ('kept');")
        content = path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"other\.db-search.*move it away"):
        Search(archive, path)
    assert path.read_bytes() == content


def test_without_fts5_a_sentence_says_what_is_missing(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(index, "_FTS5", index._FTS5.replace("fts5", "fts9"))
    with pytest.raises(StoreError, match="has no FTS5, which searching needs"):
        Search(archive, tmp_path / "crawl.db-search")


def test_the_index_of_a_database_is_a_file_in_the_cache(archive, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    names = set()
    for uri in ("mongodb://h.test/a", "mongodb://ann:secret@h.test/a?w=1", "mongodb://h.test/b"):
        open_search(uri, archive, read_only=True).close()
        names.add(searching.index_path(uri))
    assert len(names) == 2
    assert {path.parent for path in names} == {tmp_path / "caches" / "mmcrawl"}
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="set XDG_CACHE_HOME to a folder that can be written"):
        open_search("mongodb://h.test/a", archive)
    assert open_search("mongodb://h.test/a", archive, read_only=True).search("lever").total == 0
