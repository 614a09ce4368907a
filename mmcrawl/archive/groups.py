"""Storing a group of visits in as few commits as may be."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.levels import LevelManager
from mmcrawl.archive.model import LARGEST_BODY, Capture, Stored, Unchanged
from mmcrawl.archive.opening import open_archive
from mmcrawl.errors import MmcrawlError, StoreError, raise_if_fatal

__all__ = ["Answers", "ArchiveStore", "GroupStore", "RefusedError", "Unchanged", "Visited"]

logger = logging.getLogger(__name__)


Visited = Capture | Unchanged


class RefusedError(MmcrawlError):
    """A visit cannot be kept for what it is; others can."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What storing a group came to.

    Attributes:
        of: For each visit what it came to when it is durable, or why it never will be; None for
            what the store failed at, which may be tried again.
        failure: Why the store failed; None if it did not.
    """

    of: list[Stored | RefusedError | None]
    failure: StoreError | None = None


class GroupStore(Protocol):
    """Where groups of visits go."""

    def store(self, visits: Sequence[Visited]) -> Answers:
        """Store visits.

        Raises:
            StoreError: the store has failed for good: to try again is of no use.
        """
        ...

    def close(self) -> None:
        """Close the store.

        Raises:
            StoreError: it fails on closing; what was acknowledged is safe.
        """
        ...


class ArchiveStore:
    """Stores groups in an open archive, which is closed with it.

    Args:
        archive: Open.
        levels: Chooses the levels of pages that were stored before; None leaves them as they are.
    """

    def __init__(self, archive: Archive, levels: LevelManager | None = None) -> None:
        self._archive = archive
        self._levels = levels

    @classmethod
    def open(cls, uri: str, *, create: bool) -> Self:
        """Open an archive; levels are chosen.

        Raises:
            StoreError: as :func:`~mmcrawl.archive.open_archive` does.
        """
        archive = open_archive(uri, create=create)
        return cls(archive, LevelManager(archive))

    def store(self, visits: Sequence[Visited]) -> Answers:
        """Store visits in one commit; what cannot be stored for what it is fails alone."""
        answers = Answers([None] * len(visits))
        try:
            self._keep(visits, range(len(visits)), answers)
        except StoreError as error:
            return Answers(answers.of, error)
        return answers

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()

    def _new_levels(self, visits: Sequence[Visited]) -> list[int | None]:
        """Return the levels of pages that are to be cut otherwise than before."""
        known = self._archive.known(v.url for v in visits if isinstance(v, Capture))
        return [
            self._new_level(visit.url)
            if isinstance(visit, Capture) and visit.url in known
            else None
            for visit in visits
        ]

    def _new_level(self, url: str) -> int | None:
        if self._levels is None:
            return None
        try:
            choice = self._levels.choose(url)
        except Exception as error:
            raise_if_fatal(error)
            logger.exception("No level could be chosen for %s; it keeps that it has", url)
            return None
        if not choice.is_new:
            return None
        logger.info("%s: %s", url, choice.reason)
        return choice.level

    def _keep(
        self,
        visits: Sequence[Visited],
        part: Sequence[int],
        answers: Answers,
    ) -> None:
        """Store a part of a group, or if that cannot be done, each of its visits."""
        some = [visits[n] for n in part]
        try:
            _check_sizes(some)
            stored = self._archive.store_many(some, levels=self._new_levels(some))
        except Exception as error:  # noqa: BLE001 - told to whoever waits for the page
            raise_if_fatal(error)
            if len(part) == 1:
                answers.of[part[0]] = _refusal(visits[part[0]], error)
                return
            for n in part:
                self._keep(visits, [n], answers)
            return
        for n, answer in zip(part, stored, strict=True):
            answers.of[n] = answer
            if not answer.noted:
                url = visits[n].url
                logger.warning(
                    "A visit of %s is not noted: the archive has no version of it from before; it"
                    " was removed meanwhile, or the clock of this machine is slow",
                    url,
                )


def _check_sizes(visits: Iterable[Visited]) -> None:
    for visit in visits:
        if isinstance(visit, Capture) and len(visit.body) > LARGEST_BODY:
            raise RefusedError(f"its body is larger than {LARGEST_BODY:,} bytes")


def _refusal(visit: Visited, error: Exception) -> RefusedError:
    if isinstance(error, RefusedError):
        return error
    logger.error("%s could not be archived", visit.url, exc_info=error)
    return RefusedError(f"{type(error).__name__}: {error}")
