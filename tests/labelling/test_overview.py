from dataclasses import replace

import numpy as np
import pytest
from support.services import (
    answer,
    campaign,
    event,
    new_service,
    rows,
    serving,
    truth,
    undo,
    walk,
)

from possibal.labelling import ranking
from possibal.labelling.evaluation import saving_sentence, wilson_interval
from possibal.labelling.kept_ranking import KeptRanking, keep
from possibal.labelling.overview import (
    NEAREST_IDS,
    PREVIEW,
    ClassEntry,
    HistoryFilter,
    Overview,
    RowSearch,
    preview,
)
from possibal.labelling.storage.journal import Kind, places_detail
from possibal.labelling.storage.store import Item, Store


@pytest.fixture(name="at")
def _at(tmp_path):
    """A service where two people are to answer each row."""
    with new_service(tmp_path, rows(), people=2) as made:
        yield made


# ---------------------------------------------------------------- progress
def test_at_the_start_everything_is_left(at):
    found = Overview(at.read_model, at.scheduler).progress()
    assert (found.rows, found.answered, found.left, found.unsure, found.bad) == (30, 0, 30, 0, 0)
    assert found.balance == {"no": 0, "yes": 0}
    assert found.advice is None
    assert found.curve == ()
    assert (found.checked, found.check, found.saving) == (0, 0, None)
    assert found.people == {}
    assert found.is_behind
    assert found.trouble is None


def test_progress_counts_what_holds(at):
    for done in (
        event("ann", 0, "no"),
        event("bob", 0, "no"),
        event("ann", 1, "yes"),
        event("ann", 2, "yes"),
        event("bob", 2, "no"),
        event("ann", 3, kind=Kind.BAD),
        event("ann", 4, kind=Kind.UNSURE),
        event("ann", 5, kind=Kind.UNSURE),
        event("bob", 5, "no"),
        event("ann", 6, kind=Kind.SKIP),
        event("ann", 7, "no"),
        event("bob", 7, "yes"),
        event("cy", 7, "yes", Kind.SETTLE),
    ):
        at.answer(done)
    at.answer(event("bob", 8, "no"))
    at.undo(undo("bob"))
    at.scheduler.rank()
    found = Overview(at.read_model, at.scheduler).progress()
    assert found.answered == 4  # 0, 1, 5 and 7
    assert found.left == 30 - 4  # but for 0, 2, 3 and 7, as 1 and 5 want a second answer
    assert found.unsure == 1  # 4
    assert found.bad == 1
    assert found.balance == {"no": 2, "yes": 2}
    assert found.people == {"ann": 4, "bob": 4, "cy": 0}
    assert found.advice is at.scheduler.ranking.advice
    assert not found.is_behind


def test_nothing_is_left_once_nobody_is_asked(tmp_path):
    with new_service(tmp_path, rows(6)) as at:
        for left in range(6, 0, -1):
            assert Overview(at.read_model, at.scheduler).progress().left == left
            walk(at, "ann", 1)
        assert Overview(at.read_model, at.scheduler).progress().left == 0
        assert at.ask("ann") is None


def test_a_failure_of_the_model_is_told(at):
    at.scheduler.trouble = "It could not."
    assert Overview(at.read_model, at.scheduler).progress().trouble == "It could not."


def test_the_curve_is_judged_by_the_labels_that_check_rows_have_now(tmp_path):
    X = rows(40)
    with new_service(tmp_path, X, check=10) as at:
        view, check = Overview(at.read_model, at.scheduler), at.read_model.check_rows
        free = [row for row in range(40) if row not in check]
        for row in free[:6]:
            answer(at, "ann", row)
        at.scheduler.rank()
        for row in free[6:12]:
            answer(at, "ann", row)
        at.scheduler.rank()
        assert view.progress().curve == ()
        for count in (1, 4, 10):
            for row in check[:count]:
                answer(at, "ann", row)
            curve = view.progress().curve
            assert [point.answers for point in curve] == [6, 12]
            for point in curve:
                predicted = at.scheduler.check_predictions[point.answers][:count]
                true = [truth(X)[row] for row in check[:count]]
                right = sum(one == other for one, other in zip(predicted, true, strict=True))
                assert point.accuracy == right / count
                assert (point.low, point.high) == wilson_interval(right, count)
            assert view.progress().checked == count
        assert view.progress().check == 10


