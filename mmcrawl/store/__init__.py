"""Documents in SQLite or MongoDB, behind one interface of about ten methods.

A document has a key and named fields; keys are ordered, so that ranges can be read. Two steps are
atomic on both stores: inserting a document whose key is free, and changing one that is still as it
was read. Everything else is built on these. Begin with `documents.py`; `sqlite_documents.py` and
`mongodb.py` implement it for each store, and one test suite covers both.

Also here: opening SQLite files, URIs of stores, values as bytes, files that survive a power cut,
and child processes.
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
    from mmcrawl.store.mongodb import MongoStore, explained
    from mmcrawl.store.uris import is_server
