"""What is typed wrongly is answered with one sentence and an exit code, and changes nothing.

A row is a command line, its exit code (2 if what was typed cannot be right, 1 if it does not fit
what is there), and words of the sentence.
"""

import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.frontier import open_store
from tests.commands.running import ran
from tests.tables import each
from tests.topic.test_learning import BAD, GOOD, markup

PAGE = "<title>Lenses</title><h1>Lenses</h1><p>A lens bends light towards its axis.</p>"
LONG = "x" * 300
OPTICS = "experiment --web web --keywords x --algos breadth"

COLLECT = """
collect none.db | 2 | there is no store none.db
collect status none.db | 2 | there is no collection none-media/index.db
collect -a kinds=films | 2 | kinds: there is no media kind 'films'; did you mean
collect -a store=memory: | 2 | memory: keeps nothing
"""

ARCHIVE = """
archive versions http://none.test/ | 1 | http://none.test/ is not in archive crawl-archive.db
archive show http://a.test/ --version 7 | 1 | http://a.test/ has no version 7
archive diff http://b.test/ | 1 | has only one version
archive list -a archive=newer.db | 1 | written by a newer version of mmcrawl
archive list -a archive=text.db | 1 | text.db is not an archive of mmcrawl
archive list none.db | 2 | there is no archive none.db; store a page there first
archive list -a store=none.db | 2 | there is no archive none-archive.db
archive purge --host none.test --yes | 1 | the archive has no page of host none.test
archive block lens | 1 | no digest of a block
archive rebuild http://a.test/ -o no/such/x | 2 | -o no/such/x: there is no folder no/such
archive show http://a.test/ --at someday | 2 | --at: 'someday' is no time; give one as 2024-05-17
archive diff http://a.test/ 1 two | 2 | give a whole number from 1, not 'two'
archive list -a crawl.db | 2 | -a crawl.db: give NAME=VALUE, as -a store=VALUE
archive list -a store=memory: | 2 | a store in memory has no archive
archive import-warc none.warc | 2 | none.warc
archive export-warc x.warc --since 2025 --until 2024 | 2 | --since 2025-01-01 00:00:00 UTC is not
archive export-warc - | 1 | give a name
archive duplicates --near 0 | 2 | --near: give a number above 0 and at most 1, as 0.8
archive diff http://a.test/ 1 | 2 | give two versions of the page, V1 V2
archive show http://a.test/ --at 2024 --version 1 | 2 | either --at or --version
archive purge --yes | 2 | say what to remove
"""

BLOCKS = """
blocks . | 2 | . is a folder; give an HTML file in it
blocks empty.html | 1 | empty.html: the page is empty
blocks picture.html | 1 | picture.html: no HTML page: binary data
blocks wide.html | 1 | wide.html: the page is in UTF-32, which browsers do not read; --form
blocks | 2 | give one URL or file, or - for standard input
blocks page.html --format txt --method quark | 2 | --format reads the page as a whole
blocks page.html --method vips | 2 | unknown partitioner 'vips'; there are bwap
blocks page.html --level 0 | 2 | --level: give a whole number from 1
blocks --format md good | 2 | several pages as md: name a folder with --output
blocks --format md good --output page.html | 2 | --output page.html is not a folder
blocks page.html --output notes | 2 | --output goes with --format
blocks --format md notes | 2 | notes: no file in it ends in .html
"""

