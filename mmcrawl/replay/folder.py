"""A web kept as files: one folder per host, as mirroring programs write it.

`ROOT/<host>/a/b.htm` is `http://<host>/a/b.htm`. Paths are not joined and opened: each part of the
path is looked up in the listing of the directory found so far. A name that is not in the listing
(`..` never is) cannot be reached, and a symbolic link that leaves the root is left out of it.
Listings are made when first needed and kept.
"""

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import SplitResult, unquote_to_bytes, urlunsplit

from mmcrawl.errors import WebError
from mmcrawl.replay.web import (
    StoredResponse,
    StoredWeb,
    answer,
    content_type,
    for_method,
    host_of,
    moved,
    moved_to_host,
    not_found,
    split_url,
)

logger = logging.getLogger(__name__)

MANIFEST = "manifest.json"
INDEX_NAMES = ("index.htm", "index.html", "default.htm", "default.html")
PAGE_ENDINGS = (".html", ".htm")


class FolderWeb(StoredWeb):
    """The web of a folder.

    A directory answers with its index page; without the slash at its end it redirects, as servers
    do. `path` may answer with `path.html`. Names match without case when none matches with it. For
    a query, the file named with it is looked for first (`show.asp?id=3`, as wget stores it, or
    `show.asp@id=3`), then the one without.

    Args:
        root: The folder. With a `manifest.json` (host → `{"start": url, "aliases": [host, …]}`),
            the hosts are those it names; otherwise every folder in it is a host.

    Raises:
        WebError: The folder or its manifest cannot be read, or it holds no host, or it is that of
            one host.
    """

    def __init__(self, root: Path) -> None:
        self._root = _Directory(root, Path(os.path.realpath(root)))
        self._manifest = _read_manifest(root / MANIFEST)
        try:
            folders = {d.path.name.lower(): d for d in self._root.directories()}
            index = self._root.file(*INDEX_NAMES)
        except OSError as error:
            raise WebError(f"The folder '{root}' cannot be read: {error}.") from error
        named_as_hosts = bool(self._manifest) or any(map(_is_host_name, folders))
        # HTTrack writes an index of its own beside the folders of the hosts.
        if index and not named_as_hosts:
            raise WebError(
                f"The folder '{root}' looks like one site: give the folder that holds it."
            )
        if self._manifest:
            for host in self._manifest.keys() - folders.keys():
                logger.warning("%s names the host %s, which has no folder", root / MANIFEST, host)
            folders = {host: folders[host] for host in self._manifest if host in folders}
        if not folders or not named_as_hosts:
            raise WebError(f"The folder '{root}' holds no host: give one with a folder per host.")
        self._hosts = folders
        self._aliases = {
            alias.lower(): host
            for host in folders
            for alias in self._manifest.get(host, {}).get("aliases", ())
        }

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        parts = split_url(url)
        if parts is None:
            return None
        host = host_of(parts)
        if host in self._aliases:
            return for_method(moved_to_host(parts, self._aliases[host]), method)
        if host not in self._hosts:
            return None
        return for_method(self._answer(self._hosts[host], parts), method)

    def size_hint(self, url: str) -> int:
        parts = split_url(url)
        root = self._hosts.get(host_of(parts)) if parts else None
        found = _locate(root, parts) if root and parts else None
        try:
            return found.stat().st_size if isinstance(found, Path) else 0
        except OSError:
            return 0

    def start_urls(self) -> tuple[str, ...]:
        return tuple(
            self._manifest.get(host, {}).get("start", f"http://{host}/") for host in self._hosts
        )

    def aliases(self) -> Mapping[str, str]:
        return MappingProxyType(self._aliases)

    def _answer(self, root: "_Directory", parts: SplitResult) -> StoredResponse:
        found = _locate(root, parts)
        if isinstance(found, _Directory):
            return moved(urlunsplit(parts._replace(path=parts.path + "/", fragment="")))
        if found is None:
            return not_found()
        try:
            body = found.read_bytes()
        except OSError as error:
            logger.warning("%s cannot be read: %s", found, error)
            return not_found()
        name = found.name.partition("?")[0].partition("@")[0]
        return answer(200, content_type(name, body), body)


