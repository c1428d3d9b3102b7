"""What every place that keeps a campaign must do, as tests that each of them runs.

A class of tests inherits :class:`StoreContract` and has a fixture ``db``, the address of a place
that holds nothing yet.
"""

import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import possibal
from possibal.errors import UnsavedError
from possibal.labelling.storage import database, store
from possibal.labelling.storage.journal import Event, Kind, replay
from possibal.labelling.storage.leases import LONGEST, Lease
from possibal.labelling.storage.store import Contents, Item, Setup, Store

PLACES = (Path(possibal.__file__).parents[1], Path(__file__).parents[1])
HERE = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, PLACES))}
CELLS = (None, "", "plain", 'quo"te', "Grüße, 你好 👩‍🔬", "two\nlines\r\n", "\x00\u2028\\")
ITEMS = tuple(Item(row, f"ключ-{row}", CELLS, f"pics/{row} é.png") for row in range(3))
SETUP = Setup(
    name="Wörter",
    kind="text",
    rows=3,
    fields=tuple("abcdefg"),
    text="c",
    folder="/nowhere/at all",
    classes=("spam", "日本"),
    strategy="uncertainty",
    seed=2**40,
    people=2,
    check=1,
    recipe={"kind": "text", "words": ["a", "b"], "scale": [0.1, 1e-300]},
    digest="00ff",
    notes=("Row 2 had no name.", "ünïcode"),
    columns=(("c", "text", ""), ("d", "left out", "the same in every row")),
    begun=2,
    hidden_folders=True,
)
EVERY = Event(
    key="f" * 32,
    kind=Kind.LABEL,
    who="Ann Ö",
    made=1_700_000_000_000,
    row=2,
    label="日本",
    target="other",
    necessity=0.1 + 0.2,
    predicted_label="spam",
    detail={"to": "Grüße 👩‍🔬", "": '"'},
)
APPENDS = """
import os, sys
from threading import Thread
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import Store

def work(name):
    for made in range(int(sys.argv[2])):
        (event,) = store.append([Event(f"{name}-{made}", Kind.LABEL, name, made, row=made)])
        os.write(1, f"{event.key} {event.number}\\n".encode())

with Store.open(sys.argv[1]) as store:
    threads = [Thread(target=work, args=(f"{sys.argv[3]}{i}",)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
"""
"""A process that adds to the journal, and says so once it was told that this is durable."""


def campaign(rows: int) -> tuple[Setup, Contents]:
    """A campaign of so many rows."""
    items = [Item(row, f"r{row}") for row in range(rows)]
    return Setup("many", "table", rows), Contents(items, {"X": np.zeros((rows, 1))})


def created(db: str, rows: int = 3) -> Store:
    """A new campaign of so many rows."""
    return Store.create(db, *campaign(rows))


def word(key: str, row: int | None = 0, who: str = "ann") -> Event:
    """An answer with a key."""
    return Event(key, Kind.LABEL, who, 1, row=row, label="x")


def hold(made: Store, rows: list[int], lease: Lease, now: int = 0, most: int = 1) -> list[int]:
    """The rows that a person could lease at some time."""
    return made.hold(rows, lease, now, most)


def lease(who: str, until: int = 100, *, spare: bool = False) -> Lease:
    """A person's lease."""
    return Lease(who, until, spare)


def shuffled(seed: int, values) -> list:
    """The values in an order of its own for each seed."""
    return Random(seed).sample(values, len(values))  # noqa: S311 - no secret


def at_once(count: int, work):
    """What so many threads return, each told its number."""
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(work, range(count)))


@contextmanager
def process(code: str, *given: object):
    """A process of our own that runs this code; it is killed at the end."""
    line = [sys.executable, "-c", code, *map(str, given)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, env=HERE, **pipes) as started:  # noqa: S603 - our own code
        try:
            yield started
        finally:
            started.kill()


def go(*waiting: subprocess.Popen) -> None:
    """Let processes that say when they are ready go on together."""
    for each in waiting:
        assert each.stdout.readline() == "ready\n"
    for each in waiting:
        each.stdin.write("go\n")
        each.stdin.flush()