OTHERS = f"""
browse -a archive=none.db | 2 | there is no archive none.db
browse --host 256.0.0.1 | 1 | cannot listen on 256.0.0.1
{OPTICS},learned:variance=0 | 2 | algorithm learned: variance must be
{OPTICS} --budget 300% | 2 | give a whole number from 1, or a share from
experiment --keywords x --algos breadth --web sim:seed=1-3 | 2 | seed=1-3 does not describe a
{OPTICS} --out notes | 2 | the folder notes holds other files (letter.txt); name
experiment --compare notes notes | 2 | notes holds no finished experiment
experiment --preset quark --algos breadth | 2 | takes --data and --out; leave out --algos
experiment --preset song2008 -a max_layer=3 | 2 | --data and --out; leave out --max-layer
experiment --preset yang2009 --web sim:seed=9-3 | 2 | seed=9-3 is no range of 1 to 100
experiment --preset yang2009 --algos fish | 2 | has algorithms of its own; leave out --algos
experiment --data x | 2 | --data is for --preset song2008 or wang2012 or quark
links --status lost | 2 | there is no status 'lost'; there are waiting, held, running
links -a store=memory: | 2 | memory: keeps nothing
rank --method pagerang | 2 | no method 'pagerang'; did you mean pagerank?
rank --topic physics-senior | 2 | quarkrank takes no topic; topic-pagerank does
rank --of blocks --method hits | 2 | take --method quarkrank or block-pagerank
rank --of media | 1 | no page of the archive shows or links to media
rules test | 2 | it is scrapy rules test URL…
rules export --job x | 1 | there is no job 'x' in
rules test u --rules x --job y | 2 | give either a file, with -a rules=, or
rules export --store text.db | 1 | text.db is not a store of mmcrawl
rules test http://h.test/ -a rules=none.txt | 2 | none.txt
seeds find --keywords x | 2 | --from is missing
seeds find --from page.html --keywords x --known none.txt | 2 | there is no seed file none.txt
seeds find --from . | 2 | --topic NAME
seeds find --from notes --keywords x | 2 | folder without WARC files
topic score --keywords lens song.mp3 | 1 | song.mp3: no page: audio/mpeg
topic learn x | 2 | --good PAGES is missing
topic learn physics-senior --good good | 2 | ships with mmcrawl
topic learn a/b --good good | 2 | is no name for a topic
topic learn x --good good -a archive=none.db | 2 | none.db
topic learn x --good good --bad good | 2 | among the good pages and the bad
topic learn x --good good --bad bad -o x.pkl | 2 | ends in .json
workers | 2 | say which store
workers -a store=crawl.db | 2 | crawl.db keeps a crawl of one process, begun without workers=
workers -a store=mongodb://127.0.0.1:1/d?serverSelectionTimeoutMS=100 | 1 | cannot be reac
works export | 2 | --to FORMAT is missing
works export --to csv -o page.html | 2 | is there already
works export --to csv -o {LONG} | 2 | name too long
works describe none.db | 2 | there is no store none.db
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive, a crawl, pages good and bad, and files that are none of it."""
    folder = tmp_path_factory.mktemp("desk")
    html = (("Content-Type", "text/html; charset=utf-8"),)
    with open_archive(f"sqlite:///{folder}/crawl-archive.db") as archive:
        for time in (1.7e9, 1.8e9):
            archive.store(Capture("http://a.test/", f"{PAGE}{time}".encode(), time, headers=html))
        archive.store(Capture("http://b.test/", PAGE.encode(), 1.7e9, headers=html))
    for name in ("newer", "empty"):
        open_archive(f"sqlite:///{folder}/{name}.db").close()
    with closing(sqlite3.connect(folder / "newer.db")) as db, db:
        db.execute("PRAGMA user_version = 99")
    with open_store(f"sqlite:///{folder}/crawl.db") as opened:
        opened.job("school", {"topic": "physics-senior", "seeds": [["http://h.test/", ""]]})
        opened.commit()
    files = {
        "page.html": PAGE.encode(),
        "empty.html": b" \n",
        "picture.html": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4,
        "wide.html": PAGE.encode("utf-32-be"),
        "song.mp3": b"<title>lens</title>",
        "broken.json": b"{",
        "text.db": b"no database" * 1000,
        "notes/letter.txt": b"Dear",
        "web/site.test/index.htm": PAGE.encode(),
        **{f"good/g{n % 2}.test/{n}.html": markup(GOOD, n, "") for n in range(4)},
        **{f"bad/b{n % 2}.test/{n}.html": markup(BAD, 100 + n, "") for n in range(4)},
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def files_in(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return what is in a folder, but for search indexes and what SQLite has beside its own."""
    own = ("-shm", "-wal", "-search")
    files = (path for path in folder.rglob("*") if not path.name.endswith(own))
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


@each(
    "row", [row for rows in (ARCHIVE, BLOCKS, COLLECT, OTHERS) for row in rows.strip().splitlines()]
)
def test_a_mistake_is_a_sentence(row: str, desk: Path) -> None:
    line, code, sentence = row.rsplit(" | ", 2)
    name, *words = shlex.split(line)
    before = files_in(desk)
    done = ran(name, *words, folder=desk)
    assert (done.returncode, done.stdout) == (int(code), ""), done.stderr
    [said] = done.stderr.strip().splitlines()
    assert sentence in said
    assert said.startswith(f"scrapy {name}: ")
    assert files_in(desk) == before
