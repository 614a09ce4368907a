"""The pages of a stored web, parsed and cut into blocks once, for search_lab.py."""

import hashlib
import json
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import mmcrawl
from mmcrawl.blocks import BEST_FIRST, link_kinds, partition
from mmcrawl.frontier.urls import page_digest
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page
from mmcrawl.replay.opening import open_web

METHOD = "bwap"
"""How pages are cut into blocks."""
PAGE_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml")


class _Kept(dict[str, Any]):
    """What is known of addresses, kept in a file between runs."""

    def __init__(self, folder: Path, *made_of: str) -> None:
        stamp = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:16]
        self._path = folder / f"{stamp}.pickle"
        super().__init__(pickle.loads(self._path.read_bytes()) if self._path.exists() else {})
        self._written = len(self)

    def keep(self) -> None:
        """Write down what is new, all or nothing."""
        if len(self) > self._written:
            new = self._path.with_suffix(f".{os.getpid()}")
            new.write_bytes(pickle.dumps(dict(self), pickle.HIGHEST_PROTOCOL))
            new.replace(self._path)
            self._written = len(self)


class Pages:
    """The answers of a web, parsed, and the kinds of the blocks that links stand in."""

    def __init__(self, spec: str, name: str, cache: Path) -> None:
        self._known = _Kept(cache, spec, name, _code("page", "frontier/urls.py"))
        self._kinds = _Kept(cache, spec, name, _code("page", "blocks"), METHOD)
        self.web = open_web(spec)

    def add(self, other: "Pages") -> None:
        """Know what another web answers."""
        self._known |= other._known

    def get(self, url: str) -> tuple:
        """Return ("page", Page, digest), ("redirect", URL) or ("error", reason)."""
        answer = self._known.get(url)
        if answer is None:
            answer = self._known[url] = self._ask(url)
        return answer

    def in_blocks(self, page: Page) -> Page:
        """Return a page whose links know the kinds of the blocks they stand in."""
        numbers = self._kinds.get(page.url)
        if numbers is None:
            numbers = self._kinds[page.url] = self._cut(page)
        links = (
            replace(link, block=BEST_FIRST[number - 1]) if number else link
            for link, number in zip(page.links, numbers, strict=True)
        )
        return replace(page, links=tuple(links))

    def _cut(self, page: Page) -> bytes:
        """Return a kind for each link of a page: its place in `BEST_FIRST` from 1, 0 for none."""
        answer = self.web.get(page.url)
        body = b"" if answer is None else answer.body
        cut = partition(body, method=METHOD, encoding=page.encoding, url=page.url)
        kinds = link_kinds(cut, page.url, page.encoding)
        number = {kind: number for number, kind in enumerate(BEST_FIRST, 1)}
        return bytes(number.get(kinds.get(link.url, ""), 0) for link in page.links)

    def _ask(self, url: str) -> tuple:
        answer = self.web.get(url)
        if answer is None:
            return "error", "host not found"
        if location := answer.header("Location"):
            return "redirect", urljoin(url, location)
        if not 200 <= answer.status < 300:
            return "error", f"HTTP {answer.status}"
        declared = answer.header("Content-Type") or ""
        kind = declared.partition(";")[0].strip().lower()
        if kind and kind not in PAGE_TYPES:
            return "error", f"no page: {kind}"
        page = parse_page(answer.body, url, declared)
        digest = page_digest(url, answer.body, (resource.url for resource in page.media))
        return "page", page, digest

    def keep(self) -> None:
        """Write down what was asked."""
        self._known.keep()
        self._kinds.keep()


def _code(*places: str) -> str:
    """Return what tells one state of some modules and packages of ours from another."""
    roots = [Path(mmcrawl.__file__).parent / place for place in places]
    files = [file for root in roots for file in (sorted(root.rglob("*.py")) or [root])]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