@dataclass(frozen=True)
class _Directory:
    """One directory inside `real_root`, listed once."""

    path: Path
    real_root: Path

    @cached_property
    def _entries(self) -> dict[str, tuple[str, bool]]:
        """Name → (name as stored, is it a directory); lower-cased names where still free."""
        entries: dict[str, tuple[str, bool]] = {}
        with os.scandir(self.path) as listing:
            for entry in sorted(listing, key=lambda item: item.name):
                readable = entry.is_dir() or entry.is_file()
                if readable and (not entry.is_symlink() or self._stays_inside(entry.path)):
                    entries[entry.name] = entry.name, entry.is_dir()
        for name, value in list(entries.items()):
            entries.setdefault(name.lower(), value)
        return entries

    def _stays_inside(self, link: str) -> bool:
        return Path(os.path.realpath(link)).is_relative_to(self.real_root)

    def _entry(self, name: str) -> tuple[str, bool] | None:
        return self._entries.get(name) or self._entries.get(name.lower())

    def directories(self) -> list["_Directory"]:
        names = sorted({name for name, is_directory in self._entries.values() if is_directory})
        return [self._inner(name) for name in names if not name.startswith(".")]

    def directory(self, name: str) -> "_Directory | None":
        entry = self._entry(name)
        return self._inner(entry[0]) if entry and entry[1] else None

    def file(self, *names: str) -> Path | None:
        """The first of these files that is here."""
        entries = filter(None, map(self._entry, names))
        return next((self.path / name for name, is_directory in entries if not is_directory), None)

    @cached_property
    def _inner_directories(self) -> dict[str, "_Directory"]:
        return {}

    def _inner(self, name: str) -> "_Directory":
        # setdefault is atomic: two threads that meet here keep one of two equal listings.
        fresh = _Directory(self.path / name, self.real_root)
        return self._inner_directories.setdefault(name, fresh)


def _locate(root: _Directory, parts: SplitResult) -> Path | _Directory | None:
    """The file that answers; a directory if it is asked for without its slash; None for a 404."""
    names = _path_names(parts.path)
    if names is None:
        return None
    *outer, last = names
    here: _Directory | None = root
    try:
        for name in outer:
            here = here.directory(name) if here else None
        return _last_step(here, last, parts.query) if here else None
    except OSError as error:
        logger.warning("%s cannot be listed: %s", root.path, error)
        return None


def _last_step(here: _Directory, last: str, query: str) -> Path | _Directory | None:
    queries = _query_spellings(query)
    if not last:
        return here.file(*(name + q for name in INDEX_NAMES for q in queries))
    exact = here.file(*(last + q for q in queries))
    if exact:
        return exact
    directory = here.directory(last)
    if directory and directory.file(*INDEX_NAMES):
        return directory
    return here.file(*(last + ending for ending in PAGE_ENDINGS))


def _query_spellings(query: str) -> list[str]:
    """How names of files may end for this query, the surest first, no query last."""
    spellings = dict.fromkeys((query, _decoded(query) or query)) if query else {}
    endings = ("", *PAGE_ENDINGS)  # wget --adjust-extension adds one after the query
    return [f"{mark}{q}{end}" for q in spellings for mark in "?@" for end in endings] + [""]


def _path_names(path: str) -> list[str] | None:
    """The parts of a path, decoded, the last one empty for a directory; None if that fails."""
    names: list[str] = []
    parts = path.split("/")[1:] or [""]
    for index, part in enumerate(parts):
        name = _decoded(part)
        if name is None:
            return None
        # `//` and `/./` are the directory itself, as servers see them.
        if name not in ("", ".") or index == len(parts) - 1:
            names.append("" if name == "." else name)
    return names


def _decoded(part: str) -> str | None:
    """Undo percent-encoding: UTF-8, else GBK as old Chinese servers wrote it, else None."""
    try:
        raw = unquote_to_bytes(part)
    except UnicodeEncodeError:  # a lone surrogate
        return None
    for encoding in ("utf-8", "gbk"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _is_host_name(name: str) -> bool:
    return "." in name.strip(".") or name.startswith("localhost")


def _read_manifest(path: Path) -> dict[str, dict[str, Any]]:
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise WebError(f"The manifest '{path}' cannot be read: {error}.") from error
    if not isinstance(data, dict) or not all(map(_is_host_entry, data.values())):
        raise WebError(
            f"The manifest '{path}' is of another form:"
            ' it should read {"host": {"start": "http://host/", "aliases": ["other"]}}.'
        )
    return {host.lower(): entry for host, entry in data.items()}


def _is_host_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    aliases = entry.get("aliases", [])
    return (
        isinstance(entry.get("start", ""), str)
        and isinstance(aliases, list)
        and all(isinstance(alias, str) for alias in aliases)
    )
