"""Parity beside the file of an archive, by which damaged sectors are mended.

The file is seen as units of 4 KB, whatever is in them, and parity of them is kept in a file beside
it. A server that keeps an archive has replicas for that.
"""

from mmcrawl.archive.parity.mending import ParityCheck, examine
from mmcrawl.archive.parity.sidecar import parity_beside
from mmcrawl.archive.parity.writing import write_parity

__all__ = ["ParityCheck", "examine", "parity_beside", "write_parity"]
