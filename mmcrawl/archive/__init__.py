"""The block archive: every version of every page, cut into blocks, equal bytes stored once.

An :class:`Archive` is opened by URI. It keeps captures as versions of URLs (Song et al. 2008),
rebuilds any of them byte for byte, and tells two of them apart block by block. Nothing is
acknowledged before it is durable. A :class:`Search` finds its blocks by what they say.
"""

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.changes import BlockChange, Difference, WordChange
from mmcrawl.archive.lives import BlockLife, BlockPage, StoredAnew
from mmcrawl.archive.model import (
    LARGEST_BODY,
    ArchiveStats,
    Capture,
    CheckReport,
    Fault,
    HostStats,
    PageBlocks,
    Purged,
    Stored,
    StoredBlock,
    Unchanged,
    Version,
    Visit,
    leaves,
)
from mmcrawl.archive.opening import open_archive
from mmcrawl.archive.search import (
    ArchivedHit,
    Counts,
    Hit,
    IndexStats,
    Results,
    Search,
    Snippet,
    Updated,
    as_filter,
    open_search,
)

__all__ = [
    "LARGEST_BODY",
    "Archive",
    "ArchiveStats",
    "ArchivedHit",
    "BlockChange",
    "BlockLife",
    "BlockPage",
    "Capture",
    "CheckReport",
    "Counts",
    "Difference",
    "Fault",
    "Hit",
    "HostStats",
    "IndexStats",
    "PageBlocks",
    "Purged",
    "Results",
    "Search",
    "Snippet",
    "Stored",
    "StoredAnew",
    "StoredBlock",
    "Unchanged",
    "Updated",
    "Version",
    "Visit",
    "WordChange",
    "as_filter",
    "leaves",
    "open_archive",
    "open_search",
]
