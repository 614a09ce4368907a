"""The archived pages of works, as files that can be read without the archive.

They are displayed with the requisites that the archive holds; their scripts do not run. Their other
links lead to the web.
"""

import mimetypes
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from hashlib import blake2b
from typing import BinaryIO
from urllib.parse import quote

from mmcrawl.archive.format.facts import is_page
from mmcrawl.archive.model import Capture
from mmcrawl.archive.rewriting import EMBEDDED, Links, named_by, rewrite_html
from mmcrawl.errors import StoreError
from mmcrawl.page.html.encoding import page_encoding, text_of_utf_32
from mmcrawl.page.requisites import rewrite_css
from mmcrawl.text.patterns import linear
from mmcrawl.works.exporting.exporter import Shipment

FOLDER = "archived/"
_UP = "../"
_MOST_STEPS = 5  # redirects from one address to the next
_UNESCAPED = "%/:?@!$&'()*+,;=~[]"
# A declaration keeps its place as the first: without it browsers draw a page by other rules. What
# else may stand before it is read as browsers do: behind anything more, no policy is in force.
_START = linear(
    rb"\A(?:\xef\xbb\xbf)?(?:[\t\n\f\r ]|<\?[^>]*+>|<!--(?>-?>|.*?--!?>))*+(?:<!doctype[^>]*+>)?",
    re.DOTALL | re.IGNORECASE,
)
_HEAD = (
    b'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="'
    b"script-src 'none'; object-src 'none'; connect-src 'none'; frame-src 'none';"
    b" form-action 'none'\">"
)


class ArchivedPages:
    """Writes pages into a folder.

    Args:
        shipment: Knows what is archived.
        create: Opens a new file by its path.
        held: Paths of files by their addresses: pages play them.

    Attributes:
        types: The media type of each file that was written, by its path.
        missing: What could not be read, a sentence each.
    """

    def __init__(
        self,
        shipment: Shipment,
        create: Callable[[str], AbstractContextManager[BinaryIO]],
        held: Mapping[str, str],
    ) -> None:
        self._shipment, self._create = shipment, create
        self._paths = dict(held)
        self._leads: dict[str, str] = {}  # redirects
        self._seen = set(held)
        self._times: dict[str, float | None] = {}
        self.types: dict[str, str] = {}
        self.missing: list[str] = []

    def page(self, url: str) -> tuple[str, float] | None:
        """Write a page, unless it was; return its path and time, None if it is not archived."""
        if url not in self._times:
            try:
                self._times[url] = self._written(url)
            except StoreError as error:
                self._times[url] = None
                self.missing.append(str(error))
        time = self._times[url]
        return None if time is None else (_path(url, ".html"), time)

    def _written(self, url: str) -> float | None:
        page = self._shipment.page_at(url)
        if page is None or not is_page(page):
            return None
        needed: list[Capture] = []
        try:
            for one in self._shipment.needed_by(page, self._seen):
                if one.status // 100 == 3:
                    self._leads.update((one.url, target) for target in named_by(one))
                elif one.url not in self._paths and not is_page(one):
                    self._paths[one.url] = _path(one.url, _suffix(one))
                    needed.append(one)
        except StoreError as error:
            self.missing.append(str(error))
        for one in needed:
            self._write(self._paths[one.url], _kind(one), self._sheet(one))
        self._write(_path(url, ".html"), "text/html", self._html(page))
        return page.time

    def _write(self, path: str, kind: str, body: bytes) -> None:
        if path not in self.types:
            self.types[path] = kind
            with self._create(path) as file:
                file.write(body)

    def _sheet(self, sheet: Capture) -> bytes:
        if _kind(sheet) != "text/css":
            return sheet.body
        return rewrite_css(sheet.body, "utf-8", self._links(sheet.url, "utf-8").embedded)

    def _html(self, page: Capture) -> bytes:
        text = text_of_utf_32(page.body)
        encoding = page_encoding(page.body, page.media_type or None) if text is None else "utf-8"
        body = (text or page.body.decode(encoding, "replace")).encode("utf-8", "replace")
        body = rewrite_html(body, "utf-8", self._links(page.url, encoding))
        return _START.sub(lambda start: start[0] + _HEAD, body, count=1)

    def _links(self, url: str, encoding: str) -> Links:
        return Links(url, encoding, self._address, _UP, base="")

    def _address(self, url: str, inert: str) -> str:
        url = url.partition("#")[0]
        found = url
        for _ in range(_MOST_STEPS):
            found = self._leads.get(found, found)
        if path := self._paths.get(found):
            return _UP + quote(path)
        return inert if inert == EMBEDDED else quote(url, safe=_UNESCAPED, errors="replace")


def _path(url: str, suffix: str) -> str:
    name = blake2b(url.encode(errors="replace"), digest_size=8).hexdigest()
    return f"{FOLDER}{name}{suffix}"


def _kind(capture: Capture) -> str:
    return capture.media_type.partition(";")[0].strip().lower() or "application/octet-stream"


def _suffix(capture: Capture) -> str:
    return mimetypes.guess_extension(_kind(capture)) or ""
