"""Collected files in a folder that opens without a server, or in a bag (BagIt, RFC 8493).

The folder is made for a memory stick: index.html shows the contents of `stick/data.js`, by the
script beside it, in Chinese and English. When it is written again, only changes are copied:
`SHA256SUMS` says what is there, and what is no longer named is removed last.
"""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from mmcrawl.errors import CollectionError, TopicError
from mmcrawl.media.parts import SWF, take_picture
from mmcrawl.store.durable import sync_all
from mmcrawl.text.words import unify
from mmcrawl.text.writing import xml_text
from mmcrawl.topic.loading import load_topics
from mmcrawl.topic.topic import Topic
from mmcrawl.works.exporting.article import LABELS, web_link
from mmcrawl.works.exporting.as_table import JsonLines
from mmcrawl.works.exporting.exporter import HeldFiles, Shipment, files_in, whole_file, whole_folder
from mmcrawl.works.model import Work, WorkFile

_SUMS = "SHA256SUMS"
_LONGEST = 400  # characters of a caption
_PLAIN = {".jpg": 2_500, ".png": 1_350}  # bytes of a picture of one colour
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 60  # until Chromium is given up
_MOST_FRAMES = 100  # that it takes at a time, some seconds each; the next export continues
_OFFLINE = ("--proxy-server=127.0.0.1:1", "--proxy-bypass-list=<-loopback>")


class Folder:
    summary = "a folder for a memory stick: index.html shows, searches and plays"
    suffix = ""
    updates = True

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with _opened(target) as folder:
            return Stick(shipment, folder).write()


@contextmanager
def _opened(target: Path) -> Iterator[Path]:
    """Give a folder to fill: a new one, or an earlier export."""
    if target.exists() and not (target / _SUMS).is_file():
        raise CollectionError(f"{target} is there and is no folder of mmcrawl; name another one")
    with nullcontext(target) if target.exists() else whole_folder(target) as folder:
        yield folder


