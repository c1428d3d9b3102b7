import inspect
import json
import sys
from itertools import count

import numpy as np
import pandas as pd
import pytest
from support.passengers import labelled, passengers

from possibal import Campaign, open_campaign
from possibal.campaign import interface
from possibal.campaign.beliefs import RowBeliefs
from possibal.campaign.interface import CampaignInterface
from possibal.campaign.stopping import AdviceState
from possibal.errors import AlreadyAnsweredError, MissingPackageError
from possibal.labelling.session import StoredCampaign

MEMORY = {"answers", "replay", "snapshot", "start", "without"}
STORED = {
    *("add_check_rows", "bad", "close", "comment", "comments", "describe_class", "export"),
    *("guidelines", "import_labels", "merge_classes", "unsure", "write_guidelines"),
}
SHARED = {
    *("add_class", "advice", "ask", "beliefs", "classes", "classifier", "edit", "labels", "left"),
    *("map", "multi", "notes", "plot_curve", "plot_map", "question", "widget"),
    *("predict", "predict_proba", "ranked", "recall", "remove_class", "rename_class", "report"),
    "rows",
    *("should_stop", "skip", "tell", "to_frame", "undo"),
}


@pytest.fixture(name="begin", params=["memory", "stored"])
def _begin(request, tmp_path):
    """What begins a campaign of either kind."""
    number, opened = count(), []

    def begin(pool, **options):
        if request.param == "memory":
            return Campaign.start(pool, **options)
        opened.append(open_campaign(tmp_path / f"{next(number)}.db", pool, **options))
        return opened[-1]

    yield begin
    for campaign in opened:
        campaign.close()


def names(kind: type) -> set[str]:
    """The public names of a class."""
    return {name for name in dir(kind) if not name.startswith("_")}


def test_both_campaigns_have_the_same_names_and_signatures():
    assert names(CampaignInterface) == SHARED
    assert names(Campaign) | {"snapshot"} == SHARED | MEMORY
    assert names(StoredCampaign) == SHARED | STORED
    for name in SHARED:
        one, other = getattr(Campaign, name), getattr(StoredCampaign, name)
        assert isinstance(one, property) == isinstance(other, property)
        if not isinstance(one, property):
            assert inspect.signature(one) == inspect.signature(other)


def test_questions_labels_and_predictions_are_the_same(tmp_path):
    frame, survived = passengers()
    memory = Campaign.start(frame, classes=[0, 1])
    with open_campaign(tmp_path / "a.db", frame, classes=[0, 1]) as stored:
        for _ in range(12):
            (row,) = memory.ask()
            assert stored.ask() == [row]
            memory.tell(row, survived.loc[row])
            stored.tell(row, survived.loc[row])
        assert memory.labels == stored.labels
        assert memory.left == stored.left
        assert memory.rows == stored.rows
        assert memory.classes == stored.classes == (0, 1)
        assert memory.advice == stored.advice
        assert memory.ranked(4) == stored.ranked(4)
        pd.testing.assert_frame_equal(memory.to_frame(), stored.to_frame())
        np.testing.assert_array_equal(memory.predict(frame), stored.predict(frame))
        np.testing.assert_array_equal(memory.predict_proba(frame), stored.predict_proba(frame))
        np.testing.assert_array_equal(memory.beliefs().mean, stored.beliefs().mean)
        both = {name: stored.report()[name] for name in memory.report()}
        assert both == memory.report()
        assert repr(memory).partition("(")[2] == repr(stored).partition("(")[2]
        pages = (one._repr_html_().partition("</b>")[2] for one in (memory, stored))
        assert len(set(pages)) == 1


def test_verbs_change_a_campaign_and_return_it(begin):
    frame, survived = passengers()
    campaign = begin(frame, classes=[0, 1])
    first, second = campaign.ask(2)
    assert campaign.tell(first, survived.loc[first]) is campaign
    assert campaign.edit(first, 1 - survived.loc[first]) is campaign
    assert campaign.skip(second) is campaign
    assert campaign.undo() == second
    assert campaign.undo() == first
    assert campaign.labels == {first: survived.loc[first]}
    with pytest.raises(AlreadyAnsweredError, match=f"got {first}, whose label is [01]. Undo it"):
        campaign.tell(first, 0)
    with pytest.raises(AlreadyAnsweredError):
        campaign.skip(first)
    assert len(campaign) == 1
    assert bool(campaign)
    assert [campaign.undo(), campaign.undo()] == [first, None]
    assert len(campaign) == 0
    assert bool(campaign)


