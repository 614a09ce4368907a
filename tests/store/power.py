"""A power cut: what is on the disk is what was synced, and nothing else."""

import os
from pathlib import Path

import pytest


class Power:
    """Notes what is synced below a folder.

    Args:
        root: The folder; what is in it by now is on the disk.
    """

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root = root
        self._bytes: dict[int, bytes] = {}  # by inode, as all here
        self._names: dict[int, dict[str, int]] = {}
        self._sync()
        monkeypatch.setattr(os, "fsync", self._fsync)
        monkeypatch.setattr(os, "sync", self._sync)

    def left(self) -> dict[str, bytes]:
        """Return the files that a power cut leaves, by their paths."""
        return dict(self._left(self._root.stat().st_ino, ""))

    def _left(self, folder: int, above: str) -> list[tuple[str, bytes]]:
        found: list[tuple[str, bytes]] = []
        for name, number in self._names.get(folder, {}).items():
            if number in self._names:
                found += self._left(number, f"{above}{name}/")
            else:
                found.append((f"{above}{name}", self._bytes.get(number, b"")))
        return found

    def _fsync(self, handle: int) -> None:
        self._note(Path(os.readlink(f"/proc/self/fd/{handle}")))

    def _sync(self) -> None:
        for path in (self._root, *self._root.rglob("*")):
            self._note(path)

    def _note(self, path: Path) -> None:
        if path.is_dir():
            inside = [(one, one.stat().st_ino) for one in path.iterdir()]
            self._names[path.stat().st_ino] = {one.name: number for one, number in inside}
            for one, number in inside:
                if one.is_dir():
                    self._names.setdefault(number, {})
        else:
            self._bytes[path.stat().st_ino] = path.read_bytes()
