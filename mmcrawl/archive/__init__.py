"""The block archive: every version of every page, cut into blocks, equal bytes stored once.

An :class:`Archive` is opened by URI. It keeps captures as versions of URLs (Song et al. 2008),
rebuilds any of them byte for byte, and tells two of them apart block by block. Nothing is
acknowledged before it is durable.
"""

from mmcrawl.archive.archive import Archive, open_archive
from mmcrawl.archive.model import (
    ArchiveStats,
    BlockChange,
    Capture,
    CheckReport,
    Difference,
    Fault,
    HostStats,
    Purged,
    Stored,
    StoredBlock,
    Version,
    Visit,
    WordChange,
    leaves,
)

__all__ = [
    "Archive",
    "ArchiveStats",
    "BlockChange",
    "Capture",
    "CheckReport",
    "Difference",
    "Fault",
    "HostStats",
    "Purged",
    "Stored",
    "StoredBlock",
    "Version",
    "Visit",
    "WordChange",
    "leaves",
    "open_archive",
]
