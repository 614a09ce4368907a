"""Opening the shelf of a crawl."""

from pathlib import Path

from mmcrawl.collecting.shelf.shelf import Shelf
from mmcrawl.stores.uris import is_server


def open_shelf(store: str, folder: Path, *, create: bool = True) -> Shelf:
    """Open the works of a crawl.

    Args:
        store: URI of the crawl's store. One on a server has the works in its database.
        folder: Where the works of all other stores are kept, in ``works.db``.
        create: Whether it is made where there is none.

    Raises:
        StoreError: it cannot be opened, or there is none.
    """
    if is_server(store):
        from mmcrawl.collecting.shelf.mongodb_shelf import MongoShelf

        return MongoShelf(store, create=create)
    from mmcrawl.collecting.shelf.sqlite_shelf import SqliteShelf

    return SqliteShelf(folder / "works.db", create=create)
