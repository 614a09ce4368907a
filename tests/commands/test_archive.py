"""`scrapy archive`: what a person types, and what comes back."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands import archive as module
from mmcrawl.crawl import as_time
from tests.commands.running import Run, runner
from tests.programs import typed
from tests.tables import each

URL = "http://optics.test/lens.html"
OTHER = "http://optics.test/mirror.html"
GBK = "http://wuli.test/guang.htm"
FILE = "http://files.test/a.bin"


def page(title: str, news: str) -> bytes:
    advert = "<div class='advert'><p>Advertisement: Buy lenses now</p></div>"
    text = "A lens bends light towards its axis, and the image stands where the rays meet again. "
    return (
        f"<html lang='en'><head><title>{title}</title></head><body>"
        "<ul><li><a href='/'>Home</a><li><a href='/a'>Lessons</a><li><a href='/b'>Tests</a></ul>"
        f"<div><h1>{title}</h1><p>{text * 3}</p></div><div><h2>News</h2><p>{news}</p></div>"
        f"{advert}<p>Copyright 2009 Optics</p></body></html>"
    ).encode()


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


HTML = (("Content-Type", "text/html; charset=utf-8"), ("ETag", '"x"'))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the archive of a crawl."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    texts = ["The hall is open on Monday.", "The hall is closed on Monday, says the school."]
    with open_archive("sqlite:///crawl-archive.db") as archive:
        for date, text in zip(("2024-03-01", "2024-05-01"), texts, strict=True):
            archive.store(Capture(URL, page("Lenses", text), day(date), headers=HTML, reason="OK"))
        archive.note_unchanged(URL, day("2024-06-01"))
        archive.store(Capture(OTHER, page("Mirrors", "None."), day("2024-03-02"), headers=HTML))
        chinese = "<html><meta charset=gbk><h1>光的折射</h1><p>光从一种介质射入另一种介质</p>"
        archive.store(Capture(GBK, chinese.encode("gbk"), day("2024-04-01"), headers=HTML[1:]))
        archive.store(Capture(FILE, bytes(range(256)), day("2024-04-02"), status=404))
    return tmp_path


@pytest.fixture
def run(desk: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""

    return runner(module.Command, capfd)


def test_urls_are_listed_all_or_those_of_a_host_or_with_a_prefix(run):
    said = run("list")
    assert said.code == 0
    assert [line.split()[-1] for line in said.out.splitlines()[1:]] == [FILE, URL, OTHER, GBK]
    assert " 2      3  2024-06-01 00:00:00 UTC  http://optics.test/lens.html" in said.out
    assert [line["url"] for line in run("list", "--json").lines()] == [FILE, URL, OTHER, GBK]
    assert [line["url"] for line in run("list", "WULI.test", "--json").lines()] == [GBK]
    found = run("list", "http://optics.test/m", "--json").lines()
    assert [line["url"] for line in found] == [OTHER]
    assert found[0]["last_visit"] == "2024-03-02T00:00:00.000Z"


def test_the_versions_of_a_url_with_their_visits(run):
    said = run("versions", "http://OPTICS.test/lens.html")
    assert "1 1 2024-03-01 00:00:00 UTC 200" in said.words
    assert "2 2 2024-05-01 00:00:00 UTC 200" in said.words
    lines = run("versions", URL, "--json").lines()
    assert [(line["number"], line["visits"]) for line in lines] == [(1, 1), (2, 2)]
    assert [line["anew"]["new_layout"] for line in lines] == [True, False]
    assert lines[1]["anew"]["new_blocks"] < lines[0]["anew"]["new_blocks"]


def test_facts_and_blocks_of_a_version(run):
    said = run("show", URL)
    assert "version 2 of 2024-05-01 00:00:00 UTC" in said.words
    assert "status 200 OK" in said.words
    assert 'etag "x"' in said.words
    assert "next time Level 3 as before: it is thought over again after version 5." in said.words
    assert "navigation Home Lessons Tests" in said.words
    assert "version 1 of 2024-03-01" in run("show", URL, "--version", "1").words
    assert "version 1 of 2024-03-01" in run("show", URL, "--at", "2024-04-30").words
    assert "光的折射" in run("show", GBK).out
    blocks = run("show", URL, "--json").json()["blocks"]
    assert {"navigation", "copyright"} <= {block["kind"] for block in blocks}


def test_layout_and_blocks_of_a_version_in_order_are_the_page(run):
    said = run("show", URL, "--blocks", "--json").json()
    blocks = said["blocks"]
    inner = [
        b
        for b, n in zip(blocks, [*blocks[1:], {"level": 0}], strict=True)
        if n["level"] <= b["level"]
    ]
    body = page("Lenses", "The hall is closed on Monday, says the school.")
    ranges = [(piece["start"], piece["end"]) for piece in (*said["layout"]["pieces"], *inner)]
    assert b"".join(body[start:end] for start, end in sorted(ranges)) == body
    new = [block for block in inner if block["new"]]
    assert ["The hall is closed" in block["text"] for block in new] == [True]
    assert said["anew"]["new_bytes"] == new[0]["end"] - new[0]["start"]
    words = run("show", URL, "--blocks").words
    assert f"+ {new[0]['digest']} {new[0]['start']}–{new[0]['end']}" in words
    assert f"new 1 of {len(inner)} blocks, {said['anew']['new_bytes']} bytes" in words


def test_the_life_of_a_block(run):
    def digest(words: str, *version: str) -> str:
        blocks = run("show", URL, *version, "--blocks", "--json").json()["blocks"]
        return next(b["digest"] for b in reversed(blocks) if words in b["text"])

    menu, gone = digest("Lessons"), digest("open on Monday", "--version", "1")
    said = run("block", menu[:7])
    assert said.code == 0
    assert f"{menu} navigation" in said.words
    assert (
        "on 2 pages of 1 site, in 3 versions, from 2024-03-01 00:00:00 UTC to 2024-06-01"
        in said.words
    )
    assert f"{URL} versions 1–2; 2024-03-01" in said.words
    assert "still there" in said.words
    assert run("block", menu, "--text").words == "Home Lessons Tests"
    [left] = run("block", gone, "--json").json()["pages"]
    assert (left["versions"], left["until"], left["gone"]) == (
        [1],
        "2024-03-01T00:00:00.000Z",
        "2024-05-01T00:00:00.000Z",
    )


def test_a_page_is_given_back_byte_for_byte(run, desk: Path):
    said = run("rebuild", URL, "--version", "1", "-o", "old.html")
    assert "old.html: version 1 of 2024-03-01 00:00:00 UTC" in said.out
    assert (desk / "old.html").read_bytes() == page("Lenses", "The hall is open on Monday.")
    shown = typed("archive", "rebuild", FILE, "-o", "-", folder=desk, encoding=None)
    assert shown.stdout == bytes(range(256))


def test_a_difference_shows_changed_blocks_with_their_words(run):
    said = run("diff", URL, "1", "2")
    assert said.code == 0
    assert "version 1 of 2024-03-01 00:00:00 UTC → version 2 of 2024-05-01" in said.words
    assert "[-open-]" in said.out
    assert "{+closed+}" in said.out
    assert "Copyright" not in said.out
    assert "1 changed" in said.words
    assert run("diff", URL).out == said.out
    everything = run("diff", URL, "1", "2", "--all").out
    assert "Copyright" in everything
    only = run("diff", URL, "1", "2", "--kinds", "navigation", "--all")
    assert "Home Lessons" in only.out
    assert "[-open-]" not in only.out
    record = run("diff", URL, "1", "2", "--json").json()
    assert {block["change"] for block in record["blocks"]} == {"kept", "changed"}
    assert record["verdict"] == "content"
    (kind,) = record["summary"]["changed"]
    assert f"blocks: 1 changed ({kind})" in said.words
    assert said.out.index("blocks:") < said.out.index("[-open-]")
    assert "the same, byte for byte" in run("diff", URL, "1", "1").out


def test_numbers_and_a_check(run):
    said = run("stats").words
    assert "URLs 4" in said
    counts = run("stats", "--json").json()
    assert 0 < counts["distinct_blocks"] < counts["blocks"]
    assert (counts["layouts"], counts["distinct_layouts"]) == (4, 3)
    share = 1 - counts["distinct_blocks"] / counts["blocks"]
    assert f"{counts['distinct_blocks']} distinct: {share:.1%} found again" in said
    assert run("stats", "--json").json()["versions"] == 5
    checked = run("check")
    assert checked.code == 0
    assert "4 URLs, 5 versions rebuilt and compared" in checked.words
    assert "nothing is wrong" in checked.out
    assert run("check", "--repair", "--json").json()["clean"] is True
    assert " before, " in run("seal").words
    assert "on demand" not in run("stats").words


@pytest.mark.parametrize(
    ("setting", "method", "unsegmented"), [("spcola", "spcola", 0), ("off", "bwap", 4)]
)
def test_pages_of_warc_files_are_cut_as_those_of_a_crawl(run, setting, method, unsegmented):
    run("export-warc", "all.warc.gz")
    copied = run("import-warc", "all.warc.gz", "-a", "archive=copy.db", MMCRAWL_BLOCKS=setting)
    assert copied.code == 0
    with open_archive("sqlite:///copy.db", read_only=True) as archive:
        pages = [version for version in archive.all_versions() if version.encoding]
        assert {version.method for version in pages} == {method}
        assert archive.stats().unsegmented == unsegmented
        assert [archive.page(version).kept is None for version in pages] == [bool(unsegmented)] * 4


def test_pages_whose_blocks_are_not_kept_are_cut_on_demand(run, desk: Path):
    with open_archive("sqlite:///crawl-archive.db", keep_blocks=False) as archive:
        archive.store(Capture(OTHER, page("Mirrors", "Some."), day("2024-07-01"), headers=HTML))
    assert "and those of 1 page that are cut on demand" in run("stats").words
    assert "navigation Home Lessons Tests" in run("show", OTHER).words
    assert "the blocks of 1 page are not kept" in run("block", "0" * 16).err
    run("seal")
    assert "on demand" not in run("stats").words


def test_damage_is_found_and_is_exit_code_1(run, desk: Path):
    with closing(sqlite3.connect(desk / "crawl-archive.db")) as db, db:
        db.execute("UPDATE segment SET data = zeroblob(length(data))")
    checked = run("check")
    assert checked.code == 1
    assert "damaged" in checked.out
    said = run("rebuild", URL, "-o", "x.html")
    assert said.code == 1
    assert said.err.count("\n") == 1
    assert not (desk / "x.html").exists()


def test_versions_beside_a_damaged_one_are_shown_and_the_exit_code_is_1(run, desk: Path):
    with open_archive("sqlite:///crawl-archive.db") as archive:
        archive.store(Capture(URL, page("Lenses", "Open."), day("2024-07-01"), headers=HTML))
        archive.close(seal=False)
    with closing(sqlite3.connect("crawl-archive.db")) as db, db:
        db.execute("UPDATE segment SET head = zeroblob(length(head)) WHERE level > 0")
    said, copied = run("versions", URL), run("copy", "crawl-archive.db", "other.db")
    assert said.code == copied.code == 1
    for number in (1, 2):
        assert f"version {number} of {URL} cannot be read" in said.err
        assert f"version {number} of {URL} of 2024-" in copied.err
    assert "2024-07-01" in run("versions", URL).out
    assert run("show", URL, "--version", "3").words.startswith(URL)


def test_what_is_due(run):
    said = run("due", "--at", "2024-03-02T12:00")
    assert "1 due at 2024-03-02 12:00:00 UTC" in said.words
    assert "12.0 h 2024-03-01 00:00:00 UTC" in said.words
    assert "Visited once: again after 1 day." in said.words
    assert [line["url"] for line in run("due", "--at", "2024-03-04", "--json").lines()] == [
        URL,
        OTHER,
    ]
    assert len(run("due", "--at", "2025-01-01", "--limit", "1", "--json").lines()) == 1
    for kinds, changed in (("all", "1 of 2 visits, "), ("advertisement", "0 of 2 visits, at 1 mo")):
        said = run("due", "--at", "2025-01-01", MMCRAWL_REVISIT_KINDS=kinds)
        assert f"Changed at {changed}" in said.words
    wrong = run("due", MMCRAWL_REVISIT_KINDS="all,topic")
    assert (wrong.code, wrong.out, wrong.err.count("\n")) == (2, "", 1)
    assert "MMCRAWL_REVISIT_KINDS all,topic: name kinds" in wrong.err
    later = run("due", "--at", "2024-03-02T12:00", MMCRAWL_REVISIT_DEFAULT=72)
    assert later.words.startswith(
        "0 due at 2024-03-02 12:00:00 UTC The next page is due at 2024-03-04 00:00:00 UTC;"
    )


def test_a_search_finds_blocks(run):
    said = run("search", "折射")
    assert (said.code, GBK in said.out) == (0, True)
    assert "1 page found" in said.out
    assert [hit["url"] for hit in run("search", "mirrors", "--json").lines()] == [OTHER]
    nothing = run("search", "zzzz")
    assert (nothing.code, nothing.words) == (1, "0 pages found")


def test_a_purge_takes_words_out_of_the_search_index(run, desk: Path):
    index = desk / "crawl-archive.db-search"
    run("purge", "--host", "files.test", "--yes")
    assert not index.exists()
    run("search", "lens")
    assert b"wuli.test" in index.read_bytes()
    run("purge", "--host", "wuli.test", "--yes")
    assert b"wuli.test" not in index.read_bytes()


def test_warc_files_carry_an_archive_elsewhere(run):
    said = run("export-warc", "all.warc.gz")
    assert "all.warc.gz: 4 URLs, 5 responses, 1 revisits" in said.words
    said = run("import-warc", "all.warc.gz", "-a", "archive=copy.db")
    assert "5 new versions, 1 unchanged" in said.words
    before = [line["digest"] for line in run("versions", URL, "--json").lines()]
    after = run("versions", URL, "--json", "-a", "archive=copy.db").lines()
    assert [line["digest"] for line in after] == before
    some = run("export-warc", "some.warc", "--host", "optics.test", "--since", "2024-04-01")
    assert "1 URLs, 1 responses, 1 revisits" in some.words
    assert Path("all.warc.gz").read_bytes()[:3] == b"\x1f\x8b\x08"
    assert Path("some.warc").read_bytes()[:8] == b"WARC/1.1"


def test_a_purge_needs_a_yes(run, desk: Path):
    asked = typed("archive", "purge", "--host", "wuli.test", folder=desk, answer="")
    assert asked.returncode == 1
    assert "nothing was removed; --yes" in asked.stderr
    assert len(run("list", "--json").lines()) == 4
    said = run("purge", "--host", "wuli.test", "--yes")
    assert "1 versions and " in said.words
    assert len(run("list", "--json").lines()) == 3
    run("purge", "--url", URL, "--before", "2024-05-02", "--yes")
    assert [line["number"] for line in run("versions", URL, "--json").lines()] == [2]


def test_nothing_a_page_says_reaches_the_terminal(run):
    evil = "http://evil.test/"
    with open_archive("sqlite:///crawl-archive.db") as archive:
        for number in range(2):
            body = f"<html><body><h1>\x1b]0;owned\x07[red]{number}</h1></body></html>".encode()
            headers = (("Content-Type", "text/html\x1b[31m"), ("ETag", "\x1b[2J"))
            archive.store(Capture(evil, body, 1.0 + number, headers=headers, reason="\x1b[2J"))
    for args in (["list"], ["versions", evil], ["show", evil], ["diff", evil, "--all"]):
        said = run(*args)
        assert said.code == 0
        assert "\x1b" not in said.out
        assert "\x07" not in said.out


@each(
    "text, expected",
    [
        ("2024-05-17", "2024-05-17T00:00:00+00:00"),
        ("2024-05-17T08:30:00+08:00", "2024-05-17T00:30:00+00:00"),
        ("2024-05-17 08:30:00 UTC", "2024-05-17T08:30:00+00:00"),
        ("20240517083000", "2024-05-17T08:30:00+00:00"),
        ("2024", "2024-01-01T00:00:00+00:00"),
        ("@0", "1970-01-01T00:00:00+00:00"),
    ],
)
def test_times_are_given_in_many_ways(text: str, expected: str) -> None:
    assert as_time(text) == datetime.fromisoformat(expected).timestamp()


def test_an_archive_is_copied_and_the_copy_goes_on(run: Run, desk: Path) -> None:
    copied = [run("copy", "crawl-archive.db", "copy.db", "--json") for _ in range(2)]
    assert [code for code, _, _ in copied] == [0, 0]
    first, second = (json.loads(out) for _, out, _ in copied)
    assert (first["urls"], first["versions"], first["copied"]) == (4, 5, 6)
    assert second == first | {"copied": 0}
    _, one, _ = run("rebuild", "crawl-archive.db", URL, "-o", "-")
    _, two, _ = run("rebuild", "copy.db", URL, "-o", "-")
    assert one == two


def test_what_is_left_out_of_a_warc_file_fails_the_import(run, desk: Path):
    run("export-warc", "all.warc")
    whole = (desk / "all.warc").read_bytes()
    (desk / "cut.warc").write_bytes(whole[:-60])
    cut = run("import-warc", "cut.warc", "-a", "archive=copy.db")
    assert cut.code == 1
    assert cut.err.count("\n") == 1
    assert "'cut.warc', offset" in cut.err
    assert "the record is damaged or cut off; left out" in cut.err
    assert "skipped: 1 warcinfo" in cut.words
    assert len(run("list", "--json", "-a", "archive=copy.db").lines()) >= 3
