"""Leases and logs: who owns a partition, and what counts there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mmcrawl.cluster import Lease, Leases, Logs, SharedStore, leases_of
from tests.tables import each

from .memory import memory_store


class Owner:
    """A worker that has a lease of a partition, or had."""

    def __init__(self, store: SharedStore, name: str) -> None:
        self.leases, self.logs = Leases(store, name), Logs(store)

    @property
    def lease(self) -> Lease:
        return self.leases.own[3]

    def take(self) -> Owner:
        assert self.leases.take([self.leases.read()[3]])
        return self

    def insert(self, data: bytes) -> list[Lease]:
        """Insert a record that does not count yet."""
        return self.logs.append({self.lease: data})

    def write(self, *records: bytes) -> set[int]:
        """Write records; return what turns out to be another's."""
        return {
            partition for data in records for partition in self.leases.change(self.insert(data))
        }

    def copy(self, *chunks: bytes) -> Callable[[], None]:
        """Write a snapshot that counts; return what removes what is older."""
        assert not self.leases.change([self.logs.append_snapshot(self.lease, chunks)])
        lease = self.lease
        return lambda: self.logs.shorten(lease)


@pytest.fixture
def store() -> SharedStore:
    made = memory_store()
    Leases(made, "").make([3, 4])
    return made


@pytest.fixture
def ann(store: SharedStore) -> Owner:
    return Owner(store, "ann").take()


@pytest.fixture
def bob(store: SharedStore) -> Owner:
    return Owner(store, "bob")


def stood(store: SharedStore) -> tuple[list[bytes], str]:
    [stored] = Logs(store).read([leases_of(store.all("lease"))[3]])
    counting = range(stored.lease.first, stored.lease.next)
    return [] if stored.fault else [stored.records[n] for n in counting], stored.fault


def test_a_partition_goes_to_who_takes_it_first(store: SharedStore, bob: Owner) -> None:
    seen = bob.leases.read()
    Owner(store, "ann").take()
    assert [one.partition for one in bob.leases.take([*seen.values()])] == [4]
    assert leases_of(store.all("lease"))[3].owner == "ann"
    again = Leases(store, "cat")
    again.make([3, 5], busy=1)
    assert [(one.epoch, one.busy) for one in again.read().values()] == [(1, 0), (1, 0), (0, 1)]


def test_who_was_replaced_is_told_and_what_it_writes_does_not_count(
    store: SharedStore, ann: Owner, bob: Owner
) -> None:
    ann.write(b"one")
    late = ann.insert(b"late")
    bob.take()
    assert stood(store) == ([b"one"], "")
    bob.write(b"two")
    assert ann.leases.change(late) == {3}
    assert 3 not in ann.leases.own
    assert stood(store) == ([b"one", b"two"], "")


def test_snapshots_of_who_was_replaced_do_no_harm(
    store: SharedStore, ann: Owner, bob: Owner
) -> None:
    ann.write(b"one")
    shorten = ann.copy(b"all")
    late = ann.logs.append_snapshot(ann.lease, [b"late", b"late"])
    bob.take().write(b"two")
    bob.copy(b"everything")()
    bob.write(b"three")
    shorten()
    assert ann.leases.change([late]) == {3}
    assert stood(store) == ([b"everything", b"three"], "")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_what_is_missing_is_a_fault(store: SharedStore, ann: Owner, number: int) -> None:
    ann.write(b"x")
    ann.copy(b"all")()
    ann.write(b"x", b"x")
    store.delete("log", [f"0003/{number:012d}/000001"])
    assert stood(store) == ([], f"record {number} of its log is missing")


@each("field", ["owner", "epoch", "facts"])
def test_a_damaged_lease_is_a_fault_of_its_partition_alone(store: SharedStore, field: str) -> None:
    row = store._documents._tables["lease"][store.key("0003")]
    if field == "facts":
        row[field] = "{"
    else:
        del row[field]
    found = leases_of(store.all("lease"))
    assert "its lease is damaged" in found[3].fault
    assert not found[4].fault