class Stick:
    """Writes one folder.

    Args:
        is_local: Whether it is to be opened from file://, from which no script may read a file.

    Attributes:
        copied: The works, each with its files that are held and their paths.
    """

    def __init__(self, shipment: Shipment, folder: Path, *, is_local: bool = True) -> None:
        self._shipment, self._folder, self._is_local = shipment, folder, is_local
        self.copied: list[tuple[Work, list[tuple[WorkFile, str]]]] = []
        self._there = _sums_in(folder)
        self._held = HeldFiles(shipment, files_in(folder), self._there)
        self._sums: dict[str, str] = {}
        self._topics: dict[str, Topic | None] = {}
        self._chapters: dict[tuple[str, str], int] = {}

    def write(self) -> list[str]:
        ruffle = self._write_ruffle()
        entries = list[dict[str, Any]]()

        def write(work: Work) -> None:
            before = set(self._held.copied)
            copied = self._held.copied_of(work, "media/")
            if ruffle and self._is_local and any(file.mime == SWF for file, _ in copied):
                for path in [*self._held.copied.keys() - before]:
                    self._write(f"{path}.js", _script(path, self._folder / path))
            entries.append(self._entry(work, copied))
            self.copied.append((work, copied))

        problems = self._shipment.each(write)
        order = {key: at for at, key in enumerate(self._in_order())}
        of_entry = {at: order[key] for key, at in self._chapters.items()}
        for entry in entries:
            entry["chapter"] = of_entry.get(entry["chapter"], -1)
        entries.sort(key=lambda one: (one["chapter"] < 0, one["chapter"]))
        data = {
            "name": self._shipment.name,
            "made": datetime.fromtimestamp(self._shipment.time, UTC).date().isoformat(),
            "topics": [_titles(*one) for one in self._topics.items() if one[0]],
            "chapters": [*order],
            "labels": LABELS,
            "ruffle": ruffle,
            "works": entries,
        }
        works = Shipment([work for work, _ in self.copied])
        problems += JsonLines().export(works, self._folder / "works.jsonl")
        self._sums["works.jsonl"] = _sum(self._folder / "works.jsonl")
        source = files(__package__).joinpath("stick")
        for name in ("stick.css", "stick.js"):
            self._write(f"stick/{name}", source.joinpath(name).read_bytes())
        self._write("stick/data.js", _data(data))
        page = source.joinpath("index.html").read_text(encoding="utf-8")
        page = page.replace("$name", escape(self._shipment.name))
        page = page.replace("$list", "".join(map(_line, entries)))
        self._write("index.html", page.encode("utf-8", "replace"))
        if ruffle and self._is_local:
            self._take_frames(entries)
            self._write("stick/data.js", _data(data))
        sums = self._sums | self._held.copied
        for path in self._there.keys() - sums.keys():
            (self._folder / path).unlink(missing_ok=True)
        sums_file = self._folder / _SUMS
        if sums_file.exists():  # a new folder is synced when it gets its name
            sync_all()  # what the sums name is there before them
        with whole_file(sums_file) as file:
            file.write(_manifest(sums).encode())
        return self._held.missing + problems

    def _entry(self, work: Work, copied: list[tuple[WorkFile, str]]) -> dict[str, Any]:
        """Return the data of a work for the page."""
        page, licence = next(iter(work.pages), None), work.licence
        chapter = self._chapter(work)
        said = (work.title, work.caption[:_LONGEST], work.creator, page.title if page else "")
        spoken = _spoken(work.title)
        best = copied[0] if copied else None
        return {
            "id": work.id,
            "title": work.title,
            "kind": work.kind,
            "chapter": self._chapters.setdefault(chapter, len(self._chapters)) if chapter else -1,
            "licence": licence.code if licence else "",
            "licenceUrl": licence.url if licence else "",
            "said": licence.evidence.said if licence else "",
            "level": work.level,
            "languages": work.languages,
            "creator": work.creator,
            "date": work.date,
            "seconds": round(work.duration),
            "size": best[0].size if best else 0,
            "caption": work.caption[:_LONGEST] if work.caption != work.title else "",
            "poster": self._poster(*best) if best else "",
            "page": [page.url, page.title] if page else None,
            "files": [{"path": p, "mime": file.mime, "size": file.size} for file, p in copied],
            "urls": [file.url for file in work.files[:1]],
            "why": next((file.reason for file in work.files if file.reason), ""),
            "text": unify(" ".join([*said, *(chapter or ()), *spoken])).lower(),
        }

    def _chapter(self, work: Work) -> tuple[str, str] | None:
        """Return the chapter of the curriculum that a work is of: English and Chinese."""
        if work.topic not in self._topics:
            try:
                self._topics[work.topic] = load_topics(work.topic) if work.topic else None
            except TopicError:  # keywords, or a file that is not here
                self._topics[work.topic] = None
        topic = self._topics[work.topic]
        texts = [work.title, *(page.title for page in work.pages), work.caption] if topic else []
        found = next((one for text in texts if (one := topic and topic.chapter_of(text))), None)
        return (found.title_en, found.title) if found else None

    def _in_order(self) -> Iterator[tuple[str, str]]:
        """Yield the chapters that works are of, in the order of the curriculum."""
        known = dict.fromkeys(
            (chapter.title_en, chapter.title)
            for topic in self._topics.values()
            for chapter in (topic.chapters if topic else ())
        )
        return (key for key in known if key in self._chapters)

    def _poster(self, file: WorkFile, path: str) -> str:
        """Return a picture of a film, or the cover in a sound; "" where there is none."""
        name = f"posters/{file.digest[:16]}.jpg"
        place = self._folder / name
        if name not in self._there and file.mime.partition("/")[0] in ("audio", "video"):
            place.parent.mkdir(exist_ok=True)
            take_picture(self._folder / path, place, min(file.duration / 5, 60.0))
        if not place.is_file():
            return ""
        return self._kept_picture(name)

    def _take_frames(self, entries: list[dict[str, Any]]) -> None:
        """Let Chromium, if installed, take pictures of animations as Ruffle shows them."""
        program = next(filter(None, map(shutil.which, _CHROMIUM)), None)
        index = (self._folder / "index.html").absolute().as_uri()
        taken, left = dict[str, str](), _MOST_FRAMES
        for entry in entries:
            file = next(iter(entry["files"]), {"mime": ""})
            if entry["poster"] or file["mime"] != SWF:
                continue
            name = f"posters/{self._held.copied[file['path']][:16]}.png"
            place = self._folder / name
            if name not in taken:
                address = f"{index}#frame:{quote(file['path'])}"
                if program and name not in self._there:
                    left -= 1
                    came = _shot(program, address, place)
                    program = program if came and left else None
                taken[name] = self._kept_picture(name) if place.is_file() else ""
            entry["poster"] = taken[name]

    def _kept_picture(self, name: str) -> str:
        """Return the name of a picture, "" if nothing is to be seen in it."""
        place = self._folder / name
        if place.stat().st_size < _PLAIN[place.suffix]:
            place.unlink()
            return ""
        self._sums[name] = self._there.get(name) or _sum(place)
        return name

    def _write_ruffle(self) -> bool:
        """Add Ruffle if it is there; its programs as scripts, see stick.js."""
        source = self._shipment.ruffle
        for file in sorted(source.iterdir()) if source else ():
            if file.suffix == ".wasm" and self._is_local:
                self._write(f"ruffle/{file.name}.js", _script(f"ruffle/{file.name}", file))
            elif file.suffix in (".js", ".wasm") or file.name.startswith("LICENSE"):
                self._write(f"ruffle/{file.name}", file.read_bytes())
        return source is not None

    def _write(self, path: str, content: bytes) -> None:
        with files_in(self._folder)(path) as file:
            file.write(content)
        self._sums[path] = sha256(content).hexdigest()


