"""The archive in a web browser: what there is, what was found where, what changed when.

:func:`create_app` makes an ASGI application of a :class:`Context`, which holds the opened archive
and all that the handlers share. Nothing is written but the search index, which stands beside the
archive. Archived pages are hostile: nothing of them reaches a page of ours but as text.
"""

from mmcrawl.browse.arguments import Problem
from mmcrawl.browse.context import Context, Limits, Options, open_context

__all__ = ["Context", "Limits", "Options", "Problem", "open_context"]
