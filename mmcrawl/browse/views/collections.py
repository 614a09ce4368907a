"""Collections that people make of works: listed, ordered, described, and exported."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import FileResponse, Response

from mmcrawl.browse.arguments import Arguments, Form, Problem
from mmcrawl.browse.catalogue import asked
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page
from mmcrawl.works.collections import BEST, Collection, Collections, tags_in
from mmcrawl.works.exporting.exporter import exporter_named, exporter_names, folder_name

_PER_PAGE = 50
_LONGEST_NOTE = 5_000
_FAR = 1_000_000  # places, more than a collection has


def collections_page(context: Context, arguments: Arguments) -> Response:
    return page(arguments, "collections", collections=context.catalogue.collections())


def collection_page(context: Context, arguments: Arguments) -> Response:
    id_ = arguments.text("id", longest=100)
    one = next((one for one in context.catalogue.collections() if one.id == id_), None)
    if one is None:
        raise Problem(404, "record", name=id_)
    part = arguments.list_page(len(one.members), _PER_PAGE)
    members = tuple(part.of(one.members))
    with context.catalogue.open() as records:
        found = Collections(records).works(replace(one, members=members))
        works = {work.id: work for work in found}
    exports = context.exports.of(one.id)
    return page(
        arguments,
        "collection",
        collection=one,
        members=[(*each, works.get(each[1].work)) for each in enumerate(members, part.start + 1)],
        best=BEST,
        part=part,
        formats=[(name, exporter_named(name).summary) for name in exporter_names()],
        exports=exports,
        again=3 if any(not export.is_done for export in exports) else 0,
    )


def download_export(context: Context, arguments: Arguments) -> Response:
    id_, format_ = arguments.text("id", longest=100), arguments.text("to", longest=100)
    with context.catalogue.open() as records:
        one = Collections(records).find(id_)
    export = context.exports.find(one.id, format_)
    if export is None or export.made_at is None:
        raise Problem(404, "export")
    ending = export.file.name.removeprefix(format_)
    kind = f"-{format_}" if ending == ".zip" else ""  # several are packed folders
    return FileResponse(export.file, filename=f"{folder_name(one.name) or 'works'}{kind}{ending}")


# -- what forms do --------------------------------------------------------------------------------


def add_to_collection(context: Context, form: Form) -> str:
    works = form.several("work")
    context.catalogue.require(works)
    if not works:  # the whole list that the form stands below
        works = [entry.id for entry in context.catalogue.entries(asked(form))]
    with context.catalogue.open() as records:
        collections = Collections(records)
        id_ = form.text("collection", longest=100)
        if id_:
            collections.add(id_, works)
        else:
            id_ = collections.create(form.text("name"), works)
    return form.to("/collection", id=id_)


def change_collection(context: Context, form: Form) -> str:
    """Do one of the things that the buttons of a collection say."""
    id_, work = form.text("id", longest=100), form.text("work", longest=100)
    number = form.whole("p", 1)
    doing: dict[str, Callable[[Collections], None]] = {
        "up": lambda all_: all_.move(id_, work, -1),
        "down": lambda all_: all_.move(id_, work, 1),
        "place": lambda all_: all_.move(id_, work, _steps(form, all_.find(id_))),
        "first": lambda all_: all_.move(id_, work, -_FAR),
        "remove": lambda all_: all_.remove(id_, work),
        "say": lambda all_: all_.describe(id_, work, **_changed(form, "note", "tags", "rating")),
        "rename": lambda all_: all_.rename(id_, **_changed(form, "name", "note")),
        "delete": lambda all_: all_.delete(id_),
    }
    what = form.choice("do", tuple(doing), "say")
    with context.catalogue.open() as records:
        collections = Collections(records)
        doing[what](collections)
        if what == "delete":
            context.exports.remove(id_)
            return form.to("/collections")
        members = [member.work for member in collections.find(id_).members]
    # The page that the work is on now; its number may have become too large.
    at = members.index(work) if work in members else _PER_PAGE * (number - 1)
    number = min(at, max(0, len(members) - 1)) // _PER_PAGE + 1
    to = form.to("/collection", id=id_, p=number if number > 1 else "")
    return f"{to}#work-{work}" if work in members else to


def export_collection(context: Context, form: Form) -> str:
    id_, format_ = form.text("id", longest=100), form.choice("to", exporter_names(), "folder")
    with context.catalogue.open() as records:
        one = Collections(records).find(id_)
    context.exports.begin(one.id, format_)
    return form.to("/collection", id=one.id) + "#exports"


def _steps(form: Form, collection: Collection) -> int:
    """Return by how many places the work of a form is moved to where it says, counted from 1."""
    members = [member.work for member in collection.members]
    work = form.text("work", longest=100)
    return form.whole("to", 1) - 1 - members.index(work) if work in members else 0


def _changed(form: Form, *names: str) -> dict[str, Any]:
    """Return the fields that a form changes; others keep what was written since."""
    found = {name: form.changed(name, longest=_LONGEST_NOTE) for name in names}
    said: dict[str, Any] = {name: text for name, text in found.items() if text is not None}
    if "tags" in said:
        said["tags"] = tags_in(said["tags"])
    if "rating" in said:
        said["rating"] = form.whole("rating", 0, least=0, most=BEST)
    return said
