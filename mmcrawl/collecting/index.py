"""What is known of each address of a collection: the protocol of an index.

An address is in one record. Whoever wants to fetch it takes it, for the time of a lease; only the
owner may settle it. So several processes, also on several machines, collect the same without
fetching anything twice, and what a process had taken that died is fetched by another.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from mmcrawl.collecting.model import EVERY_KIND, MediaFile, State


@dataclass(frozen=True, slots=True)
class Summary:
    """Where a collection stands.

    Attributes:
        addresses: how many there are, by state.
        held: distinct files that are held, by kind.
        held_bytes: bytes they have, by kind.
        reasons: how many addresses could not be had, or were left out, by reason.
    """

    addresses: Mapping[State, int] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)
    held_bytes: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)

    def count(self, state: State) -> int:
        """Return how many addresses are in a state."""
        return self.addresses.get(state, 0)


class MediaIndex(Protocol):
    """The records of a collection. Safe to be used by several threads; writes are durable.

    All methods raise StoreError where the index cannot be read or written.

    Attributes:
        name: how messages call it.
    """

    name: str

    def add(self, files: Iterable[MediaFile]) -> int:
        """Note addresses; those that are known stay as they are. Return how many are new."""

    def take(
        self,
        owner: str,
        now: float,
        until: float,
        most: int,
        *,
        kinds: Collection[str] = EVERY_KIND,
        busy: Collection[str] = (),
    ) -> list[MediaFile]:
        """Take addresses that wait, or whose lease has run out, those added first first.

        Args:
            owner: who takes them; a name that no other process has.
            now: Unix time.
            until: Unix time at which the lease runs out.
            most: how many to take.
            kinds: only addresses of these.
            busy: hosts whose addresses are left to wait.
        """

    def renew(self, owner: str, until: float) -> None:
        """Prolong the leases of an owner."""

    def settle(self, files: Sequence[MediaFile], owner: str) -> int:
        """Put records in place of those of their addresses, as far as `owner` has these.

        Returns:
            How many he had.
        """

    def give_back(self, owner: str) -> None:
        """Let what an owner has taken wait again."""

    def owners(self) -> set[str]:
        """Return who has taken anything."""

    def again(self, states: Collection[State]) -> int:
        """Let all addresses in some states wait again; return how many they are."""

    def find(self, url: str) -> MediaFile | None:
        """Return the record of an address, None if it is not known."""

    def files(self, states: Collection[State] = ()) -> Iterator[MediaFile]:
        """Yield the records in some states, by default all, in the order they were added."""

    def summary(self) -> Summary:
        """Return where the collection stands."""

    def close(self) -> None:
        """Close it; what an owner has taken stays his until his lease runs out."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
