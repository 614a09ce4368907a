"""Serves stored sites on the loopback network, from RAM and in a process of its own.

    python benchmarks/page_server.py FOLDER HOST [HOST ...] [--spread HOSTS]

FOLDER/HOST/a/b.html is the page /a/b.html of HOST; FOLDER/manifest.json may name for each host its
`start` address and `aliases`. The first host gets the address 127.0.0.1, the second 127.0.0.2 and
so on; absolute links to a host or its aliases are rewritten to that address when the pages are
read. The first line of output is the port and the start addresses, as JSON. `GET /.served` answers
with what was served since the last such question, as JSON, and stops counting it.
`GET /.latency?50` delays every answer from then on by 50 ms.

`--spread 50` divides the pages of a site, by a hash of their paths, among 50 addresses, and lets
all links lead there. Each of the addresses answers for the whole site.

`running` is the same from Python: it starts the process, and ends it.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import urlopen

_INDEX_NAMES = ("index.html", "index.htm")
_COUNTS_PATH = "/.served"
_LATENCY_PATH = "/.latency"
_LINKS = re.compile(rb"(?i)(\s(?:href|src)\s*=\s*)(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")


@dataclass(frozen=True)
class Served:
    """What a server has served.

    Attributes:
        pages: distinct addresses answered with a page.
        requests: all requests, pages or not.
        megabytes: of page bodies.
        digest: the same for the same set of pages.
        order: addresses of the pages in the order they were first asked for.
    """

    pages: int
    requests: int
    megabytes: float
    digest: str
    order: list[str]


@dataclass(frozen=True)
class Running:
    """A server under way: where the crawl starts, and what was served."""

    starts: tuple[str, ...]

    def served(self) -> Served:
        """Return what was served since this was last asked."""
        parts = urlsplit(self.starts[0])
        with urlopen(f"{parts.scheme}://{parts.netloc}{_COUNTS_PATH}") as answer:
            return Served(**json.load(answer))

    def delay(self, milliseconds: float) -> None:
        """Delay every answer from now on."""
        parts = urlsplit(self.starts[0])
        with urlopen(f"{parts.scheme}://{parts.netloc}{_LATENCY_PATH}?{milliseconds}"):
            pass


@contextmanager
def running(folder: Path, hosts: list[str], *, spread: int = 1) -> Iterator[Running]:
    """Serve `hosts` of `folder` from another process while the block runs."""
    command = [sys.executable, __file__, str(folder), *hosts, "--spread", str(spread)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise SystemExit("the page server did not start")
        yield Running(tuple(json.loads(line)["starts"]))
    finally:
        process.terminate()
        process.wait()


class _Site:
    """The answers of one host, ready to be sent, by path without percent codes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: dict[str, tuple[bytes, int]] = {}

    def read(self, rewrite: Callable[[bytes, str], bytes]) -> None:
        for file in sorted(self.folder.rglob("*")):
            if file.suffix.lower() not in (".htm", ".html") or not file.is_file():
                continue
            path = "/" + file.relative_to(self.folder).as_posix()
            body = rewrite(file.read_bytes(), path)
            answer = _answer("200 OK", body), len(body)
            self.answers[path] = answer
            if file.name in _INDEX_NAMES:
                directory = path.rpartition("/")[0]
                self.answers[directory + "/"] = answer
                if directory:
                    moved = _answer("301 Moved Permanently", b"", f"Location: {directory}/\r\n")
                    self.answers[directory] = moved, 0


class Rewrite:
    """Writes the loopback addresses of hosts in place of their names."""

    def __init__(self, origins: dict[str, str]) -> None:
        self._origins = {host.encode(): origin.encode() for host, origin in origins.items()}
        names = b"|".join(re.escape(host) for host in self._origins)
        self._links = re.compile(rb"(?:https?:)?//(" + names + rb")(?=[/\"'?#])")

    def __call__(self, body: bytes, path: str) -> bytes:
        return self._links.sub(lambda link: self._origins[link[1]], body)


class Spread:
    """Lets the links of a site lead to the many addresses that its pages are divided among."""

    def __init__(self, rewrite: Rewrite, origins: list[str]) -> None:
        self._rewrite, self._origins = rewrite, origins

    def origin(self, path: str) -> str:
        """Return where a page is."""
        return self._origins[zlib.crc32(path.encode()) % len(self._origins)]

    def __call__(self, body: bytes, path: str) -> bytes:
        page = self._origins[0] + path

        def moved(link: re.Match[bytes]) -> bytes:
            url = (link[2] or link[3] or link[4] or b"").decode("latin-1").strip()
            target = urlsplit(urljoin(page, url))
            if not url or f"{target.scheme}://{target.netloc}" != self._origins[0]:
                return link[0]
            rest = target._replace(scheme="", netloc="").geturl()
            return link[1] + f'"{self.origin(unquote(target.path))}{rest}"'.encode("latin-1")

        return _LINKS.sub(moved, self._rewrite(body, path))


