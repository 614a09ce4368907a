"""Robots.txt files that are large, or made to be costly."""

import tracemalloc
from collections import Counter
from typing import Any

from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from mmcrawl.engine import LIMIT, UnreachableHosts
from tests.tables import each

AGENT = "mmcrawl/0.1 (focused crawler)"


def parser_of(body: bytes) -> Any:
    """Return what a crawl makes of a robots.txt."""
    settings = Settings()
    settings.setmodule("mmcrawl.settings")
    return load_object(settings["ROBOTSTXT_PARSER"]).from_crawler(None, body)


def allowed(body: bytes, path: str, agent: str = AGENT) -> bool:
    return bool(parser_of(body).allowed(f"http://h.test{path}", agent))


def test_rules_beyond_the_limit_are_not_read_nor_is_the_line_that_it_cuts() -> None:
    rules = b"User-agent: *\nDisallow: /first\n"
    filled = rules + b"#" * (LIMIT - len(rules) - 1 - len(b"Disallow: /a")) + b"\n"
    body = filled + b"Disallow: /abc\nDisallow: /last\n"
    assert body[:LIMIT].endswith(b"\nDisallow: /a")
    assert [allowed(body, path) for path in ("/first", "/a", "/last")] == [False, True, True]
    assert not allowed(body[:-1].replace(b"#", b"", len(b"bc\n")), "/abc")


def test_a_file_of_one_endless_line_allows_all() -> None:
    assert allowed(b"User-agent: * Disallow: /" + b"a" * LIMIT, "/a")


