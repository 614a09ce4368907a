"""How a crawl treats the servers it visits, and that no server can hold up the others."""

import threading
from itertools import pairwise
from time import sleep
from typing import Any

from tests.waiting import HANG


def held(tools: Any, hosts: tuple[str, str], count: int) -> tuple[list[Any], dict[str, bool]]:
    """Two servers of `count` pages; the first answers only when the second has served all of its.

    The dict tells for each page of the slow server whether what it waited for came.
    """
    slow, fast = (tools.serve(host) for host in hosts)
    fast_is_done = threading.Event()
    waited: dict[str, bool] = {}

    def slow_page(visit: Any) -> str:
        waited[visit.path] = fast_is_done.wait(HANG)
        return "<p>at last</p>"

    def fast_page(visit: Any) -> str:
        if len(set(fast.asked)) == count + 1:
            fast_is_done.set()
        return "<p>here</p>"

    pages = [f"/{n}" for n in range(count)]
    for server, page in ((slow, slow_page), (fast, fast_page)):
        server.pages = {"/": tools.links(*pages), **dict.fromkeys(pages, page)}
    return [slow, fast], waited


def test_a_slow_host_does_not_hold_up_a_fast_one(tools: Any) -> None:
    settings = [
        {"CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 2},
        {"CONCURRENT_REQUESTS": 2, "DOWNLOAD_DELAY": 0.01},
        {"CONCURRENT_REQUESTS": 4, "DOWNLOAD_SLOTS": {"127.0.0.6": {"concurrency": 1}}},
    ]
    sites = [held(tools, (f"127.0.0.{n}", f"127.0.0.{n + 1}"), 12) for n in (2, 4, 6)]
    crawls = [
        {"seeds": f"{slow.url()},{fast.url()}", "settings": given}
        for ((slow, fast), _), given in zip(sites, settings, strict=True)
    ]
    for outcome, ((slow, _), waited) in zip(tools.crawl(*crawls), sites, strict=True):
        assert len(outcome.seen) == 26
        assert all(waited.values()), "a page of the slow host was waited for by the fast host"
        assert len(slow.asked) == len(set(slow.asked)) == 13


def test_a_host_whose_delay_is_not_over_takes_no_place_of_another(tools: Any) -> None:
    slow, fast = (tools.serve(f"127.0.0.{n}") for n in (13, 14))
    pages = [f"/{n}" for n in range(12)]
    for server in (slow, fast):
        server.pages = {"/": tools.links(*pages), **dict.fromkeys(pages, "<p>page</p>")}
    settings = {
        "CONCURRENT_REQUESTS": 1,
        "DOWNLOAD_SLOTS": {slow.host: {"delay": HANG}},
        "ROBOTSTXT_OBEY": True,
    }
    seeds = f"{slow.url()},{fast.url()}"
    (outcome,) = tools.crawl({"seeds": seeds, "max_pages": 14}, settings=settings)
    assert slow.asked == ["/robots.txt", "/"]  # the first page does not wait for the delay
    assert sorted(set(fast.asked)) == sorted(["/robots.txt", "/", *pages])
    assert len(outcome.seen) == 14


def test_no_more_requests_than_allowed_are_sent_to_a_host_at_once(tools: Any) -> None:
    servers = [tools.serve(f"127.0.0.{n}") for n in (8, 9)]
    full = {server.host: threading.Event() for server in servers}
    visits = {server.host: server.visits for server in servers}

    def page(visit: Any) -> str:
        """Answer once as many requests are here as may be; the first ones wait for it."""
        if sum(other.left is None for other in list(visits[visit.host])) >= 3:
            full[visit.host].set()
        full[visit.host].wait(HANG)
        return "<p>page</p>"

    for server in servers:
        pages = [f"/{n}" for n in range(12)]
        server.pages = {"/": tools.links(*pages), **dict.fromkeys(pages, page)}
    settings = {"CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 3}
    (outcome,) = tools.crawl({"seeds": ",".join(s.url() for s in servers)}, settings=settings)
    assert len(outcome.seen) == 26
    for server in servers:
        mine = server.visits
        most = max(sum(v.came <= visit.came < v.left for v in mine) for visit in mine)
        assert most == 3


def test_the_delay_is_kept_for_each_host_by_itself(tools: Any) -> None:
    delay, count = 0.15, 6
    servers = [tools.serve(f"127.0.0.{n}") for n in (10, 11, 12)]
    for server in servers:
        pages = [f"/{n}" for n in range(count)]
        server.pages = {"/": tools.links(*pages), **dict.fromkeys(pages, "<p>page</p>")}
    settings = {
        "DOWNLOAD_DELAY": delay,
        "DOWNLOAD_DELAY_JITTER": 0,
        "CONCURRENT_REQUESTS": 16,
        "ROBOTSTXT_OBEY": True,
        "DOWNLOAD_HANDLERS": {"http": "tests.telling.TellingHandler"},
    }
    (outcome,) = tools.crawl({"seeds": ",".join(s.url() for s in servers)}, settings=settings)
    assert len(outcome.seen) == 3 * (count + 1)
    for server in servers:
        assert server.asked[0] == "/robots.txt"
        pages_asked = [visit for visit in server.visits if visit.path != "/robots.txt"]
        allowed = sorted(float(visit.headers["Allowed"]) for visit in pages_asked)
        assert len(allowed) == count + 1
        assert min(b - a for a, b in pairwise(allowed)) >= 0.999 * delay  # the clock rounds
    visits = sorted(
        (v for server in servers for v in server.visits), key=lambda v: float(v.headers["Allowed"])
    )
    turns = sum(earlier.host != later.host for earlier, later in pairwise(visits))
    assert turns > count  # the hosts are visited side by side, not one after the other


ROBOTS = """
User-agent: *
Disallow: /private/
Disallow: /*.asp$
Allow: /private/open.html
"""


def test_robots_txt_and_nofollow_are_obeyed_however_many_seeds_a_host_has(tools: Any) -> None:
    server, many = tools.serve(), tools.serve("127.0.0.15")
    allowed = ["/a.html", "/private/open.html", "/show.asp?id=1"]
    forbidden = ["/private/", "/private/a.html", "/show.asp"]
    plain = {"Content-Type": "text/plain"}
    server.pages = {
        "/robots.txt": tools.Answer(ROBOTS, 200, plain),
        "/": tools.links(*allowed, *forbidden) + '<a rel="nofollow" href="/nofollow">no</a>',
        **dict.fromkeys([*allowed, *forbidden, "/nofollow"], "<p>page</p>"),
    }

    def robots(visit: Any) -> Any:
        sleep(0.3)  # time for the others to be asked for
        return tools.Answer(ROBOTS, 200, plain)

    seeds = [*(f"/private/{n}" for n in range(5)), "/a"]
    many.pages = {"/robots.txt": robots, **dict.fromkeys(seeds, "<p>page</p>")}
    obeying, ignoring, of_many = tools.crawl(
        {"seeds": server.url(), "settings": {"ROBOTSTXT_OBEY": True}},
        {"seeds": server.url()},
        {"seeds": ",".join(map(many.url, seeds)), "settings": {"ROBOTSTXT_OBEY": True}},
    )
    assert {*obeying.seen} == {server.url(path) for path in ["/", *allowed]}
    for path in forbidden:
        assert obeying.links[server.url(path)] == ("E", "forbidden by robots.txt")
    assert obeying.stats["mmcrawl/refused/nofollow"] == 1
    not_obeyed = {server.url(path) for path in [*forbidden, "/nofollow"]}
    assert {*ignoring.seen} - {*obeying.seen} == not_obeyed
    assert server.asked.count("/robots.txt") == 1
    assert server.asked.index("/robots.txt") == 0
    assert many.asked == ["/robots.txt", "/a"]
    assert [of_many.links[many.url(path)][0] for path in seeds[:5]] == ["E"] * 5
