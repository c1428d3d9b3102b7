import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.labelling.storage.leases import Holding, LeaseTable

PEOPLE = ("ann", "bob")
NOW, LATER = 10, 20


@pytest.fixture(name="turns")
def _turns():
    """Ann is at row 1 and keeps 2 and 3; Bob's turn on row 4 is over."""
    made = LeaseTable()
    made.hold([1], Holding("ann", LATER, spare=False))
    made.hold([2, 3], Holding("ann", LATER, spare=True))
    made.hold([4], Holding("bob", NOW, spare=False))
    return made


def test_a_row_is_free_for_whoever_holds_it_and_not_for_others(turns):
    assert [row for row in range(6) if turns.is_free(row, "ann", NOW)] == [0, 1, 2, 3, 4, 5]
    assert [row for row in range(6) if turns.is_free(row, "bob", NOW)] == [0, 4, 5]


def test_a_turn_ends_by_itself(turns):
    assert turns.is_free(4, "ann", NOW)
    assert not turns.is_free(4, "ann", NOW - 1)
    assert turns.is_free(1, "bob", LATER)
    assert turns.current("ann", LATER) == []
    assert turns.in_reserve("ann", LATER) == set()
    assert not turns.is_spare(2, LATER)


def test_what_is_in_reserve_is_not_what_somebody_is_at(turns):
    assert turns.current("ann", NOW) == [1]
    assert turns.in_reserve("ann", NOW) == {2, 3}
    assert [row for row in range(6) if turns.is_spare(row, NOW)] == [2, 3]
    turns.hold([2], Holding("bob", LATER, spare=False))
    assert turns.in_reserve("ann", NOW) == {3}
    assert turns.current("bob", NOW) == [2]


def test_only_the_holder_lets_go(turns):
    turns.release(1, "bob")
    assert turns.current("ann", NOW) == [1]
    turns.release(1, "ann")
    turns.release(9, "ann")
    assert turns.current("ann", NOW) == []
    assert turns.is_free(1, "bob", NOW)


def test_who_is_still_there_keeps_all_rows_for_longer_as_they_were(turns):
    turns.renew("ann", NOW, 99)
    assert turns.current("ann", 98) == [1]
    assert turns.in_reserve("ann", 98) == {2, 3}
    turns.renew("bob", NOW, 99)
    assert turns.is_free(4, "ann", 98)


def test_what_the_database_says_replaces_what_was_known(turns):
    turns.learn({7: Holding("bob", LATER, spare=True)})
    assert turns.current("ann", NOW) == []
    assert turns.in_reserve("bob", NOW) == {7}


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 3), max_size=3),
            st.builds(Holding, st.sampled_from(PEOPLE), st.integers(0, 20), st.booleans()),
        )
    ),
    st.integers(0, 20),
)
def test_no_row_is_held_by_two(held, now):
    turns = LeaseTable()
    for rows, holding in held:
        turns.hold(rows, holding)
    for row in range(4):
        holders = [
            who
            for who in PEOPLE
            if row in turns.current(who, now) or row in turns.in_reserve(who, now)
        ]
        assert len(holders) <= 1
        assert holders == [who for who in PEOPLE if not turns.is_free(row, _other(who), now)]


def _other(who):
    return next(name for name in PEOPLE if name != who)