class StoreContract:
    """What a campaign in a database promises, wherever that is."""

    # ------------------------------------------------------------ beginning

    def test_what_was_created_is_read_back_by_whoever_opens_it(self, db):
        arrays = {
            "X": np.array([[0.1, -0.0], [np.pi, 5e-324], [1e308, 3]]),
            "empty": np.zeros((0, 4), dtype=np.float32),
            "words": np.array(["é", "long word"]),
            "turned": np.asfortranarray(np.arange(6).reshape(2, 3)),
        }
        assert not Store.exists(db)
        Store.create(db, SETUP, Contents(ITEMS, arrays, [EVERY])).close()
        assert Store.exists(db)
        for writes in (True, False):
            with Store.open(db, writes=writes) as opened:
                assert opened.setup() == SETUP
                assert opened.items() == {item.row: item for item in ITEMS}
                assert list(opened.items()) == [0, 1, 2]
                assert opened.places() == {item.id: item.row for item in ITEMS}
                found = opened.arrays()
                (event,) = opened.events()
                assert opened.leases(0) == {}
            assert list(found) == sorted(arrays)
            for name, array in arrays.items():
                np.testing.assert_array_equal(found[name], array)
                assert found[name].dtype == array.dtype
            assert event == replace(EVERY, number=1, at=event.at)
            assert abs(event.at - store.clock()) < 60_000

    def test_a_campaign_may_begin_with_nothing(self, db):
        with Store.create(db, Setup("empty", "table", 0), Contents([], {})) as made:
            assert made.setup() == Setup("empty", "table", 0)
            assert made.items() == made.places() == made.arrays() == {}
            assert made.events() == []

    def test_no_event_is_made_long_after_it_arrived(self, db, monkeypatch):
        with created(db, 3) as made:
            with monkeypatch.context() as earlier:
                earlier.setattr(store, "AHEAD", 2**60)  # as journals of before have it
                made.append([Event("a" * 32, Kind.LABEL, "ann", 2**53, 0, "yes")])
            (later,) = made.append([Event("b" * 32, Kind.EDIT, "ann", 2**53, 1, "no")])
            first, second = made.events()
            assert second == later
            for event in (first, second):
                assert event.made == event.at + store.AHEAD
            made.append([Event("c" * 32, Kind.EDIT, "ann", first.made + 1, 0, "no")])
            assert replay(made.events()).labels == {0: "no", 1: "no"}

    def test_an_array_may_be_larger_than_one_cell(self, db, monkeypatch):
        monkeypatch.setattr(store, "CHUNK", 1000)
        X = np.random.default_rng(0).normal(size=(37, 41))
        with Store.create(db, SETUP, Contents(ITEMS, {"X": X, "y": X[:2]})) as made:
            np.testing.assert_array_equal(made.array("X"), X)
            np.testing.assert_array_equal(made.array("y"), X[:2])
            with made._read.connect() as connection:  # noqa: SLF001 - how it is cut is its own affair
                sizes = [
                    len(part)
                    for part in connection.execute(
                        database.parts.select().with_only_columns(database.parts.c.content)
                    ).scalars()
                ]
        assert max(sizes) == 1000
        assert len(sizes) > 12

    def test_some_of_the_rows_can_be_read(self, db, monkeypatch):
        monkeypatch.setattr(store, "MANY", 3)
        with created(db, 20) as made:
            wanted = [19, 3, 7, 3, 0, 11, 12, 99]
            assert made.items(wanted) == {row: Item(row, f"r{row}") for row in wanted if row < 20}
            assert made.items(row for row in (4, 5)).keys() == {4, 5}
            assert made.items([]) == {}

    def test_a_second_campaign_at_one_address_is_refused(self, db):
        created(db).close()
        with pytest.raises(
            ValueError,
            match=r"^db must not hold a campaign yet; got '.+'\. Choose another with --db",
        ):
            created(db)
        with Store.open(db) as opened:
            assert opened.setup().name == "many"

    def test_a_campaign_that_is_not_there_cannot_be_opened(self, db):
        with pytest.raises(
            ValueError,
            match=r"^db must hold a campaign; got '.+', which holds none\. Begin one with",
        ):
            Store.open(db)

    @pytest.mark.parametrize(
        ("contents", "error"),
        [
            (Contents(ITEMS, {"X": np.zeros(2), "odd": np.array([{}])}), "Object arrays"),
            (Contents([ITEMS[0], replace(ITEMS[1], id=ITEMS[0].id)], {}), "^db must be a database"),
            (Contents(ITEMS, {"X": np.zeros(2)}, [EVERY, EVERY]), "^db must be a database"),
        ],
        ids=["array", "ids", "events"],
    )
    def test_what_breaks_half_way_leaves_nothing(self, db, contents, error):
        with pytest.raises(ValueError, match=error):
            Store.create(db, SETUP, contents)
        assert not Store.exists(db)
        with Store.create(db, SETUP, Contents(ITEMS, {})) as made:
            assert len(made.items()) == 3

    def test_a_process_killed_while_it_creates_leaves_nothing(self, db):
        code = (
            "import os, signal, sys\nimport numpy as np\n"
            "from possibal.labelling.storage.store import Contents, Item, Setup, Store\n"
            "class Last:\n"
            "    def __array__(self, *_, **__):\n        os.kill(os.getpid(), signal.SIGKILL)\n"
            "items = [Item(row, str(row), ('x' * 999,)) for row in range(9999)]\n"
            "contents = Contents(items, {'X': np.zeros((999, 99)), 'Y': Last()})\n"
            "Store.create(sys.argv[1], Setup('half', 'table', 9999), contents)\n"
        )
        with process(code, db) as other:
            assert other.wait(120) == -9
        assert not Store.exists(db)
        created(db).close()
        assert Store.exists(db)

    def test_tables_of_somebody_else_are_left_alone(self, db):
        engine = database.engine(database.address(db), writes=True)
        with engine.begin() as connection:
            database.items.create(connection)
            connection.execute(database.items.insert(), {"row": 7, "id": "theirs", "cells": "[]"})
        with pytest.raises(
            ValueError, match=r"^db must be a database that .*items.* already exists"
        ):
            created(db)
        with engine.connect() as connection:
            assert connection.execute(database.items.select()).all() == [(7, "theirs", "[]", None)]
        engine.dispose()
        assert not Store.exists(db)

    # ------------------------------------------------------------ the journal

    def test_an_event_comes_back_with_its_number_and_its_time(self, db):
        with created(db) as made:
            before = store.clock()
            (event,) = made.append([EVERY])
            assert event == replace(EVERY, number=event.number, at=event.at)
            assert event.number > 0
            assert before <= event.at <= store.clock()
            assert made.events() == [event]
            assert isinstance(made.events()[0].kind, Kind)

    @pytest.mark.parametrize("kind", Kind)
    def test_every_kind_of_event_can_be_kept(self, db, kind):
        with created(db) as made:
            stored = made.append([Event("k", kind, "ann", 0)])
            assert made.events() == stored
            assert stored[0].kind is kind

    def test_a_key_is_added_once_within_a_batch_and_after_it(self, db):
        with created(db) as made:
            first = made.append([word("a"), word("b"), word("a", 2, "bob"), word("c")])
            assert [event.key for event in first] == ["a", "b", "a", "c"]
            assert first[2] == first[0]
            again = made.append([word("c", 1, "cy"), word("d")])
            assert again[0] == first[3]
            assert [event.key for event in made.events()] == ["a", "b", "c", "d"]
            assert made.append([]) == []

    def test_a_key_that_many_send_at_once_is_added_once(self, db):
        with created(db) as made:
            keys = [f"k{i}" for i in range(20)]

            def send(number):
                mine = shuffled(number, keys)
                return [made.append([word(key, who=f"p{number}")])[0] for key in mine]

            told = at_once(16, send)
            stored = {event.key: event for event in made.events()}
        assert sorted(stored) == sorted(keys)
        assert all(stored[event.key] == event for events in told for event in events)

    def test_numbers_grow_in_the_order_of_the_commits(self, db):
        with created(db) as made:
            seen = []

            def work(number):
                if number == 0:
                    while len(seen) < 7 * 20:
                        seen.extend(made.events(after=seen[-1].number if seen else 0))
                    return
                for i in range(20):
                    made.append([word(f"{number} {i}")])

            at_once(8, work)
            assert seen == made.events()

    def test_only_what_came_after_is_read(self, db):
        with created(db) as made:
            stored = [made.append([word(str(i))])[0] for i in range(5)]
            for place, event in enumerate(stored):
                assert made.events(after=event.number) == stored[place + 1 :]

    def test_an_event_that_fails_does_not_harm_others(self, db):
        with created(db) as made:

            def work(number):
                if number % 2:
                    return made.append([word(f"good {number}")])[0].key
                with pytest.raises((UnsavedError, OverflowError)):
                    made.append([word(f"lost {number}"), replace(word("bad"), row=2**70)])
                return f"good {number}" if made.append([word(f"good {number}")]) else None

            assert sorted(at_once(8, work)) == sorted(event.key for event in made.events())

    @pytest.mark.parametrize("acknowledged", [1, 20, 200])
    def test_a_process_that_is_killed_loses_nothing_it_was_told_and_doubles_nothing(
        self, db, acknowledged
    ):
        created(db).close()
        with process(APPENDS, db, 9999, "t") as other:
            lines = [other.stdout.readline() for _ in range(acknowledged)]
            other.kill()
            lines += other.stdout.readlines()
        told = dict(line.split() for line in lines if line.endswith("\n"))
        assert len(told) >= acknowledged
        with Store.open(db) as opened:
            stored = {event.key: str(event.number) for event in opened.events()}
            assert len(stored) == len(opened.events()) <= len(told) + 4
            assert told.items() <= stored.items()
            again = opened.append([word(key) for key in told])
            assert {event.key: str(event.number) for event in again} == told

    def test_somebody_can_read_while_another_process_writes(self, db):
        created(db).close()
        seen = []
        with process(APPENDS, db, 40, "t") as other, Store.open(db, writes=False) as reading:
            while len(seen) < 160:
                seen += reading.events(after=seen[-1].number if seen else 0)
                assert other.poll() in {None, 0}
            assert other.wait(60) == 0
            assert seen == reading.events()
        assert Counter(event.who for event in seen) == {f"t{i}": 40 for i in range(4)}

    def test_whoever_only_reads_cannot_write(self, db):
        created(db).close()
        with (
            Store.open(db, writes=False) as reading,
            pytest.raises(ValueError, match=r"^store must be open for writing; got one that only"),
        ):
            reading.append([word("a")])

    def test_a_closed_store_takes_nothing_more(self, db):
        made = created(db)
        made.close()
        made.close()
        with pytest.raises(RuntimeError, match="closed"):
            made.append([word("a")])
        with Store.open(db) as opened:
            assert opened.events() == []

    # ------------------------------------------------------------ leases

    def test_a_row_is_taken_by_one_person_at_a_time(self, db):
        with created(db) as made:
            assert hold(made, [2, 0, 1], lease("ann")) == [2]
            assert hold(made, [2, 0, 1], lease("bob")) == [0]
            assert hold(made, [2, 0], lease("cy")) == []
            assert hold(made, [2, 1, 0], lease("cy"), most=3) == [1]
            assert made.leases(0) == {
                2: lease("ann"),
                0: lease("bob"),
                1: lease("cy"),
            }

    def test_an_answer_that_comes_twice_releases_its_row_once(self, db):
        with created(db) as made:
            hold(made, [1], lease("ann"))
            made.append([word("a", 1)])
            assert made.leases(0) == {}
            hold(made, [1], lease("ann"))  # to answer it anew, after an undo
            made.append([word("a", 1)])
            assert made.leases(0) == {1: lease("ann")}

    def test_ones_own_row_can_be_taken_again_and_lasts_longer(self, db):
        with created(db) as made:
            hold(made, [1], lease("ann", until=100))
            assert hold(made, [1], lease("ann", until=200)) == [1]
            assert made.leases(150) == {1: lease("ann", 200)}

    def test_a_lease_that_has_ended_is_free(self, db):
        with created(db) as made:
            hold(made, [1], lease("ann", until=100))
            assert hold(made, [1], lease("bob"), now=99) == []
            assert made.leases(99) == {1: lease("ann")}
            assert made.leases(100) == {}
            assert hold(made, [1], lease("bob", until=200), now=100) == [1]
            assert made.leases(100) == {1: lease("bob", 200)}

    def test_a_lease_of_a_clock_that_was_wrong_has_ended(self, db):
        with created(db) as made:
            hold(made, [0], lease("ann", until=LONGEST))
            hold(made, [1], lease("ann", until=LONGEST + 1))
            hold(made, [2], lease("ann", until=86_400_000, spare=True))
            assert made.leases(0) == {0: lease("ann", LONGEST)}
            assert hold(made, [0, 1, 2], lease("bob"), most=3) == [1, 2]
            assert made.leases(0) == {0: lease("ann", LONGEST), 1: lease("bob"), 2: lease("bob")}

    def test_a_row_in_reserve_goes_to_whoever_wants_it_now_but_into_no_other_reserve(self, db):
        with created(db) as made:
            assert hold(made, [0, 1, 2], lease("ann", spare=True), most=2) == [0, 1]
            assert hold(made, [0, 1], lease("bob", spare=True), most=2) == []
            assert hold(made, [0, 1], lease("bob")) == [0]
            assert made.leases(0) == {0: lease("bob"), 1: lease("ann", spare=True)}
            assert hold(made, [0], lease("ann")) == []
            assert hold(made, [1], lease("ann")) == [1]
            assert hold(made, [1], lease("bob")) == []

    def test_renewing_lengthens_only_ones_own_living_leases(self, db):
        with created(db, 4) as made:
            hold(made, [0], lease("ann", until=100))
            hold(made, [1], lease("ann", until=50))
            hold(made, [2], lease("bob", until=100))
            hold(made, [3], lease("ann", until=900, spare=True))
            made.renew("ann", now=50, until=300)
            assert made.leases(99).keys() == {0, 2, 3}
            assert made.leases(299).keys() == {0, 3}
            assert made.leases(300) == {3: lease("ann", 900, spare=True)}
            assert made.leases(899) == {3: lease("ann", 900, spare=True)}

    def test_whoever_answers_a_row_releases_it(self, db):
        with created(db) as made:
            hold(made, [0, 1], lease("ann"), most=2)
            hold(made, [2], lease("bob"))
            made.append([word("a", 0), word("b", 2), word("c", None)])
            assert made.leases(0) == {1: lease("ann"), 2: lease("bob")}

    def test_people_release_only_what_they_hold(self, db):
        with created(db) as made:
            hold(made, [0, 1], lease("ann"), most=2)
            hold(made, [2], lease("bob"))
            made.release([1, 2], "ann")
            assert made.leases(0) == {0: lease("ann"), 2: lease("bob")}
            assert hold(made, [0, 1], lease("cy")) == [1]

    def test_no_row_goes_to_two_people(self, db):
        with created(db, 300) as made:

            def work(number):
                mine, rows = [], shuffled(number, range(300))
                while taken := hold(made, rows, lease(f"p{number}"), most=3):
                    mine += taken
                    rows = [row for row in rows if row not in taken]
                return mine

            taken = at_once(32, work)
            whose = {row: lease.who for row, lease in made.leases(0).items()}
        assert sorted(row for rows in taken for row in rows) == list(range(300))
        assert whose == {row: f"p{number}" for number, rows in enumerate(taken) for row in rows}

    # ------------------------------------------------------------ closing

    def test_a_store_is_free_again_after_it_was_closed(self, db):
        for _ in range(2):
            with closing(Store.open(db) if Store.exists(db) else created(db)) as opened:
                opened.append([word("a")])
        with Store.open(db) as opened:
            assert len(opened.events()) == 1
