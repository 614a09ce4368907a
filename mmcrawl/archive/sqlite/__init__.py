"""The archive in one SQLite file."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.archive.sqlite.file import SCHEMA_VERSION, connect