def _data(data: dict[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"window.stick = {text};\n".encode("utf-8", "replace")


def _shot(program: str, address: str, place: Path) -> bool:
    """Write a picture of a page, which gets no network; return whether it came."""
    command = [program, "--headless", "--hide-scrollbars", "--window-size=480,360", *_OFFLINE]
    command += ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
    command += ["--virtual-time-budget=5000", f"--screenshot={place.absolute()}"]
    quiet = subprocess.DEVNULL
    place.parent.mkdir(exist_ok=True)
    with suppress(subprocess.TimeoutExpired, OSError), TemporaryDirectory() as profile:
        command += [f"--user-data-dir={profile}", address]
        subprocess.run(command, stdout=quiet, stderr=quiet, timeout=_SECONDS, check=False)  # noqa: S603
    return place.is_file()


def _titles(name: str, topic: Topic | None) -> tuple[str, str]:
    """Return the name of a topic in English and Chinese; for keywords, the first word of each."""
    if topic:
        return topic.title_en or topic.title, topic.title
    words = [one.partition("|")[0].strip() for one in re.split("[,，]", name)]
    return ", ".join(words), "、".join(words)


def _script(path: str, file: Path) -> bytes:
    """Return a script that hands over a file, packed: none may read it from file://."""
    packed = base64.b64encode(gzip.compress(file.read_bytes(), mtime=0)).decode()
    return f'file({json.dumps(path)}, "{packed}");\n'.encode()


def _line(entry: dict[str, Any]) -> str:
    """Return a work as it is listed where scripts do not run."""
    paths = [quote(file["path"]) for file in entry["files"]]
    links = [f'<a href="{path}">{escape(entry["title"])}</a>' for path in paths[:1]]
    return f"<li>{''.join(links or [web_link(url, entry['title']) for url in entry['urls']])}</li>"


def _spoken(title: str) -> tuple[str, str]:
    """Return a title in pinyin, and the first letters of it.

    >>> _spoken("牛顿")
    ('niudun', 'nd')
    """
    from pypinyin import lazy_pinyin  # slow to load

    syllables = lazy_pinyin(title)
    return "".join(syllables), "".join(one[:1] for one in syllables)


def _sums_in(folder: Path) -> Mapping[str, str]:
    """Return the digests of files written before; never of what lies outside of the stick."""
    try:
        lines = (folder / _SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    root = os.path.realpath(folder)
    named = (line.partition("  ") for line in lines)
    return {
        path: digest
        for digest, _, path in named
        if os.path.isfile(place := os.path.join(root, path))
        and os.path.realpath(place).startswith(f"{root}{os.sep}")
    }


class BagIt:
    summary = "a bag (RFC 8493): the files that are held, checksums, works.jsonl"
    suffix = ""

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        with whole_folder(target) as bag:
            held = HeldFiles(shipment, files_in(bag))
            works: list[Work] = []

            def copy(work: Work) -> None:
                held.copied_of(work, "data/media/")
                works.append(work)

            problems = shipment.each(copy)
            (bag / "data").mkdir(exist_ok=True)
            problems += JsonLines().export(Shipment(works), bag / "data/works.jsonl")
            sums = held.copied | {"data/works.jsonl": _sum(bag / "data/works.jsonl")}
            size = sum((bag / name).stat().st_size for name in sums)
            day = datetime.fromtimestamp(shipment.time, UTC).date().isoformat()
            name = " ".join(xml_text(shipment.name).split())
            tags = {
                "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
                "bag-info.txt": f"Bagging-Date: {day}\nExternal-Description: {name}\n"
                f"Payload-Oxum: {size}.{len(sums)}\nBag-Software-Agent: mmcrawl\n",
                "manifest-sha256.txt": _manifest(sums),
            }
            _write(bag, tags)
            own = {name: _sum(bag / name) for name in tags}
            _write(bag, {"tagmanifest-sha256.txt": _manifest(own)})
        return held.missing + problems


def _write(bag: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (bag / name).write_text(text, encoding="utf-8", newline="\n")


def _manifest(sums: dict[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
