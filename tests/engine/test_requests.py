"""What a spider's own requests carry comes back with the response, also from the store."""

import json
import re
import socket
from collections.abc import Callable
from typing import Any

import pytest

from tests.tables import each

SPIDER = """
import os, threading
from datetime import date
from scrapy import FormRequest, Request
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.downloadermiddlewares.retry import get_retry_request
from mmcrawl.spiders.focused import FocusedSpider

def at(path):
    return os.environ["SITE"] + path

class Own(Request):
    pass

class Spider(FocusedSpider):
    handle_httpstatus_list = [202]

    async def parse(self, response):
        async for item in super().parse(response):
            yield item
        if response.url != at("/"):
            seen.append(["parse", response.url])
            return
        yield {"an": "item"}
        yield Request(
            at("/plain"), self.tell, headers={"X-Asked": "yes"}, cookies={"c": "1"},
            meta={"own": [1, {"k": "v"}]}, cb_kwargs={"name": "plain"}, flags=["f"], priority=4,
        )
        yield {"another": "item"}
        yield FormRequest(at("/post"), self.tell, formdata={"a": "1"}, priority=3)
        yield FormRequest(at("/post"), self.tell, formdata={"a": "2"}, priority=2)
        yield FormRequest(at("/post"), self.tell, formdata={"a": "1"})
        for _ in range(3):
            yield Request(at("/again"), self.tell, dont_filter=True)
            yield Request(at("/once"), self.tell)
        for path in "/busy /broken /gone /moved /ring/1 /self /session /outlawed".split():
            yield Request(at(path), self.tell, errback=self.sorry, meta={"own": path})
        yield Request(os.environ["CLOSED"], self.tell, errback=self.sorry, meta={"own": "closed"})
        yield Request(at("/gone/2"), self.tell, errback=self.and_then)
        yield Request(at("/wait"), self.patient, meta={"own": "wait"}, errback=self.sorry)
        yield Request(at("/last"), self.tell, priority=-1)
        yield Request(at("/first"), self.tell, priority=5)
        yield Request(at("/lambda"), lambda response: None)
        yield Request(at("/private"), self._tell)
        yield Request(at("/lock"), self.tell, meta={"own": "lock", "lock": threading.Lock()})
        yield Request(at("/deep"), self.tell, cb_kwargs={"name": (1, {"when": date(2026, 1, 2)})})
        yield Own(at("/found"), self.tell)
        yield Own(at("/own-class"), self.tell)
        yield Request(at("/changed"), self.changed)

    def _tell(self, response):
        pass

    def changed(self, response):
        response.request.meta["seen"] = {response.url}
        yield get_retry_request(response.request, spider=self, reason="not ready")

    def tell(self, response, name=""):
        meta = {k: v for k, v in response.meta.items() if k in ("own", "depth", "retry_times")}
        seen.append(["tell", response.url, response.request.method, name, meta,
                     response.request.flags])

    def patient(self, response):
        if response.status == 202:
            yield get_retry_request(response.request, spider=self, reason="not ready")
        self.tell(response)

    def sorry(self, failure):
        status = failure.value.response.status if failure.check(HttpError) else None
        seen.append(["sorry", failure.request.meta["own"], type(failure.value).__name__, status])

    def and_then(self, failure):
        yield Request(at("/after-gone"), self.tell, meta={"own": "after"})
        yield failure.request.replace(url=at("/instead"), meta={"own": "instead"})
"""


@pytest.fixture(scope="module")
def site(tools):  # type: ignore[no-untyped-def]
    server = tools.serve()

    def failing(times: int, status: int = 503) -> Callable[[Any], Any]:
        """A page that fails some times in each crawl, told apart by the asking agent."""
        tries: dict[str, int] = {}

        def page(visit):  # type: ignore[no-untyped-def]
            agent = visit.headers["User-Agent"]
            tries[agent] = tries.get(agent, 0) + 1
            return tools.Answer("<p>busy</p>", status) if tries[agent] <= times else "<p>now</p>"

        return page

    def moved(target: str, status: int = 301) -> Any:
        return tools.Answer("", status, {"Location": target})

    found = "/plain /post /again /once /last /first /after-gone /instead /target /changed"
    server.pages = dict.fromkeys(found.split(), "<p>found</p>") | {
        "/": tools.links("/found"),
        "/busy": failing(2),
        "/broken": failing(99),
        "/wait": failing(1, 202),
        "/moved": moved("/moved/on"),
        "/moved/on": moved("/target", 302),
        "/ring/1": moved("/ring/2"),
        "/ring/2": moved("/ring/3"),
        "/ring/3": moved("/ring/1"),
        "/self": moved("/self"),
        "/session": lambda visit: (
            "<p>in</p>"
            if "sid" in visit.headers.get("Cookie", "")
            else tools.Answer("", 302, {"Location": "/session?phpsessid=1", "Set-Cookie": "sid=1"})
        ),
        "/session?phpsessid=1": "<p>in</p>",
        "/outlawed": moved("http://elsewhere.example/"),
    }
    return server


