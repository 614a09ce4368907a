"""ZIM, which Kiwix shows offline: the page of a memory stick and the files, a page for each work,
which Kiwix finds, and the archived page that shows the work.
"""

import json
import mimetypes
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from mmcrawl.errors import CollectionError
from mmcrawl.store.durable import put_in_place
from mmcrawl.text.writing import xml_text
from mmcrawl.works.exporting.archived import ArchivedPages
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
    """Return a title that libzim can index: for one that it cannot, it gives up the whole file.

    It loses words of more than 240 bytes and what is no word, and bears little loss.
    """
    words = xml_text(title).split()
    if len(" ".join(words).encode("utf-8", "replace")) > _WORD:
        words = [_cut(word, _WORD) for word in words if any(map(str.isalnum, word))]
    return _cut(" ".join(words), _INDEXED).rstrip()


def _cut(text: str, size: int) -> str:
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
