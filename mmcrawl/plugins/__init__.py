"""What comes in kinds that other packages may add to: found by name, made when it is needed."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.plugins.registry import Registry
