"""One crawl by several processes, on one machine or many.

The processes share the *shared store*, a file or a database. The web is divided into partitions by
hosts. A worker holds leases of some partitions. Each partition is a crawl of its own in a local
file; the worker writes its changes to the partition's log, from which another worker continues when
this one is gone. Links to other partitions are sent as messages. docs/protocol.md describes the
protocol.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.cluster.budget import Budget
    from mmcrawl.cluster.changes import Changes, Rows
    from mmcrawl.cluster.exchange import Exchange, Report
    from mmcrawl.cluster.leases import Lease, Leases, Logs, leases_of
    from mmcrawl.cluster.members import OVER, Heartbeat, Members, heartbeats_of
    from mmcrawl.cluster.partition import PageElsewhere, decode_message, encode_message
    from mmcrawl.cluster.places import WORKER, Rules
    from mmcrawl.cluster.store import (
        CONTENTS,
        SCHEMA_VERSION,
        Row,
        SharedStore,
        is_shared,
        name_of,
        open_shared_store,
    )
    from mmcrawl.cluster.worker import SharedJob
