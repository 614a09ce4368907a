"""What is wrong with a request is told: what, what to do, and with the right status."""

import re
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mmcrawl.browse
from mmcrawl.browse import Limits, open_context, sentences
from mmcrawl.errors import StoreError
from tests.browse.catalogue import FILM, LEVER, browsing, client_of, fill
from tests.tables import each
from tests.waiting import HANG, until


@each(
    "path, status, said",
    [
        ("/nowhere", 404, "This page does not exist"),
        ("/page?url=http://unknown.test/", 404, "http://unknown.test/ is not in the archive"),
        ("/page?url=%00%ff", 404, "is not in the archive"),
        ("/page", 400, "The parameter url is missing"),
        (f"/version?url={LEVER}&n=9", 404, "has no version 9"),
        (f"/version?url={LEVER}&n={(1 << 32) - 1}", 404, "has no version"),
        (f"/version?url={LEVER}&n={1 << 32}", 400, "whole number from 1 to"),
        (f"/version?url={LEVER}&n=0", 400, "whole number from 1 to"),
        (f"/version?url={LEVER}&n=%D9%A1", 400, "whole number"),
        (f"/version?url={LEVER}&at=yesterday", 400, "is not a date"),
        (f"/version?url={LEVER}&at=99999", 400, "is not a date"),
        (f"/view?url={LEVER}&as=x", 400, "Use one of"),
        ("/view?url=http://films.test/notes.txt&as=blocks", 404, "is not a web page"),
        (f"/diff?url={LEVER}&old=1&new=7", 404, "has no version 7"),
        (f"/diff?url={FILM}", 404, "only one version"),
        (f"/page?url={LEVER}&p=7", 404, "The list has "),
        ("/search?q=lever&p=2", 404, "The list has "),
        ("/search?q=lever&p=1000001", 400, "whole number"),
        ("/search?q=lever&from=2024-02-30", 400, "is no date; write it as"),
        ("/search?q=lever&order=best", 400, "Use one of"),
        ("/search?q=%22open", 400, "no closing quote"),
        ("/search?q=" + "x" * 1001, 400, "longer than 1,000 characters"),
        ("/sites?p=5", 404, "The list has "),
        ("/site?host=unknown.test", 404, "has no pages of"),
        ("/site", 400, "host"),
        (f"/media/item?url={FILM}&n=1&m=http://films.test/none.mp4", 404, "contains no"),
        ("/page?url=" + "u" * 8_001, 400, "longer than 8,000 characters"),
    ],
)
def test_a_wrong_request_is_told_what_to_do(shown, path, status, said):
    answer = shown.get(path)
    assert answer.status_code == status
    assert said.replace('"', "&#34;") in answer.text
    assert "Traceback" not in answer.text


def test_json_is_json_also_when_something_is_wrong(shown):
    answer = shown.get("/search.json", params={"q": "kind:none"})
    assert answer.status_code == 400
    assert "there is no kind" in answer.json()["error"]
    assert shown.get("/search.json?p=x").json()["do"]


def test_every_problem_has_its_sentences_in_both_languages() -> None:
    code = Path(mmcrawl.browse.__file__).parent
    source = "".join(path.read_text() for path in code.rglob("*.py"))
    named = set(re.findall(r'Problem\(\s*\d+,\s*"(\w+)"', source))
    assert len(named) > 15
    for name in named:
        assert f"problem.{name}" in sentences()
        assert f"problem.{name}.do" in sentences()


def test_a_store_that_goes_away_is_503(archived: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise StoreError("archive db.test cannot be reached; is the server running?")

    with browsing(archived) as (client, context):
        monkeypatch.setattr(context.archive, "visits", gone)
        answer = client.get("/page", params={"url": LEVER})
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert "is the server running" in answer.text
        assert client.get("/help").status_code == 200


def test_what_takes_too_long_is_504_and_the_next_is_answered(archived, monkeypatch):
    release = threading.Event()
    slow = lambda *_: release.wait(HANG)  # noqa: E731
    limits = Limits(threads=2, seconds=3)  # enough for the next on a busy machine
    with browsing(archived, limits=limits) as (client, context):
        monkeypatch.setattr("mmcrawl.browse.views.versions.difference", slow)
        for _ in range(3):  # comparisons hold up nobody else
            assert client.get("/diff", params={"url": LEVER}).status_code == 504
        monkeypatch.setattr(context.archive, "visits", slow)
        assert client.get("/page", params={"url": LEVER}).status_code == 504
        assert client.get("/sites").status_code == 200
        release.set()


def test_more_than_may_wait_is_refused(archived: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(threads=1, waiting=1, seconds=HANG)
    with browsing(archived, limits=limits) as (_, context):
        release, real = threading.Event(), context.archive.hosts

        def slow() -> list[str]:
            release.wait(HANG)
            return real()

        monkeypatch.setattr(context.archive, "hosts", slow)

        def asked(_: int) -> int:
            return client_of(context).get("/sites").status_code

        with ThreadPoolExecutor(6) as readers:
            answers = [readers.submit(asked, n) for n in range(6)]
            until(lambda: sum(one.done() for one in answers) >= 4)
            release.set()
            assert sorted(one.result() for one in answers) == [200, 200, 503, 503, 503, 503]


def test_a_fault_of_ours_is_500_and_tells_nothing(archived, monkeypatch):
    with browsing(archived) as (client, context):
        monkeypatch.setattr(context.archive, "hosts", lambda: 1 / 0)
        answer = client.get("/sites")
        assert answer.status_code == 500
        assert "An internal error" in answer.text
        assert "ZeroDivisionError" not in answer.text


def test_a_damaged_index_is_503_and_says_so(tmp_path: Path) -> None:
    uri = fill(tmp_path)
    with browsing(uri) as (client, _):
        assert client.get("/search?q=lever").status_code == 200
    path = tmp_path / "crawl-archive.db-search"
    with sqlite3.connect(path) as db:
        db.execute("UPDATE word_data SET block = x'00' WHERE id > 10")
    with open_context(uri) as context:
        answer = client_of(context).get("/search?q=lever")
        assert answer.status_code == 503
        assert "being rebuilt" in answer.text
