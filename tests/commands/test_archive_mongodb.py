"""`scrapy archive` on a server of MongoDB's protocol, and what it says of one it cannot use."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands import archive as module
from tests.commands.running import Run, runner
from tests.databases import mongodb_uri
from tests.tables import each

pytest.importorskip("pymongo")

URL, OTHER = "http://optics.test/lens.html", "http://other.test/"
DAY = 86_400.0
PASSWORD = "s3cret"


def page(news: str) -> bytes:
    text = "A lens bends light towards its axis, and the image stands where the rays meet. " * 3
    return (
        f"<html lang='en'><title>Lenses</title><div><h1>Lenses</h1><p>{text}</p></div>"
        f"<div><h2>News</h2><p>{news}</p></div><p>Copyright 2009 Optics</p></html>"
    ).encode()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""
    monkeypatch.chdir(tmp_path)
    return runner(module.Command, capfd)


@pytest.fixture
def database() -> Iterator[Callable[[], str]]:
    """Return how to name databases, which are dropped after the test."""
    with ExitStack() as databases:
        yield lambda: databases.enter_context(mongodb_uri())


def test_all_subcommands_work_on_a_server(run, database, tmp_path):
    uri, copy = database(), database()
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    with open_archive(uri) as archive:
        for day, news in enumerate(("The hall is open.", "The hall is closed."), 1):
            archive.store(Capture(URL, page(news), day * DAY, headers=headers, reason="OK"))
        archive.note_unchanged(URL, 3 * DAY)
        archive.store(Capture(OTHER, b"<p>other", DAY, headers=headers))

    def good(*args: str, of: str = uri) -> str:
        said = run(*args, "-a", f"archive={of}")
        assert (said.code, said.err) == (0, "")
        return said.words

    assert f"2 3 1970-01-04 00:00:00 UTC {URL}" in good("list")
    assert "2 2 1970-01-03 00:00:00 UTC 200" in good("versions", URL)
    assert "version 1 of 1970-01-02" in good("show", URL, "--at", "@100000")
    assert "[-open-]" in good("diff", URL)
    assert "version 2 of" in good("rebuild", URL, "-o", "page.html")
    assert (tmp_path / "page.html").read_bytes() == page("The hall is closed.")
    assert URL in good("search", "lens")
    assert "versions 3" in good("stats")
    assert "2 due at" in good("due", "--at", "1970-02-04")
    assert good("export-warc", "all.warc.gz").startswith("all.warc.gz: 2 URLs, 3 responses")
    assert "3 new versions" in good("import-warc", "all.warc.gz", of=copy)
    assert good("versions", URL, "--json", of=copy) == good("versions", URL, "--json")
    assert " before, " in good("seal", "--level", "3")
    assert "1 versions and 1 visits removed" in good("purge", "--url", OTHER, "--yes")
    assert "nothing is wrong" in good("check", "--repair")
    assert json.loads(good("check", "--json"))["versions"] == 2


NOBODY = f"mongodb://ann:{PASSWORD}@127.0.0.1:1/pages?serverSelectionTimeoutMS=100"


@each(
    "uri, code, sentence",
    [
        (NOBODY, 1, "archive mongodb://127.0.0.1:1/pages cannot be reached; is the server running"),
        (f"mongodb://ann:a/{PASSWORD}@127.0.0.1/pages", 1, "and password percent-encoded"),
        (f"mongodb://ann:a@{PASSWORD}/@127.0.0.1/pages", 1, "mongodb://127.0.0.1/pages has a dot"),
        (f"mongo://ann:a/{PASSWORD}@127.0.0.1/pages", 2, "'mongo://127.0.0.1/pages' is not under"),
    ],
)
def test_a_server_that_cannot_be_used_is_one_sentence_without_the_password(
    run: Run, uri: str, code: int, sentence: str
) -> None:
    said = run("list", "-a", f"archive={uri}")
    assert (said.code, said.out, said.err.count("\n")) == (code, "", 1)
    assert sentence in said.err
    assert PASSWORD not in said.err
    assert "ann:" not in said.err