class _Connection(asyncio.Protocol):
    """One client; requests are answered in order, each from a dictionary.

    Attributes:
        latency: seconds until an answer is sent, of all connections.
    """

    latency = 0.0

    def __init__(self, sites: dict[str, _Site], seen: Counter[str]) -> None:
        self._sites = sites
        self._seen = seen
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        *requests, self._unread = (self._unread + data).split(b"\r\n\r\n")
        for request in requests:
            answer = self._respond(request)
            if self.latency:
                asyncio.get_running_loop().call_later(self.latency, self._send, answer)
            else:
                self._transport.write(answer)

    def _send(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(answer)

    def _respond(self, request: bytes) -> bytes:
        line, _, headers = request.partition(b"\r\n")
        path = unquote(line.split(b" ")[1].decode("latin-1").partition("?")[0])
        if path == _COUNTS_PATH:
            return self._counts()
        if path == _LATENCY_PATH:
            type(self).latency = float(line.split(b" ")[1].partition(b"?")[2]) / 1000
            return _answer("200 OK", b"")
        found = re.search(rb"(?im)^host: ([0-9.]+)", headers)
        host = found[1].decode() if found else ""
        answer, _ = self._sites[host].answers.get(path, (_NOT_FOUND, 0))
        self._seen[f"{host}{path}"] += 1
        return answer

    def _counts(self) -> bytes:
        size = {}
        for name in self._seen:
            host, slash, path = name.partition("/")
            size[name] = self._sites[host].answers.get(slash + path, (b"", 0))[1]
        pages = [name for name in size if size[name]]
        served = Served(
            pages=len(pages),
            requests=self._seen.total(),
            megabytes=sum(count * size[name] for name, count in self._seen.items()) / 1e6,
            digest=hashlib.sha256("\n".join(sorted(pages)).encode()).hexdigest()[:12],
            order=pages,
        )
        self._seen.clear()
        return _answer("200 OK", json.dumps(vars(served)).encode())


def _answer(status: str, body: bytes, headers: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
    return f"{head}{headers}\r\n".encode() + body


_NOT_FOUND = _answer("404 Not Found", b"")


async def serve(folder: Path, hosts: list[str], spread: int) -> None:
    """Serve the hosts until the process is ended; see `Spread` for more than one address each."""
    manifest_file = folder / "manifest.json"
    manifest = json.loads(manifest_file.read_text("utf-8")) if manifest_file.is_file() else {}
    addresses = [f"127.0.0.{number}" for number in range(1, len(hosts) + 1)]
    sites = {a: _Site(folder / host) for a, host in zip(addresses, hosts, strict=True)}
    seen: Counter[str] = Counter()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(sites, seen), addresses[0], 0)
    port = server.sockets[0].getsockname()[1]
    if addresses[1:]:
        await loop.create_server(lambda: _Connection(sites, seen), addresses[1:], port)
    if spread > 1:
        more = [f"127.0.{1 + n // 250}.{1 + n % 250}" for n in range(spread - 1)]
        sites |= dict.fromkeys(more, sites[addresses[0]])
        await loop.create_server(lambda: _Connection(sites, seen), more, port)
    origins, starts = {}, []
    for address, host in zip(addresses, hosts, strict=True):
        entry = manifest.get(host, {})
        origin = f"http://{address}:{port}"
        origins |= dict.fromkeys([host, *entry.get("aliases", ())], origin)
        starts.append(origin + (urlsplit(entry.get("start", "")).path or "/"))
    rewrite: Callable[[bytes, str], bytes] = Rewrite(origins)
    if spread > 1:
        rewrite = Spread(Rewrite(origins), [f"http://{address}:{port}" for address in sites])
    for address in addresses:
        sites[address].read(rewrite)
    print(json.dumps({"starts": starts}), flush=True)
    await loop.create_future()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder of pages for each host")
    parser.add_argument("hosts", nargs="+", help="the hosts to serve")
    parser.add_argument("--spread", type=int, default=1, help="addresses of the one host")
    arguments = parser.parse_args()
    missing = [host for host in arguments.hosts if not (arguments.folder / host).is_dir()]
    if missing:
        print(f"There is no folder {arguments.folder / missing[0]}.", file=sys.stderr)
        return 2
    if arguments.spread > 1 and len(arguments.hosts) > 1:
        parser.error("only one host can be spread")
    asyncio.run(serve(arguments.folder, arguments.hosts, arguments.spread))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
