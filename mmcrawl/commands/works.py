"""`scrapy works`: what a crawl found as works, described, corrected and exported."""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from scrapy.commands import ScrapyCommand

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Capture
from mmcrawl.archive.opening import open_archive
from mmcrawl.archive.rewriting import requisites_of
from mmcrawl.cluster.views.found import FoundMedia
from mmcrawl.commands.base import (
    JSON,
    LIMIT,
    OVERWRITE,
    SHOWN,
    MmcrawlCommand,
    Option,
    Subcommand,
    as_json,
    console_of,
    ruffle_folder,
    store_named,
)
from mmcrawl.commands.terminal.files import Target, new_file
from mmcrawl.commands.terminal.tables import facts_table, literal, right
from mmcrawl.errors import CollectionError, MissingStoreError
from mmcrawl.frontier.store import Job
from mmcrawl.media.parts import Collection as MediaCollection
from mmcrawl.media.parts import folder_of, held_parts, open_collection
from mmcrawl.store.uris import archive_uri, file_of
from mmcrawl.text.media_kinds import KINDS
from mmcrawl.works.catalogue import Catalogue, open_catalogue
from mmcrawl.works.collections import Collections
from mmcrawl.works.corrections import FIELDS, read_corrections
from mmcrawl.works.describing import Sources, describe, found_pages
from mmcrawl.works.exporting.exporter import Shipment, exporter_named, exporter_names
from mmcrawl.works.file_tags import TagReader
from mmcrawl.works.index import open_index
from mmcrawl.works.model import Work

_ARCHIVE = Option(
    "--archive", default="", metavar="URI", help="archive of the crawl (default: the one beside it)"
)
_MATCH = Option("--match", default="", metavar="TEXT", help="only with this in the title")


