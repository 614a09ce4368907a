"""The frontier: link records, and the pending set, whose scores can change while links wait.

Links come in from pages (`sqlite.py`, begin there). `admission.py` says which may be followed,
`aliases.py` which are other addresses of known pages. `order.py` keeps the waiting links in order,
the best of each host in memory; `next` takes the best link of a host that is free. A link's status
goes from W (waiting) to R (running), then to C (crawled) or E (error), or back to W for a retry.

`store.py` is the SQLite file of a crawl: its jobs, links, findings and what it learnt. Changes
become durable together, at a commit; what was not committed is fetched again after a crash.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.frontier.admission import REDIRECT, TRAP, Admission, Limits
    from mmcrawl.frontier.aliases import ALIAS, Aliases, alias_key
    from mmcrawl.frontier.database import SCHEMA_VERSION, damaged
    from mmcrawl.frontier.findings import (
        BarrenDirectory,
        BoilerplateMedia,
        Findings,
        MediaPageRecord,
        NearMiss,
        PatternRecord,
        barren_directories,
    )
    from mmcrawl.frontier.interlink import InterLink
    from mmcrawl.frontier.order import PendingOrder
    from mmcrawl.frontier.ranking import ALL, LINKS, OFF_TOPIC, Ranking
    from mmcrawl.frontier.reading import ELSEWHERE, JOB_SHIFT, PastFailure, PastPage
    from mmcrawl.frontier.records import (
        HELD,
        KnownLink,
        LinkRecord,
        LinkScores,
        NewLink,
        PageRecord,
        Status,
        WaitingLink,
    )
    from mmcrawl.frontier.requisites import RequisiteLimits, RequisiteQueue
    from mmcrawl.frontier.sqlite import SqliteFrontier
    from mmcrawl.frontier.store import Job, SqliteStore, open_store
    from mmcrawl.frontier.urls import (
        PrivateHosts,
        canonical,
        host_of,
        is_private_address,
        is_private_host,
        page_digest,
        shape,
        split_origin,
        url_key,
    )

__all__ = [
    "HELD",
    "TRAP",
    "Admission",
    "BoilerplateMedia",
    "Findings",
    "Job",
    "KnownLink",
    "Limits",
    "LinkRecord",
    "LinkScores",
    "MediaPageRecord",
    "NearMiss",
    "NewLink",
    "PageRecord",
    "PastFailure",
    "PastPage",
    "PatternRecord",
    "PendingOrder",
    "PrivateHosts",
    "SqliteFrontier",
    "SqliteStore",
    "Status",
    "WaitingLink",
    "canonical",
    "damaged",
    "host_of",
    "is_private_address",
    "is_private_host",
    "open_store",
    "page_digest",
    "shape",
    "split_origin",
    "url_key",
]
