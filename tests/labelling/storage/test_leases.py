import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.labelling.service import LEASE
from possibal.labelling.storage.leases import LONGEST, Lease, LeaseTable

PEOPLE = ("ann", "bob")
NOW, LATER = 10, 20


@pytest.fixture(name="leases")
def _leases():
    """Ann is at row 1 and keeps 2 and 3; Bob's lease of row 4 has expired."""
    made = LeaseTable()
    made.hold([1], Lease("ann", LATER, spare=False))
    made.hold([2, 3], Lease("ann", LATER, spare=True))
    made.hold([4], Lease("bob", NOW, spare=False))
    return made


def test_a_row_is_free_for_whoever_holds_it_and_not_for_others(leases):
    assert [row for row in range(6) if leases.is_free(row, "ann", NOW)] == [0, 1, 2, 3, 4, 5]
    assert [row for row in range(6) if leases.is_free(row, "bob", NOW)] == [0, 4, 5]


def test_what_others_hold_is_known_until_it_expires(leases):
    assert leases.of_others("bob", NOW) == {1, 2, 3}
    assert leases.of_others("ann", NOW) == set()
    assert leases.of_others("ann", NOW - 1) == {4}


def test_a_lease_expires(leases):
    assert leases.is_free(4, "ann", NOW)
    assert not leases.is_free(4, "ann", NOW - 1)
    assert leases.is_free(1, "bob", LATER)
    assert leases.current("ann", LATER) == []
    assert leases.in_reserve("ann", LATER) == set()
    assert not leases.is_spare(2, LATER)


@pytest.mark.parametrize(("ahead", "is_held"), [(LONGEST, True), (LONGEST + 1, False)])
@pytest.mark.parametrize("spare", [True, False])
def test_a_lease_that_a_wrong_clock_made_has_ended(ahead, is_held, spare):
    leases = LeaseTable()
    leases.load({1: Lease("ann", NOW + ahead, spare)})
    assert leases.is_free(1, "bob", NOW) is not is_held
    assert leases.of_others("bob", NOW) == ({1} if is_held else set())
    assert (leases.is_spare(1, NOW), 1 in leases.in_reserve("ann", NOW)) == (is_held and spare,) * 2
    assert (1 in leases.current("ann", NOW)) == (is_held and not spare)
    leases.renew("ann", NOW, LATER)
    assert leases.is_free(1, "bob", NOW) is not is_held


def test_the_clocks_of_servers_may_differ_by_as_long_as_a_person_gets():
    assert LONGEST == 2 * 1000 * LEASE


def test_what_changed_while_the_database_was_asked_stays_as_it_is_here(leases):
    asked, known = leases.changes, {1: Lease("ann", LATER), 5: Lease("cy", LATER)}
    leases.hold([6], Lease("bob", LATER))
    leases.release(1, "ann")
    leases.load(known, asked)
    assert leases.of_others("", NOW) == {5, 6}
    leases.load(known, leases.changes)
    assert leases.of_others("", NOW) == {1, 5}


def test_few_changes_of_leases_are_remembered(leases, monkeypatch):
    monkeypatch.setattr("possibal.labelling.storage.leases.RECENT", 2)
    asked = leases.changes
    for row in (6, 7, 8):
        leases.hold([row], Lease("bob", LATER))
    leases.load({}, asked)
    assert leases.current("bob", NOW) == [8, 7]


def test_what_is_in_reserve_is_not_what_somebody_is_at(leases):
    assert leases.current("ann", NOW) == [1]
    assert leases.in_reserve("ann", NOW) == {2, 3}
    assert [row for row in range(6) if leases.is_spare(row, NOW)] == [2, 3]
    leases.hold([2], Lease("bob", LATER, spare=False))
    assert leases.in_reserve("ann", NOW) == {3}
    assert leases.current("bob", NOW) == [2]


def test_only_the_holder_releases(leases):
    leases.release(1, "bob")
    assert leases.current("ann", NOW) == [1]
    leases.release(1, "ann")
    leases.release(9, "ann")
    assert leases.current("ann", NOW) == []
    assert leases.is_free(1, "bob", NOW)


def test_who_is_still_there_keeps_all_rows_for_longer_as_they_were(leases):
    leases.renew("ann", NOW, 99)
    assert leases.current("ann", 98) == [1]
    assert leases.in_reserve("ann", 98) == {2, 3}
    leases.renew("bob", NOW, 99)
    assert leases.is_free(4, "ann", 98)


def test_what_the_database_says_replaces_what_was_known(leases):
    leases.load({7: Lease("bob", LATER, spare=True)})
    assert leases.current("ann", NOW) == []
    assert leases.in_reserve("bob", NOW) == {7}


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 3), max_size=3),
            st.builds(Lease, st.sampled_from(PEOPLE), st.integers(0, 20), st.booleans()),
        )
    ),
    st.integers(0, 20),
)
def test_no_row_is_held_by_two(held, now):
    leases = LeaseTable()
    for rows, lease in held:
        leases.hold(rows, lease)
    for row in range(4):
        holders = [
            who
            for who in PEOPLE
            if row in leases.current(who, now) or row in leases.in_reserve(who, now)
        ]
        assert len(holders) <= 1
        assert holders == [who for who in PEOPLE if not leases.is_free(row, _other(who), now)]


def _other(who):
    return next(name for name in PEOPLE if name != who)
