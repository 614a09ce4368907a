"""ZIM, which Kiwix shows offline: the page of a memory stick and the files, a page for each work,
which Kiwix finds, and the archived page that shows the work.

An archived page is displayed with the requisites that the archive holds; its scripts do not run.
Its other links lead to the web.
"""

import json
import mimetypes
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO
from urllib.parse import quote

from mmcrawl.archive.format.cutting import is_page
from mmcrawl.archive.model import Capture
from mmcrawl.archive.rewriting import EMBEDDED, Links, named_by, rewrite_html
from mmcrawl.errors import CollectionError, StoreError
from mmcrawl.page.html.encoding import page_encoding, text_of_utf_32
from mmcrawl.page.requisites import rewrite_css
from mmcrawl.store.durable import put_in_place
from mmcrawl.text.patterns import linear
from mmcrawl.text.writing import xml_text
from mmcrawl.works.exporting.article import work_page
from mmcrawl.works.exporting.as_folder import Stick
from mmcrawl.works.exporting.exporter import Shipment, files_in

_PROGRAM = "mmcrawl.works.exporting.zim_program"
_MAIN = "index.html"
_TITLE, _DESCRIPTION = 30, 80  # characters, of the format
_WORD, _INDEXED = 200, 400  # bytes, of a word and of a title in the index
_LANGUAGES = {
    **{"ar": "ara", "de": "deu", "en": "eng", "es": "spa", "fr": "fra", "it": "ita", "ja": "jpn"},
    **{"ko": "kor", "nl": "nld", "pl": "pol", "pt": "por", "ru": "rus", "zh": "zho"},
}
"""Of BCP 47, and of ISO 639-3, which the format wants."""

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


class Zim:
    summary = "one file for Kiwix, offline and searchable (needs mmcrawl[zim])"
    suffix = ".zim"

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        if find_spec("libzim") is None:
            raise CollectionError("zim needs libzim: pip install 'mmcrawl[zim]'")
        with TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as name:
            folder = Path(name)
            pages = _Pages(shipment, folder)
            made = folder / "made.zim"
            if said := _why_not_written(pages.plan(), made):
                raise CollectionError(f"the ZIM file cannot be written: {said}")
            made.chmod(0o644)
            put_in_place(made, target)
        return pages.missing


def _why_not_written(plan: dict[str, object], made: Path) -> str:
    """Write a ZIM file; return what failed, "" on success."""
    made.unlink(missing_ok=True)
    said = made.with_name("plan.json")
    said.write_text(json.dumps(plan), encoding="utf-8")
    run = subprocess.run(  # noqa: S603 - a program of ours
        [sys.executable, "-m", _PROGRAM, str(said), str(made)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    why = run.stderr.strip().rpartition("\n")[2] or f"exit code {run.returncode}"
    return why if run.returncode else ""


class _Pages:
    """Writes the pages of works, and their files, into a folder.

    Attributes:
        entries: Path, title and type of each file; articles have a title.
        missing: What could not be written, a sentence each.
    """

    def __init__(self, shipment: Shipment, folder: Path) -> None:
        self._shipment, self._folder = shipment, folder
        stick = Stick(shipment, folder, is_local=False)
        self.missing = stick.write()
        titles = {_MAIN: shipment.name}
        types: dict[str, str] = {}
        held_at = {file.url: path for _, held in stick.copied for file, path in held}
        archived = ArchivedPages(shipment, files_in(folder), held_at)
        self._languages = Counter[str]()
        for work, held in stick.copied:
            types |= {path: file.mime for file, path in held if file.mime}
            for language in work.languages[:1]:
                self._languages[_LANGUAGES.get(language.partition("-")[0], "eng")] += 1
            copied = [(file, f"../{path}") for file, path in held]
            shown = next(filter(None, (archived.page(one.url) for one in work.pages)), None)
            page = work_page(work, copied, "../ruffle/ruffle.js" if shipment.ruffle else "", shown)
            titles[path := f"works/{work.id}.html"] = work.title
            with files_in(folder)(path) as file:
                file.write(page)
        types |= archived.types
        self.missing += archived.missing
        self.entries: list[tuple[str, str, str]] = [
            (
                path,
                (_index_title(titles[path]) or path) if path in titles else "",
                types.get(path) or mimetypes.guess_type(path)[0] or "application/octet-stream",
            )
            for place in sorted(folder.rglob("*"))
            if place.is_file()
            for path in (place.relative_to(folder).as_posix(),)
        ]

    def plan(self) -> dict[str, object]:
        """Return the plan for the program that writes the file."""
        language = max(self._languages, key=lambda one: self._languages[one], default="eng")
        name = " ".join(xml_text(self._shipment.name).split()) or "works"
        day = datetime.fromtimestamp(self._shipment.time, UTC).date().isoformat()
        metadata = {
            "Title": name[:_TITLE],
            "Description": f"{name}: audio, video and animations"[:_DESCRIPTION],
            "Language": language,
            "Creator": "mmcrawl",
            "Publisher": "mmcrawl",
            "Name": f"mmcrawl_{language}_works",
            "Date": day,
        }
        return {
            "folder": str(self._folder),
            "main": _MAIN,
            "language": language,
            "metadata": metadata,
            "entries": self.entries,
        }


def _index_title(title: str) -> str:
    """Return a title that libzim can index, without words over 240 bytes and what is no word."""
    words = xml_text(title).split()
    if len(" ".join(words).encode("utf-8", "replace")) > _WORD:
        words = [_cut(word, _WORD) for word in words if any(map(str.isalnum, word))]
    return _cut(" ".join(words), _INDEXED).rstrip()


def _cut(text: str, size: int) -> str:
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


class ArchivedPages:
    """Writes pages into a folder.

    Args:
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
                    self._paths[one.url] = _path(
                        one.url, mimetypes.guess_extension(_kind(one)) or ""
                    )
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
