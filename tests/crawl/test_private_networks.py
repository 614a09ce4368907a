"""What the public web links to on private networks stays out of a crawl."""

from typing import Any

import pytest

from mmcrawl.frontier import Limits, NewLink, open_store
from mmcrawl.job import CrawlJob
from mmcrawl.page import parse_page
from mmcrawl.scoring import Breadth, LinkSimilarity, TopicTest
from mmcrawl.topic import topic_from_keywords

PUBLIC = "public.example.org"
# Every name stands for this machine.
SPIDER = """
from spiders.focused import FocusedSpider
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
    "127.8.9.1",
    "192.168.0.1",
    "172.16.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "[::1]",
    "[fd00::1]",
    "[::ffff:10.0.0.1]",
    "2130706433",
    "127.1",
    "0x7f000001",
    "0x7f.0.0.1",
    "localhost",
    "LOCALHOST",
    "intranet",
    "printer.local",
    "db.internal",
    "nas.lan",
    "router.home.arpa",
]
OPEN = ["93.184.216.34", "[2606:4700::1]", "example.org", "localhost.example.org", "10.example.com"]


def job_from(seed: str, *, private: bool = False) -> CrawlJob:
    """A crawl that may go anywhere, from one seed."""
    topic = topic_from_keywords("optics")
    store, similarity = open_store("memory:"), LinkSimilarity(topic)
    return CrawlJob(
        store,
        store.job("test", {}),
        test=TopicTest(topic, {"video"}),
        similarity=similarity,
        make_scorer=lambda source: Breadth(source, similarity),
        limits=Limits(sites="anywhere", private=private),
        seeds=[seed],
    )


def follow(job: CrawlJob, *urls: str) -> list[str]:
    """Crawl the seed, which links to `urls`, and return what is fetched after it."""
    seed = job.next()
    assert seed is not None
    body = "".join(f'<a href="{url}">link</a>' for url in urls)
    job.crawled(seed.id, parse_page(body.encode(), seed.url))
    taken = []
    while link := job.next():
        taken.append(link.url)
    return taken


@pytest.mark.parametrize("host", PRIVATE)
def test_a_public_page_leads_to_no_private_address(host: str) -> None:
    job = job_from("http://example.com/")
    assert follow(job, f"http://{host}/", f"https://{host}:8080/admin") == []
    assert job.refused == {"private network": 2}


@pytest.mark.parametrize("host", OPEN)
def test_a_public_page_leads_to_public_addresses(host: str) -> None:
    job = job_from("http://example.com/")
    assert follow(job, f"http://{host}/") == [f"http://{host}/"]
    assert not job.refused


@pytest.mark.parametrize("seed", ["http://10.0.0.7/", "http://intranet/", "http://localhost:81/"])
def test_a_crawl_of_a_private_network_follows_its_links(seed: str) -> None:
    job = job_from(seed)
    assert follow(job, "http://192.168.0.1/") == ["http://192.168.0.1/"]


def test_private_networks_can_be_allowed() -> None:
    job = job_from("http://example.com/", private=True)
    assert follow(job, "http://192.168.0.1/") == ["http://192.168.0.1/"]


def test_a_public_page_does_not_redirect_to_a_private_address() -> None:
    job = job_from("http://example.com/")
    seed = job.next()
    assert seed is not None
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


@pytest.mark.parametrize("run", ["public", "robots"])
def test_a_public_name_that_stands_for_a_private_address_is_refused(crawls: Any, run: str) -> None:
    public, outcomes = crawls
    reason = f"{PUBLIC} stands for a private address"
    assert outcomes[run].links == {f"{public}/": ("E", reason)}
    assert outcomes[run].seen == []


def test_such_a_name_is_fetched_in_a_crawl_with_a_private_seed(crawls: Any) -> None:
    public, outcomes = crawls
    assert f"{public}/page" in outcomes["private seed"].seen


def test_such_a_name_is_fetched_where_private_networks_are_allowed(crawls: Any) -> None:
    public, outcomes = crawls
    assert outcomes["allowed"].seen == [f"{public}/", f"{public}/page"]


def test_the_address_of_a_proxy_is_no_reason_to_refuse_a_page(crawls: Any) -> None:
    public, outcomes = crawls
    assert outcomes["proxy"].seen == [f"{public}/", f"{public}/page"]
    assert outcomes["proxy"].stats["mmcrawl/refused/private network"] == 2
