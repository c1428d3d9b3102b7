"""Several labels a row in a stored campaign: from the journal to files, figures and the model."""

import csv
import io
import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import possibal
from possibal.data.ingest import SourceSpec, ingest_file
from possibal.data.label_sets import LabelSyntax
from possibal.errors import RefusedError
from possibal.labelling.confirmation import confirmation_page
from possibal.labelling.create import Options, create_campaign
from possibal.labelling.kept_ranking import keep, kept
from possibal.labelling.label_files import export_file, read_labels
from possibal.labelling.overview import HistoryFilter, Overview
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import ReadModel
from possibal.labelling.row_file import rows_file
from possibal.labelling.row_table import RowQuery, RowTable
from possibal.labelling.saved_model import LoadedModel, SavedModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.journal import (
    NAMING,
    Event,
    JournalState,
    Kind,
    replay,
)
from possibal.labelling.storage.store import Store
from possibal.progress import no_stages

SETS = LabelSyntax.SEVERAL
CLASSES = ("health", "politics", "sport")
ROWS = 60
PEOPLE = ("ann", "bob")
KINDS = (Kind.LABEL, Kind.EDIT, Kind.SETTLE, Kind.CLASS, Kind.RENAME, Kind.UNDO)


def has(row):
    """The classes of a row: each column tells of one."""
    return tuple(name for place, name in enumerate(CLASSES) if row >> place & 1)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A campaign with check rows, half of it answered."""
    folder = tmp_path_factory.mktemp("sets")
    rng = np.random.default_rng(0)
    lines = ["id,doctors,votes,goals"]
    for row in range(ROWS):
        at = rng.normal(scale=0.3, size=3) + [2.0 * (row >> place & 1) for place in range(3)]
        lines.append(",".join([f"n{row}", *map(str, at.round(3).tolist())]))
    (folder / "news.csv").write_text("\n".join(lines), "utf-8")
    options = {"id": "id", "multi": True, "classes": CLASSES, "check": 8}
    with possibal.open_campaign(folder / "a.db", folder / "news.csv", **options) as campaign:
        for _ in range(30):
            (row,) = campaign.ask()
            campaign.tell(row, has(int(row[1:])))
    return folder


@pytest.fixture
def db(begun, tmp_path):
    """A copy of it."""
    return shutil.copy(begun / "a.db", tmp_path / "a.db")


@pytest.fixture
def served(db):
    """Who serves it."""
    with Store.open(str(db)) as store:
        read_model = ReadModel(store)
        ranker = InProcessRanker(read_model.X, "herding", 0, read_model.setup.geometry)
        scheduler = RankingScheduler(read_model, ranker, background=False)
        scheduler.rank()
        yield LabellingService(read_model, scheduler)


def table(content):
    """The lines of a CSV file."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def word(row, label, who="ann", kind=Kind.LABEL, **more):
    """Somebody's word about a row."""
    made = more.get("made", 1)
    key = more.get("key", f"{who} {row} {made} {kind}")
    return Event(key, kind, who, made, row, label)


# ---------------------------------------------------------------- the fold
@st.composite
def histories(draw):
    """Sets that people gave rows, and changes of the classes, some of them undone."""
    texts = st.lists(st.sampled_from("abc"), max_size=3).map(SETS.text)
    events = list[Event]()
    for at in range(draw(st.integers(0, 12))):
        kind = draw(
            st.sampled_from(
                [Kind.LABEL, Kind.EDIT, Kind.SETTLE, Kind.CLASS, Kind.RENAME, Kind.UNDO]
            )
        )
        on_row = kind in {*NAMING, Kind.SETTLE}
        label = draw(texts) if on_row else draw(st.sampled_from("abcd"))
        events.append(
            Event(
                f"key {at}",
                kind,
                draw(st.sampled_from(PEOPLE)),
                draw(st.integers(0, 6)),
                draw(st.integers(0, 2)) if on_row else None,
                None if kind is Kind.UNDO else label,
                f"key {draw(st.integers(0, 11))}" if kind is Kind.UNDO else None,
                detail={"to": draw(st.sampled_from("abcd"))} if kind is Kind.RENAME else None,
            )
        )
    return events


def facts(state):
    """What a state says of labels and classes."""
    return state.labels, set(state.classes(["a"])), dict(+state.uses), state.conflicts()


@given(histories(), st.data())
def test_neither_order_nor_repetition_nor_parts_change_what_holds(events, data):
    again = data.draw(st.lists(st.sampled_from(events), max_size=4)) if events else []
    mixed = data.draw(st.permutations([*events, *again]))
    one_by_one = JournalState(SETS)
    for event in mixed:
        one_by_one.apply(event)
        assert one_by_one.uses is not None  # what was looked at is kept up to date
    assert facts(one_by_one) == facts(replay(mixed, SETS)) == facts(replay(events, SETS))


