"""The works of the crawls: listed and searched by their index, read whole from the catalogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import Lock

from mmcrawl.browse.arguments import Arguments, Problem, wrong_entry
from mmcrawl.browse.programs import Command, Programs
from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.media.parts import Collection as MediaCollection
from mmcrawl.media.parts import folder_of, open_collection
from mmcrawl.store.uris import is_server
from mmcrawl.works.catalogue import Catalogue, Change, Record, open_catalogue
from mmcrawl.works.collections import Collection, Collections
from mmcrawl.works.index import FACETS, Asked, Entry, WorkIndex, open_index

_REMEMBERED = 8  # lists of which is counted what they have


class WorksOfStore:
    """The works of a crawl store. Any thread may ask it.

    Args:
        store: URI of the crawl store, "" for none.
        media: As the setting MMCRAWL_MEDIA says it.
    """

    def __init__(self, store: str, media: str | None) -> None:
        self.store, self._media = store, media
        self._index: WorkIndex | None = None
        self._collections: tuple[int, list[Collection]] = -1, []
        self._is_described = False
        self._lock = Lock()
        self._programs = Programs()
        self._counted = lru_cache(_REMEMBERED)(lambda _, index, asked: index.counts(asked))

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
    def collection(self) -> Iterator[MediaCollection | None]:
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
        if not self.can_keep:
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

    def index(self) -> tuple[int, WorkIndex]:
        """Return the revision of the works, and an index of them that is up to date."""
        with self._lock, self.open() as records:
            if self._index is None:
                self._index = open_index(self.folder)
            return self._index.update(records), self._index

    def entries(self, asked: Asked, start: int = 0, most: int = -1) -> list[Entry]:
        """Return works that are asked for, in the order in which they were described."""
        return self.index()[1].entries(asked, most, start)

    def counts(self, asked: Asked) -> tuple[int, Mapping[str, Counter[str]]]:
        """Return how many works are asked for, in all and by facet; the last are remembered."""
        found: tuple[int, Mapping[str, Counter[str]]] = self._counted(*self.index(), asked)
        return found

    def require(self, works: Sequence[str]) -> None:
        """Raise Problem (400) where one of some ids is of no work."""
        if len(self.index()[1].named(works)) < len({*works}):
            raise wrong_entry("works")

    def collections(self) -> list[Collection]:
        """Return the collections of works, as they were read after the last change of anything."""
        with self.open() as records:
            revision = records.revision()
            if self._collections[0] != revision:
                self._collections = revision, Collections(records).all()
            return self._collections[1]

    def works_at(self, urls: Iterable[str]) -> dict[str, Sequence[Entry]]:
        """Return the works that addresses show or are a file of, but for hidden ones."""
        index = self.index()[1] if self.is_there else WorkIndex(None)
        return {url: index.at(url) for url in urls}

    # -- what people say, which needs no described works -----------------------------------------

    @property
    def can_keep(self) -> bool:
        """Whether there is a store that anything can be kept beside."""
        return self.store not in ("", "memory:")

    def records(self, kind: str) -> dict[str, Record]:
        """Return all records of a kind, by id."""
        if not self.can_keep:
            return {}
        try:
            with open_catalogue(self.store, self.folder, create=False) as records:
                return records.records(kind)
        except MissingStoreError:
            return {}

    def change(self, kind: str, change: Change) -> None:
        """Change records of a kind, as :meth:`Catalogue.change`."""
        if not self.can_keep:
            raise Problem(400, "unmarked")
        with open_catalogue(self.store, self.folder) as records:
            records.change(kind, change)

    # -- describing -----------------------------------------------------------------------------

    @property
    def is_describing(self) -> bool:
        return bool(self._programs.running())

    def describe(self) -> None:
        """Describe all works, in a process of its own, unless that is under way."""
        with self._lock:
            if self.can_keep and not self.is_describing:
                command = ["works", "describe", *self.arguments]
                self._programs[""] = Command().begin(command, self.folder / "describing.log")

    def failure(self) -> str:
        """Return what the last describing said when it failed, "" if it did not."""
        return self._programs.failure("")

    def close(self) -> None:
        self._programs.close()
        if self._index is not None:
            self._index.close()


def asked(arguments: Arguments) -> Asked:
    """Return the works that the words and facets of a request name."""
    values = {name: arguments.text(name, longest=300) for name in FACETS}
    facets = tuple((name, value) for name, value in values.items() if value)
    return Asked(arguments.text("q"), facets)
