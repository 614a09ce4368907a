"""One crawl worked on by several processes, on one machine or many.

What they have in common is the *shared store*, a file or a database. The web is divided into parts
by hosts. A worker has some of the parts, each a crawl of its own in a local file, and reports what
changes there into the log of the part, from which another worker takes over when it is gone. Links
that lead to other parts are sent by mail. Nobody decides for others.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.cluster.budget import Budget
    from mmcrawl.cluster.changes import Changes, Rows
    from mmcrawl.cluster.exchange import OVER
    from mmcrawl.cluster.learnt import Learnt, LearntStore, learnt_patterns
    from mmcrawl.cluster.log import PartLogs
    from mmcrawl.cluster.mail import Letter, Mailboxes, Outgoing, decode_letters, encode_letters
    from mmcrawl.cluster.members import Members, Sign, signs_of
    from mmcrawl.cluster.own_parts import added
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
