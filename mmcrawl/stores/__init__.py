"""Where things are kept besides files: documents in SQLite or MongoDB, URIs, processes beside."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.stores.child_process import ChildProcess
    from mmcrawl.stores.documents import (
        KEY,
        Contents,
        Document,
        Store,
        Table,
        get_blob,
        open_documents,
        put_blob,
    )
    from mmcrawl.stores.mongodb import explained
    from mmcrawl.stores.mongodb_documents import MongoStore
    from mmcrawl.stores.uris import is_server
