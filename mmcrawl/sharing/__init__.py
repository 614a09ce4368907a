"""One crawl worked on by several processes, on one machine or many.

What they have in common is the *shared store*, a MongoDB database. The web is divided into parts by
hosts. A worker has some of the parts, each a crawl of its own in a local file, and reports what
changes there into the log of the part, from which another worker takes over when it is gone. Links
that lead to other parts are sent by mail. Nobody decides for others.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.sharing.budget import Budget
    from mmcrawl.sharing.changes import Changes, Rows
    from mmcrawl.sharing.exchange import OVER
    from mmcrawl.sharing.learnt import Learnt, LearntStore, learnt_patterns
    from mmcrawl.sharing.log import PartLogs
    from mmcrawl.sharing.mail import Letter, Mailboxes, Outgoing, decode_letters, encode_letters
    from mmcrawl.sharing.members import Members, Sign, signs_of
    from mmcrawl.sharing.own_parts import added
    from mmcrawl.sharing.places import Rules
    from mmcrawl.sharing.server import SCHEMA_VERSION, name_of
    from mmcrawl.sharing.store import SharedStore, open_shared_store
    from mmcrawl.sharing.worker import SharedJob
