"""Commands of mmcrawl, found by `scrapy` through COMMANDS_MODULE."""
