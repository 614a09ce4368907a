"""What the public web links to on private networks stays out of a crawl."""

import json
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.crawl import CrawlJob, FetchedPage
from mmcrawl.frontier import Limits, NewLink
from mmcrawl.page import parse_page
from tests.jobs import job_of
from tests.programs import run
from tests.serving import Answer, Request, Server
from tests.tables import each
from tests.warm import python

PUBLIC = "public.example.org"
# Every name stands for this machine.
SPIDER = """
from mmcrawl.spiders.focused import FocusedSpider
from twisted.internet.defer import succeed
from twisted.internet.interfaces import IResolverSimple
from zope.interface import implementer

@implementer(IResolverSimple)
class ThisMachine:
    def getHostByName(self, name, timeout=()):
        return succeed("127.0.0.1")

class Spider(FocusedSpider):
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        from twisted.internet import reactor
        reactor.installResolver(ThisMachine())
        return super().from_crawler(crawler, *args, **kwargs)

    async def parse(self, response):
        seen.append(response.url)
        async for item in super().parse(response):
            yield item
"""
PRIVATE = [
    "10.1.2.3",
    "127.0.0.1",
    "169.254.169.254",
    "[::1]",
    "2130706433",
    "localhost",
    "intranet",
]
OPEN = ["93.184.216.34", "[2606:4700::1]", "example.org", "localhost.example.org", "10.example.com"]


def job_from(seed: str, *, private: bool = False) -> CrawlJob:
    """A crawl that may go anywhere, from one seed."""
    return job_of(seeds=[seed], limits=Limits(sites="anywhere", private=private))


def follow(job: CrawlJob, *urls: str) -> list[str]:
    """Crawl the seed, which links to `urls`, and return what is fetched after it."""
    seed = job.next()
    body = "".join(f'<a href="{url}">link</a>' for url in urls)
    job.crawled(seed.id, FetchedPage(parse_page(body.encode(), seed.url)))
    taken = []
    while link := job.next():
        taken.append(link.url)
    return taken


@each("host", PRIVATE)
def test_a_public_page_leads_to_no_private_address(host: str) -> None:
    job = job_from("http://example.com/")
    assert follow(job, f"http://{host}/", f"https://{host}:8080/admin") == []
    assert job.refused == {"private network": 2}


@each("host", OPEN)
def test_a_public_page_leads_to_public_addresses(host: str) -> None:
    job = job_from("http://example.com/")
    assert follow(job, f"http://{host}/") == [f"http://{host}/"]
    assert not job.refused


@each("seed", ["http://10.0.0.7/", "http://intranet/", "http://localhost:81/"])
def test_a_crawl_of_a_private_host_follows_links_there_and_to_no_other(seed: str) -> None:
    job = job_from(seed)
    assert follow(job, f"{seed}next", "http://192.168.0.1/") == [f"{seed}next"]
    assert job.refused == {"private network": 1}


def test_private_networks_can_be_allowed() -> None:
    job = job_from("http://example.com/", private=True)
    assert follow(job, "http://192.168.0.1/") == ["http://192.168.0.1/"]


def test_a_public_page_does_not_redirect_to_a_private_address() -> None:
    job = job_from("http://example.com/")
    seed = job.next()
    assert not job.redirected(seed.id, NewLink("http://127.0.0.1/admin"))
    assert job.next() is None
    assert job.refused == {"private network": 1}


@pytest.fixture(scope="module")
def crawls(tools):  # type: ignore[no-untyped-def]
    """Crawls of a public name that stands for 127.0.0.1: five ways to start them."""
    server = tools.serve()
    public = f"http://{PUBLIC}:{server.port}"
    server.pages = {
        "/": tools.links("/page"),
        "/page": "<p>page</p>",
        "/local": tools.links(f"{public}/page"),
    }
    # A proxy is asked for the whole address.
    server.pages |= {
        f"{public}/": tools.links(f"{public}/page", server.url("/page"), "http://10.0.0.1/"),
        f"{public}/page": "<p>page</p>",
    }
    seed = {"seeds": f"{public}/", "sites": "anywhere"}
    through_proxy = {"no_proxy": "", "http_proxy": server.url("")}
    outcomes = tools.crawl(
        seed,
        {"seeds": server.url("/local"), "sites": "anywhere"},
        seed | {"settings": {"MMCRAWL_PRIVATE_NETWORKS": True}},
        seed | {"settings": {"ROBOTSTXT_OBEY": True}},
        seed | {"environ": through_proxy},
        spider=SPIDER,
    )
    names = ["public", "private seed", "allowed", "robots", "proxy"]
    return public, dict(zip(names, outcomes, strict=True))


