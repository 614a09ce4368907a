"""WARC files: the exchange format of web archives (ISO 28500:2017, WARC 1.1).

:func:`import_warc` takes in the captures of any WARC files; :func:`export_warc` writes an archive
as one that other programs read and replay. What was exported comes back equal.
"""

from mmcrawl.archive.warc.exporting import WarcExport, export_warc
from mmcrawl.archive.warc.importing import WarcImport, import_warc
from mmcrawl.archive.warc.records import WarcProblem

__all__ = ["WarcExport", "WarcImport", "WarcProblem", "export_warc", "import_warc"]
