"""The demo web: ordinary files, and here what only a program can serve.

Four sites, a Chinese and an English one about physics, a shop and a music weekly, and one that only
a browser can read. The files are in ``demo/`` of the source tree, or in one in the package.
"""

import re
import tarfile
from collections.abc import Mapping
from functools import cached_property
from hashlib import blake2b
from importlib.resources import files
from types import MappingProxyType
from urllib.parse import parse_qs, urlsplit

from mmcrawl.errors import WebError
from mmcrawl.replay import web
from mmcrawl.replay.simulated.designs import month_table
from mmcrawl.replay.web import content_type

_HOSTS = ("wuli.demo.test", "physics.demo.test", "shop.demo.test", "music.demo.test")
_APP = "app.demo.test"
_ALIASES = MappingProxyType({f"www.{host}": host for host in _HOSTS})
# The last two lead to each other.
_REDIRECTS = {
    "wuli.demo.test/wuli/": "http://wuli.demo.test/gaozhong/wuli/",
    "wuli.demo.test/old/a.htm": "http://wuli.demo.test/old/b.htm",
    "wuli.demo.test/old/b.htm": "http://wuli.demo.test/old/a.htm",
}
_CALENDAR = "physics.demo.test/calendar?"
_LAST_YEAR = 999_999
_SESSIONS = {"wuli.demo.test/luntan": "PHPSESSID", "shop.demo.test/gouwuche": "jsessionid"}
_QUERY = re.compile(r"@(.*)\.html$")
_SESSION = re.compile(r";jsessionid=[0-9a-f]*|(?<=[?&])PHPSESSID=[0-9a-f]*&?")


class DemoWeb(web.StoredWeb):
    """The demo web, the same bytes everywhere; its files are read on first use and kept (2 MB)."""

    def get(self, url: str, method: str = "GET") -> web.StoredResponse | None:
        parts = web.split_url(url)
        if parts is None:
            return None
        host = web.host_of(parts)
        if host in _ALIASES:
            return web.for_method(web.moved_to_host(parts, _ALIASES[host]), method)
        if host == _APP:
            return web.for_method(self._app(parts.path or "/"), method)
        key = web.page_key(_SESSION.sub("", url).rstrip("?&"))
        if host not in _HOSTS or key is None:
            return None
        return web.for_method(self._answer(url, host + key[1]), method)

    def start_urls(self) -> tuple[str, ...]:
        return tuple(f"http://{host}/" for host in _HOSTS[:2])

    def aliases(self) -> Mapping[str, str]:
        return _ALIASES

    def page_urls(self) -> tuple[str, ...]:
        """Every page that is a file, those that robots.txt forbids too."""
        pages = (name for name, body in self._files.items() if body.startswith(b"<"))
        return tuple(f"http://{name}" for name in pages if not name.startswith(_APP))

    def relevant_urls(self) -> frozenset[str]:
        """The truth: pages about senior physics with media of their own that robots.txt allows."""
        return frozenset(self._files["relevant.txt"].decode().split())

    @cached_property
    def _files(self) -> dict[str, bytes]:
        """What answers, by host and path with its query."""
        named = ((_QUERY.sub(r"?\1", name), body) for name, body in demo_files().items())
        return {name.removesuffix("index.html"): body for name, body in named}

    def _app(self, path: str) -> web.StoredResponse:
        """One empty page at every lesson's address, which its script fills."""
        is_lesson = path.startswith("/lesson/") and f"{_APP}/api{path}.json" in self._files
        body = self._files.get(f"{_APP}/" if is_lesson else f"{_APP}{path}")
        return web.not_found() if body is None else _page_or_file("/" if is_lesson else path, body)

    def _answer(self, url: str, name: str) -> web.StoredResponse:
        path, _, query = name.partition("?")
        if (body := self._files.get(name)) is not None:
            return _page_or_file(path, _with_sessions(body, path, url))
        if name in _REDIRECTS:
            return web.moved(_REDIRECTS[name])
        if path == "wuli.demo.test/search.asp":
            error = "<html><body>Microsoft VBScript 运行时错误 '800a000d' 类型不匹配</body></html>"
            return web.answer(500, "text/html", error.encode("gbk"))
        if name.startswith(_CALENDAR) and (month := self._month(query)):
            return _page_or_file(path, month)
        if f"{name}/" in self._files:
            there = urlsplit(url)
            return web.moved(there._replace(path=f"{there.path}/", fragment="").geturl())
        return web.not_found()

    def _month(self, query: str) -> bytes | None:
        """A month with links to the one before and the one after, for very many years."""
        asked = parse_qs(query)
        try:
            year, month = (int(asked[name][0]) for name in ("year", "month"))
        except (KeyError, ValueError):
            return None
        if not (1 <= year <= _LAST_YEAR and 1 <= month <= 12):
            return None
        here = 12 * year + month - 1
        turning = "\n".join(
            f'<li><a href="/calendar?year={n // 12}&amp;month={n % 12 + 1}">{way} month</a></li>'
            for n, way in ((here - 1, "Previous"), (here + 1, "Next"))
            if 1 <= n // 12 <= _LAST_YEAR
        )
        page = self._files[f"{_CALENDAR}month=9&year=2009"].decode()
        page = page.replace("2009-09", f"{year}-{month:02}")
        page = re.sub("<table>.*</table>", month_table(year, month), page)
        return re.sub(r"(?s)(<ul class=\"links\">\n).*?(?=\n</ul>)", rf"\1{turning}", page).encode()


def demo_files() -> dict[str, bytes]:
    """All files of the demo web by their paths, always in the same order."""
    packed = files("mmcrawl") / "demo.tar.xz"
    if packed.is_file():
        with packed.open("rb") as file, tarfile.open(fileobj=file, mode="r:xz") as members:
            return {one.name: members.extractfile(one).read() for one in members}  # type: ignore[union-attr]
    folder = files("mmcrawl").parent / "demo"  # type: ignore[attr-defined]
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    if not found:
        raise WebError(f"The demo web is missing: it is neither in {packed} nor in {folder}.")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def _page_or_file(path: str, body: bytes) -> web.StoredResponse:
    kind = content_type(path.rpartition("/")[2], body)
    in_header = kind == "text/html" and b"charset=gb2312" not in body
    return web.answer(200, f"{kind}; charset=utf-8" if in_header else kind, body)


def _with_sessions(body: bytes, path: str, requested: str) -> bytes:
    """A page with a session id, new for each URL asked for, on the links to its directory."""
    folder = path.rpartition("/")[0]
    if (name := _SESSIONS.get(folder)) is None:
        return body
    session = blake2b(f"2009 {requested}".encode(errors="replace"), digest_size=8).hexdigest()

    def marked(link: re.Match[str]) -> str:
        mark = ";" if name == "jsessionid" else "&amp;" if "?" in link[0] else "?"
        return f"{link[0]}{mark}{name}={session}"

    links = rf'(?m)^<li><a href="/{folder.partition("/")[2]}/[^"]*'
    return re.sub(links, marked, body.decode()).encode()
