"""The pages of the web application."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.browse.views.pages import lives_of