def test_what_was_saved_is_told_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr("possibal.labelling.evaluation.DRAWS", 2)
    with new_service(tmp_path, rows(50), check=20) as at:
        for row in range(50):
            answer(at, "ann", row)
        at.scheduler.measure()
        progress = Overview(at.read_model, at.scheduler).progress()
        expected = saving_sentence(progress.curve, at.scheduler.random_curve, 20)
        assert progress.saving == expected is not None


def test_the_confusion_of_classes_is_that_of_check_rows_and_present_names(tmp_path):
    with new_service(tmp_path, rows(50), check=20) as at:
        view = Overview(at.read_model, at.scheduler)
        assert view.confusion().accuracy.rows == 0
        check = at.read_model.check_rows
        for row in [row for row in range(50) if row not in check][:10]:
            answer(at, "ann", row)
        for row in check[:12]:
            answer(at, "ann", row)
        at.scheduler.rank()
        at.rename_class("yes", "surely", "ann")
        found, labels = view.confusion(), at.read_model.state.labels
        assert found.classes == ("no", "surely")
        assert [sum(counts) for counts in found.counts] == [
            sum(labels[row] == label for row in check[:12]) for label in found.classes
        ]
        said = at.scheduler.predictions.of(check[:12])
        right = sum(one.label == labels[row] for one, row in zip(said, check, strict=False))
        assert (found.accuracy.right, found.accuracy.rows) == (right, 12)
        assert Overview(at.read_model).confusion().accuracy.rows == 0


# ---------------------------------------------------------------- the map
def test_the_map_holds_every_row_of_a_small_pool_between_nought_and_one(at):
    walk(at, "ann", 5)
    spots = Overview(at.read_model, at.scheduler).map()
    labels = at.read_model.state.labels
    assert sorted(spot.row for spot in spots) == list(range(30))
    for axis in ("x", "y"):
        values = [getattr(spot, axis) for spot in spots]
        assert (min(values), max(values)) == (0.0, 1.0)
    assert {spot.row: spot.label for spot in spots if spot.label} == labels
    predictions = at.scheduler.predictions
    assert [(spot.predicted, spot.chance) for spot in spots] == [
        (one.label, one.chance.value) for one in predictions.of(spot.row for spot in spots)
    ]


def test_the_map_shows_the_plane_in_which_rows_differ_most(tmp_path):
    X = rows(d=4) * [0.1, 20.0, 0.1, 2.0]
    with new_service(tmp_path, X) as at:
        spots = sorted(Overview(at.read_model, at.scheduler).map(), key=lambda spot: spot.row)
    assert abs(np.corrcoef([s.x for s in spots], X[:, 1])[0, 1]) > 0.99
    assert abs(np.corrcoef([s.y for s in spots], X[:, 3])[0, 1]) > 0.99


def test_before_the_first_ranking_nothing_on_the_map_is_sure(at):
    assert {spot.chance for spot in Overview(at.read_model, at.scheduler).map()} == {None}


def test_labelled_rows_are_always_on_the_map_and_the_others_are_drawn(at, monkeypatch):
    monkeypatch.setattr(ranking, "OVERVIEW_SAMPLE", 5)
    for row in range(0, 30, 3):
        answer(at, "ann", row)
    view = Overview(at.read_model, at.scheduler)
    shown = [spot.row for spot in view.map()]
    assert len(shown) == len(set(shown))
    assert 10 <= len(shown) <= 15
    assert set(range(0, 30, 3)) <= set(shown)
    assert shown == [spot.row for spot in Overview(at.read_model, at.scheduler).map()]


@pytest.mark.parametrize(
    "X",
    [np.ones((6, 3)), np.arange(6.0)[:, None], np.full((6, 1), 0.1)],
    ids=["constant", "one column", "one constant column"],
)
def test_rows_that_differ_little_can_be_drawn(tmp_path, X):
    with new_service(tmp_path, X) as at:
        spots = Overview(at.read_model, at.scheduler).map()
        assert len(spots) == 6
        assert all(0.0 <= value <= 1.0 for spot in spots for value in (spot.x, spot.y))
        assert all(spot.y == 0.0 for spot in spots)