@pytest.mark.parametrize("kind", [int, bool, str, np.int64, float])
def test_labels_keep_their_type(begin, kind):
    frame, survived = passengers()
    campaign = begin(frame, classes=[kind(0), kind(1)])
    labelled(campaign, survived.map(kind))
    expected = type(kind(0).item() if isinstance(kind(0), np.generic) else kind(0))
    assert {type(label) for label in campaign.labels.values()} == {expected}
    assert {type(label) for label in campaign.classes} == {expected}
    assert {type(label) for label in campaign.predict(frame).tolist()} == {expected}
    assert {type(label) for label in campaign.to_frame()["predicted"].tolist()} == {expected}
    assert campaign.classifier.classes_.tolist() == sorted(campaign.classes)


def test_a_label_that_is_no_class_is_refused_with_a_way_to_add_it(begin):
    frame, _ = passengers()
    campaign = begin(frame, classes=[0, 1])
    (row,) = campaign.ask()
    for label in (2, "zero", None):
        with pytest.raises(ValueError, match=r"label must be one of \[0, 1\]; got .* add_class"):
            campaign.tell(row, label)
    assert campaign.labels == {}
    assert campaign.classes == (0, 1)
    assert campaign.add_class(2) is campaign
    assert campaign.classes == (0, 1, 2)
    assert campaign.tell(row, 2).labels == {row: 2}


def test_numbers_that_are_equal_are_the_same_label_and_row(begin):
    frame, _ = passengers()
    campaign = begin(frame, classes=[0, 1])
    (row,) = campaign.ask()
    campaign.tell(np.int64(row), 1.0)
    assert campaign.labels == {row: 1}
    assert type(campaign.labels[row]) is int


@pytest.mark.parametrize("label", [3, "yes", True])
def test_classes_are_learnt_where_none_are_named(begin, label):
    frame, _ = passengers()
    campaign = begin(frame)
    assert campaign.classes == ()
    (row,) = campaign.ask()
    campaign.tell(row, label)
    assert campaign.labels == {row: label}
    assert type(campaign.classes[0]) is type(label)
    (other,) = campaign.ask()
    mixed = 4 if isinstance(label, str) else "no"
    with pytest.raises(ValueError, match="label must be of one type with the first"):
        campaign.tell(other, mixed)
    with pytest.raises(ValueError, match=r"label must be text or a whole number; got 0\.5"):
        campaign.tell(other, 0.5)
    assert campaign.labels == {row: label}


def test_classes_are_renamed_and_removed(begin):
    frame, _ = passengers()
    campaign = begin(frame, classes=["old", "other", "none"])
    (row,) = campaign.ask()
    campaign.tell(row, "old").rename_class("old", "new")
    assert campaign.labels == {row: "new"}
    assert campaign.remove_class("none") is campaign
    assert set(campaign.classes) == {"new", "other"}
    with pytest.raises(ValueError, match="must"):
        campaign.remove_class("new")
    with pytest.raises(ValueError, match="must"):
        campaign.add_class("New ")
    with pytest.raises(ValueError, match="must"):
        campaign.rename_class("new", "other")
    assert [campaign.undo(), campaign.undo()] == [None, None]
    assert campaign.labels == {row: "old"}
    assert set(campaign.classes) == {"old", "other", "none"}


def test_a_row_that_is_none_is_refused(begin):
    frame, _ = passengers()
    campaign = begin(frame, classes=[0, 1])
    for row in (5, "x", [1], None):
        with pytest.raises(ValueError, match="row must be an id of the pool; got"):
            campaign.tell(row, 0)


# ---------------------------------------------------------------- what follows


def test_one_may_stop_when_the_advice_says_so(begin):
    frame, survived = passengers(12)
    campaign, asked = begin(frame, classes=[0, 1]), 0
    while not campaign.should_stop:
        for row in campaign.ask(4):
            campaign.tell(row, survived.loc[row])
        asked += 1
        assert asked < 9
    assert campaign.should_stop is True
    assert campaign.advice.state is not AdviceState.GO_ON
    with pytest.raises(TypeError, match="not callable"):
        campaign.should_stop()


def test_a_report_is_plain_values(begin):
    frame, survived = passengers()
    report = labelled(begin(frame, classes=[0, 1]), survived, 4).report()
    assert json.loads(json.dumps(report))["answered"] == 4
    assert (report["rows"], report["left"]) == (60, 56)
    assert set(report["balance"]) == {0, 1}


