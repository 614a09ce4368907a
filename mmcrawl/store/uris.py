"""URIs of stores: a file, or a database reached over the network."""

FILE = "sqlite:///"


def file_of(uri: str) -> str:
    """Return the path of the file a store is kept in, "" if it is kept elsewhere.

    >>> file_of("sqlite:///crawl.db")
    'crawl.db'
    """
    return uri.removeprefix(FILE) if uri.startswith(FILE) else ""


def is_server(uri: str) -> bool:
    """Return whether a store is a database server, which several processes share.

    >>> is_server("mongodb://localhost/crawls")
    True
    """
    return uri.startswith(("mongodb://", "mongodb+srv://"))
