"""What follows from signs: who is alive, who has a part, who gives, and when all is over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcrawl.cluster import Members, Rules, Sign
from tests.tables import each

RULES = Rules(parts=8, lease=4.0)
NAMES = ("ann", "bob", "cat")


class Crew:
    """Workers that see each other's signs, and time that passes."""

    def __init__(self, *names):
        self.now = 0.0
        self.members = {name: Members(name, RULES, 0.0) for name in names}
        self.signs = {name: Sign(number=1) for name in names}

    def sign(self, name, **told):
        """Let a worker give a sign, in which some is other than it was."""
        sign = self.signs[name]
        known = {key: getattr(sign, key) for key in Sign.__dataclass_fields__}
        self.signs[name] = Sign(**{**known, "number": sign.number + 1, **told})

    def look(self, *living, seconds=1.0):
        """Let time pass in which some workers give signs, and all look."""
        self.now += seconds
        for name in living or self.signs:
            self.sign(name)
        for members in self.members.values():
            members.look(self.signs, self.now)

    def free(self, name):
        return self.members[name].free(self.signs[name].parts)


@pytest.fixture
def crew():
    made = Crew(*NAMES)
    made.look()
    return made


# -- signs ------------------------------------------------------------------------------------

NUMBERS = st.integers(0, 1 << 40)
PARTS = st.dictionaries(st.integers(0, 1_023), st.integers(0, 60_000), max_size=20)


@given(
    parts=PARTS,
    gives=st.dictionaries(st.text(max_size=5), PARTS, max_size=2),
    pages=NUMBERS,
    moved=st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=3),
    aside=st.lists(st.integers(0, 1_023), max_size=3),
)
def test_a_sign_is_read_as_it_was_given(parts, gives, pages, moved, aside):
    sign = Sign(7, parts, 3, gives, aside, pages, idle=True, learnt="x", moved=moved, lag=0.5)
    assert Sign.decode(sign.encode()) == sign


@each("text", ["", "[]", "{}", "[" * 100_000, Sign().encode().replace("eA", "Ae")])
def test_what_is_no_sign_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        Sign.decode(text)


# -- who is alive -----------------------------------------------------------------------------


def test_who_gives_no_sign_for_a_lease_is_dead(crew):
    for _ in range(4):
        crew.look("ann", "bob")
    assert {*crew.members["ann"].living} == {"bob", "cat"}
    crew.look("ann", "bob")
    assert {*crew.members["ann"].living} == {"bob"}
    crew.look("cat")
    assert "cat" in crew.members["ann"].living


def test_who_has_not_looked_for_long_takes_nobody_for_dead(crew):
    crew.look("ann", seconds=1_000.0)
    assert {*crew.members["ann"].living} == {"bob", "cat"}


# -- who has a part ---------------------------------------------------------------------------


def test_each_part_falls_to_one_worker(crew):
    mine = [crew.free(name)[0] for name in NAMES]
    assert sorted(part for parts in mine for part in parts) == [*range(8)]


def test_the_parts_of_the_dead_and_of_those_that_left_are_free(crew):
    crew.sign("bob", parts=dict.fromkeys(range(8), 1))
    crew.look()
    assert crew.free("ann")[0] | crew.free("cat")[0] == set()
    crew.sign("bob", gone=True)
    crew.look("ann", "cat")
    assert crew.free("ann")[0] | crew.free("cat")[0] == {*range(8)}


def test_a_part_that_is_given_is_its_receivers(crew):
    given = dict.fromkeys(range(8), 3)
    crew.sign("bob", gives={"cat": given})
    crew.look()
    assert crew.free("ann")[0] == set()
    assert crew.free("cat") == ({*given}, given)


def test_of_two_gifts_the_later_counts(crew):
    crew.sign("ann", gives={"bob": {5: 3}})
    crew.sign("bob", gives={"cat": {5: 4}})
    crew.look()
    assert crew.free("cat")[1] == {5: 4}
    assert crew.members["ann"].has(5, 3)
    assert not crew.members["bob"].has(5, 4)


def test_a_gift_was_taken_when_somebody_has_it_later_or_cannot_read_it(crew):
    crew.sign("cat", parts={5: 3})
    crew.look()
    assert not crew.members["ann"].has(5, 3)
    crew.sign("bob", parts={5: 4}, aside=[6])
    crew.look()
    assert crew.members["ann"].has(5, 3)
    assert crew.members["ann"].has(6, 9)


def test_a_part_is_lost_to_who_has_it_later_even_if_that_one_is_gone(crew):
    crew.sign("bob", parts={0: 1, 1: 3, 2: 2}, gone=True)
    crew.look()
    assert crew.members["ann"].lost({0: 2, 1: 2, 2: 2}) == {1}


