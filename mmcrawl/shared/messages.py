"""What workers and the coordinator of a shared crawl tell each other, and how it is written.

A worker sends *messages*: what became of the links it was given. The coordinator writes *entries*
into the log, each holding the messages it took in and what it gave out, and leaves *mail* for every
worker: the links leased to it. All are JSON, compressed with zstd.
"""

import json
import struct
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

import zstandard

from mmcrawl.frontier import NewLink, WaitingLink
from mmcrawl.page import MediaResource
from mmcrawl.reports import PageReport, ReportedLink

__all__ = [
    "Added",
    "Entry",
    "Event",
    "Failed",
    "Fetched",
    "Grant",
    "Lease",
    "Mail",
    "Message",
    "Pointless",
    "Redirected",
    "Retried",
    "Returned",
]

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
_EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind for kind in (Fetched, Failed, Redirected, Retried, Returned, Added)
}


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
        plain = {name: getattr(self, name) for name in _PLAIN_OF_MESSAGE}
        return _pack(plain | {"events": [_plain_event(event) for event in self.events]})

    @classmethod
    def decode(cls, data: bytes) -> "Message":
        """Return the message that `encode` wrote."""
        plain = _unpack(data)
        return cls(**plain | {"events": tuple(map(_event, plain["events"]))})


_PLAIN_OF_MESSAGE = tuple(f.name for f in fields(Message) if f.name != "events")


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
        links: how many links the frontier knew before it.
        gone: workers whose links wait again.
        messages: as they were sent, in the order they were taken in.
        starts: what was done with waiting links, in order.
        stop: why the crawl is over, "" while it goes on.
    """

    term: int
    coordinator: str
    links: int
    gone: tuple[str, ...] = ()
    messages: tuple[bytes, ...] = ()
    starts: tuple[Grant | Pointless, ...] = ()
    stop: str = ""

    def encode(self) -> bytes:
        """Return the entry as bytes."""
        plain = asdict(self) | {
            "messages": [len(message) for message in self.messages],
            "starts": [
                [start.link, start.lease, start.worker]
                if isinstance(start, Grant)
                else [start.link, start.reason]
                for start in self.starts
            ],
        }
        head = _pack(plain)
        return b"".join((_LENGTH.pack(len(head)), head, *self.messages))

    @classmethod
    def decode(cls, data: bytes) -> "Entry":
        """Return the entry that `encode` wrote."""
        end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        plain = _unpack(data[_LENGTH.size : end])
        messages = []
        for length in plain["messages"]:
            messages.append(data[end : end + length])
            end += length
        starts = (
            Grant(*s) if len(s) == len(fields(Grant)) else Pointless(*s) for s in plain["starts"]
        )
        return cls(
            **plain
            | {
                "gone": tuple(plain["gone"]),
                "messages": tuple(messages),
                "starts": tuple(starts),
            }
        )


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
        leases = [
            [
                lease.number,
                asdict(lease.link) | {"request": _text(lease.link.request)},
                lease.referrer,
            ]
            for lease in self.leases
        ]
        return _pack(
            {
                "term": self.term,
                "leases": leases,
                "moved": self.moved,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> "Mail":
        """Return the mail that `encode` wrote."""
        plain = _unpack(data)
        leases = (
            Lease(number, WaitingLink(**link | {"request": _bytes(link["request"])}), referrer)
            for number, link, referrer in plain["leases"]
        )
        moved = tuple((host, target) for host, target in plain["moved"])
        return cls(**plain | {"leases": tuple(leases), "moved": moved})


def _plain_event(event: Event) -> list[Any]:
    plain: dict[str, Any] = {f.name: getattr(event, f.name) for f in fields(event)}
    match event:
        case Fetched():
            plain["report"] = _plain_report(event.report)
            plain["requests"] = [_plain_link(link) for link in event.requests]
        case Failed():
            plain["requests"] = [_plain_link(link) for link in event.requests]
        case Redirected():
            plain["target"] = _plain_link(event.target)
        case Retried():
            plain["request"] = _text(event.request)
        case Added():
            plain["links"] = [_plain_link(link) for link in event.links]
    return [type(event).__name__, plain]


def _event(plain: Sequence[Any]) -> Event:
    kind, values = _EVENTS[plain[0]], dict(plain[1])
    if "requests" in values:
        values["requests"] = tuple(map(_new_link, values["requests"]))
    if kind is Fetched:
        values["report"] = _report(values["report"])
    elif kind is Redirected:
        values["target"] = _new_link(values["target"])
    elif kind is Retried:
        values["request"] = _bytes(values["request"])
    elif kind is Added:
        values["links"] = tuple(map(_new_link, values["links"]))
    return kind(**values)


def _plain_report(report: PageReport) -> dict[str, Any]:
    plain = {f.name: getattr(report, f.name) for f in fields(report)}
    plain["signs"] = {name: dict(found) for name, found in report.signs.items()}
    plain["media"] = [[m.url, m.kind, m.tag, m.text] for m in report.media]
    plain["links"] = [
        [k.url, k.anchor, k.group_title, k.from_script, k.nofollow, k.block] for k in report.links
    ]
    return plain


def _report(plain: Mapping[str, Any]) -> PageReport:
    media = tuple(MediaResource(*values) for values in plain["media"])
    links = tuple(ReportedLink(*values) for values in plain["links"])
    return PageReport(**{**plain, "media": media, "links": links})


def _plain_link(link: NewLink) -> dict[str, Any]:
    return asdict(link) | {"request": _text(link.request), "extra": _text(link.extra)}


def _new_link(plain: Mapping[str, Any]) -> NewLink:
    values = {**plain, "request": _bytes(plain["request"]), "extra": _bytes(plain["extra"])}
    return NewLink(**values)


def _text(value: bytes | None) -> str | None:
    return None if value is None else b64encode(value).decode()


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else b64decode(value)


def _pack(plain: Mapping[str, Any]) -> bytes:
    text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"))
    return zstandard.ZstdCompressor(level=_LEVEL).compress(text.encode())


def _unpack(data: bytes) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(
        zstandard.ZstdDecompressor().decompress(data, max_output_size=_LONGEST)
    )
    return plain