def test_beliefs_are_about_the_rows_that_are_asked_for(begin):
    frame, survived = passengers()
    campaign = labelled(begin(frame, classes=[0, 1]), survived)
    some = list(frame.index[[5, 2]])
    found = campaign.beliefs(some)
    assert isinstance(found, RowBeliefs)
    assert found.ids == tuple(some)
    np.testing.assert_allclose(found.mean, campaign.beliefs().mean[[5, 2]])
    assert campaign.beliefs().ids == campaign.rows
    with pytest.raises(ValueError, match="row must be an id of the pool; got 3"):
        campaign.beliefs([3])


def test_a_frame_says_nothing_of_predictions_before_two_classes_were_told(begin):
    frame, _ = passengers()
    table = begin(frame, classes=[0, 1]).to_frame()
    assert table[["label", "predicted", "probability", "necessity"]].isna().all(axis=None)
    assert table["id"].tolist() == frame.index.tolist()


def test_a_library_may_be_chosen(begin):
    frame, survived = passengers()
    campaign = labelled(begin(frame, classes=[0, 1]), survived)
    table = campaign.to_frame("polars")
    assert table["id"].to_list() == frame.index.tolist()
    assert table["label"].drop_nulls().len() == 8
    assert table["Sex"].to_list() == frame["Sex"].tolist()


# ---------------------------------------------------------------- for people to look at


def test_a_campaign_is_one_line_for_which_nothing_is_fitted(begin, monkeypatch):
    frame, survived = passengers()
    campaign = begin(frame, classes=["died", "survived"])
    kind = type(campaign).__name__
    with monkeypatch.context() as patch:
        patch.setattr("possibal.campaign.snapshot.Snapshot._fitted", None)
        assert repr(campaign) == f"{kind}(60 rows, 0 labels, classes died/survived, herding)"
    labelled(campaign, survived.map({0: "died", 1: "survived"}), 1)
    assert campaign.advice
    assert repr(campaign) == f"{kind}(60 rows, 1 label, classes died/survived, herding: go on)"


def test_a_line_stays_short():
    frame = np.random.default_rng(0).normal(size=(100_000, 2))
    many = Campaign.start(frame, classes=range(30), strategy=lambda view: view)
    assert repr(many) == "Campaign(100000 rows, 0 labels, 30 classes, <lambda>)"
    assert repr(Campaign.start(frame[:1])) == "Campaign(1 row, 0 labels, no classes yet, herding)"


class Own:
    """A strategy without a name."""

    def __call__(self, view):
        """Score rows."""
        return np.zeros(len(view.candidates))


def test_a_strategy_without_a_name_is_called_by_its_type():
    assert repr(Campaign.start(np.ones((2, 1)), strategy=Own())).endswith("no classes yet, Own)")


def test_a_notebook_shows_progress_advice_and_the_next_rows(begin):
    frame, survived = passengers()
    frame["Sex"] = frame["Sex"].map({"male": "<male>", "female": "<female>"})
    campaign = labelled(begin(frame, classes=[0, 1]), survived)
    left = campaign.left
    page = campaign._repr_html_()
    assert "8 of 60 rows have a label" in page
    assert campaign.advice.reason in page
    assert page.count("<tr>") == 1 + interface.SHOWN_ROWS
    assert "male>" not in page
    assert "Perhaps" in page
    assert campaign.left == left
    assert f">{campaign.ask()[0]}</td>" in page


def test_the_column_of_ids_is_not_shown_twice(begin):
    frame, _ = passengers()
    assert "PassengerId" not in begin(frame.reset_index(), ids="PassengerId")._repr_html_()


def test_what_was_done_with_columns_is_said(begin):
    frame, _ = passengers()
    campaign = begin(frame.assign(always=1), classes=[0, 1])
    assert any("column always was constant" in note for note in campaign.notes)
    assert "column always was constant" in campaign._repr_html_()
    assert begin(np.eye(8), classes=[0, 1]).notes == ()


# ---------------------------------------------------------------- for people to look at


def test_without_anywidget_one_sentence_says_what_to_install(begin, monkeypatch):
    frame, _ = passengers()
    campaign = begin(frame, classes=[0, 1])
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "possibal.campaign.notebook.widget", raising=False)
    with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[notebook\]'"):
        campaign.widget()
