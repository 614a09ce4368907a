"""The errors a user can cause or meet. Each message says what was wrong and what to do."""

__all__ = [
    "BlockError",
    "MmcrawlError",
    "RankError",
    "RequestError",
    "SeedError",
    "StoreError",
    "TopicError",
    "WebError",
]


class MmcrawlError(Exception):
    """Base of all errors that are shown to the user as one sentence, without a traceback."""


class TopicError(MmcrawlError):
    """A topic is unknown, or a topic file cannot be read."""


class SeedError(MmcrawlError):
    """A seed list is missing, empty, or has a line that is no URL."""


class WebError(MmcrawlError):
    """A stored web to replay is missing or unreadable."""


class StoreError(MmcrawlError):
    """A store cannot be opened or written: not ours, of another version, full, or unreachable."""


class BlockError(MmcrawlError):
    """A partitioner is unknown, or does not take an option."""


class RankError(MmcrawlError):
    """Ranks cannot be had: no such method, nothing to rank, a topic missing, none computed yet."""


class RequestError(MmcrawlError):
    """A request cannot be kept in a store, or what is kept there is none."""


class SearchError(MmcrawlError):
    """A query, or the order of what it finds, is not understood."""
