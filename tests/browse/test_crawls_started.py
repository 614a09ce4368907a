"""Crawls that are started, watched, stopped and gone on with in the browser."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import html
from starlette.testclient import TestClient

from mmcrawl.browse import Context, CrawlRuns, Options, WorksOfStore
from mmcrawl.cluster import open_shared_store
from mmcrawl.crawl import FocusedParams
from mmcrawl.frontier import RequisiteLimits, RequisiteQueue, open_store
from tests.browse.catalogue import browsing, fill
from tests.browse.works import key_of, store_of
from tests.serving import Answer, Request, Server
from tests.tables import each
from tests.waiting import HANG, until

WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\0"
_SCORES = "//ol//span[@class='score']"


@pytest.fixture
def browsed(tmp_path: Path) -> Iterator[tuple[TestClient, Context]]:
    with browsing(fill(tmp_path), Options(store=store_of(tmp_path))) as pair:
        yield pair


@pytest.fixture(autouse=True)
def _numbers_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_KEPT_SECONDS", "_REST"):
        monkeypatch.setattr(f"mmcrawl.browse.runs.{name}", 0.0)


class Site(Server):
    """A site of many pages on this machine, each sent when `may_answer` is set."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        super().__init__(self._page)

    def _page(self, request: Request) -> Answer:
        assert self.may_answer.wait(HANG)
        path = request.path
        more = "".join(f"<a href='{path}{n}.html'>lever {n}</a>" for n in range(5))
        page = f"<h1>lever {path}</h1><p>A lever turns. {more}"
        return Answer(page, 404 if "robots" in path else 200)


def post(client: TestClient, path: str, **form: str) -> str:
    """Send a form as a page of ours does; return the address that follows."""
    answer = client.post(path, data={"form_key": key_of(client, "/crawls"), **form})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


@pytest.mark.processes
def test_a_crawl_is_started_stopped_and_gone_on_with(browsed: tuple[TestClient, Context]) -> None:
    client, context = browsed
    form = {"keywords": "lever", "max_pages": "2"}
    with Site() as site:
        first = form | {"seeds": site.url(), "requisites": "1"}
        to = post(client, "/crawls", **first)
        job = to.partition("job=")[2]
        assert "<bdi>lever · 127.0.0.1</bdi>" in client.get(to).text  # before it is in the store
        until(lambda: bool(site.asked))  # before, it ends as soon as it is told to
        assert "Results are kept, and" in client.get(to).text
        [begun] = client.get("/crawls.json").json()["crawls"]
        assert (begun["state"], begun["pages"]) == ("running", 0)
        assert (context.runs.arguments(job) or {})["requisites"] == "yes"
        assert post(client, "/crawls", **first) == to  # pressed twice
        for other in ({"max_pages": "3"}, {"seeds": "http://127.0.0.1:9"}):
            again = {"form_key": key_of(client, "/crawls"), **first, **other}
            answer = client.post("/crawls", data=again)
            assert answer.status_code == 409  # a file is of one crawl at a time
            assert job in answer.text
        for _ in range(2):  # the second time forces nothing
            post(client, "/crawl", job=job, do="stop")
        assert "Stopping; requests" in client.get(to).text
        pressed = {"form_key": key_of(client, "/crawls"), "job": job, "do": "go-on"}
        assert client.post("/crawl", data=pressed).status_code == 409  # not until it has stopped
        site.may_answer.set()
        until(lambda: not context.runs.is_running(job))
        assert "forcing" not in context.runs.log(job)
        assert "Continue" in client.get(to).text
        for pages in ("2", "4"):
            post(client, "/crawl", job=job, do="go-on", max_pages=pages)
            until(lambda: not context.runs.is_running(job))
            page = html.document_fromstring(client.get(to).text)
            assert page.xpath("string(//h1/span)") == "stopped"
            assert page.xpath("string(//dl/div[1]/dd)") == pages
            assert page.xpath("//input[@name='max_pages']/@value") == [f"{2 * int(pages)}"]
        folder = context.catalogue.folder / "crawls"
        (folder / f"{job}.json").unlink()  # as if it was begun elsewhere
        assert (context.runs.arguments(job) or {})["requisites"] == "yes"
        assert context.runs.go_on(job, "6") == job
        until(lambda: not context.runs.is_running(job))
        rule = f"{site.url('/0.html')} never"
        assert context.runs.go_on(job, "8", rule) == job
        until(lambda: not context.runs.is_running(job))
        assert (folder / f"{job}.rules").read_text() == rule
        page = html.document_fromstring(client.get(to).text)
        assert page.xpath("string(//dl/div[1]/dd)") == "8", context.runs.log(job)