class Command(MmcrawlCommand, ScrapyCommand):
    """Describe, correct and export the works of a crawl."""

    name = "works"
    subcommands: ClassVar[Sequence[Subcommand]] = (
        Subcommand(
            "describe",
            "keep a record of each work that the crawl found, with its formats and mirrors; run it"
            " again when there is more",
            options=(_ARCHIVE,),
        ),
        Subcommand("list", "works, a line for each", options=(LIMIT, _MATCH, JSON)),
        Subcommand("show", "all that is known of a work", "ID", (JSON,)),
        Subcommand(
            "correct",
            'import corrections as JSON Lines, {"work": "ID", "title": "…"} with any of '
            + ", ".join(FIELDS)
            + "; null restores a field; corrections override what was found",
            "FILE",
        ),
        Subcommand("corrections", "write what was corrected in the same form"),
        Subcommand(
            "export",
            "write a file or folder",
            options=(
                _ARCHIVE,
                _MATCH,
                Option("--collection", metavar="NAME", help="only this one, by name or id"),
                Option("--to", metavar="FORMAT", help=", ".join(exporter_names())),
                Option(
                    *("-o", "--output"),
                    action=Target,  # what may be replaced depends on the format
                    metavar="TARGET",
                    help="file or folder to make",
                ),
                OVERWRITE,
            ),
        ),
    )
    arguments = ("store", "job")

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], int | None]:
        store = store_named(opts.store)
        name = self.chosen.name
        if name in ("describe", "export"):
            archive = archive_uri(opts.archive or self.setting("MMCRAWL_ARCHIVE"), store)
            if name == "export":
                return self._export(store, opts, archive)
            return lambda: self._describe(store, opts, archive)
        doing: dict[str, Callable[[], None]] = {
            "list": lambda: self._list(store, opts),
            "show": lambda: self._show(store, opts, words[0]),
            "correct": lambda: self._correct(store, words[0]),
            "corrections": lambda: self._corrections(store),
        }
        return doing[name]

    def _describe(self, store: str, opts: argparse.Namespace, archive: str | None) -> None:
        found = FoundMedia(store, opts.job)
        records = ((_topic_of(job), page) for job, page in found.pages())
        with self._archive(archive) as opened, self._collection(store) as held:
            pages = list(found_pages(records, opened, problem=self.say))
            with TagReader(held.files.name if held else "") as tags_of:
                works = describe(pages, Sources(held.index.find, tags_of) if held else Sources())
        self.exitcode = 0  # pages that cannot be read are named, and described all the same
        with self._catalogue(store, create=True) as catalogue:
            catalogue.describe(works)
            with closing(open_index(folder_of(store, self.setting("MMCRAWL_MEDIA")))) as index:
                index.update(catalogue)  # else whoever looks at them first waits for it
            table = described_table(list(catalogue.works()), len(pages), catalogue.name)
        console_of().print(table)

    def _list(self, store: str, opts: argparse.Namespace) -> None:
        most = opts.limit if opts.limit is not None else 0 if opts.json else SHOWN
        with self._catalogue(store) as catalogue:
            works = [work for work in catalogue.works() if _is_like(work.title, opts.match)]
        shown = works[:most] if most else works
        if opts.json:
            for work in shown:
                print(as_json(work.as_plain()))
            return
        console_of().print(works_table(shown))
        if len(shown) < len(works):
            print(f"{len(shown):,} of {len(works):,} works; --limit 0 shows all")

    def _show(self, store: str, opts: argparse.Namespace, id_: str) -> None:
        with self._catalogue(store) as catalogue:
            work = catalogue.find(id_)
        if opts.json:
            print(as_json(work.as_plain()))
        else:
            console_of().print(work_page(work))

    def _correct(self, store: str, name: str) -> None:
        lines = _lines_of(name)
        with self._catalogue(store) as catalogue:
            number = catalogue.correct(read_corrections(lines, name))
        print(f"corrected works: {number:,}")

    def _corrections(self, store: str) -> None:
        with self._catalogue(store) as catalogue:
            for work, values in sorted(catalogue.corrections().items()):
                print(as_json({"work": work, **values}))

    def _export(
        self, store: str, opts: argparse.Namespace, archive: str | None
    ) -> Callable[[], int]:
        if not opts.to:
            raise ValueError(f"--to FORMAT is missing; there are {', '.join(exporter_names())}")
        exporter = exporter_named(opts.to)
        target = Path(opts.output or f"works{exporter.suffix}").expanduser()
        if not (opts.overwrite and target.is_dir() and getattr(exporter, "updates", False)):
            new_file(str(target), "-o", overwrite=opts.overwrite and bool(exporter.suffix))

        def do() -> int:
            with (
                self._catalogue(store) as catalogue,
                self._collection(store) as held,
                self._pages(archive) as pages,
            ):
                name, works = _name_of(store), catalogue.works()
                if opts.collection:
                    found = Collections(catalogue).find(opts.collection)
                    name, works = found.name, Collections(catalogue).works(found)
                chosen = (work for work in works if _is_like(work.title, opts.match))
                ruffle = ruffle_folder(self.setting("MMCRAWL_RUFFLE"))
                shipment = Shipment(chosen, name, time=time.time(), ruffle=ruffle, **pages)
                if held is not None:
                    shipment = replace(
                        shipment,
                        open_file=held.files.open,
                        parts_of=lambda file: held_parts(file.url, held.files, held.index),
                    )
                problems = exporter.export(shipment, target)
            for problem in problems:
                self.say(problem)
            print(f"exported to {target}")
            return 1 if problems else 0

        return do

    # -- what they work on --------------------------------------------------------------------

    def _catalogue(self, store: str, *, create: bool = False) -> Catalogue:
        folder = folder_of(store, self.setting("MMCRAWL_MEDIA"))
        return open_catalogue(store, folder, create=create)

    @contextmanager
    def _collection(self, store: str) -> Iterator[MediaCollection | None]:
        """Give the collected media; None if nothing was collected."""
        try:
            collection = open_collection(store, self.setting("MMCRAWL_MEDIA"), create=False)
        except MissingStoreError:
            yield None
            return
        with collection:
            yield collection

    @contextmanager
    def _archive(self, uri: str | None) -> Iterator[Archive | None]:
        path = file_of(uri or "")
        if uri is None or (path and not os.path.exists(path)):
            self.say("there is no archive: only titles and links of pages are known")
            yield None
            return
        with open_archive(uri, create=False, read_only=True) as archive:
            yield archive

    @contextmanager
    def _pages(self, uri: str | None) -> Iterator[dict[str, Any]]:
        """Give the functions by which a `Shipment` reads archived pages; few formats need them."""
        with ExitStack() as opened:

            @cache
            def archive() -> Archive | None:
                return opened.enter_context(self._archive(uri))

            def page_at(url: str) -> Capture | None:
                pages = archive()
                if pages is None or not pages.visits(url):
                    return None
                last = pages.get(url)
                if last.status == 200:
                    return pages.rebuild(last)
                # It was gone, or moved, when it was visited again.
                shown = [version for _, version in pages.found(url) if version.status == 200]
                return pages.rebuild(shown[-1]) if shown else None

            def needed_by(page: Capture, seen: set[str]) -> Iterator[Capture]:
                pages = archive()
                return requisites_of(pages, page, seen) if pages else iter(())

            yield {"page_at": page_at, "needed_by": needed_by}