@each("codec", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_rules_count_in_any_unicode(codec: str) -> None:
    body = "User-agent: *\rDisallow: /no\r".encode(codec)
    assert [allowed(body, path) for path in ("/no", "/yes")] == [False, True]


@each("name", ["robot", "m"])  # of others, and such as could be ours
def test_names_of_robots_do_not_multiply_the_rules(name: str) -> None:
    agent = "m" * 400
    names = [f"robot{n}" if name == "robot" else name * (n % 400 + 1) for n in range(2000)]
    groups = "".join(f"User-agent: {name}\n" for name in names)
    rules = "".join(f"Disallow: /{n}\n" for n in range(2000))
    body = (groups + rules + "User-agent: *\nDisallow: /all\n").encode()
    tracemalloc.start()
    try:
        longest = allowed(body, "/1999", agent)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert longest is (name == "robot")
    assert peak < 300 * len(body)


@each(
    "agent, path, expected",
    [
        (AGENT, "/ours", False),
        (AGENT, "/theirs", True),
        (AGENT, "/all", True),
        ("OtherBot/2", "/theirs", False),
        ("OtherBot/2", "/ours", True),
        ("Third", "/all", False),
        ("Third", "/theirs", True),
    ],
)
def test_each_robot_obeys_its_own_group(agent: str, path: str, expected: bool) -> None:
    body = b"""\
User-agent: otherbot
User-Agent: another
Disallow: /theirs
Crawl-delay: 3
user agent: MMCrawl # that is us
Disallow: /ours

User-agent: *
Disallow: /all
"""
    assert allowed(body, path, agent) is expected
    assert parser_of(body).crawl_delay(agent) == (3 if agent.startswith("Other") else None)


def test_of_an_endless_robots_txt_the_beginning_is_received_and_used(tools: Any) -> None:
    server = tools.serve()
    robots = "User-agent: *\nSitemap: /map.xml\nDisallow: /no\n"
    server.pages = {
        "/": tools.links("/no"),
        "/no": "<p>no</p>",
        "/listed": "<p>a lens</p>",
        "/robots.txt": tools.Answer(robots + f"Disallow: /{'x' * 100}\n" * 100_000),
        "/map.xml": tools.Answer(
            f"<urlset><url><loc>{server.url('/listed')}</loc></url></urlset>",
            headers={"Content-Type": "text/xml"},
        ),
    }
    settings = {"ROBOTSTXT_OBEY": True, "DOWNLOAD_MAXSIZE": 4 << 20}
    seeds = {"seeds": server.url(), "discover": "sitemap", "settings": settings}
    (outcome,) = tools.crawl(seeds)
    assert {server.url("/"), server.url("/listed")} <= {*outcome.seen}
    assert "/no" not in server.asked
    assert outcome.stats["downloader/response_bytes"] < 5 * LIMIT


def test_a_host_whose_robots_txt_fails_is_asked_again_ever_later() -> None:
    now = 0.0
    hosts = UnreachableHosts(10, clock=lambda: now)
    pauses = [hosts.note("h.test", "HTTP 503") for _ in range(12)]
    assert pauses[:4] == [10, 20, 40, 80]
    assert pauses[-1] == 3_600
    assert (hosts.wait("h.test"), hosts.wait("other.test")) == (3_600, 0)
    now = 3_600.0
    assert (hosts.wait("h.test"), hosts.reason("h.test")) == (0, "HTTP 503")
    assert hosts.asked_enough("h.test")
    hosts.answered("h.test")
    assert not hosts.asked_enough("h.test")
    assert not hosts.told()


def test_links_of_a_host_whose_robots_txt_fails_wait_until_it_answers(tools: Any) -> None:
    good, late, never, forbids = (tools.serve(f"127.0.0.{n}") for n in (1, 2, 3, 4))
    asked = Counter()

    def robots(visit: Any) -> Any:
        asked[visit.host] += 1
        is_had = visit.host == late.host and asked[visit.host] > 1
        return tools.Answer("User-agent: *\nDisallow: /no", 200 if is_had else 503)

    for server in (good, late, never, forbids):
        server.pages = {"/a": "<p>a</p>", "/no": "<p>no</p>", "/robots.txt": robots}
    good.pages["/robots.txt"] = tools.Answer("", 404)
    forbids.pages["/robots.txt"] = tools.Answer("User-agent: *\nDisallow: /", 403)
    seeds = [server.url(path) for server in (never, late, good, forbids) for path in ("/a", "/no")]
    settings = {"ROBOTSTXT_OBEY": True, "MMCRAWL_ROBOTS_PAUSE": 0.1, "RETRY_ENABLED": False}
    crawls = [{"seeds": ",".join(seeds), "settings": settings, "discover": "none"}]
    alone = {**settings, "MMCRAWL_DISPLAY": True}
    crawls += [{"seeds": never.url("/a"), "settings": alone, "discover": "none"}]
    many, one = tools.crawl(*crawls)
    ends = {server.host: [many.links[server.url(p)] for p in ("/a", "/no")] for server in
            (good, late, never, forbids)}  # fmt: skip
    done, waits = ("C", ""), ("W", "")
    assert ends[good.host] == ends[forbids.host] == [done, done]
    assert ends[late.host] == [done, ("E", "forbidden by robots.txt")]
    assert ends[never.host] == [waits, waits]
    assert never.asked.count("/robots.txt") >= 6
    assert set(never.asked) == {"/robots.txt"}
    assert many.stats["finish_reason"] == "hosts_unreachable"
    assert one.stats["finish_reason"] == "nothing_fetched"
    assert one.links[never.url("/a")] == waits
    assert f"{never.host}:{never.port}: HTTP 503" in one.log
    assert "Nothing could be fetched; run the same command to try again." in one.log


NAMES = """
import socket
from collections import Counter
from mmcrawl.spiders.focused import FocusedSpider
from twisted.internet.defer import execute
from twisted.internet.error import DNSLookupError
from twisted.internet.interfaces import IResolverSimple
from zope.interface import implementer

looks = Counter()

def found(name, *_):  # one whose name server fails at first, one whose fails always, one unknown
    looks[name] += 1
    if name.startswith("late") and looks[name] > 2:
        return "127.0.0.1"
    unknown = name.startswith("unknown")
    raise socket.gaierror(socket.EAI_NONAME if unknown else socket.EAI_AGAIN, "not found")

@implementer(IResolverSimple)
class Names:
    def getHostByName(self, name, timeout=()):
        looked = execute(found, name)
        looked.addErrback(lambda _: (_ for _ in ()).throw(DNSLookupError()))
        return looked

class Spider(FocusedSpider):
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        from twisted.internet import reactor
        reactor.installResolver(Names())
        socket.getaddrinfo = found
        return super().from_crawler(crawler, *args, **kwargs)
"""


def test_a_host_waits_while_the_name_servers_fail_and_one_that_is_unknown_does_not(
    tools: Any,
) -> None:
    server = tools.serve()
    server.pages = {"/": "<p>a</p>"}
    late, never, unknown = (
        f"http://{name}.example.org:{server.port}/" for name in ("late", "never", "unknown")
    )
    settings = {
        "ROBOTSTXT_OBEY": True, "MMCRAWL_ROBOTS_PAUSE": 0.1, "RETRY_ENABLED": False,
        "MMCRAWL_PRIVATE_NETWORKS": True,
    }  # fmt: skip
    seeds = ",".join((late, never, unknown))
    [crawl] = tools.crawl({"seeds": seeds, "settings": settings, "discover": "none"}, spider=NAMES)
    waits = ("W", "")
    assert [crawl.links[url] for url in (late, never, unknown)] == [
        ("C", ""), waits, ("E", "host not found")
    ]  # fmt: skip
    assert "(the name servers do not answer); next attempt in" in crawl.log
    assert "Traceback" not in crawl.log