@given(histories())
def test_every_class_of_a_label_is_one_by_its_name_of_now_and_counts_once_a_row(events):
    state = replay(events, SETS)
    classes = state.classes()
    for label in state.labels.values():
        assert SETS.clean(label) == label == state.name_of(label)
        assert set(SETS.members(label)) <= set(classes)
    for name in classes:
        used = [v for v in state.verdicts.values() if any(name in SETS.members(x) for x in v.uses)]
        assert state.uses[name] == len(used)


@given(histories())
def test_without_renames_a_set_is_a_label_like_any_other(events):
    plain = [event for event in events if event.kind is not Kind.RENAME]
    sets, ones = replay(plain, SETS), replay(plain)
    assert sets.labels == ones.labels
    assert sets.conflicts() == ones.conflicts()
    assert sets.labelled() == ones.labelled()


def test_classes_that_are_merged_become_one_of_each_set_and_undo_parts_them():
    words = [word(0, "a|b"), word(1, "b"), word(2, "none")]
    merge = Event("merge", Kind.RENAME, "ann", 5, label="b", detail={"to": "a", "merge": "yes"})
    state = replay([*words, merge], SETS)
    assert state.labels == {0: "a", 1: "a", 2: "none"}
    assert state.classes() == ("a",)
    state.apply(Event("undo", Kind.UNDO, "ann", 6, target="merge"))
    assert state.labels == {0: "a|b", 1: "b", 2: "none"}
    assert dict(+state.uses) == {"a": 1, "b": 2}


def test_people_who_name_different_sets_differ_until_one_settles_the_set():
    words = [word(0, "a|b"), word(0, "a", "bob")]
    assert replay(words, SETS).conflicts() == [0]
    settled = word(0, "a|b", "bob", Kind.SETTLE, made=3)
    assert replay([*words, settled], SETS).labels == {0: "a|b"}


# ---------------------------------------------------------------- in Python
def test_labels_are_tuples_and_come_back_as_they_were_told(db):
    with possibal.open_campaign(db) as campaign:
        assert campaign.multi
        assert all(label == has(int(row[1:])) for row, label in campaign.labels.items())
        (row,) = campaign.ask()
        campaign.tell(row, ["sport", "health", "sport"])
        assert campaign.labels[row] == ("health", "sport")
        campaign.edit(row, [])
        assert campaign.labels[row] == ()
        assert campaign.undo() == row
        assert campaign.labels[row] == ("health", "sport")
        campaign.rename_class("sport", "games").merge_classes("games", "health")
        assert campaign.labels[row] == ("health",)
        assert campaign.classes == ("health", "politics")
        with pytest.raises(TypeError, match="label must list the classes"):
            campaign.edit(row, "health")
        with pytest.raises(ValueError, match=r"label must list classes of .*'games'"):
            campaign.edit(row, ["games"])


def test_what_a_campaign_was_begun_as_it_stays(db):
    with pytest.raises(ValueError, match="multi must be True, as when the campaign began"):
        possibal.open_campaign(db, multi=False)
    with pytest.raises(ValueError, match="find must be left out where rows have several labels"):
        Options(multi=True, find="sport")


