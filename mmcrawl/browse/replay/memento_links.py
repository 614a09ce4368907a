"""The links between an original address, its TimeGate, TimeMaps and mementos (RFC 7089)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request

from mmcrawl.browse.replay.addresses import (
    REPLAY,
    archived_url,
    http_date,
    replay_address,
    written_url,
)
from mmcrawl.browse.replay.history import History, Memento

LINK_FORMAT = "application/link-format"
"""Content type of a TimeMap (RFC 6690)."""

_LONGEST_RELATED = 1_500  # characters of a URL that is repeated for each relation


def origin_of(request: Request) -> str:
    """Return ``http://HOST:PORT`` as the client knows it."""
    return f"{request.url.scheme}://{request.url.netloc}"


def requested_url(request: Request, parts: int, longest: int) -> str:
    """Return the archived URL that stands at the end of a request's path, with its query.

    Args:
        request: As received.
        parts: How many segments of the path come before.
        longest: Characters that it may have.

    Raises:
        ValueError: it is longer, or empty.
    """
    raw = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    path = raw.split(b"?")[0].decode("latin-1").split("/", parts + 1)[-1]
    url = archived_url(path, request.scope["query_string"].decode("latin-1"))
    if len(url) > longest:
        raise ValueError(f"the address has {len(url):,} characters; {longest:,} are allowed")
    if url == "http://":
        raise ValueError("no address is given; put it at the end: http://…")
    return url


@dataclass(frozen=True, slots=True)
class Related:
    """The addresses of one URL: original, TimeGate, TimeMaps, mementos."""

    origin: str
    url: str

    @property
    def original(self) -> str:
        return written_url(self.url)

    @property
    def timegate(self) -> str:
        return f"{self.origin}/timegate/{self.original}"

    def timemap(self, form: str = "link", page: int = 1) -> str:
        number = f"{page}/" if page > 1 else ""
        return f"{self.origin}/timemap/{form}/{number}{self.original}"

    def memento(self, memento: Memento) -> str:
        return self.origin + replay_address(self.url, memento.time, place=REPLAY)

    def entries(self, history: History, chosen: list[Memento]) -> Iterator[str]:
        """Yield links to some mementos, each with its datetime."""
        ends = history.mementos[:1], history.mementos[-1:]
        for memento in chosen:
            words = [
                word for word, end in zip(("first", "last"), ends, strict=True) if [memento] == end
            ]
            yield link(
                self.memento(memento),
                " ".join([*words, "memento"]),
                datetime=http_date(memento.time),
            )


def link(target: str, rel: str, **parameters: str) -> str:
    """Return a link as headers and link lists write it (RFC 8288)."""
    return "; ".join(
        [
            f"<{target}>",
            f'rel="{rel}"',
            *(f'{name}="{value}"' for name, value in parameters.items()),
        ]
    )


def memento_links(origin: str, url: str, history: History, current: Memento | None = None) -> str:
    """Return the ``Link`` header of a TimeGate or a memento.

    Args:
        origin: ``http://HOST:PORT`` as the client knows it.
        url: Original URL.
        history: Of the URL; without mementos only the original, and where to ask, are named.
        current: The memento that is served or led to.
    """
    related = Related(origin, url)
    links = [
        link(related.original, "original"),
        link(related.timegate, "timegate"),
        link(related.timemap(), "timemap", type=LINK_FORMAT),
    ]
    if history.mementos and len(related.original) <= _LONGEST_RELATED:
        links += _neighbours(related, history, current)
    return ", ".join(links)


def _neighbours(related: Related, history: History, current: Memento | None) -> Iterator[str]:
    """Yield links to the first, previous, current, next and last memento, each once."""
    before, behind = history.around(current) if current else (None, None)
    relations: dict[Memento, list[str]] = {}
    for memento, word in (
        (history.mementos[0], "first"),
        (before, "prev"),
        (current, ""),
        (behind, "next"),
        (history.mementos[-1], "last"),
    ):
        if memento is not None:
            relations.setdefault(memento, []).extend([word] if word else [])
    for memento, words in relations.items():
        rel = " ".join([*words, "memento"])
        yield link(related.memento(memento), rel, datetime=http_date(memento.time))
