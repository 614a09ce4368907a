"""mmcrawl: a focused crawler for pages with audio, video and swf on a chosen topic."""

from mmcrawl.addon import Addon

__all__ = ["Addon"]

__version__ = "0.1.0"
