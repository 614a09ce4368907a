"""The search index: a few immutable objects, and a head that says which of them count.

The index is a list of *segments*. A segment has the postings of the documents that were new when it
was written, the documents themselves, and what was seen on which pages. Its objects never change. A
change of the index is a new head, which names other segments: whoever is interrupted before leaves
objects that nothing refers to. So any store that keeps bytes under a key, and can replace one
record if it is still as it was read, holds an index; what is found does not depend on the store.

Objects of segment ``s``: ``s/documents``, ``s/sightings``, ``s/w0``, ``s/w1``, … (bundles of
postings), ``s/p0``, … (their positions), ``s/t0``, … (bundles of texts) and ``s/bundles`` (the
first term, or document, of each bundle).
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.search_codec import (
    DamagedError,
    Ints,
    as_ints,
    decoded,
    encoded,
    pack_columns,
    read_json,
    unpack_columns,
    write_json,
)
from mmcrawl.archive.search_postings import Inverted, bundles_of
from mmcrawl.archive.search_sightings import Sightings, write_sightings
from mmcrawl.archive.search_texts import Text, text_bundles

__all__ = [
    "Bundles",
    "Content",
    "Documents",
    "Head",
    "IndexStore",
    "Segment",
    "joined_documents",
    "objects_of",
    "read_bundles",
    "read_documents",
]

FORMAT = 2
"""Of all that is stored, and of how text becomes words. An index of another one is made anew."""


class IndexStore(Protocol):
    """Keeps objects and the head. Methods raise StoreError when the store fails.

    Attributes:
        name: How messages call it: a path, or a URI without password.
    """

    name: str

    def head(self) -> tuple[int, bytes] | None:
        """Return the generation and content of the head, None if there is none."""
        ...

    def get(self, keys: Collection[str]) -> dict[str, bytes]:
        """Return those of the objects that are there."""
        ...

    def commit(
        self,
        generation: int,
        head: bytes,
        objects: Mapping[str, bytes] | None = None,
        removed: Iterable[str] = (),
    ) -> bool:
        """Write objects, make them durable, replace the head, then remove the objects of segments.

        Args:
            generation: That the head must still have, 0 for none; the new one has one more.
            head: What to write.
            objects: New ones; their keys were never used.
            removed: Segments to remove.

        Returns:
            Whether the head was as expected. If not, it stays, and nothing refers to the objects.
        """
        ...

    def sweep(self, kept: Collection[str]) -> None:
        """Remove what an interrupted commit left: old objects of no segment in `kept`."""
        ...

    def clear(self) -> None:
        """Remove everything, also what is damaged."""
        ...

    def size(self) -> int:
        """Return the bytes that the index takes."""
        ...

    def close(self) -> None:
        """Close; may be called twice."""
        ...


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment, as the head names it.

    Attributes:
        name: Of its own; never used again.
        documents: How many.
        positions: Occurrences of words in its postings.
        bundles, texts: Bundles of its postings and of its texts.
        bytes: Of its objects.
        sightings: Of them, those of the object of that name.
    """

    name: str
    documents: int
    positions: int
    bundles: int
    texts: int
    bytes: int
    sightings: int


@dataclass(frozen=True, slots=True)
class Head:
    """What counts.

    Attributes:
        generation: Grows with each change; 0 if nothing was ever written.
        next: Id of the next document. Ids ascend from segment to segment.
        segments: In order; those that came later say what is true where two tell of one page.
    """

    generation: int = 0
    next: int = 0
    segments: tuple[Segment, ...] = ()

    def written(self) -> bytes:
        """Return it as stored."""
        segments = [list(asdict(segment).values()) for segment in self.segments]
        return write_json({"format": FORMAT, "next": self.next, "segments": segments})

    @classmethod
    def read(cls, generation: int, content: bytes) -> Head | None:
        """Return what was stored; None for an index of another format.

        Raises:
            DamagedError: it is.
        """
        stored = read_json(content)
        try:
            if stored["format"] != FORMAT:
                return None
            segments = tuple(Segment(*values) for values in stored["segments"])
            return cls(generation, int(stored["next"]), segments)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedError("its head") from error