@pytest.fixture(scope="module", params=["in one go", "after a stop"])
def crawl(request, tools, site):  # type: ignore[no-untyped-def]
    """The crawl with all these requests; or stopped while all of them waited, and taken up."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}/closed"
        args = {
            "seeds": site.url(),
            "store": str(tools.folder() / "crawl.db"),
            "environ": {"SITE": site.url(""), "CLOSED": closed},
            "settings": {
                "USER_AGENT": f"{request.param} {len(site.visits)}",  # new whenever it is set up
                "CONCURRENT_REQUESTS": 1,
                "MMCRAWL_PRIVATE_NETWORKS": True,  # the closed port is not the seed's
            },
        }
        crawls = [args]
        if request.param == "after a stop":
            stopped = args | {"settings": args["settings"] | {"CLOSESPIDER_PAGECOUNT": 1}}
            crawls = [stopped, args]
        start = len(site.visits)
        outcomes = tools.crawl(*crawls, spider=SPIDER)
    return Told(request.param, outcomes, site.visits[start:], site)


class Told:
    """The crawl as spider, server and store saw it."""

    def __init__(self, how, outcomes, visits, site) -> None:  # type: ignore[no-untyped-def]
        self.stopped = how == "after a stop"
        self.outcomes, self.visits = outcomes, visits
        self.outcome = outcomes[-1]
        self._site = site

    def calls(self, path: str) -> list[list[Any]]:
        """What `tell` noted of the responses from `path`: method, name, meta, flags."""
        url = self._site.url(path)
        return [call[2:] for call in self.outcome.seen if call[:2] == ["tell", url]]

    def sorry(self, own: str) -> list[list[Any]]:
        """What `sorry` noted of failures of a request: exception, status."""
        return [call[2:] for call in self.outcome.seen if call[:2] == ["sorry", own]]

    def asked(self, path: str) -> list[Any]:
        return [visit for visit in self.visits if visit.path == path]

    def link(self, path: str) -> tuple[str, str]:
        return self.outcome.links[self._site.url(path)]


def test_a_request_keeps_what_it_carries(crawl: Told) -> None:
    method, name, meta, flags = crawl.calls("/plain")[0]
    assert (method, name, flags) == ("GET", "plain", ["f"])
    assert meta == {"own": [1, {"k": "v"}], "depth": 1}
    (visit,) = crawl.asked("/plain")
    assert visit.headers["X-Asked"] == "yes"
    assert visit.headers["Cookie"] == "c=1"
    assert visit.headers["Referer"].endswith("/")


def test_requests_are_sent_once_in_the_order_of_their_priority(crawl: Told) -> None:
    paths = [visit.path for visit in crawl.visits]
    assert paths[:5] == ["/", "/first", "/plain", "/post", "/post"]
    assert paths[-1] == "/last"
    # Posts with different bodies are different requests.
    assert [(visit.method, visit.body) for visit in crawl.asked("/post")] == [
        ("POST", b"a=1"),
        ("POST", b"a=2"),
    ]
    assert [call[0] for call in crawl.calls("/post")] == ["POST", "POST"]
    # `dont_filter` lets a request through that was made before.
    assert len(crawl.asked("/again")) == len(crawl.calls("/again")) == 3
    assert len(crawl.asked("/once")) == len(crawl.calls("/once")) == 1
    # Links of the page are followed beside the requests, also where one of these was refused.
    (visit,) = crawl.asked("/found")
    assert visit.headers["Referer"].endswith("/")


def test_a_busy_server_is_asked_again_and_nothing_is_forgotten(crawl: Told) -> None:
    assert len(crawl.asked("/busy")) == 3
    assert [call[2] for call in crawl.calls("/busy")] == [
        {"own": "/busy", "depth": 1, "retry_times": 2}
    ]
    assert crawl.sorry("/busy") == []
    assert crawl.link("/busy") == ("C", "")
    assert len(crawl.asked("/wait")) == 2  # a callback asked for it again
    assert [call[2]["own"] for call in crawl.calls("/wait")] == ["wait", "wait"]


@pytest.mark.parametrize(
    ("own", "error", "status", "reason"),
    [
        ("/gone", "HttpError", 404, "HTTP 404"),
        ("/broken", "HttpError", 503, "HTTP 503"),
        ("closed", "DownloadConnectionRefusedError", None, "connection refused"),
        ("/self", "IgnoreRequest", None, "max redirections reached"),
    ],
)
def test_an_errback_is_called_once_and_the_reason_kept(crawl, own, error, status, reason):
    assert crawl.sorry(own) == [[error, status]]
    links = {url: link for url, link in crawl.outcome.links.items() if url.endswith(own)}
    assert list(links.values()) == [("E", reason)]


def test_requests_of_an_errback_are_sent(crawl: Told) -> None:
    assert [call[2]["own"] for call in crawl.calls("/after-gone")] == ["after"]
    assert crawl.link("/gone/2") == ("E", "HTTP 404")
    assert [call[2]["own"] for call in crawl.calls("/instead")] == ["instead"]


def test_redirects_are_followed_and_their_target_is_the_page(crawl: Told, site: Any) -> None:
    assert crawl.link("/moved") == ("C", f"redirects to {site.url('/moved/on')}")
    assert crawl.link("/moved/on") == ("C", f"redirects to {site.url('/target')}")
    assert crawl.link("/target") == ("C", "")
    assert [call[2]["own"] for call in crawl.calls("/target")] == ["/moved"]
    assert crawl.sorry("/moved") == []
    assert [len(crawl.asked(f"/ring/{n}")) for n in (1, 2, 3)] == [1, 1, 1]
    assert crawl.link("/ring/3") == ("E", "redirect loop")
    # To the same page under a session: it is that page.
    assert crawl.link("/session") == ("C", "")
    answered = crawl.calls("/session") + crawl.calls("/session?phpsessid=1")
    assert [call[2]["own"] for call in answered] == ["/session"]
    # One that leaves the sites is not followed.
    assert crawl.link("/outlawed") == ("C", "redirects to http://elsewhere.example/")
    assert "http://elsewhere.example/" not in crawl.outcome.links


@each(
    "path, why",
    [
        ("/lambda", "callback Spider.parse.<locals>.<lambda> is no public method of the spider"),
        ("/private", "callback Spider._tell is no public method of the spider"),
        ("/lock", "meta['lock'] is a _thread.lock, which cannot be kept"),
        ("/deep", "cb_kwargs['name'][1]['when'] is a datetime.date, which cannot be kept"),
        ("/own-class", "its class is Own; only Request, "),
    ],
)
def test_a_request_that_cannot_be_kept_is_refused_with_what_is_wrong(crawl, path, why):
    assert not crawl.asked(path)
    assert crawl.link(path)[0] == "E"
    assert crawl.link(path)[1].startswith(f"request refused: {why}")
    assert f"is refused: {why}" in crawl.outcomes[0].log


def test_a_retry_that_cannot_be_kept_ends_its_link_with_what_is_wrong(crawl: Told) -> None:
    assert len(crawl.asked("/changed")) == 1
    status, reason = crawl.link("/changed")
    assert status == "E"
    assert reason.startswith("request refused: meta['seen'] is a builtins.set")
    counted = [o.stats.get("mmcrawl/requests/unserialisable", 0) for o in crawl.outcomes]
    assert counted == ([6, 1] if crawl.stopped else [7])


def test_the_crawl_ends_with_nothing_left(crawl: Told) -> None:
    assert crawl.outcomes[0].stats["item_scraped_count"] == 2  # those of the spider
    assert {status for status, _ in crawl.outcome.links.values()} == {"C", "E"}
    assert crawl.outcome.finished
    assert "Traceback" not in re.sub(r"(?s)ValueError.*?\n\n", "", crawl.outcome.log)
    assert json.dumps(crawl.outcome.seen)
