"""Collections that people make of works: listed, ordered, described, and exported."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread

from starlette.responses import FileResponse, Response

from mmcrawl.browse.arguments import Arguments, Form, Problem
from mmcrawl.browse.catalogue import PROGRAM, asked, chosen
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page
from mmcrawl.collecting.exporting.exporter import exporter_named, exporter_names
from mmcrawl.collecting.shelf.collections import BEST, Collection, Collections, Member, tags_in
from mmcrawl.errors import CollectionError

_PER_PAGE = 50
_LONGEST_NOTE = 5_000


@dataclass(slots=True)
class Export:
    """An export that was asked for.

    Attributes:
        file: What can be had when it is done: a folder is packed.
        format: Its name.
        process: What makes it.
        said: What could not be exported, or why it failed.
        is_done: Whether it has ended.
    """

    file: Path
    format: str
    said: str = ""
    is_done: bool = False

    @property
    def is_there(self) -> bool:
        """Whether it can be had."""
        return self.is_done and self.file.is_file()


@dataclass(frozen=True)
class CollectionViews:
    """Collections."""

    context: Context
    _exports: dict[str, dict[str, Export]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def collections(self, arguments: Arguments) -> Response:
        """List the collections."""
        with self._opened() as collections:
            every = collections.all()
        return page(arguments, "collections", collections=every)

    def collection(self, arguments: Arguments) -> Response:
        """Show a collection in its order."""
        with self._opened() as collections:
            one = collections.find(arguments.text("id", longest=100))
            works = {work.id: work for work in collections.works(one)}
        number, last = arguments.list_page(len(one.members), _PER_PAGE)
        start = _PER_PAGE * (number - 1)
        exports = list(self._exports.get(one.id, {}).values())
        return page(
            arguments,
            "collection",
            collection=one,
            members=[
                (start + place, member, works.get(member.work))
                for place, member in enumerate(one.members[start : start + _PER_PAGE], 1)
            ],
            best=BEST,
            number=number,
            last=last,
            formats=[(name, exporter_named(name).summary) for name in exporter_names()],
            exports=exports,
            again=3 if any(not export.is_done for export in exports) else 0,
        )

    def download(self, arguments: Arguments) -> Response:
        """Answer with an export that is done."""
        id_, format_ = arguments.text("id", longest=100), arguments.text("to", longest=100)
        export = self._exports.get(id_, {}).get(format_)
        if export is None or not export.is_there:
            raise Problem(404, "export")
        return FileResponse(export.file, filename=export.file.name)

    # -- what forms do --------------------------------------------------------------------------

    def add(self, form: Form) -> str:
        """Put works into a collection, or into a new one."""
        works = form.several("work")
        if not works:  # the whole list that the form stands below
            found, _ = chosen(self.context.catalogue.entries(), *asked(form))
            works = [entry.id for entry in found]
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
        doing: dict[str, Callable[[Collections], None]] = {
            "up": lambda all_: all_.move(id_, work, -1),
            "down": lambda all_: all_.move(id_, work, 1),
            "first": lambda all_: all_.move(id_, work, -1_000_000),
            "remove": lambda all_: all_.remove(id_, work),
            "say": lambda all_: all_.describe(id_, _member(form, work)),
            "rename": lambda all_: all_.rename(
                id_, form.text("name"), form.text("note", longest=_LONGEST_NOTE)
            ),
            "delete": lambda all_: all_.delete(id_),
        }
        what = form.choice("do", tuple(doing), "say")
        with self._opened() as collections:
            doing[what](collections)
        if what == "delete":
            return form.to("/collections")
        return form.to("/collection", id=id_, p=form.text("p", longest=9))

    def export(self, form: Form) -> str:
        """Begin an export, unless the same is under way."""
        id_, format_ = form.text("id", longest=100), form.choice("to", exporter_names())
        with self._opened() as collections:
            one = collections.find(id_)
        with self._lock:
            exports = self._exports.setdefault(one.id, {})
            if format_ not in exports or exports[format_].is_done:
                exports[format_] = self._begun(one, format_)
        return form.to("/collection", id=id_)

    # -------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self) -> Iterator[Collections]:
        """Give the collections; what is wrong with a form is a Problem."""
        with self.context.catalogue.shelf() as shelf:
            try:
                yield Collections(shelf)
            except CollectionError as error:
                status = 404 if "there is no collection" in str(error) else 400
                raise Problem(status, "entry", error=error) from error

    def _begun(self, one: Collection, format_: str) -> Export:
        suffix = exporter_named(format_).suffix
        folder = self.context.catalogue.folder / "exports" / one.id
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{format_}{suffix}"
        _remove(target)
        export = Export(target if suffix else target.with_suffix(".zip"), format_)
        _remove(export.file)
        command = [sys.executable, "-c", PROGRAM, "works", "export", "--collection", one.id]
        command += ["--to", format_, "-o", str(target), *self.context.catalogue.arguments]
        Thread(target=_made, args=(command, target, export), daemon=True).start()
        return export


def _made(command: list[str], target: Path, export: Export) -> None:
    """Make an export; runs in a thread."""
    try:
        run = subprocess.run(  # noqa: S603 - a program of ours
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
        export.said = run.stderr[-2_000:].strip()
        if target.is_dir():
            shutil.make_archive(str(target), "zip", target)
            shutil.rmtree(target)
    except OSError as error:
        export.said = str(error)
    finally:
        export.is_done = True


def _remove(target: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


def _member(form: Form, work: str) -> Member:
    return Member(
        work,
        tags_in(form.text("tags")),
        form.text("note", longest=_LONGEST_NOTE),
        form.whole("rating", 0, least=0, most=BEST),
    )
