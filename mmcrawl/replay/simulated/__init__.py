"""Webs of any size and shape, for experiments that no stored web allows.

A simulated web is generated page by page when asked for, from a few numbers that say how large it
is, how media are spread over it and what lies in the way. It knows which of its pages are relevant.
Texts, designs and ways of embedding media are those that pages of the demo web have too.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.replay.simulated.config import SimulationConfig
    from mmcrawl.replay.simulated.texts import lessons
    from mmcrawl.replay.simulated.web import SimulatedWeb, item
