"""A web that ships with the project: generated, the same everywhere, a few hundred pages.

It has what makes focused crawling hard on real school sites: media in a few directories, some of
them behind pages off the topic, GBK beside UTF-8, an animation on every page that means nothing,
neighbours with media about something else, and traps. It knows which of its pages are relevant.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.replay.demo.files import file_at
    from mmcrawl.replay.demo.model import DemoConfig
    from mmcrawl.replay.demo.mp4_writer import mp4_film
    from mmcrawl.replay.demo.swf_writer import animation
    from mmcrawl.replay.demo.texts import lessons
    from mmcrawl.replay.demo.traps import REDIRECTS
    from mmcrawl.replay.demo.web import DemoWeb

__all__ = ["DemoConfig", "DemoWeb"]
