"""The archive in a MongoDB database, for crawls on more than one machine."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.archive.mongodb.backend import MongoBackend
    from mmcrawl.archive.mongodb.proofs import Proofs
    from mmcrawl.archive.mongodb.server import explained
