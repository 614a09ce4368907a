"""Documents in SQLite or MongoDB, behind one interface of about ten methods.

A document has a key and named fields; keys are in order, so that a range of them can be read. Two
steps are atomic on both stores: insert a document that is not there, and change one that is still
as it was read. All else is built on these. Begin with `documents.py`; `sqlite_documents.py` and
`mongodb_documents.py` do the same for each store, and one test suite holds them to it.

Also here: opening SQLite files, URIs of stores, values as bytes, files that outlast a power cut,
and processes beside this one.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.store.child_process import ChildProcess, Questions
    from mmcrawl.store.documents import (
        KEY,
        OPTIONAL,
        Contents,
        Document,
        Store,
        Table,
        get_blob,
        open_documents,
        put_blob,
    )
    from mmcrawl.store.durable import make_folder, put_in_place
    from mmcrawl.store.mongodb import explained
    from mmcrawl.store.mongodb_documents import MongoStore
    from mmcrawl.store.uris import is_server
