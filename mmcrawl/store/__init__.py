"""Where things are kept besides files: documents in SQLite or MongoDB, URIs, processes beside."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.store.child_process import ChildProcess
    from mmcrawl.store.documents import (
        KEY,
        Contents,
        Document,
        Store,
        Table,
        get_blob,
        open_documents,
        put_blob,
    )
    from mmcrawl.store.mongodb import explained
    from mmcrawl.store.mongodb_documents import MongoStore
    from mmcrawl.store.uris import is_server