@dataclass(frozen=True, eq=False)
class Documents:
    """Distinct blocks, in parallel arrays.

    Attributes:
        id: Ascending; postings and runs name a document by it.
        digest: First 64 bits of the SHA-256 of the block.
        encoding: That its text is decoded with, an index into `encodings`. Equal bytes in two
            encodings are two documents, since they may be two texts.
        length: In words.
        media: Kinds of media inside of the block, as bits; those of runs count also what stands
            behind it.
    """

    id: Ints
    digest: NDArray[np.uint64]
    encoding: Ints
    length: Ints
    media: Ints
    encodings: Sequence[str]

    def only(self, kept: NDArray[np.bool_]) -> Documents:
        """Return some of them."""
        return Documents(
            self.id[kept],
            self.digest[kept],
            self.encoding[kept],
            self.length[kept],
            self.media[kept],
            self.encodings,
        )


def _write_documents(documents: Documents) -> bytes:
    return pack_columns(
        (
            write_json(list(documents.encodings)),
            encoded(np.diff(documents.id, prepend=0)),
            documents.digest.tobytes(),
            encoded(documents.encoding),
            encoded(documents.length),
            encoded(documents.media),
        )
    )


def read_documents(frame: bytes) -> Documents:
    """Return the documents of a segment.

    Raises:
        DamagedError: they are.
    """
    columns = unpack_columns(frame)
    if len(columns) != 6:
        raise DamagedError("documents are cut off")
    return Documents(
        id=np.cumsum(decoded(columns[1])),
        digest=np.frombuffer(columns[2], dtype=np.uint64),
        encoding=decoded(columns[3]),
        length=decoded(columns[4]),
        media=decoded(columns[5]),
        encodings=read_json(columns[0]),
    )


@dataclass(frozen=True, eq=False)
class Content:
    """All of a segment; `texts` are those of the documents, in their order."""

    inverted: Inverted
    documents: Documents
    texts: Sequence[Text]
    seen: Sightings


@dataclass(frozen=True, slots=True)
class Bundles:
    """The first term of each bundle of postings, and the first document of each one of texts."""

    terms: list[str]
    texts: list[int]


def objects_of(content: Content) -> tuple[Segment, dict[str, bytes]]:
    """Return a new segment, and its objects by their keys."""
    name = secrets.token_hex(8)
    objects = {
        f"{name}/documents": _write_documents(content.documents),
        f"{name}/sightings": write_sightings(content.seen),
    }
    firsts = Bundles([], [])
    for number, bundle in enumerate(bundles_of(content.inverted)):
        firsts.terms.append(bundle.first)
        objects[f"{name}/w{number}"] = bundle.words
        objects[f"{name}/p{number}"] = bundle.positions
    for number, (place, texts) in enumerate(text_bundles(content.texts)):
        firsts.texts.append(int(content.documents.id[place]))
        objects[f"{name}/t{number}"] = texts
    objects[f"{name}/bundles"] = pack_columns([write_json([firsts.terms, firsts.texts])])
    segment = Segment(
        name,
        documents=len(content.documents.id),
        positions=len(content.inverted.step),
        bundles=len(firsts.terms),
        texts=len(firsts.texts),
        bytes=sum(map(len, objects.values())),
        sightings=len(objects[f"{name}/sightings"]),
    )
    return segment, objects


def read_bundles(frame: bytes) -> Bundles:
    """Return where the bundles of a segment begin.

    Raises:
        DamagedError: the frame is.
    """
    return Bundles(*read_json(unpack_columns(frame)[0]))


def joined_documents(parts: Sequence[Documents]) -> Documents:
    """Return the documents of several segments, in their order."""
    encodings: dict[str, int] = {}
    numbers = [
        as_ints([encodings.setdefault(name, len(encodings)) for name in part.encodings])[
            part.encoding
        ]
        for part in parts
    ]
    empty = as_ints([])
    return Documents(
        id=np.concatenate([empty, *(part.id for part in parts)]),
        digest=np.concatenate([empty.astype(np.uint64), *(part.digest for part in parts)]),
        encoding=np.concatenate([empty, *numbers]),
        length=np.concatenate([empty, *(part.length for part in parts)]),
        media=np.concatenate([empty, *(part.media for part in parts)]),
        encodings=list(encodings),
    )
