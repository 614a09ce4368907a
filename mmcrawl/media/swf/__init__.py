"""What a Flash animation (SWF) says of itself, and which other files it loads."""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.media.swf.container import Bytes, EndError, Reference, SwfFacts
    from mmcrawl.media.swf.reading import addresses_in_text, read_swf
