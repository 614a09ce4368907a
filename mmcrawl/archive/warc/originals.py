"""What the revisit records of WARC files refer to."""

from collections.abc import Callable
from dataclasses import replace

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Capture, Version
from mmcrawl.archive.warc.answers import Answer
from mmcrawl.archive.warc.catalogue import Catalogue, Place
from mmcrawl.archive.warc.heads import as_time
from mmcrawl.archive.warc.payload import is_digest_of
from mmcrawl.archive.warc.records import BadRecordError, Record
from mmcrawl.errors import StoreError


class UnresolvedError(Exception):
    """What a revisit refers to is not there."""


class Originals:
    """What revisits refer to: records of the files, else versions of the archive."""

    def __init__(
        self, archive: Archive, catalogue: Catalogue, read: Callable[[Place], Answer]
    ) -> None:
        self._archive = archive
        self._catalogue = catalogue
        self._read = read

    def completed(self, revisit: Answer) -> Capture:
        """Return the capture of a revisit, with the body that it refers to.

        Without a head of its own, or with one that says only "not modified", it has the head of
        what it refers to.

        Raises:
            UnresolvedError: that is not there.
        """
        original = self._original(revisit)
        if revisit.has_head and not revisit.finds_nothing:
            return replace(revisit.capture, body=original.body)
        return replace(original, url=revisit.capture.url, time=revisit.capture.time)

    def _original(self, revisit: Answer) -> Capture:
        place = self._catalogue.original(revisit.record)
        if place is not None:
            try:
                return self._read(place).capture
            except BadRecordError as error:
                raise UnresolvedError(
                    f"the record that this revisit refers to cannot be used: {error}"
                ) from error
        archived = self._named(revisit.record) or self._same(revisit)
        if archived is None:
            what = revisit.record.field("WARC-Refers-To-Target-URI") or "another record"
            raise UnresolvedError(
                f"a revisit of {what}, which is neither in the files nor in the archive"
            )
        return archived

    def _named(self, revisit: Record) -> Capture | None:
        """Return the version of the URL and the date that are named."""
        url = revisit.field("WARC-Refers-To-Target-URI")
        date = as_time(revisit.field("WARC-Refers-To-Date"))
        if not url or date is None:
            return None
        version = version_at(self._archive, url, date + 1)
        if version is None or abs(version.time - date) >= 1:
            return None
        return self._rebuilt(version)

    def _same(self, revisit: Answer) -> Capture | None:
        """Return the version of the same URL, if it has the payload digest."""
        digest = revisit.record.field("WARC-Payload-Digest")
        version = version_at(self._archive, revisit.capture.url, revisit.capture.time)
        if version is None or not digest:
            return None
        found = self._rebuilt(version)
        return found if is_digest_of(digest, found.body) else None

    def _rebuilt(self, version: Version) -> Capture:
        try:
            return self._archive.rebuild(version)
        except StoreError as error:
            raise UnresolvedError(f"what this revisit refers to is damaged: {error}") from error


def version_at(archive: Archive, url: str, time: float) -> Version | None:
    """Return the version of a URL at a time, None if there is none yet.

    Raises:
        StoreError: the archive cannot be read.
    """
    try:
        return archive.get(url, at=time)
    except StoreError:
        if any(visit.time <= time for visit in archive.visits(url)):
            raise
        return None
