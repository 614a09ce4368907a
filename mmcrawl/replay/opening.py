"""From what a user types to a stored web; several webs behind one page."""

import os
from collections import ChainMap
from collections.abc import Mapping
from html import escape
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from mmcrawl.errors import WebError
from mmcrawl.replay.demo import DemoWeb
from mmcrawl.replay.folder import FolderWeb, WarcWeb
from mmcrawl.replay.simulated.config import SimulationConfig
from mmcrawl.replay.simulated.web import SimulatedWeb
from mmcrawl.replay.web import (
    StoredResponse,
    StoredWeb,
    answer,
    for_method,
    host_of,
    not_found,
    split_url,
)

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
    """See that `spec` names a stored web, without reading all of it as `open_web` does."""
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
