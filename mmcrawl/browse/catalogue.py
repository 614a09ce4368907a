"""The works of the crawls: listed and searched in memory, read whole from where they are kept."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from threading import Lock

from mmcrawl.browse import programs
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.media.parts import Collection, folder_of, open_collection
from mmcrawl.store.uris import is_server
from mmcrawl.text.words import unify
from mmcrawl.works.catalogue import Catalogue, open_catalogue
from mmcrawl.works.model import Work

FACETS = ("kind", "topic", "level", "language", "licence", "held")
_MOST_PAGES = 20  # of a work at which it is found
_REMEMBERED = 8  # lists
_LONGEST_TEXT = 600  # characters of title and caption that are searched


@dataclass(frozen=True, slots=True)
class Entry:
    """What a list shows of a work.

    Attributes:
        id, title, kind, topic, level, creator, date, duration, changed_at: As of `Work`.
        language, licence: The first ones, "" for none.
        held: ``yes`` if a file of it is kept.
        film: Whether a picture can be taken of a file that is kept.
        url: Of its best file.
        places: Addresses of all its files, and of the pages that show it.
        text: In which is searched.
        is_hidden: Whether an editor has hidden it.
    """

    id: str
    title: str
    kind: str
    topic: str
    level: str
    creator: str
    date: str
    duration: float
    changed_at: float
    language: str
    licence: str
    held: str
    film: bool
    url: str
    places: tuple[str, ...]
    text: str
    is_hidden: bool

    @classmethod
    def of(cls, work: Work) -> Entry:
        held = [file for file in work.files if file.digest]
        said = f"{work.title} {work.creator} {work.caption}"
        return cls(
            work.id,
            work.title,
            work.kind,
            sys.intern(work.topic),
            sys.intern(work.level),
            sys.intern(work.creator),
            work.date,
            work.duration,
            work.changed_at,
            sys.intern(work.languages[0]) if work.languages else "",
            sys.intern(work.licence.code) if work.licence else "",
            "yes" if held else "",
            any(file.mime.startswith("video/") for file in held),
            work.files[0].url if work.files else "",
            (*(file.url for file in work.files), *(one.url for one in work.pages[:_MOST_PAGES])),
            unify(said[:_LONGEST_TEXT]).casefold(),
            "hidden" in work.corrected,
        )


class WorksOfStore:
    """The works of a crawl store. Any thread may ask it.

    Args:
        store: URI of the crawl store, "" for none.
        media: As the setting MMCRAWL_MEDIA says it.
    """

    def __init__(self, store: str, media: str | None) -> None:
        self.store, self._media = store, media
        self._entries: tuple[Entry, ...] = ()
        self._at: dict[str, list[Entry]] = {}
        self._revision = -1
        self._is_described = False
        self._lock = Lock()
        self._describing: subprocess.Popen[bytes] | None = None
        self._remembered = lru_cache(_REMEMBERED)(self._chosen)

    @property
    def arguments(self) -> list[str]:
        """Options of a command that say where the crawls and their media are."""
        return [*self.media_arguments, "-a", f"store={self.store}"]

    @property
    def media_arguments(self) -> list[str]:
        """Options of a command that say where the media are."""
        return ["-s", f"MMCRAWL_MEDIA={self._media}"] if self._media else []

    @property
    def folder(self) -> Path:
        """Where works and what is made of them are kept."""
        return folder_of(self.store, self._media)

    # -- what is kept ---------------------------------------------------------------------------

    @contextmanager
    def open(self) -> Iterator[Catalogue]:
        """Open where works are kept."""
        if not self.is_there:
            raise Problem(404, "works")
        with open_catalogue(self.store, self.folder, create=False) as records:
            yield records

    @contextmanager
    def collection(self) -> Iterator[Collection | None]:
        """Open the media that are kept; None if there are none."""
        try:
            opened = open_collection(self.store, self._media, create=False)
        except MissingStoreError:
            yield None
            return
        with opened:
            yield opened

    @property
    def is_there(self) -> bool:
        if not self.store or self.store == "memory:":
            return False
        if not is_server(self.store) and not (self.folder / "works.db").is_file():
            return False
        if self._is_described:  # once and for all: to look again takes long with many works
            return True
        try:
            with open_catalogue(self.store, self.folder, create=False) as records:
                self._is_described = records.is_described
                return self._is_described
        except StoreError:
            return not is_server(self.store)  # a file that is damaged is told of when it is read

    def entries(self) -> Sequence[Entry]:
        """Return all works but hidden ones, in the order in which they were described."""
        return [entry for entry in self.every()[1] if not entry.is_hidden]

    def every(self) -> tuple[int, Sequence[Entry]]:
        """Return the revision of the works, and all of them, also hidden ones."""
        with self._lock, self.open() as records:
            revision = records.revision()
            if revision != self._revision:
                self._entries = tuple(map(Entry.of, records.works(hidden=True)))
                self._at = _by_place(self._entries)
                self._revision = revision
            return self._revision, self._entries

    def chosen(
        self, query: str, wanted: Mapping[str, str]
    ) -> tuple[Sequence[Entry], Mapping[str, Counter[str]]]:
        """Return the works that are asked for, as `chosen`; those asked for last are remembered."""
        return self._remembered(self.every()[0], query, tuple(wanted.items()))

    def _chosen(
        self, _: int, query: str, wanted: tuple[tuple[str, str], ...]
    ) -> tuple[Sequence[Entry], Mapping[str, Counter[str]]]:
        return chosen(self.entries(), query, dict(wanted))

    def works_at(self, url: str) -> Sequence[Entry]:
        """Return the works that an address shows or is a file of, but for hidden ones."""
        if not self.is_there:
            return ()
        self.every()
        return self._at.get(url, ())

    # -- describing -----------------------------------------------------------------------------

    @property
    def can_describe(self) -> bool:
        return self.store not in ("", "memory:")

    @property
    def is_describing(self) -> bool:
        return programs.runs(self._describing)

    def describe(self) -> None:
        """Describe all works, in a process of its own, unless that is under way."""
        with self._lock:
            if not self.can_describe or self.is_describing:
                return
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._said.open("wb") as said:
                self._describing = programs.begin(["works", "describe", *self.arguments], said)

    def failure(self) -> str:
        """Return what the last describing said when it failed, "" if it did not."""
        process = self._describing
        return programs.failure(process, self._said) if process else ""

    @property
    def _said(self) -> Path:
        return self.folder / "describing.log"

    def close(self) -> None:
        if self._describing is not None:
            programs.end_all([self._describing])


def _by_place(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if not entry.is_hidden:
            for place in dict.fromkeys(entry.places):
                found.setdefault(place, []).append(entry)
    return found


def asked(arguments: Arguments) -> tuple[str, dict[str, str]]:
    """Return the words and the values of facets that a request names."""
    values = {name: arguments.text(name, longest=300) for name in FACETS}
    return arguments.text("q"), {name: value for name, value in values.items() if value}


def chosen(
    entries: Sequence[Entry], query: str, wanted: Mapping[str, str]
) -> tuple[list[Entry], dict[str, Counter[str]]]:
    """Return the works that are asked for, and how many there are of each value of each facet.

    Args:
        entries: To choose from.
        query: Words that title, creator or caption have to hold, all of them.
        wanted: Values by facet. A facet that is chosen is counted as if it were not, so that
            another value can be chosen.
    """
    words = unify(query).casefold().split()
    matching = list(entries)
    for word in words:
        matching = [entry for entry in matching if word in entry.text]
    found = _having(matching, wanted)
    counts: dict[str, Counter[str]] = {}
    for facet in FACETS:
        counted = found
        if facet in wanted:
            others = {name: value for name, value in wanted.items() if name != facet}
            counted = _having(matching, others)
        counts[facet] = Counter(map(attrgetter(facet), counted))
    return found, counts


def _having(entries: list[Entry], wanted: Mapping[str, str]) -> list[Entry]:
    for name, value in wanted.items():
        read = attrgetter(name)
        entries = [entry for entry in entries if read(entry) == value]
    return entries
