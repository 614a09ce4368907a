"""Crawls as they run."""

import json
import time
from pathlib import Path

import pytest
from lxml import html

from mmcrawl.browse import CrawlWatch, Options
from mmcrawl.errors import StoreError
from mmcrawl.frontier import Findings, MediaPageRecord, open_store
from mmcrawl.page import MediaResource
from tests.browse.catalogue import FILM, START, browsing

FOUND = MediaPageRecord(
    FILM,
    "Waves",
    0.875,
    ("wave", "ripple"),
    200,
    START,
    (MediaResource("http://films.test/waves.mp4", "video", "a", "a film of water waves"),),
)


def crawl(path: Path, *, finished: bool = False, pages: int = 4) -> str:
    """Make the store of a crawl with some pages."""
    uri = f"sqlite:///{path / 'crawl.db'}"
    with open_store(uri) as store:
        job = store.job("physics <b>", {"algo": "urlrule"})
        now = time.time()
        with store.writing() as db:
            db.execute("INSERT INTO host VALUES (0, 0, 'http://h.test')")
            for number in range(pages):
                db.execute(
                    "INSERT INTO page VALUES (?, 'http://h.test/', '', '', '', 0, 1, ?, 0.5, x'',"
                    " 0, ?, 0)",
                    (number, number % 2, now - 10 + number * 2),
                )
            for number, status in enumerate("C" * pages + "WWE"):
                db.execute(
                    "INSERT INTO link VALUES (?, NULL, 0, '/', ?, 0, 0, 0, NULL, 0, 0, 0, '', '',"
                    " '', NULL, ?, ?, '', '', NULL)",
                    (number, status, "HTTP 404 <i>" if status == "E" else "", number + 1),
                )
            if finished:
                db.execute("UPDATE job SET finished_at = 9.0, reason = 'finished'")
        Findings(store, job).add_media_page(FOUND)
        store.commit()
        assert job.number == 0
    return uri


def test_a_crawl_is_seen_while_it_runs(tmp_path: Path) -> None:
    uri = crawl(tmp_path)
    with open_store(uri):  # as a crawl holds it
        [numbers] = CrawlWatch(uri).crawls()
    assert (numbers.state, numbers.pages, numbers.waiting, numbers.errors) == ("running", 4, 2, 1)
    assert numbers.harvest_rate == 0.5
    assert numbers.pages_per_second == pytest.approx(0.5)
    assert numbers.error_reasons == {"HTTP 404 <i>": 1}


def test_the_page_of_a_running_crawl_comes_again_and_of_a_finished_one_not(archived, tmp_path):
    with browsing(archived, Options(store=crawl(tmp_path))) as (client, _):
        answer = client.get("/crawls")
        page = html.document_fromstring(answer.text)
        assert '<meta http-equiv="refresh" content="1">' in answer.text  # it has few pages yet
        assert page.cssselect("#live")[0].get("data-again") == "0.4"
        assert "running" in page.cssselect(".crawl h2")[0].text_content()
        assert "<b>" not in answer.text
        assert client.get("/crawls.json").json()["crawls"][0]["waiting"] == 2
    (tmp_path / "finished").mkdir()
    options = Options(store=crawl(tmp_path / "finished", finished=True))
    with browsing(archived, options) as (client, _):
        assert "http-equiv" not in client.get("/crawls").text


def test_a_crawl_is_called_by_topic_and_site_and_home_says_what_to_do_next(archived, tmp_path):
    uri = crawl(tmp_path)
    arguments = {"topic": "physics-senior", "seeds": [["http://h.test/", ""]]}
    with open_store(uri) as store:
        with store.writing() as db:
            said = json.dumps(arguments)
            db.execute("UPDATE job SET arguments = ?, reason = 'max_pages'", (said,))
            db.execute("UPDATE page SET contains_media = 1, relevant = 0, topic_score = 0.3")
            db.execute("UPDATE page SET url = url || id")
        store.commit()
    with browsing(archived, Options(store=uri)) as (client, _):
        page = html.document_fromstring(client.get("/crawls?lang=zh").text)
        assert page.xpath("string(//section[@class='crawl']/h2/a)") == "高中物理 · h.test"
        home = html.document_fromstring(client.get("/?lang=en").text)
        steps = {" ".join(a.text_content().split(":")[0].split()): a.get("href")
                 for a in home.cssselect(".steps-next a")}  # fmt: skip
        job = "physics+%3Cb%3E"
        assert steps == {
            "Continue a crawl that reached its limit of pages": f"/crawl?job={job}&lang=en",
            "Look at 4 pages with media just below the threshold": f"/crawl?job={job}&lang=en#near",
            "Describe what was found as works": "/works?lang=en",
        }


def test_what_eats_the_budget_is_named_with_the_rule_that_ends_it(archived, tmp_path):
    uri = crawl(tmp_path, pages=30)
    with open_store(uri) as store:
        with store.writing() as db:
            db.execute("UPDATE page SET relevant = 0, url = 'http://h.test/luntan/show?sid=' || id")
            db.execute("UPDATE job SET reason = 'max_pages'")
        store.commit()
    rule = "http://h.test/luntan/** never"
    with browsing(archived, Options(store=uri)) as (client, _):
        page = client.get("/crawl", params={"job": "physics <b>"}).text
        assert f"30 of the last 30 pages; the rule that ends it: <code><bdi>{rule}" in page
        crawls = html.document_fromstring(client.get("/crawls").text)
        form = {"form_key": crawls.xpath("//*[@name='form_key']/@value"), "job": "physics <b>"}
        other = form | {"do": "leave", "rule": "http://h.test/** never"}
        assert client.post("/crawl", data=other).status_code == 404


def test_without_a_store_or_its_file_the_page_says_so(archived: str, tmp_path: Path) -> None:
    with browsing(archived) as (client, _):
        assert "started without crawls" in client.get("/crawls").text
    with browsing(archived, Options(store=f"sqlite:///{tmp_path}/none.db")) as (client, _):
        assert "The store has no crawls" in client.get("/crawls").text
    assert not (tmp_path / "none.db").exists()


def test_a_store_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_text("no database " * 200)
    with pytest.raises(StoreError, match="is not a store of mmcrawl; name another file"):
        CrawlWatch(f"sqlite:///{tmp_path}/crawl.db").crawls()
