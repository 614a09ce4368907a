"""What workers and the coordinator of a shared crawl tell each other, and how it is written.

A worker sends *messages*: what became of the links it was given. The coordinator writes *entries*
into the log, each holding the messages it took in and what it gave out, and leaves *mail* for every
worker: the links leased to it. All are JSON, compressed with zstd.
"""

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import zstandard

from mmcrawl.crawling.reports import PageReport
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.stores.plain_values import PlainForm

_LEVEL = 3
_LONGEST = 256 << 20  # bytes of a message, decompressed
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A link led to a page."""

    link: int
    lease: int
    report: PageReport
    requests: tuple[NewLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A link cannot be had; `requests` the spider asked for all the same."""

    link: int
    lease: int
    reason: str
    requests: tuple[NewLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Redirected:
    """A link only leads on."""

    link: int
    lease: int
    target: NewLink


@dataclass(frozen=True, slots=True)
class Retried:
    """A link is to be fetched again, with this request."""

    link: int
    lease: int
    request: bytes | None
    priority: int


@dataclass(frozen=True, slots=True)
class Returned:
    """A link was not fetched and is given back."""

    link: int
    lease: int


@dataclass(frozen=True, slots=True)
class Added:
    """Links that come from no page."""

    links: tuple[NewLink, ...]


Event: TypeAlias = Fetched | Failed | Redirected | Retried | Returned | Added


@dataclass(frozen=True, slots=True)
class Message:
    """What a worker tells.

    Attributes:
        worker: its name.
        number: counts its messages from 0.
        received: number of the last lease it has got.
        capacity: how many links it wants to hold.
        events: what happened, in order.
        leaving: it goes; what it still holds is not being fetched any more.
    """

    worker: str
    number: int
    received: int = -1
    capacity: int = 0
    events: tuple[Event, ...] = ()
    leaving: bool = False

    def encode(self) -> bytes:
        """Return the message as bytes."""
        return _pack(_MESSAGE.write(self))

    @classmethod
    def decode(cls, data: bytes) -> "Message":
        """Return the message that `encode` wrote.

        Raises:
            ValueError: it did not write this.
        """
        return _MESSAGE.read(_unpack(data))


@dataclass(frozen=True, slots=True)
class Grant:
    """A link was leased to a worker; leases are numbered in the order they are given."""

    link: int
    lease: int
    worker: str


@dataclass(frozen=True, slots=True)
class Pointless:
    """A link was due, but pages like it hold nothing."""

    link: int
    reason: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A step of the log: what the coordinator took in, then what it gave out.

    Attributes:
        term: counts the coordinators of the job.
        coordinator: name of the worker that wrote it.
        known: digest of the links the frontier knew before it, see `SharedCrawl.known`.
        gone: workers whose links wait again.
        messages: as they were sent, in the order they were taken in.
        starts: what was done with waiting links, in order.
        stop: why the crawl is over, "" while it goes on.
    """

    term: int
    coordinator: str
    known: str
    gone: tuple[str, ...] = ()
    messages: tuple[bytes, ...] = ()
    starts: tuple[Grant | Pointless, ...] = ()
    stop: str = ""

    def encode(self) -> bytes:
        """Return the entry as bytes."""
        lengths = tuple(map(len, self.messages))
        head = _pack([_LENGTHS.write(lengths), _ENTRY.write(replace(self, messages=()))])
        return b"".join((_LENGTH.pack(len(head)), head, *self.messages))

    @classmethod
    def decode(cls, data: bytes) -> "Entry":
        """Return the entry that `encode` wrote.

        Raises:
            ValueError: it did not write this.
        """
        try:
            end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
            lengths, plain = _unpack(data[_LENGTH.size : end])
        except (struct.error, TypeError) as error:
            raise ValueError(f"it does not begin as an entry does: {error}") from error
        entry, messages = _ENTRY.read(plain), []
        for length in _LENGTHS.read(lengths):
            messages.append(data[end : end + length])
            end += length
        if end != len(data):
            raise ValueError(f"it has {len(data)} bytes instead of {end}")
        return replace(entry, messages=tuple(messages))


@dataclass(frozen=True, slots=True)
class Lease:
    """A link as a worker gets it; `referrer` is the address of the page it was found on."""

    number: int
    link: WaitingLink
    referrer: str | None


@dataclass(frozen=True, slots=True)
class Mail:
    """What the coordinator tells a worker.

    Attributes:
        term: of the coordinator; mail of an earlier term is out of date.
        leases: those the worker has not said it received, in order.
        moved: hosts of seeds and the hosts they redirect to.
    """

    term: int
    leases: tuple[Lease, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()

    def encode(self) -> bytes:
        """Return the mail as bytes."""
        return _pack(_MAIL.write(self))

    @classmethod
    def decode(cls, data: bytes) -> "Mail":
        """Return the mail that `encode` wrote.

        Raises:
            ValueError: it did not write this.
        """
        return _MAIL.read(_unpack(data))


def read_all(
    arrived: Iterable[tuple[str, bytes]],
) -> tuple[list[tuple[Message, bytes]], dict[str, str]]:
    """Return messages with their bytes, sorted; and by their names those that are none, with why.

    Args:
        arrived: names and bytes. What stands before the last slash of a name is the worker's.
    """
    messages, unreadable = [], {}
    for name, data in arrived:
        try:
            messages.append((_of_worker(name.rpartition("/")[0], data), data))
        except ValueError as error:
            unreadable[name] = str(error)
    return sorted(messages, key=lambda pair: (pair[0].worker, pair[0].number)), unreadable


def _of_worker(worker: str, data: bytes) -> Message:
    message = Message.decode(data)
    if message.worker != worker:
        raise ValueError(f"it says that it is of {message.worker!r}")
    return message


_MESSAGE = PlainForm[Message](Message)
_ENTRY = PlainForm[Entry](Entry)
_MAIL = PlainForm[Mail](Mail)
_LENGTHS = PlainForm[tuple[int, ...]](tuple[int, ...])


def _pack(plain: object) -> bytes:
    text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"))
    return zstandard.ZstdCompressor(level=_LEVEL).compress(text.encode())


def _unpack(data: bytes) -> Any:
    """Return what `_pack` was given; ValueError if it was given nothing of the kind."""
    try:
        if zstandard.frame_content_size(data) > _LONGEST:  # the decompressor would believe it
            raise ValueError(f"it is longer than {_LONGEST:,} bytes")
        text = zstandard.ZstdDecompressor().decompress(data, max_output_size=_LONGEST)
        return json.loads(text)
    except zstandard.ZstdError as error:
        raise ValueError(f"it is not compressed with zstd, or damaged: {error}") from error
    except (RecursionError, TypeError) as error:
        raise ValueError(f"it is no JSON: {error}") from error
