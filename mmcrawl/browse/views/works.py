"""Works: a list that is searched and narrowed, one of them with its files, and corrections."""

import mimetypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, BinaryIO
from urllib.parse import quote

from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from mmcrawl.browse.arguments import NO_MISTAKES, Arguments, Form, Problem
from mmcrawl.browse.catalogue import asked
from mmcrawl.browse.context import Context
from mmcrawl.browse.lists import facets_of, table, wants_table
from mmcrawl.browse.rendering import page, player_policy
from mmcrawl.browse.replay.serving import ranged
from mmcrawl.errors import EntryError
from mmcrawl.media.files import FolderFiles, MediaFiles
from mmcrawl.media.parts import SWF, held_parts, picture_of
from mmcrawl.works.corrections import FIELDS, Correction, checked
from mmcrawl.works.exporting.article import PLAYED
from mmcrawl.works.exporting.exporter import file_path, path_of_part
from mmcrawl.works.index import Entry
from mmcrawl.works.model import Work

_PER_PAGE = 24
_LANGUAGES, _LICENCE, _HIDDEN = "languages", "licence", "hidden"
_EDITED = tuple(name for name in FIELDS if name not in ("poster", _HIDDEN))
_TOGETHER = ("kind", "topic", "level", _LANGUAGES, _LICENCE, "creator", "date")
"""Fields that can be changed of several works at once."""
_SET = "set."  # begin of the names of these fields in the form: the list is narrowed by others
_LONGEST = 10_000
_SEPARATORS = re.compile("[,，、;；]")
_BATCH = 1 << 18  # bytes

_COLUMNS: dict[str, Callable[[Entry], object]] = {
    **{f"work.{name}": attrgetter(name) for name in ("title", "kind", "topic", "level")},
    "works.by.language": attrgetter("language"),
    **{f"work.{name}": attrgetter(name) for name in ("licence", "creator", "date")},
    "works.by.held": attrgetter("held"),
    "media.address": attrgetter("url"),
}


def works_page(
    context: Context,
    arguments: Arguments,
    wrong: Mapping[str, str] = NO_MISTAKES,
    ticked: Sequence[str] = (),
) -> Response:
    """Show the works that are asked for, and the form that changes several of them.

    Args:
        wrong: What is wrong with the form, by field; it keeps what was said.
        ticked: The works that were ticked in it.
    """
    catalogue = context.catalogue
    again = 5 if catalogue.is_describing else 0  # asked first: what it writes at its end is read
    if not catalogue.is_there:
        return page(arguments, "works_missing", catalogue=catalogue, again=again)
    wanted = asked(arguments)
    if wants_table(arguments):
        return table(arguments, "works", _COLUMNS, catalogue.entries(wanted))
    total, counts = catalogue.counts(wanted)
    part = arguments.list_page(total, _PER_PAGE)
    given = {"q": wanted.query, **dict(wanted.facets)}
    return page(
        arguments,
        "works",
        status=400 if wrong else 200,
        wrong=wrong,
        ticked=ticked,
        together=_TOGETHER,
        said=arguments.values if wrong else {},
        entries=catalogue.entries(wanted, part.start, _PER_PAGE),
        total=total,
        given=given,
        facets=facets_of(counts, given),
        part=part,
        catalogue=catalogue,
        again=again,
    )


def work_page(
    context: Context, arguments: Arguments, wrong: Mapping[str, str] = NO_MISTAKES
) -> Response:
    """Show all that is known of a work, and play it; a form keeps what is wrong in it."""
    with context.catalogue.open() as records:
        work = records.find(arguments.text("id", longest=100))
        found = records.row(work.id) or {}
    collections = context.catalogue.collections()
    inside = [one for one in collections if any(m.work == work.id for m in one.members)]
    archived = {one.url for one in work.pages if context.archive.visits(one.url)}
    player = _player(work, context.options.ruffle is not None)
    policy = player_policy(arguments, "ruffle", "/work/file/")
    return page(
        arguments,
        "work",
        status=400 if wrong else 200,
        headers={"Content-Security-Policy": policy} if player and player[1] == "ruffle" else None,
        work=work,
        found=found,
        player=player,
        archived=archived,
        fields=_fields(work),
        said=arguments.values if wrong else {},
        wrong=wrong,
        inside=inside,
        collections=collections,
    )


def work_picture(context: Context, arguments: Arguments) -> Response:
    with context.catalogue.open() as records:
        work = records.find(arguments.text("id", longest=100))
    films = [f.digest for f in work.files if f.digest and f.mime.startswith("video/")]
    with context.catalogue.collection() as collection:
        for film in films:
            if collection is not None and (picture := picture_of(collection, film)) is not None:
                headers = {"Cache-Control": "private, max-age=86400"}
                return FileResponse(picture, media_type="image/jpeg", headers=headers)
    return RedirectResponse("/static/film.svg")


