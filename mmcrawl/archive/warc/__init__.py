"""WARC files: the exchange format of web archives (ISO 28500:2017, WARC 1.1).

:func:`import_warc` imports the captures of any WARC files; :func:`export_warc` writes an archive as
a WARC file that other programs read and replay.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.archive.warc.answers import CodingError, body_of, is_digest_of
    from mmcrawl.archive.warc.exporting import WarcExport, export_warc
    from mmcrawl.archive.warc.heads import DOUBT, Head, as_date, as_time, is_http, sort_key, uri_of
    from mmcrawl.archive.warc.importing import WarcImport, import_warc
    from mmcrawl.archive.warc.records import LONGEST_HEAD, Record, WarcProblem
    from mmcrawl.archive.warc.records import records as warc_records

__all__ = ["WarcExport", "WarcImport", "WarcProblem", "export_warc", "import_warc"]