@each("run", ["public", "robots"])
def test_a_public_name_that_stands_for_a_private_address_is_refused(crawls: Any, run: str) -> None:
    public, outcomes = crawls
    reason = f"{PUBLIC} stands for a private address"
    assert outcomes[run].links == {f"{public}/": ("E", reason)}
    assert outcomes[run].seen == []


def test_such_a_name_is_refused_in_a_crawl_with_a_private_seed(crawls: Any) -> None:
    public, outcomes = crawls
    reason = f"{PUBLIC} stands for a private address"
    assert outcomes["private seed"].links[f"{public}/page"] == ("E", reason)
    assert [url.rpartition("/")[2] for url in outcomes["private seed"].seen] == ["local"]


def test_such_a_name_is_fetched_where_private_networks_are_allowed(crawls: Any) -> None:
    public, outcomes = crawls
    assert outcomes["allowed"].seen == [f"{public}/", f"{public}/page"]


def test_the_address_of_a_proxy_is_no_reason_to_refuse_a_page(crawls: Any) -> None:
    public, outcomes = crawls
    assert outcomes["proxy"].seen == [f"{public}/", f"{public}/page"]
    assert outcomes["proxy"].stats["mmcrawl/refused/private network"] == 2


def test_no_command_connects_to_a_private_address_that_a_stranger_names() -> None:
    script = Path(__file__).with_name("private_addresses.py")  # which counts what is connected to
    done = run(python(), script)
    attempts: dict[str, dict[str, dict[str, int]]] = json.loads(done.stdout.splitlines()[-1])
    assert set(attempts) == {"focused", "revisit", "topic", "blocks", "collect"}
    for kinds in attempts.values():
        assert set(kinds) == {"page", "redirect", "robots", "HEAD", "meta refresh", "name"}
        assert all(counts["answers"] for counts in kinds.values())  # the stranger was asked
        tried = {kind: counts["attempts"] for kind, counts in kinds.items()}
        assert tried == dict.fromkeys(kinds, 0)


def test_a_seed_on_this_machine_opens_no_other_port(tools: Any) -> None:
    seed, other = tools.serve(), tools.serve()
    seed.pages = {
        "/": tools.links(other.url("/link"), "/redirect", "/mine"),
        "/robots.txt": tools.Answer("", 302, {"Location": other.url("/robots.txt")}),
        "/redirect": tools.Answer("", 302, {"Location": other.url("/redirected")}),
        "/mine": "<p>mine</p>",
    }
    seeds = {"seeds": seed.url(), "settings": {"ROBOTSTXT_OBEY": True}}
    (outcome,) = tools.crawl(seeds)
    assert outcome.seen == [seed.url(), seed.url("/mine")]
    assert other.asked == []
    assert outcome.stats["mmcrawl/refused/private network"] == 2


def test_a_seed_may_be_an_ipv6_address(tools: Any) -> None:
    def answer(request: Request) -> Answer:
        return Answer(b"<p>page</p>", 404 if "robots" in request.path else 200)

    with Server(answer, "::1") as server:
        (outcome,) = tools.crawl({"seeds": server.url(), "settings": {"ROBOTSTXT_OBEY": True}})
    assert outcome.seen == [server.url()]
    assert server.asked == ["/robots.txt", "/"]


LISTENING = """
from pathlib import Path
from scrapy import signals
from mmcrawl.spiders.focused import FocusedSpider

def listening():
    own = {p.readlink().name for p in Path("/proc/self/fd").iterdir() if p.is_symlink()}
    rows = [row.split() for name in ("tcp", "tcp6") for row in open(f"/proc/net/{name}")]
    return [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own]

class Spider(FocusedSpider):
    def parse(self, response):
        seen.append(listening())
        yield from super().parse(response)
"""


def test_nothing_listens_while_a_crawl_runs(tools: Any) -> None:
    server = tools.serve()
    server.pages = {"/": "<p>page</p>"}
    off, on = tools.crawl(
        {"seeds": server.url()},
        {"seeds": server.url(), "settings": {"REMOTE_CONTROL_ENABLED": True}},
        spider=LISTENING,
    )
    assert off.seen == [[]]
    assert len(on.seen[0]) == 1  # so the test would see it