@pytest.mark.processes
def test_a_crawl_in_a_file_of_several_workers_is_one_of_a_worker(browsed):
    client, context = browsed
    open_shared_store(context.options.store, job="other", arguments={"topic": "waves"}).close()
    with Site() as site:
        site.may_answer.set()
        form = {"keywords": "lever", "seeds": site.url(), "max_pages": "2"}
        assert 'name="requisites"' not in client.get("/crawls").text  # such a crawl keeps none
        job = post(client, "/crawls", **form).partition("job=")[2]
        until(lambda: not context.runs.is_running(job))
        (context.catalogue.folder / "crawls" / f"{job}.json").unlink()  # as if begun elsewhere
        assert context.runs.go_on(job, "4") == job
        until(lambda: not context.runs.is_running(job))
        page = html.document_fromstring(client.get(f"/crawl?job={job}").text)
        assert page.xpath("string(//dl/div[1]/dd)") == "4", context.runs.log(job)
        assert page.xpath("string(//h1/bdi)") == "lever · 127.0.0.1"


def test_which_of_two_crawls_keeps_requisites_is_read_from_its_job(browsed):
    _, context = browsed
    limits, names = RequisiteLimits(1, 1, 1, 1), []
    with open_store(context.options.store) as store:
        for word in ("lever", "pulley", "wheel"):
            said = {"keywords": word, "seeds": f"http://{word}.test/", "algo": "urlrule"}
            params = FocusedParams.model_validate(said)
            job = store.job(params.job_name, params.identity())
            names.append(job.name)
            if word == "pulley":
                queue = RequisiteQueue(store, job.number, limits)
                queue.keep(["http://pulley.test/a.css"], 1)
            store.remember(job.number, {"links": "all"})
            store.commit()
        assert store.memory(job.number) == {"links": "all"}
    kept = [(context.runs.arguments(name) or {}).get("requisites") for name in names]
    assert kept == [None, "yes", None]
    with open_store(context.options.store) as store, store.writing() as db:
        db.execute("UPDATE job SET memory = '{}'")  # as versions before left it
    assert [(context.runs.arguments(name) or {}).get("requisites") for name in names] == kept


@pytest.mark.processes
def test_a_crawl_of_the_demo_web_is_watched(browsed: tuple[TestClient, Context]) -> None:
    client, context = browsed
    with client:  # as a server that starts
        to = post(client, "/crawls", demo="1")
        job = to.partition("job=")[2]
        post(client, "/crawl", job=job, do="stop")
        until(lambda: not context.runs.is_running(job))
        post(client, "/crawl", job=job, do="go-on", max_pages="100")
        until(lambda: not context.runs.is_running(job))
        assert len(list(context.archive.urls())) > 90  # of the crawl, in the archive browsed
        page = html.document_fromstring(client.get(to).text)
        scores = [float(mark.text_content().partition("%")[0]) for mark in page.xpath(_SCORES)]
        assert len(scores) == 25
        assert scores == sorted(scores, reverse=True)
        assert scores[0] > 50
        assert "Topic words:" in page.xpath("//ol/li[1]")[0].text_content()
        until(lambda: context.catalogue.is_there and not context.catalogue.is_describing)
        assert client.get("/works").status_code == 200


@pytest.mark.processes
def test_a_stick_is_made_and_has_what_was_taken_when_it_is_brought_up_to_date(browsed):
    client, context = browsed
    pages = {
        "/": "<h1>A lever</h1><audio src=/a.wav></audio><a href=/b>maps</a> <a href=/c>songs</a>",
        "/b": "<title>Maps</title><p>A lever, a lever and a lever.</p><audio src=/b.wav></audio>",
        "/c": "<title>Songs</title><p>A lever and a lever. A lever.</p><audio src=/c.wav></audio>",
    }

    def answer(request: Request) -> Answer:
        if request.path.endswith(".wav"):
            return Answer(WAV + request.path.encode(), headers={"Content-Type": "audio/wav"})
        return Answer(pages[request.path]) if request.path in pages else Answer(status=404)

    def shown(job: str) -> html.HtmlElement:
        until(lambda: not context.runs.is_running(job))
        return html.document_fromstring(client.get("/crawl", params={"job": job}).text)

    def said(page: html.HtmlElement) -> str:
        return " ".join(page.xpath("//section[@class='stick']")[0].text_content().split())

    with Server(answer) as site:
        form = {"keywords": "lever", "seeds": site.url(), "stick": "levers"}
        assert post(client, "/crawls", **form).endswith("job=levers-1")
        page = shown("levers-1")
        assert "1 work is on it (50 B)" in said(page), context.runs.log("levers-1")
        assert "Of 1 work no licence is stated" in said(page)
        assert "2 pages with media are just below the threshold" in said(page)
        near = page.xpath("//section[@id='near']//li//a")
        assert [one.text_content() for one in near] == ["Maps", "Songs"]
        for path, mark in (("/b", "good"), ("/c", "bad")):
            post(client, "/crawl/near", job="levers-1", url=site.url(path), mark=mark)
        page = shown("levers-1")
        assert not page.xpath("//section[@id='near']//li")
        assert "1 taken, 1 refused" in page.get_element_by_id("near").text_content()
        learn = page.xpath("//section[@id='near']//a/@href")
        assert "Marked pages" in client.get(learn[0]).text
        assert post(client, "/crawl", job="levers-1", do="go-on").endswith("job=levers-2")
        page = shown("levers-2")
        assert "2 works are on it (100 B)" in said(page), context.runs.log("levers-2")
        assert "threshold" not in said(page)
        index = Path(page.xpath("string(//section[@class='stick']//code)"))
        assert "stick/data.js" in index.read_text("utf-8")
        again = {"form_key": key_of(client, "/crawls"), "job": "levers-1", "mark": "good"}
        answered = client.post("/crawl/near", data=again | {"url": site.url("/nosuch")})
        assert answered.status_code == 404


