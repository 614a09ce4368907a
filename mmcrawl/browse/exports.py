"""Exports of collections: each made by a program of its own, and kept to be downloaded."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread

from mmcrawl.browse.catalogue import WorksOfStore
from mmcrawl.browse.programs import Command, Programs
from mmcrawl.works.exporting.exporter import exporter_named, exporter_names

_CALLED = re.compile(r"^\w+ works: ")  # by which the command begins what it says
_MOST_SAID = 500  # lines


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
        self._programs = Programs()
        self._lock = Lock()

    def of(self, collection: str) -> list[Export]:
        return [one for name in exporter_names() if (one := self.find(collection, name))]

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
            self._programs.require_room()
            for old in (target, _packed(target), *target.parent.glob(f".{target.name}.*")):
                shutil.rmtree(old, ignore_errors=True)
                old.unlink(missing_ok=True)
            command = ["works", "export", "--collection", collection, "--to", format_]
            command += ["-o", str(target), *self._catalogue.arguments]
            said = target.with_name(f".{target.name}.said")
            self._programs[key] = Command().begin(command, said)
            self._known[key] = Export(format_, _packed(target))
        Thread(target=self._finish, args=(key, target, said), daemon=True).start()

    def remove(self, collection: str) -> None:
        with self._lock:
            for key in [key for key in self._known if key[0] == collection]:
                self._programs[key].end()
                del self._known[key]
        shutil.rmtree(self._folder(collection), ignore_errors=True)

    def _folder(self, collection: str) -> Path:
        return self._catalogue.folder / "exports" / collection

    def _target(self, collection: str, format_: str) -> Path:
        return self._folder(collection) / f"{format_}{exporter_named(format_).suffix}"

    def _finish(self, key: tuple[str, str], target: Path, said: Path) -> None:
        """Wait for an export, and pack what is a folder; runs in a thread."""
        self._programs[key].wait()
        told = []
        try:
            lines = said.read_text(encoding="utf-8", errors="replace").split("\n")
            told += [_CALLED.sub("", line.strip()) for line in lines if line.strip()]
            said.unlink()
            if target.is_dir():
                _pack(target, _packed(target))
        except OSError as error:
            told.append(f"it cannot be packed: {error.strerror or error}")
        with self._lock:
            if key in self._known:  # the collection is there still
                self._known[key] = Export(key[1], _packed(target), told[-_MOST_SAID:], is_done=True)


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
