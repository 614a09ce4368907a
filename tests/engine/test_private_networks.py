"""What the public web links to on private networks stays out of a crawl."""

import json
from pathlib import Path
from typing import Any

from tests.programs import run
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


def test_a_public_name_that_stands_for_a_private_address_is_refused(tools: Any) -> None:
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
    plain, robots, private_seed, allowed, proxy = tools.crawl(
        seed,
        seed | {"settings": {"ROBOTSTXT_OBEY": True}},
        {"seeds": server.url("/local"), "sites": "anywhere"},
        seed | {"settings": {"MMCRAWL_PRIVATE_NETWORKS": True}},
        seed | {"environ": {"no_proxy": "", "http_proxy": server.url("")}},
        spider=SPIDER,
    )
    refused = ("E", f"{PUBLIC} stands for a private address")
    assert plain.links == robots.links == {f"{public}/": refused}
    assert plain.seen == robots.seen == []
    assert private_seed.links[f"{public}/page"] == refused
    assert private_seed.seen == [server.url("/local")]
    assert allowed.seen == proxy.seen == [f"{public}/", f"{public}/page"]
    assert proxy.stats["mmcrawl/refused/private network"] == 2


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


LISTENING = """
from pathlib import Path
from mmcrawl.spiders.focused import FocusedSpider

def listening():
    own = {p.readlink().name for p in Path("/proc/self/fd").iterdir() if p.is_symlink()}
    rows = [row.split() for name in ("tcp", "tcp6") for row in open(f"/proc/net/{name}")]
    return sum(row[3] == "0A" and f"socket:[{row[9]}]" in own for row in rows)

class Spider(FocusedSpider):
    async def parse(self, response):
        seen.append([response.url, listening()])
        async for item in super().parse(response):
            yield item
"""


def test_a_seed_on_this_machine_opens_no_other_port_and_nothing_listens(tools: Any) -> None:
    seed, other, ipv6 = tools.serve(), tools.serve(), tools.serve("::1")
    ipv6.pages = {"/": "<p>page</p>"}
    seed.pages = {
        "/": tools.links(other.url("/link"), "/redirect", "/mine"),
        "/robots.txt": tools.Answer("", 302, {"Location": other.url("/robots.txt")}),
        "/redirect": tools.Answer("", 302, {"Location": other.url("/redirected")}),
        "/mine": "<p>mine</p>",
    }
    obeys = {"ROBOTSTXT_OBEY": True}
    outcome, of_ipv6, controlled = tools.crawl(
        {"seeds": seed.url(), "settings": obeys},
        {"seeds": ipv6.url(), "settings": obeys},
        {"seeds": ipv6.url(), "settings": {"REMOTE_CONTROL_ENABLED": True}},
        spider=LISTENING,
    )
    assert outcome.seen == [[seed.url(), 0], [seed.url("/mine"), 0]]
    assert of_ipv6.seen == [[ipv6.url(), 0]]
    assert controlled.seen == [[ipv6.url(), 1]]  # so the test would see it
    assert ipv6.asked == ["/robots.txt", "/", "/"]
    assert other.asked == []
    assert outcome.stats["mmcrawl/refused/private network"] == 2
