"""What the backends of both databases do alike: one thread writes, and rows are read by pages."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from mmcrawl.archive.rows import UrlRow
from mmcrawl.errors import StoreError

PAGE = 1_000
"""Rows that are asked for at once; none is being read any more while others are written."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S", bound="CommonBackend")


def guarded(
    method: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_S, _P], _R]:
    """Let a method run as :meth:`CommonBackend._guard` says, and explain what fails."""

    @wraps(method)
    def in_guard(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self._guard():
            return method(self, *args, **kwargs)

    return in_guard


class CommonBackend(ABC):
    """A part of a :class:`~mmcrawl.archive.backend.Backend`; its attributes are told there."""

    def __init__(self, name: str, *, read_only: bool) -> None:
        self.name = name
        self.read_only = read_only
        self._lock = threading.RLock()
        self._depth = 0

    @abstractmethod
    def _guard(self) -> AbstractContextManager[None]:
        """Turn what the database raises into a StoreError; keep other threads out if need be."""

    @abstractmethod
    def _urls_from(self, after: str, inclusive: bool, host: str | None) -> list[UrlRow]:
        """Return the next rows in the order of their URLs, at most :data:`PAGE`."""

    @abstractmethod
    def _chunks_after(self, digest: bytes) -> list[tuple[bytes, int]]:
        """Return the next digests and places in the order of digests, likewise."""

    @contextmanager
    def _changing(self, change: AbstractContextManager[None]) -> Iterator[None]:
        """Keep other threads out while a change is made; of several within each other, one."""
        with self._lock:
            if self._depth:
                yield
                return
            if self.read_only:
                raise StoreError(f"archive {self.name} was opened for reading only")
            with self._guard(), change:
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0

    def urls(self, host: str | None = None, prefix: str | None = None) -> Iterator[UrlRow]:
        after, inclusive = prefix or "", True
        while rows := self._urls_from(after, inclusive, host):
            for row in rows:
                if prefix and not row.url.startswith(prefix):
                    return
                yield row
            after, inclusive = rows[-1].url, False

    def chunks(self) -> Iterator[tuple[bytes, int]]:
        after = b""
        while rows := self._chunks_after(after):
            yield from rows
            after = rows[-1][0]
