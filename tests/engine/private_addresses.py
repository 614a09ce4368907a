"""How many connections private addresses get from strangers' pages: none is right.

Twenty-four spellings of private addresses are put where a stranger could: into links, where a page,
a robots.txt or the answer to a HEAD request redirects to, into meta refreshes, and behind
public names (which stand for them at once, or from the second look-up on). The focused crawl,
`revisit`, `topic score`, `blocks` and `collect` meet all of it; the last one gets the links as the
media of a page and the pieces of a playlist. `topic score` and `blocks` take one address at a time,
which takes most of the time: they meet two of each kind, and the others a third of each kind, so
that every spelling is met in two ways. Printed as JSON: attempts and answers of public pages.

Nothing leaves this machine: connections are made to the server of the public pages only, in place
of 93.184.216.34; any other attempt is counted and refused. No name is looked up either. IPv6
addresses count, too, though Scrapy's usual resolver would not find them.
"""

import argparse
import asyncio
import io
import json
import os
import socket
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from time import time
from typing import Any

from tests.media.serving import MediaDesk
from tests.serving import Answer, Server

SPELLINGS = (
    "127.0.0.1 127.0.0.1. 127.1 0x7f.1 2130706433 0177.0.0.01 LOCALHOST localhost. a.localhost 0"
    " 0.1.2.3 10.0.0.1 167772161 172.16.0.1 192.168.1 169.254.169.254 100.64.0.1 198.18.0.1"
    " 255.255.255.255 [::1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [fd00::1]"
).split()
KINDS = ("page", "redirect", "robots", "HEAD", "meta refresh", "name")
NAMES = {kind.replace(" ", "-").lower(): kind for kind in KINDS}
COMMANDS = ("focused", "revisit", "topic", "blocks", "collect")
PLAYLIST = "/list.m3u8"
PUBLIC_ADDRESS = "93.184.216.34"
FIRST_PORT = 20_000  # kind and spelling are known by the port that is asked: 100 for each kind
QUIET = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 200,
    "LOG_ENABLED": False,
    "MMCRAWL_ARCHIVE": "none",
    "MMCRAWL_DISPLAY": False,
    "MMCRAWL_HEAD_REQUESTS": 1000,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_ENABLED": False,
}


def private_url(kind: str, number: int) -> str:
    port = FIRST_PORT + 100 * KINDS.index(kind) + number
    return f"http://{SPELLINGS[number]}:{port}/secret"


def public_url(kind: str, number: int) -> str:
    """The address on which a stranger begins; of the kind `name` it stands for a private one."""
    if kind == "name":
        when = "now" if number % 2 else "later"
        port = FIRST_PORT + 100 * KINDS.index(kind) + number
        return f"http://{when}{number}.example.org:{port}/page"
    return f"http://{kind.replace(' ', '-').lower()}{number}.example.org/page"


served: Counter[str] = Counter()
"""How many answers were given for hosts of each kind."""


def answer(request: Any) -> Any:
    """Answer as all public pages do. The kind and the number of the spelling are in the host."""
    host = request.headers["Host"].partition(".")[0]
    kind = host.rstrip("0123456789")
    target = private_url(NAMES.get(kind, "page"), int(host.removeprefix(kind) or 0))
    served[kind] += 1
    robots = request.path == "/robots.txt"
    away = {"redirect": not robots, "robots": robots, "head": request.command == "HEAD"}
    if away.get(kind):
        return Answer(status=302, headers={"Location": target})
    if robots:
        return Answer(status=404)
    if request.path == PLAYLIST:
        return Answer(f"#EXTM3U\n#EXTINF:4,\n{target}\n#EXT-X-ENDLIST\n")
    refresh = (
        f'<meta http-equiv=refresh content="0;url={target}">' if kind == "meta-refresh" else ""
    )
    leads_to = {"page": target, "head": "/download.php?id=1"}.get(kind, "/on")
    link = f'<a href="{leads_to}">download</a>'
    return Answer(f"{refresh}<title>optics</title><h1>optics</h1><p>optics {link}")


class Network:
    """Stands between the reactor and the network; keeps the ports of attempts at other addresses.

    Attributes:
        attempts: ports that connections to private addresses were to be made to.
        asked: how often each name was looked up.
    """

    def __init__(self, reactor: Any, server_port: int) -> None:
        self.attempts: set[int] = set()
        self.asked: Counter[str] = Counter()
        self._connect: Callable[..., Any] = reactor.connectTCP
        self._port = server_port
        reactor.connectTCP = self.connect

    def connect(self, address: str, port: int, factory: Any, *args: Any, **kwargs: Any) -> Any:
        from twisted.internet.error import ConnectionRefusedError

        if address == PUBLIC_ADDRESS:
            _pretend(factory)
            return self._connect("127.0.0.1", self._port, factory, *args, **kwargs)
        self.attempts.add(port)
        raise ConnectionRefusedError(f"{address} is not to be asked")

    def resolveHostName(  # noqa: N802 - Twisted's
        self,
        receiver: Any,
        name: str,
        portNumber: int = 0,  # noqa: N803
        *_: Any,
        **__: Any,
    ) -> Any:
        from twisted.internet.address import IPv4Address, IPv6Address

        receiver.resolutionBegan(None)
        if address := self._address(name):
            kind = IPv6Address if ":" in address else IPv4Address
            receiver.addressResolved(kind("TCP", address, portNumber))
        receiver.resolutionComplete()

    def _address(self, name: str) -> str:
        host = name.partition(".")[0]
        number = host.strip("abcdefghijklmnopqrstuvwxyz-")
        if name.endswith(".example.org"):
            self.asked[name] += 1
            if host.startswith("now") or (host.startswith("later") and self.asked[name] > 1):
                return _numeric(SPELLINGS[int(number)])
            return PUBLIC_ADDRESS
        return _numeric(name)