def test_the_dead_are_buried_when_the_living_have_their_parts_later(crew):
    crew.sign("bob", parts={0: 2, 1: 2, 7: 2}, gone=True)
    crew.sign("cat", parts={0: 3, 1: 2}, aside=[7])
    crew.look()
    buried = crew.members["ann"].buried
    assert buried(Sign()) == []  # cat has not heard that part 1 was taken from it
    assert buried(Sign(parts={1: 3})) == ["bob"]


# -- who gives --------------------------------------------------------------------------------


def giving(crew):
    return {name: crew.members[name].to_give(crew.signs[name]) for name in NAMES}


def test_nobody_gives_where_nobody_has_anything_to_do(crew):
    crew.sign("bob", parts=dict.fromkeys(range(8), 1))
    crew.look()
    assert {*giving(crew).values()} == {("", 0, 0)}


def test_who_has_most_to_do_gives_half_of_what_it_has_more(crew):
    crew.sign("bob", active=7, parts=dict.fromkeys(range(7), 1))
    crew.sign("cat", active=2)
    crew.look()
    assert giving(crew) == {"ann": ("", 0, 0), "bob": ("ann", 3, 0), "cat": ("", 0, 0)}


def test_nobody_gives_where_all_are_idle(crew):
    crew.sign("bob", parts=dict.fromkeys(range(6), 1))
    for name in NAMES:
        crew.sign(name, idle=True)
    crew.look()
    assert {*giving(crew).values()} == {("", 0, 0)}


@given(
    active=st.lists(st.integers(0, 40), min_size=3, max_size=3),
    others=st.lists(st.integers(0, 40), min_size=3, max_size=3),
)
def test_giving_comes_to_an_end(active, others):
    crew = Crew(*NAMES)
    has = dict(zip(NAMES, zip(active, others, strict=True), strict=True))
    for _ in range(80):
        for name, (some, rest) in has.items():
            crew.sign(name, active=some, parts=dict.fromkeys(range(some + rest), 1))
        crew.look()
        gifts = {name: gift for name, gift in giving(crew).items() if gift[0]}
        if not gifts:
            return
        assert len(gifts) <= 2
        for name, (to, some, rest) in gifts.items():
            others = min(rest, has[name][1])
            has[name] = has[name][0] - some, has[name][1] - others
            has[to] = has[to][0] + some, has[to][1] + others
            assert min(*has[name], *has[to]) >= 0
    raise AssertionError(has)


# -- when it is over --------------------------------------------------------------------------


def idle(crew):
    for number, name in enumerate(NAMES):
        parts = {part: 1 for part in range(8) if part % 3 == number}
        crew.sign(name, idle=True, parts=parts)
    crew.look()


def at_rest(crew, mail=lambda aside: True):
    return crew.members["ann"].at_rest(crew.signs["ann"], mail)


def test_it_is_over_when_all_stay_idle(crew):
    idle(crew)
    assert not at_rest(crew)
    crew.look()
    assert not at_rest(crew)
    crew.look("ann", "bob")
    assert not at_rest(crew)
    crew.look("ann", "cat")
    assert at_rest(crew)


@pytest.mark.parametrize(
    "told",
    [{"idle": False}, {"activity": 1}, {"round": 1}, {"gives": {"bob": {1: 1}}}, {"parts": {}}],
)
def test_it_is_not_over_when_somebody_is_not_at_rest(crew, told):
    idle(crew)
    at_rest(crew)
    crew.look()
    at_rest(crew)
    crew.sign("cat", **told)
    crew.look()
    assert not at_rest(crew)


def test_it_is_not_over_while_mail_is_on_its_way(crew):
    idle(crew)
    for _ in range(4):
        assert not at_rest(crew, lambda aside: False)
        crew.look()
    asked = []
    for _ in range(3):
        over = at_rest(crew, lambda aside: asked.append(aside) or True)
        crew.look()
    assert over
    assert asked == [set()]


def test_a_worker_that_a_log_names_and_of_which_no_sign_was_seen_is_waited_for() -> None:
    members = Members("ann", Rules(parts=1, lease=4.0), 0.0)
    members.look({}, 1.0)
    assert not members.may_live("")
    assert not members.may_live("ann")
    assert members.may_live("bob")
    for now in range(2, 8):
        members.look({}, float(now))
    assert not members.may_live("bob")
    members.look({"bob": Sign(1)}, 8.0)
    assert members.may_live("bob")
    members.look({"bob": Sign(2, gone=True)}, 9.0)
    assert not members.may_live("bob")
