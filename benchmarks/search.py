"""Search on series of versions and on web pages, on both stores, beside a plain FTS5 table.

    python benchmarks/search.py FOLDER [--only series,web] [--mongodb URI] [--processes N]

FOLDER (default: the variable MMCRAWL_CORPORA) has `series/<page>/<unix time>.html` and
`web/<host>/…`, or one of them. All are stored in an archive, which is then indexed with N
processes: for SQLite, and for MongoDB if a server is named (`--mongodb`, or the variable
MMCRAWL_TEST_MONGODB; the database is dropped afterwards).

The peer is one plain FTS5 table (unicode61) of the same distinct block texts, cut into tokens as
ours, which keeps them, beside the texts themselves and a table of the pages each is on; its time is
that of making these from texts at hand, without cutting pages. It answers words and phrases only,
with BM25, the best block of a page, and FTS5's own snippets.

Queries are made of the texts: of each kind the same ones are asked of all in turn, twice over, and
the answers of both stores are compared. The first column is of pages found, on average. Sizes are
those of files.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean, median

from mmcrawl.archive import Archive, Capture, Search, open_archive, open_search
from mmcrawl.archive.search.index import Index, bundles_of
from mmcrawl.archive.search.tokens import pinyin, tokens
from mmcrawl.blocks.phrases import words_of
from mmcrawl.text import has_han, is_stop_word

_AT_ONCE = 50  # captures in a commit
_EACH = 20  # queries of a kind
_SHOWN = 20
_SAMPLE = 4_000  # blocks that queries are made of

Ask = Callable[[str, str, int], object]


@dataclass(frozen=True)
class Asked:
    """A kind of query: its queries, the order, how many hits to skip, and whether FTS5 can."""

    name: str
    queries: list[str]
    order: str = "relevance"
    offset: int = 0
    plain: bool = False


def series(folder: Path) -> Iterator[Capture]:
    found = [(int(path.stem), path) for path in (folder / "series").glob("*/*.html")]
    for when, path in sorted(found):
        yield captured(f"https://{path.parent.name.replace('__', '/')}", path, when)


def web(folder: Path) -> Iterator[Capture]:
    paths = sorted(
        path
        for path in (folder / "web").rglob("*")
        if path.suffix.lower() in (".html", ".htm") and path.stat().st_size
    )
    for number, path in enumerate(paths):
        url = f"http://{path.relative_to(folder / 'web')}"
        yield captured(url, path, 1_600_000_000 + number * 3_600)


def captured(url: str, path: Path, when: float) -> Capture:
    return Capture(url, path.read_bytes(), when, headers=(("Content-Type", "text/html"),))


CORPORA = {"series": series, "web": web}


# ---------------------------------------------------------------- what is asked


def texts_of(index: Path) -> tuple[list[tuple[str, str]], list[tuple[int, str]]]:
    """Return the (topic, text) of all blocks of an index, and (block, URL) where each is."""
    with closing(Index(index, read_only=True)) as opened, opened.reading() as db:
        ids = [one for (one,) in db.execute("SELECT id FROM document ORDER BY id")]
        bundles = bundles_of(db, ids)
        rows = [(text.topic, text.text) for some in bundles.values() for text in some]
        place = {document: number for number, document in enumerate(ids)}
        pairs = db.execute("SELECT DISTINCT document, url FROM run JOIN page ON page.id = page")
        return rows, [(place[document], url) for document, url in pairs]


def kinds_of_query(texts: list[tuple[str, str]], urls: list[str], days: list[str]) -> list[Asked]:
    chance = random.Random(1)
    said = [text for _, text in texts if len(text) > 40]
    counts: Counter[str] = Counter()
    forms: dict[str, str] = {}
    runs = []
    for text in chance.sample(said, min(_SAMPLE, len(said))):
        found = list(words_of(text))
        words = [text[word.start : word.end] for word in found]
        counts.update(word.key for word in found)
        forms.update((word.key, text[word.start : word.end]) for word in found)
        runs += [words[n : n + 3] for n in range(len(words) - 2)]
    telling = [word for word, _ in counts.most_common() if not is_stop_word(word)]
    common = [forms[word] for word in telling[:_EACH]]
    rare = [forms[word] for word in chance.sample(telling[len(telling) // 2 :], _EACH)]
    spoken = [pinyin(word) for word in telling if pinyin(word)]
    chosen = chance.sample(runs, _EACH)
    hosts = sorted({url.split("/")[2] for url in urls})
    topics = [words[0] for topic, _ in texts if (words := topic.split())]
    han = [forms[word] for word in telling if has_han(word)][:_EACH]
    kinds = ("title", "topic", "navigation", "related-links")
    return [
        Asked("a common word", common, plain=True),
        Asked("a rare word", rare, plain=True),
        Asked("two words", [f"{run[0]} {run[2]}" for run in chosen], plain=True),
        Asked("a phrase of three", [f'"{" ".join(run)}"' for run in chosen], plain=True),
        Asked("a Chinese word", han, plain=True),
        Asked("pinyin", spoken[:_EACH]),
        Asked("a word, not another", [f"{a} -{b}" for a, b in zip(common, rare, strict=True)]),
        Asked("a word in a kind", [f"{w} kind:{chance.choice(kinds)}" for w in common]),
        Asked("a word of a topic", [f"topic:{w}" for w in chance.sample(topics, _EACH)]),
        Asked("a kind alone", [f"kind:{kind}" for kind in kinds]),
        Asked("media", ["media:audio", "media:video", "media:animation"]),
        Asked("a site alone", [f"site:{host}" for host in hosts]),
        Asked("a word, from a day", [f"{w} from:{chance.choice(days)}" for w in common]),
        Asked("a word, newest", common, order="newest"),
        Asked("a word, 10th portion", common, offset=9 * _SHOWN),
    ]


# ---------------------------------------------------------------- who is asked


class Fts:
    """The peer: FTS5 over the same texts."""

    def __init__(self, path: Path, texts: list[tuple[str, str]], on: list[tuple[int, str]]) -> None:
        self._db = sqlite3.connect(path)
        self._db.executescript(
            "CREATE VIRTUAL TABLE words USING fts5(said, tokenize = 'unicode61');"
            "CREATE TABLE block (id INTEGER PRIMARY KEY, topic TEXT, said TEXT);"
            "CREATE TABLE seen (block INTEGER, url TEXT);"
        )
        rows = ((n, words(text)) for n, (_, text) in enumerate(texts))
        self._db.executemany("INSERT INTO words (rowid, said) VALUES (?, ?)", rows)
        self._db.executemany(
            "INSERT INTO block VALUES (?, ?, ?)", ((n, *row) for n, row in enumerate(texts))
        )
        self._db.executemany("INSERT INTO seen VALUES (?, ?)", on)
        self._db.execute("CREATE INDEX of_block ON seen (block)")
        self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._db.commit()
        self._db.execute("VACUUM")

    def __call__(self, query: str, _order: str, offset: int) -> object:
        parts = [part for part in query.split('"') if part.strip()]
        if '"' in query:
            match = " ".join(f'"{words(part)}"' for part in parts)
        else:
            match = " ".join(f'"{word}"' for word in words(query).split())
        best = self._db.execute(
            "WITH found AS MATERIALIZED (SELECT rowid AS block, bm25(words) AS score FROM words"
            " WHERE words MATCH ?) SELECT url, found.block, min(score) FROM found"
            " JOIN seen ON seen.block = found.block GROUP BY url ORDER BY 3, url LIMIT ? OFFSET ?",
            (match, _SHOWN, offset),
        ).fetchall()
        return [
            self._db.execute(
                "SELECT snippet(words, 0, '[', ']', '…', 40) FROM words"
                " WHERE words MATCH ? AND rowid = ?",
                (match, row),
            ).fetchone()
            for _, row, _ in best
        ]

    def close(self) -> None:
        self._db.close()


def words(text: str) -> str:
    return " ".join(token.word for token in tokens(text))


def asker(search: Search) -> Ask:
    return lambda query, order, offset: search.search(
        query, order=order, limit=_SHOWN, offset=offset
    )


# ---------------------------------------------------------------- measuring


def measure(kinds: Iterable[Asked], ways: dict[str, Ask]) -> None:
    print(f"{'query: median and p95, ms':<28}{'pages':>7}" + "".join(f"{w:>16}" for w in ways))
    for kind in kinds:
        if not kind.queries:
            continue
        taken: dict[str, list[float]] = {way: [] for way in ways}
        pages = []
        for query in kind.queries * 2:
            answers = {}
            for way, ask in ways.items():
                if way == "fts5" and not kind.plain:
                    continue
                start = time.perf_counter()
                answers[way] = ask(query, kind.order, kind.offset)
                taken[way].append(1000 * (time.perf_counter() - start))
            pages.append(answers["sqlite"].total)  # type: ignore[attr-defined]
            if answers.get("mongodb", answers["sqlite"]) != answers["sqlite"]:
                raise AssertionError(f"the stores do not agree on {query}")
        cells = [f"{median(t):.1f} {p95(t):7.1f}" if t else "-" for t in taken.values()]
        print(f"{kind.name:<28}{mean(pages):>7.0f}" + "".join(f"{cell:>16}" for cell in cells))


def p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * (len(times) - 1))]


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def mongodb_search(server: str | None, archive: Archive) -> Iterator[Search | None]:
    if server is None:
        yield None
        return
    from pymongo import MongoClient

    name = f"benchmark_{uuid.uuid4().hex[:12]}"
    try:
        with open_search(f"{server.rstrip('/')}/{name}", archive) as search:
            yield search
    finally:
        with MongoClient(server) as client:  # type: ignore[var-annotated]
            client.drop_database(name)


def run(name: str, given: argparse.Namespace, scratch: Path) -> None:
    path = scratch / f"{name}.db"
    uri = f"sqlite:///{path}"
    raw = 0
    with open_archive(uri) as archive:
        for some in batches(CORPORA[name](Path(given.folder))):
            archive.store_many(some)
            raw += sum(len(capture.body) for capture in some)
    index = Path(f"{path}-search")
    with open_archive(uri) as archive, open_search(uri, archive) as search:
        size = path.stat().st_size
        seconds = timed(lambda: search.update(processes=given.processes))
        again = timed(search.update)
        stats = search.stats()
        print(
            f"\n{name}: {stats.versions} versions of {stats.pages} pages, {raw / 1e6:.0f} MB;"
            f" {stats.blocks} distinct blocks"
        )
        print(f"archive {size / 1e6:.2f} MB, index {stats.stored_bytes / 1e6:.2f} MB,", end=" ")
        print(f"{stats.stored_bytes / size:.2f} of it, {stats.stored_bytes / raw:.4f} of the pages")
        print(f"cut and indexed in {1000 * seconds / stats.versions:.1f} ms a version", end=" ")
        print(f"({given.processes} processes); nothing new: {1000 * again:.0f} ms")
        texts, on = texts_of(index)
        started = time.perf_counter()
        with closing(Fts(scratch / f"{name}.fts", texts, on)) as fts:
            made = time.perf_counter() - started
            size = (scratch / f"{name}.fts").stat().st_size
            print(f"fts5 {size / 1e6:.2f} MB, made of texts in", end=" ")
            print(f"{1000 * made / stats.versions:.1f} ms a version")
            with mongodb_search(given.mongodb, archive) as other:
                ways: dict[str, Ask] = {"sqlite": asker(search)}
                if other is not None:
                    seconds = timed(partial(other.update, processes=given.processes))
                    print(f"mongodb: {other.stats().stored_bytes / 1e6:.2f} MB,", end=" ")
                    print(f"indexed in {1000 * seconds / stats.versions:.1f} ms a version")
                    ways["mongodb"] = asker(other)
                urls = [url for _, url in on]
                measure(kinds_of_query(texts, urls, days_of(archive)), ways | {"fts5": fts})


def batches(captures: Iterator[Capture]) -> Iterator[list[Capture]]:
    while some := list(islice(captures, _AT_ONCE)):
        yield some


def days_of(archive: Archive) -> list[str]:
    times = sorted(version.time for version in archive.all_versions())
    some = times[:: max(1, len(times) // 50)]
    return [time.strftime("%Y-%m-%d", time.gmtime(when)) for when in some]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "folder",
        nargs="?",
        default=os.environ.get("MMCRAWL_CORPORA"),
        help="folder with series/ and web/ (default: the variable MMCRAWL_CORPORA)",
    )
    parser.add_argument("--only", default=",".join(CORPORA), help="series, web")
    parser.add_argument("--mongodb", default=os.environ.get("MMCRAWL_TEST_MONGODB"))
    parser.add_argument("--processes", type=int, default=min(4, os.cpu_count() or 1))
    given = parser.parse_args()
    if given.folder is None:
        parser.error("name the folder of the pages, or set MMCRAWL_CORPORA")
    if unknown := set(given.only.split(",")) - set(CORPORA):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(CORPORA)}")
    return given


def main() -> int:
    given = arguments()
    with tempfile.TemporaryDirectory() as scratch:
        for name in given.only.split(","):
            if not (Path(given.folder) / name).is_dir():
                print(f"there is no {Path(given.folder) / name}.", file=sys.stderr)
                return 2
            run(name, given, Path(scratch))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
