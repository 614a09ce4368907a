"""How versions become bytes: records with blocks, segments, and back."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.archive.format.blocks import BlockColumns
    from mmcrawl.archive.format.columns import (
        Facts,
        compressed,
        decompressed,
        read_varints,
        varints,
    )
    from mmcrawl.archive.format.cutting import ArchivedPage, facts_of
    from mmcrawl.archive.format.head import About, Entry, packed, read_head
    from mmcrawl.archive.format.sealing import Sealer
    from mmcrawl.archive.format.writing import look_up
