"""Opens the stored web that a user names; combines several webs behind one page."""

import os
import re
import tarfile
from collections import ChainMap
from collections.abc import Mapping
from functools import cached_property
from hashlib import blake2b
from html import escape
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qs, urlsplit

from mmcrawl.errors import WebError
from mmcrawl.replay import web
from mmcrawl.replay.folder import FolderWeb, WarcWeb
from mmcrawl.replay.simulated.config import SimulationConfig
from mmcrawl.replay.simulated.designs import month_table
from mmcrawl.replay.simulated.web import SimulatedWeb
from mmcrawl.replay.web import (
    StoredResponse,
    StoredWeb,
    answer,
    content_type,
    for_method,
    host_of,
    not_found,
    split_url,
)

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


PORTAL_HOST = "portal.test"

PAGE = """<!doctype html>
<html>
<head><meta charset="utf-8"><title>Portal</title></head>
<body>
<ul>
{links}
</ul>
</body>
</html>
"""
WARC_SUFFIXES = (".warc", ".warc.gz")
WHAT_IT_CAN_BE = (
    "give 'demo', a folder with one folder per host, or a .warc or .warc.gz file (or a folder of"
    " them), sim:NAME=VALUE,… or portal:WEB;WEB;…"
)


class PortalWeb(StoredWeb):
    """One web made of several, for crawls that begin at a single page.

    `http://portal.test/` links to every start page of every web; all else is answered by the first
    web that knows the host. A crawl that follows links only to hosts of its seeds would stay at the
    portal: give it `sites=anywhere`.

    Args:
        webs: The webs that are joined, in the order of their links. A folder with a folder per host
            gives one link for each host, the start page that its manifest names.
    """

    def __init__(self, webs: tuple[StoredWeb, ...]) -> None:
        self._webs = webs

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        parts = split_url(url)
        if parts is None:
            return None
        if host_of(parts) == PORTAL_HOST:
            is_front = parts.path in ("", "/") and not parts.query
            return for_method(self._front() if is_front else not_found(), method)
        answers = (web.get(url, method) for web in self._webs)
        return next((found for found in answers if found is not None), None)

    def size_hint(self, url: str) -> int:
        return max((web.size_hint(url) for web in self._webs), default=0)

    def start_urls(self) -> tuple[str, ...]:
        return (f"http://{PORTAL_HOST}/",)

    def aliases(self) -> Mapping[str, str]:
        return MappingProxyType(ChainMap(*(dict(web.aliases()) for web in self._webs)))

    def _front(self) -> StoredResponse:
        starts = dict.fromkeys(url for web in self._webs for url in web.start_urls())
        links = "\n".join(
            f'<li><a href="{escape(url)}">{escape(urlsplit(url).netloc)}</a></li>' for url in starts
        )
        return answer(200, "text/html; charset=utf-8", PAGE.format(links=links).encode())


SIMULATED, PORTAL = "sim:", "portal:"


def open_web(spec: str) -> StoredWeb:
    """Open the stored web that `spec` names.

    Args:
        spec: `demo`; the path of a folder that has one folder per host (see `FolderWeb`); the path
            of a `.warc` or `.warc.gz` file, or of a folder that holds only such files (see
            `WarcWeb`); `sim:NAME=VALUE,…` (see `SimulationConfig` for the names);
            `portal:WEB;WEB;…`, each of them any of the others (see `PortalWeb`).

    Raises:
        WebError: Nothing is there, or it is none of these, or it cannot be read.
    """
    found = _found(spec)
    return WarcWeb(found) if isinstance(found, tuple) else found


def check_web(spec: str) -> None:
    """Check that `spec` names a stored web, without reading all of it."""
    _found(spec)


def _found(spec: str) -> StoredWeb | tuple[Path, ...]:
    """Return the web that `spec` names, or the WARC files of it, which take long to read."""
    if spec == "demo":
        return DemoWeb()
    if spec.startswith(SIMULATED):
        return SimulatedWeb(SimulationConfig.parse(spec.removeprefix(SIMULATED)))
    if spec.startswith(PORTAL):
        return _open_portal(spec.removeprefix(PORTAL))
    path = Path(os.path.expanduser(spec))
    try:
        if spec and (archives := _archives(path)):
            return archives
        if spec and os.path.isdir(path):
            return _open_folder(path)
        found = bool(spec) and os.path.exists(path)
    except (OSError, ValueError) as error:
        raise WebError(f"The stored web {spec!r} cannot be read: {error}.") from error
    state = "is no stored web" if found else "does not exist"
    raise WebError(f"{spec!r} {state}: {WHAT_IT_CAN_BE}.")


def _open_portal(specs: str) -> PortalWeb:
    parts = [part.strip() for part in specs.split(";") if part.strip()]
    if not parts:
        raise WebError(f"The portal leads nowhere: give {PORTAL}WEB or {PORTAL}WEB;WEB;….")
    if any(part.startswith(PORTAL) for part in parts):
        raise WebError("A portal cannot lead to another portal: join their webs in one.")
    return PortalWeb(tuple(open_web(part) for part in parts))


def _open_folder(path: Path) -> StoredWeb:
    if not _entries(path):
        raise WebError(f"The folder '{path}' is empty: {WHAT_IT_CAN_BE}.")
    return FolderWeb(path)


def _archives(path: Path) -> tuple[Path, ...]:
    """Return the WARC file of that path, or those that a folder holds if it holds nothing else."""
    if os.path.isfile(path):  # False for a name that is too long, where pathlib raises
        return (path,) if _is_warc(path) else ()
    entries = _entries(path) if os.path.isdir(path) else []
    return tuple(entries) if all(entry.is_file() and _is_warc(entry) for entry in entries) else ()


def _entries(path: Path) -> list[Path]:
    return sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))


def _is_warc(path: Path) -> bool:
    return path.name.lower().endswith(WARC_SUFFIXES)
