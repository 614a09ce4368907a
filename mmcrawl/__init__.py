"""mmcrawl: a focused crawler for pages with audio, video and swf on a chosen topic."""

__version__ = "0.1.0"
