"""Collections that people make of works: listed, ordered, described, and exported."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import IO, Any

from starlette.responses import FileResponse, Response

from mmcrawl.browse import programs
from mmcrawl.browse.arguments import Arguments, Form, Problem, wrong_entry
from mmcrawl.browse.catalogue import WorksOfStore, asked
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page
from mmcrawl.errors import EntryError, MissingRecordError
from mmcrawl.works.collections import BEST, Collection, Collections, tags_in
from mmcrawl.works.exporting.exporter import exporter_named, exporter_names, folder_name

_CALLED = re.compile(r"^\w+ works: ")  # by which the command begins what it says
_MOST_SAID = 500  # lines
_PER_PAGE = 50
_LONGEST_NOTE = 5_000
_FAR = 1_000_000  # places, more than a collection has


@dataclass(frozen=True, slots=True)
class Export:
    """An export.

    Attributes:
        file: What can be had when it is done: a folder is packed.
        said: What could not be exported, or why it failed.
        is_done: Whether it has ended.
    """

    format: str
    file: Path
    said: Sequence[str] = ()
    is_done: bool = False

    @property
    def made_at(self) -> float | None:
        """When it was made, Unix seconds; None if it cannot be had."""
        try:
            return self.file.stat().st_mtime if self.is_done else None
        except OSError:
            return None


class Exports:
    """Makes exports, and knows those that were made. Any thread may ask it."""

    def __init__(self, catalogue: WorksOfStore) -> None:
        self._catalogue = catalogue
        self._known: dict[tuple[str, str], Export] = {}  # by collection and format
        self._running: dict[tuple[str, str], subprocess.Popen[bytes]] = {}
        self._lock = Lock()

    def of(self, collection: str) -> list[Export]:
        found = (self.find(collection, format_) for format_ in exporter_names())
        return [export for export in found if export is not None]

    def find(self, collection: str, format_: str) -> Export | None:
        known = self._known.get((collection, format_))
        if known is not None or format_ not in exporter_names():
            return known
        file = _packed(self._target(collection, format_))
        return Export(format_, file, is_done=True) if file.is_file() else None

    def begin(self, collection: str, format_: str) -> None:
        """Begin an export, unless the same is under way."""
        key, target = (collection, format_), self._target(collection, format_)
        with self._lock:
            if key in self._known and not self._known[key].is_done:
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            for old in (target, _packed(target), *target.parent.glob(f".{target.name}.*")):
                _remove(old)
            command = ["works", "export", "--collection", collection, "--to", format_]
            command += ["-o", str(target), *self._catalogue.arguments]
            said = TemporaryFile()  # noqa: SIM115 - the thread closes it
            self._running[key] = programs.begin(command, said)
            self._known[key] = Export(format_, _packed(target))
        Thread(target=self._finish, args=(key, target, said), daemon=True).start()

    def remove(self, collection: str) -> None:
        with self._lock:
            for key in [key for key in self._known if key[0] == collection]:
                programs.end(self._running[key])
                del self._known[key]
        shutil.rmtree(self._folder(collection), ignore_errors=True)

    def _folder(self, collection: str) -> Path:
        return self._catalogue.folder / "exports" / collection

    def _target(self, collection: str, format_: str) -> Path:
        return self._folder(collection) / f"{format_}{exporter_named(format_).suffix}"

    def _finish(self, key: tuple[str, str], target: Path, said: IO[bytes]) -> None:
        """Wait for an export, and pack what is a folder; runs in a thread."""
        with said:
            self._running[key].wait()
            said.seek(0)
            lines = [line.decode(errors="replace").strip() for line in said]
        told = [_CALLED.sub("", line) for line in lines if line]
        try:
            if target.is_dir():
                _pack(target, _packed(target))
        except OSError as error:
            told.append(f"it cannot be packed: {error.strerror or error}")
        with self._lock:
            if key in self._known:  # the collection is there still
                done = Export(key[1], _packed(target), told[-_MOST_SAID:], is_done=True)
                self._known[key] = done


def download_name(collection: str, export: Export) -> str:
    """Return the name under which an export of a collection is saved, given the collection's."""
    return f"{folder_name(collection) or 'works'}{export.file.suffix}"


def _packed(target: Path) -> Path:
    return target if target.suffix else target.with_suffix(".zip")


def _pack(folder: Path, file: Path) -> None:
    """Put a ZIP file in place of a folder, whole or not at all."""
    part = folder.with_name(f".{folder.name}.packing")
    try:
        os.replace(shutil.make_archive(str(part), "zip", folder), file)
    finally:
        Path(f"{part}.zip").unlink(missing_ok=True)
        shutil.rmtree(folder)


