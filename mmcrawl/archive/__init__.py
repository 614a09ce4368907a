"""The block archive: every version of every page, cut into blocks.

A capture comes in (a response, or the news that nothing changed). `format/writing.py` compares it
with what was last seen of its URL, decides whether it is a version or a visit (Song et al. 2008,
algorithm 4), and appends it to a segment; `format/sealing.py` later merges small segments into
solid ones. Segments are the archive. `index.py` says where in them each version is, and can be
rebuilt from them, as `checking.py` does. The same code runs on SQLite and on MongoDB
(:mod:`mmcrawl.store`).

Out come versions, byte for byte (:class:`Archive`, begin in `archive.py`), differences of two
versions block by block (`comparing`), pages due for a visit (`revisits.py`), blocks by their words
(:class:`Search`, `search`), and WARC files (`warc`). What is acknowledged is durable; what is
returned has been compared with its digest.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.archive.archive import Archive
    from mmcrawl.archive.comparing.atom import atom_feed, feed_title
    from mmcrawl.archive.comparing.changes import BlockChange, Difference, WordChange
    from mmcrawl.archive.comparing.watching import Watch, WatchedChange, watched_changes
    from mmcrawl.archive.index import CONTENTS
    from mmcrawl.archive.levels import MEMORY, REVIEW, LevelManager
    from mmcrawl.archive.lives import BlockLife, BlockPage, StoredAnew
    from mmcrawl.archive.model import (
        LARGEST_BODY,
        RENDERED,
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
        digest_of,
        leaves,
    )
    from mmcrawl.archive.opening import copy_archive, open_archive
    from mmcrawl.archive.revisits import (
        COUNTED,
        DAY,
        NO_ANSWER,
        Due,
        Pair,
        RevisitRules,
        change_rate,
        due,
        is_answer,
        next_visit,
    )
    from mmcrawl.archive.rewriting import Links, requisites_of, rewrite_html
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
    from mmcrawl.archive.storing import (
        Answers,
        ArchiveStore,
        Intake,
        ProcessStore,
        RefusedError,
        Visited,
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
