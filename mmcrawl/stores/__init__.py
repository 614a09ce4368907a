"""Where things are kept besides files: URIs, and a MongoDB database."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.stores.child_process import ChildProcess
    from mmcrawl.stores.ferretdb import CHANGED_AT_ONCE
    from mmcrawl.stores.patient_server import Row
    from mmcrawl.stores.uris import is_server
