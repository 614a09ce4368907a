"""Collections of ours in a MongoDB database, which several processes may use at once."""

from contextlib import AbstractContextManager
from typing import Self

from mmcrawl.stores.mongodb import Documents, Kind, connect, explained


class MongoPlace:
    """The collections of a kind; for several threads.

    Args:
        uri: ``mongodb://HOST/DATABASE``.
        create: Whether the collections are made where there are none.

    Raises:
        StoreError: it cannot be reached, is missing, or is none that this version can use.
    """

    kind: Kind

    def __init__(self, uri: str, *, create: bool = True) -> None:
        self._server = connect(self.kind, uri, create=create, read_only=not create)
        self.name = self._server.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._server.client.close()

    def _documents(self, table: str) -> Documents:
        return self._server.documents(table)

    def _explained(self) -> AbstractContextManager[None]:
        return explained(f"{self.kind.noun} {self.name}")
