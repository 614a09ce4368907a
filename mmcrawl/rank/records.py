"""What ranks are computed from: the pages of an archive, their blocks and their links, as records.

The records are the whole contract between those who read an archive and those who rank it: flat
values with plain types, so that each kind is also a row of a table. Every character of a page's
visible text is counted in one block, every link stands in one: the deepest that holds it.
"""

from __future__ import annotations

from dataclasses import dataclass

NOT_STORED = -1
"""Target of a link to what the archive does not hold as a page."""

OUTSIDE = -1
"""Number of what stands on a page outside of all its blocks, kept as a block of level 0."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page: one version of a URL that a server answered with a status from 200 to 299.

    Attributes:
        id: From 0, without gaps, in the order of URLs.
        url: As stored. Of several that the frontier takes for one, the one fetched last.
        host: Lower case, "" if it has none.
        version: Its number within the URL.
        time: Of the request, in Unix seconds.
        status: HTTP status.
        language: As declared, lower case (``zh-cn``), or "".
        title: White space collapsed, at most 300 characters.
        text_chars: Characters of visible text; 0 for what is no HTML.
    """

    id: int
    url: str
    host: str
    version: int
    time: float
    status: int
    language: str
    title: str
    text_chars: int


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block of a page.

    Blocks that only hold other blocks, with neither text nor links between these, are left out.

    Attributes:
        page: Id of the page.
        number: Place among :meth:`mmcrawl.archive.Archive.blocks_of` its version, from 0: each
            block before those inside of it. :data:`OUTSIDE` for the rest of the page.
        level: 1 for a block of the page, n + 1 for one inside of a block of level n, 0 for the
            rest of the page.
        kind: One of :data:`mmcrawl.blocks.kinds.KINDS`, "" for the rest of the page.
        kind_score: How surely it is of its kind, in (0, 1].
        text_chars: Characters of visible text, without those of the blocks inside of it.
        start, end: Byte range of the page as received.
        topic: What it is about, in a few words; "" where topics are not read.
    """

    page: int
    number: int
    level: int
    kind: str
    kind_score: float
    text_chars: int
    start: int
    end: int
    topic: str


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A link. A block that names a URL several times has one link to it.

    Attributes:
        source: Id of the page it stands on.
        block: Number of the deepest block it stands in, or :data:`OUTSIDE`.
        target: Id of the page it leads to, redirects followed; :data:`NOT_STORED` if the archive
            has no such page. It may be the source.
        url: Where it leads: absolute, as a request would be made, before redirects.
        anchor: Its text, else its title or the ``alt`` of a picture in it.
    """

    source: int
    block: int
    target: int
    url: str
    anchor: str


@dataclass(frozen=True, slots=True)
class MediaRecord:
    """A medium that a block shows or links to; a block names it once.

    Attributes:
        block: Number of the deepest of the page's :class:`BlockRecord` it stands in;
            :data:`OUTSIDE` for what stands in none, also where the page has no such record.
        url: Absolute.
        kind: One of :data:`mmcrawl.text.media_kinds.KINDS`.
    """

    block: int
    url: str
    kind: str


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page with its blocks in order of their numbers, its links in order, and its media."""

    page: PageRecord
    blocks: tuple[BlockRecord, ...]
    links: tuple[LinkRecord, ...]
    media: tuple[MediaRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """A page as received, with what says how the archive cuts it.

    Attributes:
        page: Its id.
        url: As stored.
        encoding: Python codec name, "" if unknown.
        method, level: Of the partition; "" and 0 for what is no HTML.
        body: Without content encoding.
    """

    page: int
    url: str
    encoding: str
    method: str
    level: int
    body: bytes
