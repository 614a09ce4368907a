"""How versions become bytes: chunks, packs, segments, manifests, and back."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.archive.format.blocks import BlockColumns
    from mmcrawl.archive.format.cutting import ArchivedPage
    from mmcrawl.archive.format.facts import facts_of_page
    from mmcrawl.archive.format.frames import compressed, decompressed, read_varints, varints
    from mmcrawl.archive.format.manifest import Entry, pack_manifest, read_manifest, runs_of
    from mmcrawl.archive.format.planning import look_up
    from mmcrawl.archive.format.sealing import Sealer
    from mmcrawl.archive.format.segments import SegmentWriter, depth_of
    from mmcrawl.archive.format.writing import LEAST, chunks_of