def work_file(context: Context, arguments: Arguments) -> Response:
    """Answer with the bytes of a file that is kept, or of one that an animation loads."""
    id_, number = arguments.request.path_params["id"], arguments.request.path_params["number"]
    with context.catalogue.open() as records:
        work = records.find(id_)
    if number >= len(work.files) or not work.files[number].digest:
        raise Problem(404, "file")
    file = work.files[number]
    with context.catalogue.collection() as collection:
        if collection is None:
            raise Problem(404, "file")
        path = arguments.request.path_params["path"]
        if path == file_path(file):
            digest, mime, size = file.digest, file.mime, file.size
        else:
            parts = held_parts(file.url, collection.files, collection.index)
            named = (one.digest for one in parts if path_of_part(one.name) == path)
            digest = next(named, "")
            mime, size = mimetypes.guess_type(path)[0] or "", 0
        if digest:
            wanted = arguments.request.headers.get("range", "")
            files = collection.files
            return kept_file(files, digest, mime=mime, size=size, path=path, wanted=wanted)
    raise Problem(404, "file")


# -- what forms do --------------------------------------------------------------------------


def describe_works(context: Context, form: Form) -> str:
    context.catalogue.describe()
    return form.to("/works")


def correct_work(context: Context, form: Form) -> str | Response:
    id_ = form.text("id", longest=100)
    with context.catalogue.open() as records:
        values, wrong = _corrections(form, records.find(id_))
        if values and not wrong:
            records.correct([Correction(id_, values)])
    return work_page(context, form, wrong) if wrong else form.to("/work", id=id_)


def change_works(context: Context, form: Form) -> str | Response:
    """Change the works that are ticked, all in the same way."""
    ticked = form.several("work")
    context.catalogue.require(ticked)
    texts = {name: form.text(f"{_SET}{name}", longest=_LONGEST) for name in _TOGETHER}
    values, wrong = _checked(form, {name: text for name, text in texts.items() if text}, _SET)
    if form.values.get("hide"):
        values[_HIDDEN] = True
    if not ticked:
        wrong["work"] = form.words("works.tick.none")
    if not values and not wrong:
        wrong["work"] = form.words("works.change.none")
    if wrong:
        return works_page(context, form, wrong, ticked)
    with context.catalogue.open() as records:
        records.correct([Correction(id_, values) for id_ in ticked])
    wanted = asked(form)
    return form.to("/works", q=wanted.query, **dict(wanted.facets))


def _corrections(form: Form, work: Work) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the fields whose values the form changes, and what is wrong with others.

    Fields to be given back are None.
    """
    back = {name: None for name in _EDITED if form.values.get(f"back.{name}")}
    said = {name: form.changed(name, now, longest=_LONGEST) for name, now in _fields(work).items()}
    changed = {name: text for name, text in said.items() if text is not None and name not in back}
    values, wrong = _checked(form, changed)
    if "hide" in form.values:
        values[_HIDDEN] = True if form.values["hide"] else None
    return values | back, wrong


def _checked(
    form: Form, texts: Mapping[str, str], prefix: str = ""
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of fields, and what is wrong with others by their names in the form."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, text in texts.items():
        said = _SEPARATORS.sub(" ", text).split() if name == _LANGUAGES else text
        try:
            values[name] = checked(name, said)
        except EntryError as error:
            wrong[f"{prefix}{name}"] = form.said(error)
    return values, wrong


def _fields(work: Work) -> dict[str, str]:
    """Return the fields that can be edited, as a form shows them."""
    plain = work.as_plain() | {_LANGUAGES: ", ".join(work.languages)}
    plain[_LICENCE] = work.licence.code if work.licence else ""
    return {name: str(plain[name]) for name in _EDITED}


def _player(work: Work, has_ruffle: bool) -> tuple[str, str, str] | None:
    """Return the address of the best file that can be played, what plays it, and its folder."""
    for number, file in enumerate(work.files):
        plays = file.mime.partition("/")[0] if file.mime in PLAYED else ""
        if file.mime == SWF and has_ruffle:
            plays = "ruffle"
        if file.digest and plays:
            folder = f"/work/file/{work.id}/{number}/"
            return folder + quote(file_path(file)), plays, folder
    return None


# -- files that are kept --------------------------------------------------------------------------


def kept_file(
    files: MediaFiles, digest: str, *, mime: str, size: int, path: str, wanted: str
) -> Response:
    """Return a file; nothing in it runs here.

    Args:
        digest, mime, size: Of the file; 0 for a size that is not known.
        path: Under which it is asked for.
        wanted: The header ``Range`` of the request, "" for none.
    """
    is_media = mime.startswith(("audio/", "video/")) or mime == SWF
    name = quote(path.rpartition("/")[2])
    headers = {
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Content-Disposition": f"{'inline' if is_media else 'attachment'}; filename*=utf-8''{name}",
    }
    media_type = mime if is_media else "application/octet-stream"
    if isinstance(files, FolderFiles) and files.path(digest).is_file():
        return FileResponse(files.path(digest), media_type=media_type, headers=headers)
    source = files.open(digest)
    if not size:
        return StreamingResponse(_batches(source), media_type=media_type, headers=headers)
    status, told, part = ranged(wanted, size)
    headers |= told | {"Content-Length": str(len(part))}
    source.seek(part.start)
    return StreamingResponse(_batches(source, len(part)), status, headers, media_type)


def _batches(source: BinaryIO, left: int | None = None) -> Iterator[bytes]:
    """Yield the bytes of an opened file, or so many of them; close it."""
    with source:
        while batch := source.read(_BATCH if left is None else min(left, _BATCH)):
            yield batch
            left = None if left is None else left - len(batch)