def test_memory_and_database_ask_the_same_and_a_label_column_is_read(begun, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(begun / "news.csv")
    frame["label"] = ["none", "sport |health", *[None] * (ROWS - 2)]
    options = {"ids": "id", "label": "label", "multi": True, "classes": CLASSES}
    memory = possibal.Campaign.start(frame, **options)
    with possibal.open_campaign(tmp_path / "b.db", frame, **options) as stored:
        assert stored.labels == memory.labels == {"n0": (), "n1": ("health", "sport")}
        for _ in range(4):
            (row,) = memory.ask()
            assert stored.ask() == [row]
            memory.tell(row, has(int(row[1:])))
            stored.tell(row, has(int(row[1:])))


def test_a_campaign_whose_cells_were_not_read_as_sets_is_not_begun(begun, tmp_path):
    path = tmp_path / "sets.csv"
    text = (begun / "news.csv").read_text("utf-8").splitlines()
    lines = [f"{line},{'a|b' if at else 'label'}" for at, line in enumerate(text)]
    path.write_text("\n".join([*lines[:-1], f"{text[-1]},c"]), "utf-8")
    intake = ingest_file(SourceSpec(path, label="label"), no_stages)
    with pytest.raises(ValueError, match="class must not hold"):
        create_campaign(str(tmp_path / "c.db"), intake, Options(multi=True))


# ---------------------------------------------------------------- served
def test_a_set_is_one_label_in_whatever_order_it_is_sent(served):
    (row,) = served.rows("ann", 1)
    first = served.answer(word(row, "sport| health", key="k" * 8)).event
    assert first.label == "health|sport"
    assert served.answer(word(row, "health|sport", key="k" * 8)).repeated
    with pytest.raises(RefusedError, match="label must be one of"):
        served.answer(word(row, "health|games", made=2))
    with pytest.raises(RefusedError, match="class must not hold"):
        served.add_class("a|b", "ann")
    with pytest.raises(RefusedError, match="class must be unused"):
        served.remove_class("health", "ann")


def test_a_question_tells_of_each_class_and_of_sets_in_words(served):
    open_rows = [row for row in served.rows("ann", 12) if row not in served.read_model.check_rows]
    question = served.question(open_rows[0], "ann")
    assert [one.label for one in question.members] == list(CLASSES)
    assert "|" not in question.sentence
    assert question.prediction.necessity == min(one.necessity for one in question.members)
    check = served.question(served.read_model.check_rows[0], "ann")
    assert check.members == ()


def test_rows_are_found_by_any_of_their_classes(served):
    rows = RowTable(served.read_model, served.scheduler)
    found = rows.select(RowQuery(label="sport", count=ROWS)).rows
    taken_for = [one.label or (one.prediction and one.prediction.label) for one in found]
    assert found
    assert all("sport" in SETS.members(label) for label in taken_for)
    none = rows.select(RowQuery(label="none", count=ROWS)).rows
    assert none
    assert all((one.label or one.prediction.label) == "none" for one in none)


def test_rows_are_confirmed_by_the_set_that_is_predicted(served):
    page = confirmation_page(served, "ann", None, 0, 10)
    listed = [one.label for one in page.classes]
    assert sorted(set(listed)) == listed
    assert page.label in listed
    other = confirmation_page(served, "ann", listed[0], 0, 10)
    predictions = served.scheduler.predictions
    assert all(predictions.of_row(one.row).label == listed[0] for one in other.rows)


def test_check_rows_measure_each_class_and_the_whole_set(served):
    view = Overview(served.read_model, served.scheduler)
    found, matrix = view.label_sets(), view.confusion()
    assert found.whole == matrix.accuracy
    assert found.decisions.rows == len(CLASSES) * found.whole.rows > 0
    progress = view.progress()
    labels = served.read_model.state.labels.values()
    assert progress.balance == {
        name: sum(name in SETS.members(label) for label in labels) for name in CLASSES
    }
    assert progress.mistakes.count <= progress.mistakes.rows
    entries, _ = view.history(HistoryFilter(label="sport"))
    assert entries
    assert all("sport" in SETS.members(one.event.label) for one in entries)


def test_agreement_is_the_mean_over_classes(served):
    state = served.read_model
    rows = [row for row, label in state.state.labels.items() if label != "none"][:6]
    for place, row in enumerate(rows):
        said = state.state.labels[row]
        other = "none" if place == 0 else said
        state.apply([word(row, other, "bob", made=10**13)])
    found = Overview(state, served.scheduler).agreement()
    (pair,) = found.pairs
    assert pair[2] == found.rows == 6
    assert 0 < pair[3] <= 1
    assert found.alpha < 1


def test_a_ranking_with_several_labels_is_kept_over_a_restart(served):
    ranking, store = served.scheduler.ranking, served.store
    keep(store, ranking, ROWS)
    again = kept(store, ROWS, served.read_model.X.shape[1])
    assert again.members == ranking.members == CLASSES
    assert np.array_equal(again.member_chance, ranking.member_chance)
    assert np.array_equal(again.member_necessity, ranking.member_necessity)
    assert again.members_of(3) == ranking.members_of(3)
    assert again.members_of(ROWS) == []


def test_what_all_other_labels_contradict_is_told_as_the_set_without_that_fault(db):
    with possibal.open_campaign(db) as campaign:
        row = next(row for row, label in campaign.labels.items() if label == ("sport",))
        campaign.edit(row, ["sport", "health"])
    with Store.open(str(db)) as store:
        model = ReadModel(store)
        ranking = InProcessRanker(model.X, "herding", 0, model.setup.geometry).rank(model.task())
        found = ranking.contradicted.get(model.ids.index(row))
        assert found is None or ranking.classes[found.predicted] == "sport"
        assert all(0.5 < one.chance <= 1 for one in ranking.contradicted.values())
        assert ranking.possible_labels == 8
        assert RankingPredictions(ranking, model).columns()[0]


# ---------------------------------------------------------------- files
@pytest.mark.parametrize("by_class", [False, True])
def test_what_is_exported_is_imported_and_exported_the_same(db, begun, tmp_path, by_class):
    with Store.open(str(db)) as store:
        content, answers, _ = export_file(store, ".csv", by_class=by_class)
    lines = table(content)
    assert all(line["label"] == ("|".join(has(int(line["id"][1:]))) or "none") for line in lines)
    if by_class:
        assert all(
            [line[name] for name in CLASSES]
            == [str(int(name in has(int(line["id"][1:])))) for name in CLASSES]
            for line in lines
        )
    path = tmp_path / "labels.csv"
    path.write_bytes(content)
    intake = ingest_file(
        SourceSpec(begun / "news.csv", id="id", classes=CLASSES, multi=True), no_stages
    )
    with create_campaign(str(tmp_path / "new.db"), intake, Options(multi=True)) as store:
        events = read_labels(path, store)
        assert len(events) == answers
        store.append(events)
        assert export_file(store, ".csv", by_class=by_class)[0] == content
        assert read_labels(path, store) == []


def test_columns_of_classes_stand_for_a_label(begun, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,health,politics,sport\nn1,1,0,1\nn2,,,\nn3,0,0,0\n", "utf-8")
    intake = ingest_file(
        SourceSpec(begun / "news.csv", id="id", classes=CLASSES, multi=True), no_stages
    )
    with create_campaign(str(tmp_path / "new.db"), intake, Options(multi=True)) as store:
        assert [event.label for event in read_labels(path, store)] == ["health|sport", "none"]
        path.write_text("id,health,politics,sport\nn1,1,,1\n", "utf-8")
        with pytest.raises(ValueError, match="must all be filled in a row, or none"):
            read_labels(path, store)
        path.write_text("id,health,politics,sport\nn1,1,2,1\n", "utf-8")
        with pytest.raises(ValueError, match="must hold 0 and 1; got '2' in 'politics'"):
            read_labels(path, store)
        path.write_text("id,label\nn1,None|sport\n", "utf-8")
        with pytest.raises(ValueError, match="label must not be another writing of 'none'"):
            read_labels(path, store)


def test_columns_of_classes_are_for_several_labels_alone(tmp_path):
    frame = [{"id": f"r{row}", "x": float(row)} for row in range(8)]
    with possibal.open_campaign(tmp_path / "one.db", frame, id="id", classes=["a", "b"]):
        pass
    with (
        Store.open(str(tmp_path / "one.db")) as store,
        pytest.raises(ValueError, match="by_class must be left out where rows have one label"),
    ):
        export_file(store, ".csv", by_class=True)


def test_all_rows_come_with_a_chance_and_a_necessity_for_each_class(served):
    content, _ = rows_file(served.read_model, served.scheduler.predictions, ".csv", by_class=True)
    lines = table(content)
    assert len(lines) == ROWS
    told = [line for line in lines if line["predicted"]]
    for line in told:
        chances = [float(line[f"chance {name}"]) for name in CLASSES]
        predicted = [name for name, p in zip(CLASSES, chances, strict=True) if p > 0.5]
        assert line["predicted"] == ("|".join(predicted) or "none")
        least = min(float(line[f"necessity {name}"]) for name in CLASSES)
        assert float(line["necessity"]) == pytest.approx(least)
    assert all((line["sport"] == "") == (line["label"] == "") for line in lines)


def test_a_saved_model_predicts_sets(db, begun, tmp_path):
    with Store.open(str(db), writes=False) as store:
        saved = SavedModel.of(store)
    saved.save(tmp_path / "model")
    again = SavedModel.load(tmp_path / "model")
    assert again.multi
    with pytest.raises(ValueError, match="model must be one of one label a row"):
        again.fitted()
    found = again.predict(saved.X)
    assert set(found.members) == set(CLASSES)
    for place, label in enumerate(found.label):
        likely = [name for name in CLASSES if found.members[name][0][place] > 0.5]
        assert label == ("|".join(likely) or "none")
        necessity = min(found.members[name][1][place] for name in CLASSES)
        assert found.necessity[place] == necessity
    model = LoadedModel(again)
    predicted = model.predict(begun / "news.csv")
    assert np.mean([label == has(row) for row, label in enumerate(predicted)]) > 0.5
    assert model.predict_proba(begun / "news.csv").shape == (ROWS, 3)
    assert model.necessity(begun / "news.csv").shape == (ROWS, 3)
    assert replace(saved, multi=False).multi is False
