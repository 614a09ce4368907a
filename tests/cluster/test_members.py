"""Who is alive, who may be taken from, and what the fair share of each is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.cluster import OVER, Heartbeat, Lease, Members, heartbeats_of
from tests.tables import each

LEASE = 4.0
NAMES = ("ann", "bob", "cat")


class Crew:
    """Workers that see each other's heartbeats, and time that passes."""

    def __init__(self, *names: str) -> None:
        self.now = 0.0
        self.members = {name: Members(name, LEASE, 0.0) for name in names}
        self.beats = dict.fromkeys(names, 1)
        self.look()

    def look(self, *living: str, seconds: float = 1.0) -> None:
        """Let time pass in which the hearts of some beat, and all look."""
        self.now += seconds
        for name in living or [*self.beats]:
            self.beats[name] = self.beats.get(name, 0) + 1
        for members in self.members.values():
            found = {name: Heartbeat(beat) for name, beat in self.beats.items()}
            members.look(found, self.now)

    def shares(self, owners: list[str]) -> dict[str, int]:
        leases = [Lease(partition, owner) for partition, owner in enumerate(owners)]
        return {name: members.share(leases) for name, members in self.members.items()}


def test_who_is_silent_for_a_lease_is_dead() -> None:
    crew = Crew(*NAMES)
    for _ in range(4):
        crew.look("ann", "bob")
    assert crew.members["ann"].living == {*NAMES}
    crew.look("ann", "bob")
    assert crew.members["ann"].living == {"ann", "bob"}
    crew.look("cat")
    assert "cat" in crew.members["ann"].living


def test_who_has_not_looked_for_long_takes_nobody_for_dead() -> None:
    crew = Crew(*NAMES)
    crew.look("ann", seconds=1_000.0)
    assert crew.members["ann"].living == {*NAMES}


@given(owners=st.lists(st.sampled_from(["", "dead", *NAMES]), max_size=40))
def test_shares_add_up_and_differ_by_one_at_most(owners: list[str]) -> None:
    shares = Crew(*NAMES).shares(owners)
    assert sum(shares.values()) == len(owners)
    assert max(shares.values()) - min(shares.values()) <= 1


@given(owners=st.lists(st.sampled_from(["", *NAMES]), max_size=40))
def test_who_has_more_gives_who_has_less_takes_and_then_nobody_does(owners: list[str]) -> None:
    crew = Crew(*NAMES)
    shares = crew.shares(owners)
    for name, share in shares.items():
        own = [n for n, owner in enumerate(owners) if owner == name]
        for partition in own[share:]:
            owners[partition] = ""
    for name, share in shares.items():
        for _ in range(share - owners.count(name)):
            owners[owners.index("")] = name
    assert crew.shares(owners) == {name: owners.count(name) for name in NAMES}


@each(
    "ann, bob, over",
    [(1, 0, 0), (2, 0, 1), (2, 1, 0), (5, 1, 2), (5, 2, 0), (304, 164, 0), (300, 20, 140)],
)
def test_a_worker_hands_partitions_over_only_if_another_is_short_of_them(
    ann: int, bob: int, over: int
) -> None:
    crew = Crew("ann", "bob")
    leases = [
        Lease(partition, "ann" if partition < ann else "bob") for partition in range(ann + bob)
    ]
    assert crew.members["ann"].surplus(leases) == over
    assert crew.members["bob"].surplus(leases) == 0


@each("facts", ["", "{", "[]", "{}", None])
def test_of_a_damaged_heartbeat_the_beat_counts(facts: str | None) -> None:
    damaged, over = {"beat": 7, "facts": facts}, {"beat": 1, "facts": "{}"}
    bob = Heartbeat(2, 3, None, 4, 0.5)
    found = {"ann": Heartbeat(7), "bob": bob}
    assert heartbeats_of({"ann": damaged, OVER: over, "bob": bob.row}) == found
