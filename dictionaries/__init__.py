"""Data of mmcrawl: topics, URL words, stop words. Each file names its source; nothing is code."""