def _pretend(factory: Any) -> None:
    """Let connections of a factory look as if they led to the public address."""
    from twisted.internet.address import IPv4Address

    build = factory.buildProtocol

    def protocol(address: Any) -> Any:
        made = build(address)
        connect = made.makeConnection

        def connected(transport: Any) -> None:
            transport.getPeer = lambda: IPv4Address("TCP", PUBLIC_ADDRESS, 80)
            connect(transport)

        made.makeConnection = connected
        return made

    factory.buildProtocol = protocol


def _numeric(host: str) -> str:
    """The address that a resolver makes of a spelling, "" for none; nothing is looked up."""
    if ":" in host:
        return host.strip("[]")
    if "localhost" in host.lower():
        return "127.0.0.1"
    try:
        return socket.inet_ntoa(socket.inet_aton(host.rstrip(".")))
    except OSError:
        return ""


class Collector:
    """In place of a command's crawler process: keeps what is to be crawled, and runs nothing."""

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self.crawls: list[tuple[type, dict[str, Any]]] = []

    def crawl(self, spider: type, **arguments: Any) -> None:
        self.crawls.append((spider, arguments))

    def start(self) -> None:
        """Do nothing."""


def crawls_of(command: str, settings: Any, folder: Path) -> Iterator[tuple[type, dict[str, Any]]]:
    """Yield spiders and arguments with which a command meets spellings of all kinds."""
    numbers = range(len(SPELLINGS))
    urls = [
        public_url(kind, number)
        for place, kind in enumerate(KINDS)
        for number in numbers[place % 3 :: 3]
    ]
    if command == "focused":
        from mmcrawl.spiders import FocusedSpider

        seeds = {"seeds": ",".join(urls), "sites": "anywhere", "keywords": "optics"}
        yield FocusedSpider, seeds | {"store": "memory:", "algo": "breadth"}
    elif command == "revisit":
        from mmcrawl.archive import Capture, open_archive
        from mmcrawl.spiders import RevisitSpider

        store = f"{folder}/revisit.db"
        with open_archive(f"sqlite:///{folder}/revisit-archive.db") as archive:
            for url in urls:
                archive.store(Capture(url, b"<p>old", time() - 300_000))
        yield RevisitSpider, {"store": store}
    elif command == "collect":
        from mmcrawl.spiders import CollectSpider

        desk = MediaDesk(folder)
        media = [private_url("page", number) for number in numbers]
        media += [url.removesuffix("/page") + PLAYLIST for url in urls]
        desk.found(media, "http://media.example.org/")
        yield CollectSpider, {"store": desk.uri}
    else:
        urls = [public_url(kind, number) for kind in KINDS for number in numbers[::13]]
        yield from commands_of(command, urls, settings)


def commands_of(name: str, urls: list[str], settings: Any) -> Iterator[tuple[type, dict[str, Any]]]:
    from mmcrawl.commands import blocks, topic

    module = {"topic": topic, "blocks": blocks}[name]
    for url in urls:
        command: Any = module.Command()
        command.settings = settings
        command.crawler_process = Collector(settings)
        parser = argparse.ArgumentParser(conflict_handler="resolve")
        command.add_options(parser)
        args = ["score", url] if name == "topic" else [url]
        options, _ = parser.parse_known_args(args)
        command.process_options(args, options)
        with redirect_stderr(io.StringIO()):  # that nothing was crawled
            command.run(args, options)
        yield from command.crawler_process.crawls


async def measure(network: Network, folder: Path) -> dict[str, dict[str, dict[str, int]]]:
    """Return attempts and pages of each kind of each command."""
    from scrapy.crawler import AsyncCrawlerRunner, Crawler
    from scrapy.settings import Settings

    results = {}
    for command in COMMANDS:
        settings = Settings()
        settings.setmodule("mmcrawl.settings")
        settings.setdict(QUIET, priority="cmdline")
        network.attempts.clear()
        network.asked.clear()
        served.clear()
        await asyncio.gather(
            *(
                AsyncCrawlerRunner(settings).crawl(Crawler(spider, settings), **arguments)
                for spider, arguments in crawls_of(command, settings, folder)
            )
        )
        attempts = Counter(KINDS[(port - FIRST_PORT) // 100] for port in network.attempts)
        answers: Counter[str] = Counter()
        for kind, times in served.items():
            answers[NAMES.get(kind, "name")] += times  # a name begins with "now" or "later"
        results[command] = {
            kind: {"attempts": attempts[kind], "answers": answers[kind]} for kind in KINDS
        }
    return results


def main() -> None:
    """Measure and print."""
    os.environ["no_proxy"] = "*"

    from scrapy.utils.defer import deferred_f_from_coro_f
    from scrapy.utils.reactor import install_reactor

    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor
    from twisted.internet.task import react

    network = Network(reactor, Server(answer).port)
    reactor.installNameResolver(network)  # type: ignore[attr-defined]

    async def run(_: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(await measure(network, Path(folder))))

    react(deferred_f_from_coro_f(run))


if __name__ == "__main__":
    main()