def test_the_map_says_what_is_predicted_by_present_names_and_of_check_rows_nothing(tmp_path):
    with new_service(tmp_path, rows(60), check=10) as at:
        view = Overview(at.read_model, at.scheduler)
        assert {spot.predicted for spot in view.map()} == {None}
        walk(at, "ann", 20)
        at.scheduler.rank()
        check, ranking = set(at.read_model.check_rows), at.scheduler.ranking
        for spot in view.map():
            hidden = spot.row in check
            assert spot.predicted == (None if hidden else ranking.predicted_label(spot.row))
        at.rename_class("yes", "ja", "ann")
        assert {spot.predicted for spot in view.map()} == {None, "no", "ja"}
        assert {spot.predicted for spot in view.map("ann")} == {None}


def test_what_is_predicted_is_not_said_once_its_class_is_gone(at, monkeypatch):
    walk(at, "ann", 8)
    at.scheduler.rank()
    monkeypatch.setattr(type(at.read_model), "classes", ("no",))
    spots = Overview(at.read_model, at.scheduler).map()
    assert {spot.predicted for spot in spots} == {"no", None}


def of_clusters(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in three clusters: three columns that say nothing, and four diffusion coordinates."""
    rng = np.random.default_rng(0)
    which = rng.integers(3, size=n)
    clusters = np.eye(4)[which] + rng.normal(scale=0.02, size=(n, 4))
    clusters /= np.linalg.norm(clusters, axis=1, keepdims=True)
    return np.hstack([rng.normal(size=(n, 3)), clusters]), which


def spots_of(folder, X, **chosen) -> list[tuple[float, float]]:
    """Where the rows of a campaign with diffusion coordinates lie on its map."""
    folder.mkdir()
    recipe = {"owners": [], "metric": "cosine", "diffusion": 4}
    with new_service(folder, X, recipe=recipe, **chosen) as at:
        view = Overview(at.read_model, at.scheduler)
        spots = sorted(view.map(), key=lambda spot: spot.row)
        assert [(spot.x, spot.y) for spot in spots] == [
            (spot.x, spot.y) for spot in sorted(view.map(), key=lambda spot: spot.row)
        ]
    return [(spot.x, spot.y) for spot in spots]


def test_where_the_model_tells_clusters_the_map_shows_them(tmp_path):
    X, which = of_clusters(90)
    places = np.array(spots_of(tmp_path / "a", X))
    centres = np.array([places[which == one].mean(axis=0) for one in range(3)])
    apart = np.linalg.norm(places[:, None] - centres, axis=2)
    assert (apart.argmin(axis=1) == which).all()
    joined, _ = of_clusters(90)
    joined = np.vstack([X, joined[:30] + 1e-3])
    after = np.array(spots_of(tmp_path / "b", joined, begun=90))
    np.testing.assert_allclose(after[:90], places, atol=1e-9)


# ---------------------------------------------------------------- history
@pytest.fixture(name="told")
def _told(at):
    """A service where something happened: the events, the oldest first."""
    told = [
        at.answer(done).event
        for done in (
            event("ann", 1, "no"),
            event("bob", 12, "yes"),
            event("ann", 12, "no"),
            event("ann", 3, kind=Kind.SKIP),
            event("ann", None, "maybe", Kind.CLASS),
            event("ann", 1, "yes", Kind.EDIT),
        )
    ]
    at.undo(undo("bob"))
    return at, told


def test_history_shows_what_was_done_about_rows_the_latest_first(told):
    at, events = told
    entries, more = Overview(at.read_model, at.scheduler).history(HistoryFilter())
    assert [entry.event for entry in entries] == [events[i] for i in (5, 3, 2, 1, 0)]
    assert [entry.holds for entry in entries] == [True, True, True, False, True]
    assert [entry.item.row for entry in entries] == [1, 3, 12, 12, 1]
    assert not more


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (HistoryFilter(who="bob"), [1]),
        (HistoryFilter(who="nobody"), []),
        (HistoryFilter(kind=Kind.SKIP), [3]),
        (HistoryFilter(kind=Kind.LABEL), [5, 2, 1, 0]),
        (HistoryFilter(kind=Kind.EDIT), [5]),
        (HistoryFilter(kind=Kind.UNDO), []),
        (HistoryFilter(label="yes"), [5, 1]),
        (HistoryFilter(who="ann", label="no"), [2, 0]),
        (HistoryFilter(text="ID-12"), [2, 1]),
        (HistoryFilter(text="Words of 3"), [3]),
        (HistoryFilter(text="nothing like it"), []),
    ],
)
def test_history_can_be_narrowed(told, wanted, found):
    at, events = told
    entries, more = Overview(at.read_model, at.scheduler).history(wanted)
    assert [entry.event for entry in entries] == [events[place] for place in found]
    assert not more


@pytest.mark.parametrize("text", [None, "words"])
def test_history_is_read_page_by_page(told, text):
    at, events = told
    view, pages, before = Overview(at.read_model, at.scheduler), [], None
    while True:
        entries, more = view.history(HistoryFilter(text=text, before=before, limit=2))
        pages.append([entry.event for entry in entries])
        before = entries[-1].event.number
        if not more:
            break
    assert pages == [[events[5], events[3]], [events[2], events[1]], [events[0]]]


# ---------------------------------------------------------------- people
def test_agreement_is_told_for_every_two_and_for_all(at):
    said = {0: "nnn", 1: "yyn", 2: "nn", 3: "yy", 4: "n", 5: "ny"}
    for row, labels in said.items():
        for who, letter in zip(("ann", "bob", "cy"), labels, strict=False):
            answer(at, who, row, "no" if letter == "n" else "yes")
    answer(at, "ann", 6, "yes")
    at.answer(event("bob", 6, kind=Kind.UNSURE))
    for who in ("ann", "bob"):
        answer(at, who, 7, "no")
    at.answer(event("cy", 7, kind=Kind.BAD))
    found = Overview(at.read_model, at.scheduler).agreement()
    assert found.rows == 5
    assert [(one, other, rows) for one, other, rows, _ in found.pairs] == [
        ("ann", "bob", 5),
        ("ann", "cy", 2),
        ("bob", "cy", 2),
    ]
    assert found.pairs[0][3] == pytest.approx((4 / 5 - 12 / 25) / (1 - 12 / 25))
    assert found.pairs[1][3] == 0.0
    assert found.alpha == pytest.approx(1 - 11 * (4 / 2 + 2) / (12**2 - 7**2 - 5**2))


def test_conflicts_that_wait_are_counted_without_copies(tmp_path):
    groups = [0, 1, 2, 3, 2]
    with new_service(tmp_path, rows(5), copies=groups, people=2) as at:
        view = Overview(at.read_model, at.scheduler)
        for row in (0, 1, 2):
            answer(at, "ann", row, "no")
            answer(at, "bob", row, "no" if row == 0 else "yes")
        assert view.progress().conflicts == 2
        at.answer(event("ann", 4, "yes", Kind.EDIT))
        assert (view.progress().conflicts, len(view.conflicts())) == (2, 2)
        at.answer(event("ann", 1, "yes", Kind.SETTLE))
        assert view.progress().conflicts == 1


def test_the_pace_of_people_is_told_once_they_answered_enough(at):
    for row in range(7):
        at.answer(replace(event("ann", row, "no"), made=4000 * row))
    answer(at, "bob", 8)
    assert Overview(at.read_model, at.scheduler).progress().paces == {"ann": 4.0}


def test_one_person_agrees_with_nobody(at):
    walk(at, "ann", 3)
    found = Overview(at.read_model, at.scheduler).agreement()
    assert (found.pairs, found.alpha, found.rows) == ((), None, 0)


def test_conflicts_that_are_not_settled_come_first(at):
    for row in (9, 4, 2, 5, 6):
        answer(at, "ann", row, "no")
        answer(at, "bob", row, "no" if row == 5 else "yes")
    at.answer(event("cy", 2, "yes", Kind.SETTLE))
    at.answer(event("cy", 6, kind=Kind.BAD))
    found = Overview(at.read_model, at.scheduler).conflicts()
    assert [(one.item.row, one.settled) for one in found] == [(4, None), (9, None), (2, "yes")]
    assert found[0].said == {"ann": "no", "bob": "yes"}
    assert found[0].item.id == "id-4"


# ---------------------------------------------------------------- fields
def test_the_few_fields_that_go_closely_with_the_labels_are_important(tmp_path):
    with new_service(tmp_path, rows(40, d=3), fields=("a", "b", "c")) as at:
        view = Overview(at.read_model, at.scheduler)
        assert not view.important_fields((2, 1, 1))
        at.scheduler.rank()
        assert not view.important_fields((2, 1, 1))
        walk(at, "ann", 12)
        at.scheduler.rank()
        relevance = at.scheduler.ranking.relevance
        assert relevance.argmax() == 0
        assert sorted(relevance)[-2] < relevance.max() / 2
        assert view.important_fields((2, 1, 1)) == {2}
        assert view.important_fields((1, 2, 2)) == {1}
        assert not view.important_fields(())


# ---------------------------------------------------------------- previews
@pytest.mark.parametrize(
    ("item", "words"),
    [
        (Item(0, "r", ("a", None, "", "b")), "a · b"),
        (Item(0, "r", ("two\n lines ",), "p.png"), "two lines"),
        (Item(0, "r", (None,), "p.png"), "p.png"),
        (Item(0, "r"), "r"),
        (Item(0, "r", ("x" * PREVIEW,)), "x" * PREVIEW),
        (Item(0, "r", ("x" * (PREVIEW + 1),)), "x" * (PREVIEW - 1) + "…"),
    ],
)
def test_a_few_words_stand_for_a_row(item, words):
    assert preview(item) == words


# ---------------------------------------------------------------- names
def test_classes_are_listed_with_what_is_said_of_them_and_their_rows(at):
    view = Overview(at.read_model)
    answer(at, "ann", 0, "no")
    answer(at, "bob", 0, "yes")
    answer(at, "ann", 1, "no")
    at.describe_class("no", "ann", "Not so.", "#ff0000")
    at.add_class("maybe", "ann")
    assert view.classes() == [
        ClassEntry("no", "Not so.", "#ff0000", 2),
        ClassEntry("yes", "", "", 1),
        ClassEntry("maybe", "", "", 0),
    ]


def test_all_views_use_the_names_that_classes_have_now(at):
    view = Overview(at.read_model, at.scheduler)
    for who, row, label in (("ann", 0, "no"), ("bob", 0, "yes"), ("ann", 1, "yes")):
        answer(at, who, row, label)
    assert len(view.conflicts()) == 1
    at.rename_class("yes", "ja", "ann")
    assert view.progress().balance == {"no": 0, "ja": 1}
    assert [entry.event.label for entry in view.history(HistoryFilter())[0]] == ["ja", "ja", "no"]
    assert len(view.history(HistoryFilter(label="ja"))[0]) == 2
    assert view.history(HistoryFilter(label="yes"))[0] == []
    assert {point.label for point in view.map()} == {None, "ja"}
    assert view.conflicts()[0].said == {"ann": "no", "bob": "ja"}
    at.merge_classes("no", "ja", "ann")
    assert view.conflicts() == []
    assert view.agreement().pairs[0][2] == 1


def test_the_curve_stays_right_when_a_class_is_renamed(tmp_path):
    with new_service(tmp_path, rows(60, seed=3), check=20) as at:
        walk(at, "ann", 40)
        view = Overview(at.read_model, at.scheduler)
        before = view.progress().curve[-1]
        at.rename_class("yes", "ja", "ann")
        at.scheduler.rank()
        at.scheduler.measure()
        assert view.progress().curve[-1] == before
        assert len(view.progress().curve) > 3


def test_the_curve_follows_the_check_rows_that_there_are(tmp_path):
    with new_service(tmp_path, rows(60, seed=3), check=4) as at:
        walk(at, "ann", 40)
        at.add_check_rows(20, "ann")
        at.scheduler.rank()
        assert {len(one) for one in at.scheduler.check_predictions.values()} == {24}
        view = Overview(at.read_model, at.scheduler)
        assert view.progress().check == 24
        right = view.progress().curve[-1].accuracy
        predicted, labels = at.scheduler.ranking.predicted_label, at.read_model.state.labels
        known = [row for row in at.read_model.check_rows if row in labels]
        assert right == np.mean([predicted(row) == labels[row] for row in known])


# ---------------------------------------------------------------- rows by name
def test_a_row_is_found_by_its_id(at):
    view = Overview(at.read_model)
    assert view.find("id-7") == RowSearch(7)
    assert [point.id for point in view.map() if point.row == 7] == ["id-7"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("ID-7", "id-7"),
        ("d-12", "id-12"),
        ("id-1x2", "id-12"),
        ("id-29.", "id-29"),
        ("7", "id-7"),
        ("i1", "id-1"),
    ],
)
def test_where_no_row_has_the_id_the_nearest_are_offered(at, typed, first):
    found = Overview(at.read_model).find(typed)
    assert found.row is None
    assert found.near[0][1] == first
    assert len(found.near) == NEAREST_IDS
    assert all(f"id-{row}" == name for row, name in found.near)


def test_a_row_whose_folder_is_hidden_is_found_by_either_name(tmp_path):
    setup, contents = campaign(rows(4), hidden_folders=True, fields=())
    names = ["ants/1.jpg", "bees/2.jpg", "ants/3.jpg", "bees/3.jpg"]
    items = [Item(row, name, (), name) for row, name in enumerate(names)]
    begun = Store.create(str(tmp_path / "a.db"), setup, replace(contents, items=items))
    with begun as store, serving(store) as at:
        view = Overview(at.read_model)
        assert view.find("bees/2.jpg") == view.find("2.jpg") == RowSearch(1)
        assert [name for _, name in view.find("3.jpg").near][:2] == ["3.jpg", "3.jpg"]
        at.answer(event("ann", 0, kind=Kind.SKIP))
        at.answer(event("ann", 1, "no"))
        entries = view.history(HistoryFilter())[0]
        assert [entry.item.id for entry in entries] == ["bees/2.jpg", "1.jpg"]
        assert [preview(entry.item) for entry in entries] == ["bees/2.jpg", "1.jpg"]
        at.answer(event("bob", 1, "yes"))
        assert [one.item.id for one in view.conflicts()] == ["2.jpg"]


def test_an_answer_about_several_rows_is_one_entry_found_by_any_of_them(at):
    done = at.answer(event("ann", 3, "no", detail=places_detail([12, 7]))).event
    view = Overview(at.read_model, at.scheduler)
    for text in (None, "id-3", "ID-7", "words of 12"):
        ((entry,), _) = view.history(HistoryFilter(text=text))
        assert (entry.event, entry.item.row, entry.others) == (done, 3, 2)
    now = view.progress()
    assert (now.answered, now.people, now.balance) == (3, {"ann": 3}, {"no": 3, "yes": 0})


def test_progress_tells_copies_and_asks_about_none(tmp_path):
    with new_service(tmp_path, rows(6), copies=[0, 0, 2, 3, 0, 3]) as at:
        view = Overview(at.read_model, at.scheduler)
        at.answer(event("ann", 0, "yes"))
        found = view.progress()
        assert (found.rows, found.answered, found.copies, found.left) == (6, 3, 2, 2)
        ((entry,), _) = view.history(HistoryFilter())
        assert (entry.others, entry.copies) == (2, 2)
        at.answer(event("ann", 2, "no", detail=places_detail([3])))
        ((entry, _), _) = view.history(HistoryFilter())
        assert (entry.others, entry.copies) == (2, 1)


def test_copies_make_no_conflicts_and_no_agreement_of_their_own(tmp_path):
    with new_service(tmp_path, rows(6), people=2, copies=[0, 0, 2, 3, 0, 3]) as at:
        view = Overview(at.read_model, at.scheduler)
        for who, label in (("ann", "yes"), ("bob", "no")):
            at.answer(event(who, 0, label))
            at.answer(event(who, 2, label))
        assert [one.item.row for one in view.conflicts()] == [0, 2]
        assert (view.agreement().rows, view.progress().people) == (2, {"ann": 2, "bob": 2})
        at.answer(event("ann", 4, "no", Kind.EDIT))
        assert [one.item.row for one in view.conflicts()] == [0, 2]
        assert view.agreement().rows == 3
        at.answer(event("cy", 0, "yes", Kind.SETTLE))
        assert at.read_model.state.labels == {0: "yes", 1: "yes", 4: "yes"}


def test_of_an_answer_about_many_rows_the_history_reads_the_one_it_shows(at, monkeypatch):
    at.answer(event("ann", 3, "no", detail=places_detail(range(4, 20))))
    read, items = list[int](), at.read_model.items
    monkeypatch.setattr(at.read_model, "items", lambda rows: items(read.extend(rows) or read))
    ((entry,), _) = Overview(at.read_model, at.scheduler).history(HistoryFilter())
    assert (entry.others, read) == (16, [3])


def test_progress_tells_how_much_of_a_sought_class_was_found_also_without_a_ranker(tmp_path):
    with new_service(tmp_path, rows(40), find="yes") as at:
        before = Overview(at.read_model, at.scheduler).progress()
        assert (before.sought, before.recall) == ("yes", None)
        assert Overview(at.read_model).progress().recall is None
        walk(at, "ann", 12)
        at.scheduler.rank()
        now = Overview(at.read_model, at.scheduler).progress()
        assert now.recall == at.scheduler.predictions.recall
        assert now.advice == now.recall.advice("yes")
        keep(at.store, at.scheduler.ranking, 40)
        assert Overview(at.read_model, KeptRanking(at.read_model)).progress().recall == now.recall