def _topic_of(job: Job) -> str:
    """Return the topic of a crawl as its user gave it; "" for any media."""
    said = job.arguments.get("topic") or job.arguments.get("keywords") or ""
    return "" if said == "*" else str(said)


def _is_like(title: str, match: str) -> bool:
    return match.casefold() in title.casefold()


def _name_of(store: str) -> str:
    return Path(file_of(store)).stem or store.rpartition("/")[2].partition("?")[0]


def _lines_of(name: str) -> list[str]:
    try:
        if name == "-":
            return sys.stdin.read().splitlines()
        return Path(name).expanduser().read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise CollectionError(f"{name} is no UTF-8 text; save it as UTF-8") from error


# -- what is shown --------------------------------------------------------------------------------


def works_table(works: Iterable[Work]) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, expand=True)
    for name in ("id", "kind", "files", "licence"):
        table.add_column(name, no_wrap=True, justify="right" if name == "files" else "left")
    table.add_column("title", overflow="ellipsis", no_wrap=True, ratio=1, min_width=12)
    for work in works:
        code = work.licence.code if work.licence else ""
        cells = (work.id, work.kind, f"{len(work.files)}", code, work.title)
        table.add_row(*map(literal, cells))
    return table


def work_page(work: Work) -> RenderableType:
    return facts_table((name, literal(text)) for name, text in _facts(work) if text)


def _facts(work: Work) -> Iterator[tuple[str, str]]:
    yield from {
        "id": work.id,
        "title": f"{work.title}  (from: {work.title_source})",
        "kind": work.kind,
        "creator": work.creator,
        "date": work.date,
        "languages": ", ".join(work.languages),
        "topic": work.topic,
        "level": work.level,
        "caption": work.caption,
        "poster": work.poster,
        "subtitles": ", ".join(one.url for one in work.subtitles),
        "corrected": ", ".join(work.corrected),
    }.items()
    for licence in work.licences:
        evidence = licence.evidence
        where = f"{evidence.source}, said of the {evidence.scope}"
        yield "licence", f"{licence.code}  ({where}: {evidence.said})"
    for file in work.files:
        seconds = f"{file.duration:g} s" if file.duration else ""
        facts = [file.mime, f"{file.size:,} bytes" if file.size else "", seconds, file.state]
        yield "file", f"{file.url}  {' '.join(filter(None, facts))}"
    for page in work.pages:
        yield "page", f"{page.url}  {page.title}"


def described_table(works: Sequence[Work], pages: int, place: str) -> RenderableType:
    """Return the result of describing: the number of works, and of those with each fact."""
    kinds = [kind for kind in KINDS if any(work.kind == kind for work in works)]
    table = Table("", *map(right, (*kinds, "all")), box=box.SIMPLE_HEAD)
    count: dict[str, Callable[[Work], bool]] = {
        "works": lambda work: True,
        "of several files": lambda work: len(work.files) > 1,
        "with a title that is no file name": lambda work: work.title_source not in ("file", ""),
        "with a licence": lambda work: work.licence is not None,
        "with a creator": lambda work: bool(work.creator),
        "with a date": lambda work: bool(work.date),
        "with a language": lambda work: bool(work.languages),
        "with a level of school": lambda work: bool(work.level),
    }
    for name, test in count.items():
        counts = Counter(work.kind for work in works if test(work))
        table.add_row(name, *(f"{counts[kind]:,}" for kind in kinds), f"{counts.total():,}")
    files = sum(len(work.files) for work in works)
    line = f"{files:,} files on {pages:,} pages are {len(works):,} works; kept in {place}"
    return Group(table, Text(line))