SEEDED = {"seeds": "http://h.test"}
ALL = {"keywords": "*"} | SEEDED


@each(
    "form, field, says",
    [
        ({"topic": "physics-senior", "seeds": "http://h.test -s"}, "seeds", "Enter start addr"),
        (SEEDED | {"topic": "/etc/passwd"}, "topic", "Choose a topic"),
        (ALL | {"algo": "os.system"}, "algo", "Choose"),
        (ALL | {"stick": "../../home"}, "stick", "Write a name of letters"),
        (ALL | {"lang": "zh", "seeds": "ftp://h.test"}, "", "请填写起始网址"),
        (SEEDED | {"lang": "zh", "keywords": "?"}, "", "关键词用逗号分隔"),
        (ALL | {"lang": "zh", "max_pages": "-1"}, "", "须为整数"),
        (ALL | {"lang": "zh", "topic": "geography"}, "", "二者择一"),
        (SEEDED | {"lang": "zh", "keywords": "a\0b"}, "", "含有无法保存的字符"),
        (ALL | {"lang": "zh", "seeds": "http://h.test/" + "a" * 20_000}, "", "超过 20,000 个字符"),
    ],
)
def test_what_is_wrong_is_told_in_the_language_of_the_form(shown, form, field, says):
    client = shown
    answer = client.post("/crawls", data={"form_key": key_of(client, "/crawls"), **form})
    client.cookies.clear()  # of the language
    assert answer.status_code == 400
    page = html.document_fromstring(answer.text)
    marks = page.xpath("//*[@id=$id]", id=f"{field}-wrong") or page.xpath("//*[@role='alert']")
    assert says in (marks[0] if field else page).text_content()


def test_a_crawl_that_is_not_there_is_told(shown: TestClient) -> None:
    for job in ("nosuch", "../../works"):
        assert shown.get("/crawl", params={"job": job}).status_code == 404
    form = {"form_key": key_of(shown, "/crawls"), "job": "../../works", "do": "go-on"}
    assert shown.post("/crawl", data=form).status_code == 404
    assert shown.post("/crawl", data=form | {"do": ""}).status_code == 400


def test_a_wrong_form_is_shown_again_with_what_was_said_and_nothing_starts(browsed, tmp_path):
    client, _ = browsed
    said = {"keywords": "<b>levers", "max_pages": "many", "keep.audio": "1", "algo": "learned"}
    said["seeds"] = "http://h.test"
    answer = client.post("/crawls", data={"form_key": key_of(client, "/crawls"), **said})
    page = html.document_fromstring(answer.text)
    assert "whole number" in page.get_element_by_id("max_pages-wrong").text_content()
    assert page.get_element_by_id("max_pages").get("aria-invalid") == "true"
    assert page.get_element_by_id("keywords").get("value") == "<b>levers"
    assert page.get_element_by_id("seeds").text == "http://h.test"
    assert page.xpath("//input[@name='keep.audio']/@checked")
    assert page.xpath("//select[@name='algo']/option[@selected]/text()") == ["learned"]
    form = {"form_key": key_of(client, "/crawls"), "seeds": "h.test"}
    wrong = client.post("/crawls", data=form | {"stick": "/", "max_media": "x"})
    page = html.document_fromstring(wrong.text)
    marked = page.xpath("//*[@aria-invalid='true']/@id")
    assert marked == ["seeds", "topic", "max_media", "stick"]  # all at once
    assert page.xpath("//*[@autofocus]/@id")[0] == "seeds"
    again = {**said, "max_pages": "nought", "form_key": page.xpath("//@value[../@name='form_key']")}
    assert client.post("/crawls", data=again).status_code == 400  # not 403: it can be sent again
    assert not (tmp_path / "crawl.db").exists()
    assert not list((tmp_path / "crawl-media").glob("crawls/*"))


@pytest.mark.processes
def test_works_are_described_once_what_describes_others_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described, busy = threading.Event(), threading.Event()
    busy.set()

    class Desk(WorksOfStore):
        @property
        def is_describing(self) -> bool:
            if not runs.is_running(job):
                seen.set()
            return busy.is_set()

        def describe(self) -> None:
            described.set()

    seen = threading.Event()
    monkeypatch.setattr("mmcrawl.browse.runs._LOOK_SECONDS", 0.01)
    runs = CrawlRuns(Desk(f"sqlite:///{tmp_path / 'crawl.db'}", None), "none")
    with Site() as site:
        site.may_answer.set()
        job = runs.start({"keywords": "lever", "seeds": site.url(), "max_pages": "1"})
        runs.watch()
        try:
            assert seen.wait(HANG)  # the crawl has ended, and something is being described
            assert not described.is_set()
            busy.clear()
            assert described.wait(HANG)
        finally:
            runs.close()