def _remove(target: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


@dataclass(frozen=True)
class CollectionViews:
    context: Context
    _exports: Exports = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_exports", Exports(self.context.catalogue))

    def collections(self, arguments: Arguments) -> Response:
        with self._opened() as collections:
            every = collections.all()
        return page(arguments, "collections", collections=every)

    def collection(self, arguments: Arguments) -> Response:
        with self._opened() as collections:
            one = collections.find(arguments.text("id", longest=100))
            number, last = arguments.list_page(len(one.members), _PER_PAGE)
            start = _PER_PAGE * (number - 1)
            members = one.members[start : start + _PER_PAGE]
            works = {work.id: work for work in collections.works(replace(one, members=members))}
        exports = self._exports.of(one.id)
        return page(
            arguments,
            "collection",
            collection=one,
            members=[
                (start + place, member, works.get(member.work))
                for place, member in enumerate(members, 1)
            ],
            best=BEST,
            number=number,
            last=last,
            formats=[(name, exporter_named(name).summary) for name in exporter_names()],
            exports=exports,
            again=3 if any(not export.is_done for export in exports) else 0,
        )

    def download(self, arguments: Arguments) -> Response:
        id_, format_ = arguments.text("id", longest=100), arguments.text("to", longest=100)
        with self._opened() as collections:
            one = collections.find(id_)
        export = self._exports.find(one.id, format_)
        if export is None or export.made_at is None:
            raise Problem(404, "export")
        return FileResponse(export.file, filename=download_name(one.name, export))

    # -- what forms do --------------------------------------------------------------------------

    def add(self, form: Form) -> str:
        works = form.several("work")
        self.context.catalogue.require(works)
        if not works:  # the whole list that the form stands below
            works = [entry.id for entry in self.context.catalogue.entries(asked(form))]
        with self._opened() as collections:
            id_ = form.text("collection", longest=100)
            if id_:
                collections.add(id_, works)
            else:
                id_ = collections.create(form.text("name"), works)
        return form.to("/collection", id=id_)

    def change(self, form: Form) -> str:
        """Do one of the things that the buttons of a collection say."""
        id_, work = form.text("id", longest=100), form.text("work", longest=100)
        number = form.whole("p", 1)
        doing: dict[str, Callable[[Collections], None]] = {
            "up": lambda all_: all_.move(id_, work, -1),
            "down": lambda all_: all_.move(id_, work, 1),
            "place": lambda all_: all_.move(id_, work, _steps(form, all_.find(id_))),
            "first": lambda all_: all_.move(id_, work, -_FAR),
            "remove": lambda all_: all_.remove(id_, work),
            "say": lambda all_: all_.describe(id_, work, **_said(form)),
            "rename": lambda all_: all_.rename(id_, **_texts(form, ("name", "note"))),
            "delete": lambda all_: all_.delete(id_),
        }
        what = form.choice("do", tuple(doing), "say")
        with self._opened() as collections:
            doing[what](collections)
            if what == "delete":
                self._exports.remove(id_)
                return form.to("/collections")
            members = [member.work for member in collections.find(id_).members]
        # The page that the work is on now; its number may have become too large.
        at = members.index(work) if work in members else _PER_PAGE * (number - 1)
        number = min(at, max(0, len(members) - 1)) // _PER_PAGE + 1
        to = form.to("/collection", id=id_, p=number if number > 1 else "")
        return f"{to}#work-{work}" if work in members else to

    def export(self, form: Form) -> str:
        id_, format_ = form.text("id", longest=100), form.choice("to", exporter_names(), "folder")
        with self._opened() as collections:
            one = collections.find(id_)
        self._exports.begin(one.id, format_)
        return form.to("/collection", id=one.id) + "#exports"

    # -------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self) -> Iterator[Collections]:
        """Give the collections; what is wrong with a form is a Problem."""
        with self.context.catalogue.open() as records:
            try:
                yield Collections(records)
            except MissingRecordError:
                raise Problem(404, "collection") from None
            except EntryError as error:
                raise wrong_entry(error.field, error) from error


def _steps(form: Form, collection: Collection) -> int:
    """Return by how many places the work of a form is moved to where it says, counted from 1."""
    members = [member.work for member in collection.members]
    work = form.text("work", longest=100)
    return form.whole("to", 1) - 1 - members.index(work) if work in members else 0


def _said(form: Form) -> dict[str, Any]:
    said: dict[str, Any] = _texts(form, ("note", "tags", "rating"))
    if "tags" in said:
        said["tags"] = tags_in(said["tags"])
    if "rating" in said:
        said["rating"] = form.whole("rating", 0, least=0, most=BEST)
    return said


def _texts(form: Form, names: tuple[str, ...]) -> dict[str, str]:
    """Return the fields that a form changes; others keep what was written since."""
    found = {name: form.changed(name, longest=_LONGEST_NOTE) for name in names}
    return {name: text for name, text in found.items() if text is not None}
