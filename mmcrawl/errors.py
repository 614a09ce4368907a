"""The errors a user can cause or meet. Each message says what was wrong and what to do.

Also which errors are no fault of the page they come up at, and so end the crawl.
"""

from collections.abc import Iterable, Iterator
from errno import EDQUOT, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC

_MEMORY = "memory; give it more, or fetch fewer pages at once (-s CONCURRENT_REQUESTS=8)"
_FILES = "open files; raise the limit (ulimit -n)"
_THREADS = "threads; raise the limit (ulimit -u)"
_DISK = "disk space; make room"
_SHORT_OF = {
    ENOMEM: _MEMORY,
    ENOBUFS: _MEMORY,
    EMFILE: _FILES,
    ENFILE: _FILES,
    ENOSPC: _DISK,
    EDQUOT: _DISK,
}


class MmcrawlError(Exception):
    """Base of all errors that are shown to the user as one sentence, without a traceback."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the known one that is most like it.

    >>> did_you_mean("focussed", ["collect", "focused"])
    '; did you mean focused?'
    """
    from difflib import get_close_matches  # seldom needed, and slow to load

    near = get_close_matches(name, known, 1, 0.7)
    return f"; did you mean {near[0]}?" if near else ""


class TopicError(MmcrawlError):
    """A topic is unknown, or a topic file cannot be read."""


class SeedError(MmcrawlError):
    """A seed list is missing, empty, or has a line that is no URL."""


class RuleError(MmcrawlError):
    """A file of rules for addresses is missing, or has a line that is no rule."""


class WebError(MmcrawlError):
    """A stored web to replay is missing or unreadable."""


class StoreError(MmcrawlError):
    """A store cannot be opened or written: not ours, of another version, full, or unreachable."""


class DamagedStoreError(StoreError):
    """What a store has cannot be what was written there."""


class MissingStoreError(StoreError):
    """A store, or a file to read, is not there."""


class UnreachableError(StoreError):
    """A store does not answer, or is locked; the same may go well later."""


class ExhaustedError(StoreError):
    """The process has run out of what it needs to go on: memory, open files, threads, disk."""


class BlockError(MmcrawlError):
    """A partitioner is unknown, or does not take an option."""


class RankError(MmcrawlError):
    """No ranks: unknown method, nothing to rank, a missing topic, or none computed yet."""


class ListingError(MmcrawlError):
    """A sitemap cannot be read, or is beyond its bounds; the message is the reason of its link."""


class RequestError(MmcrawlError):
    """A request cannot be kept in a store, or what is kept there is none."""


class ItemError(MmcrawlError):
    """A pipeline put into an item what the store cannot hold."""


class MediaError(MmcrawlError):
    """A medium could not be downloaded.

    Args:
        reason: why, a sentence without a full stop.
        left_out: whether it is the limits of this run that leave it out.
        again: whether it may help to ask once more.
    """

    def __init__(self, reason: str, *, left_out: bool = False, again: bool = False) -> None:
        super().__init__(reason)
        self.left_out = left_out
        self.again = again


class SearchError(MmcrawlError):
    """What is asked for is not understood, as a query, or is not there, as a page to watch.

    Attributes:
        name, values: Of the sentence, for translation; "" for none.
    """

    def __init__(self, message: str, name: str = "", **values: object) -> None:
        super().__init__(message)
        self.name, self.values = name, values


class CollectionError(MmcrawlError):
    """A work, a correction or a format of an export is not there, or is not understood."""


class MissingRecordError(CollectionError):
    """A work, or a collection of works, is not there.

    Args:
        message: The sentence.
        name: The id, or the name, that was asked for.
    """

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


class EntryError(CollectionError):
    """What an editor writes cannot be kept.

    Args:
        field: Of what: its name.
        message: What may be there.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def fatal_error(error: BaseException | None) -> StoreError | None:
    """Return the error that ends the crawl; None if only the page at hand is lost by `error`.

    A page may be such that it cannot be fetched, parsed or stored. A store that fails, or a process
    that has no memory, open files, threads or disk left, would lose each page after it as well: the
    crawl stops with nothing marked, and the same command continues. The cause may stand behind what
    was made of it, as "too many open files" behind a connection that failed.
    """
    if isinstance(error, StoreError):
        return error
    for cause in _causes(error):
        short_of = _short_of(cause)
        if short_of:
            return ExhaustedError(
                f"this process has run out of {short_of}, and run the same command again"
            )
    return None


def raise_if_fatal(error: BaseException) -> None:
    """Raise what ends the crawl, see `fatal_error`; return if only the page at hand is lost.

    Raises:
        StoreError: `error` is one, or the process has run out of something.
    """
    fatal = fatal_error(error)
    if fatal is not None:
        raise fatal from (None if fatal is error else error)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # an error may be its own cause
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _short_of(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return _MEMORY
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return _THREADS
    number = getattr(error, "osError", None)  # Twisted's name for it
    if isinstance(error, OSError):
        number = error.errno
    return _SHORT_OF.get(number, "") if isinstance(number, int) else ""
