"""What a playlist names, whatever its format."""

from collections.abc import Callable
from dataclasses import dataclass

from mmcrawl.errors import MediaError
from mmcrawl.page.urls import absolute_url

MOST_PIECES = 20_000
"""Pieces of a track, at most: four seconds each in a day of film."""

Fits = Callable[[int], bool]
"""Tells whether there is room for so many bytes."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a piece is encrypted with, by AES-128 in CBC mode.

    Attributes:
        url: where the 16 bytes of the key are.
        iv: the initialization vector, 16 bytes.
    """

    url: str
    iv: bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a track, in one file or in a range of it.

    Attributes:
        url: of the file.
        start: first byte, and `length`, how many; None for all from there.
        key: None where it is not encrypted.
        is_head: whether it is what goes before the first piece.
    """

    url: str
    start: int = 0
    length: int | None = None
    key: Key | None = None
    is_head: bool = False


@dataclass(frozen=True, slots=True)
class Track:
    """Sound, pictures or both, in pieces that follow each other.

    Attributes:
        pieces: in their order; put together they are a file of their format.
        seconds: it lasts.
        has_pictures: whether it is more than sound.
    """

    pieces: tuple[Piece, ...]
    seconds: float
    has_pictures: bool = True

    @property
    def files(self) -> list[str]:
        """Addresses of what is to be fetched, each once."""
        urls: dict[str, None] = {}
        for piece in self.pieces:
            if piece.key is not None:
                urls[piece.key.url] = None
            urls[piece.url] = None
        return [*urls]


def left_out(what: str) -> MediaError:
    """Return the error for a playlist of a kind that is not collected."""
    return MediaError(f"it is a playlist {what}", left_out=True)


def address(base: str, name: str | None) -> str:
    """Return the absolute address of what a playlist names.

    Raises:
        MediaError: it is none of the web.
    """
    url = (absolute_url(base, name) or "").partition("#")[0] if name else ""
    if url.startswith(("http://", "https://")):
        return url
    raise MediaError(f"it is a playlist that names {str(name)[:80]!r}, which is no web address")
