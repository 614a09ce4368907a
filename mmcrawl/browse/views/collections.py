"""Collections that people make of works: listed, ordered, described, and exported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import FileResponse, Response

from mmcrawl.browse.arguments import Arguments, Form, Problem, wrong_entry
from mmcrawl.browse.catalogue import asked, chosen
from mmcrawl.browse.context import Context
from mmcrawl.browse.exports import Exports, download_name
from mmcrawl.browse.rendering import page
from mmcrawl.collecting.exporting.exporter import exporter_named, exporter_names
from mmcrawl.collecting.shelf.collections import BEST, Collections, tags_in
from mmcrawl.errors import EntryError, MissingRecordError

_PER_PAGE = 50
_LONGEST_NOTE = 5_000
_FAR = 1_000_000  # places, more than a collection has


@dataclass(frozen=True)
class CollectionViews:
    """Collections."""

    context: Context
    _exports: Exports = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_exports", Exports(self.context.catalogue))

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
        exports = self._exports.of(one.id)
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
        with self._opened() as collections:
            one = collections.find(id_)
        export = self._exports.find(one.id, format_)
        if export is None or export.made_at is None:
            raise Problem(404, "export")
        return FileResponse(export.file, filename=download_name(one.name, export))

    # -- what forms do --------------------------------------------------------------------------

    def add(self, form: Form) -> str:
        """Put works into a collection, or into a new one."""
        works, every = form.several("work"), self.context.catalogue.every()[1]
        if not works:  # the whole list that the form stands below
            found, _ = chosen(self.context.catalogue.entries(), *asked(form))
            works = [entry.id for entry in found]
        if not {entry.id for entry in every}.issuperset(works):
            raise wrong_entry("works")
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
        """Begin an export, unless the same is under way."""
        id_, format_ = form.text("id", longest=100), form.choice("to", exporter_names())
        with self._opened() as collections:
            one = collections.find(id_)
        self._exports.begin(one.id, format_ or "folder")
        return form.to("/collection", id=one.id) + "#exports"

    # -------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self) -> Iterator[Collections]:
        """Give the collections; what is wrong with a form is a Problem."""
        with self.context.catalogue.shelf() as shelf:
            try:
                yield Collections(shelf)
            except MissingRecordError:
                raise Problem(404, "collection") from None
            except EntryError as error:
                raise wrong_entry(error.field, error) from error


def _said(form: Form) -> dict[str, Any]:
    """Return what a form changes of what is said of a work."""
    said: dict[str, Any] = _texts(form, ("note", "tags", "rating"))
    if "tags" in said:
        said["tags"] = tags_in(said["tags"])
    if "rating" in said:
        said["rating"] = form.whole("rating", 0, least=0, most=BEST)
    return said


def _texts(form: Form, names: tuple[str, ...]) -> dict[str, str]:
    """Return the fields that a form changes; others stay, whoever has written them meanwhile."""
    found = {name: form.changed(name, longest=_LONGEST_NOTE) for name in names}
    return {name: text for name, text in found.items() if text is not None}
