import re
import threading

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from support.passengers import labelled, passengers

from possibal import Campaign, open_campaign
from possibal.campaign.notebook import exchange as module
from possibal.campaign.notebook.exchange import LabellingExchange
from possibal.errors import UnavailableError, UnsavedError

ROWS = 24


class Person:
    """Somebody at a widget: what they saw, and what they do."""

    def __init__(self, campaign, show=None):
        self.campaign, self.views, self.pressed = campaign, [], 0
        self.exchange = LabellingExchange(campaign, self.views.append, show)

    @property
    def view(self):
        """What there is to see, as far as it was published."""
        return {key: value for view in self.views for key, value in view.items()}

    @property
    def question(self):
        return self.view["question"]

    @property
    def keys(self):
        """The text that stands for each row, by its id."""
        return {row: f"{type(row).__name__} {row}" for row in self.campaign.rows}

    @property
    def row(self):
        """The id of the row that is asked about."""
        (row,) = (row for row, key in self.keys.items() if key == self.question["row"])
        return row

    def does(self, act, **more):
        """Do something, under a key of its own."""
        self.pressed += 1
        action = {"act": act, "key": f"key {self.pressed}", **more}
        self.exchange.receive(action)
        return action

    def answers(self, label, row=None):
        """Press the button of a class."""
        (key,) = [one["key"] for one in self.view["classes"] if one["name"] == str(label)]
        return self.does("answer", row=row or self.question["row"], label=key)


@pytest.fixture(name="begin", params=["memory", "stored"])
def _begin(request, tmp_path):
    """What puts somebody before a campaign of either kind."""
    opened = []

    def begin(show=None, classes=(0, 1), **options):
        frame, _ = passengers(ROWS)
        if request.param == "memory":
            return Person(Campaign.start(frame, classes=list(classes) or None, **options), show)
        opened.append(open_campaign(tmp_path / "a.db", frame, classes=list(classes), **options))
        return Person(opened[-1], show)

    yield begin
    for campaign in opened:
        campaign.close()


# ---------------------------------------------------------------- what is seen
def test_a_question_has_the_columns_in_order_and_says_why(begin):
    person = begin()
    assert [one["name"] for one in person.question["fields"]] == ["Sex", "Age", "Fare"]
    assert person.question["name"] == str(person.row)
    assert person.question["why"]
    assert person.question["predicted"] is None
    assert (person.view["rows"], person.view["labels"], person.view["left"]) == (ROWS, 0, ROWS)
    assert [one["name"] for one in person.view["classes"]] == ["0", "1"]


def test_later_it_says_how_likely_the_predicted_label_is(begin):
    person = begin()
    _, survived = passengers(ROWS)
    for _ in range(8):
        person.answers(survived.loc[person.row])
    predicted = person.question["predicted"]
    assert predicted["label"] in {"0", "1"}
    assert 0 <= predicted["low"] <= predicted["value"] <= predicted["high"] <= 1
    assert person.view["advice"]["state"] == person.campaign.advice.state.value
    assert person.view["advice"]["reason"] == person.campaign.advice.reason


def test_the_map_has_labels_and_predictions_of_rows_by_their_keys(begin):
    person = begin()
    _, survived = passengers(ROWS)
    assert {one["predicted"] for one in person.exchange.map()["points"]} == {None}
    for _ in range(8):
        person.answers(survived.loc[person.row])
    points = person.exchange.map()["points"]
    assert len(points) == ROWS
    told = {one["name"]: one["label"] for one in points if one["label"] is not None}
    assert told == {str(row): str(label) for row, label in person.campaign.labels.items()}
    (point,) = [one for one in points if one["name"] == str(person.campaign.left[-1])]
    person.does("choose", row=point["row"])
    assert person.row == person.campaign.left[-1]


# ---------------------------------------------------------------- no answer is lost
def test_an_answer_is_kept_before_the_next_question_is_worked_out(begin, monkeypatch):
    person = begin()
    row, before = person.row, []
    ask = person.campaign.ask
    monkeypatch.setattr(
        person.campaign, "ask", lambda: (before.append(dict(person.campaign.labels)), ask())[1]
    )
    person.answers(1)
    assert before == [{row: 1}]
    busy, after = person.views[-2:]
    assert (busy["busy"], busy["said"], "question" in busy) == (True, "Saved: 1.", False)
    assert (after["busy"], after["said"]) == (False, "Saved: 1.")
    assert person.row != row


def test_the_same_action_twice_counts_once(begin):
    person = begin()
    row = person.row
    action = person.answers(1)
    second = person.row
    person.exchange.receive(action)
    assert person.campaign.labels == {row: 1}
    assert person.row == second
    assert action["key"] in person.view["taken"]
    assert person.campaign.undo() == row
    assert person.campaign.undo() is None


def test_an_answer_names_its_row_wherever_the_view_is_by_now(begin):
    person = begin()
    first, key = person.row, person.question["row"]
    person.does("skip", row=key)
    assert person.row != first
    person.answers(0, row=key)
    assert person.campaign.labels == {first: 0}


def test_an_answer_to_a_row_that_has_one_is_told_and_not_kept(begin):
    person = begin()
    row, key = person.row, person.question["row"]
    person.campaign.tell(row, 1)  # in another cell
    person.answers(0, row=key)
    assert person.campaign.labels == {row: 1}
    assert person.view["problem"].startswith(f"Row {row} is labelled 1 already: 0 was not kept.")
    assert person.row != row
    person.answers(1, row=key)
    assert person.view["problem"] == ""
    assert person.view["said"] == f"Row {row} is 1 already."


def test_what_another_cell_did_is_seen_when_one_looks(begin):
    person = begin()
    row = person.row
    person.campaign.tell(row, 1)
    person.does("look")
    assert person.row != row
    assert person.view["labels"] == 1
    same = person.row
    person.does("look")
    assert person.row == same


def test_an_answer_that_could_not_be_written_leaves_its_question(begin, monkeypatch):
    person = begin()
    row = person.row

    def full(*_):
        raise UnsavedError("db must take what is written; got 'disk full'. Try again.")

    with monkeypatch.context() as patch:
        patch.setattr(person.campaign, "tell", full)
        person.answers(1)
    assert "disk full" in person.view["problem"]
    assert person.row == row
    assert person.campaign.labels == {}
    person.answers(1)
    assert person.campaign.labels == {row: 1}
    assert person.view["problem"] == ""


def test_an_answer_is_kept_where_the_next_question_cannot_be_found(begin, monkeypatch):
    person = begin()
    row = person.row

    def fails():
        raise ZeroDivisionError("division by zero. And more")

    with monkeypatch.context() as patch:
        patch.setattr(person.campaign, "ask", fails)
        person.answers(1)
    assert person.campaign.labels == {row: 1}
    assert (person.view["said"], person.view["question"]) == ("Saved: 1.", None)
    assert person.view["problem"] == "ZeroDivisionError: division by zero."
    person.does("look")
    assert person.question is not None


def test_an_answer_is_said_to_be_kept_where_its_row_cannot_be_read_any_more(begin, monkeypatch):
    person = begin()
    row = person.row

    def away(*_):
        raise UnavailableError("db must be there and sound; got 'gone'. Try again.")

    with monkeypatch.context() as patch:
        patch.setattr(person.campaign, "question", away)
        patch.setattr(type(person.campaign), "advice", property(away))
        person.answers(1)
    assert person.campaign.labels == {row: 1}
    assert (person.view["busy"], person.view["said"]) == (False, "Saved: 1.")
    assert "db must be there" in person.view["problem"]
    assert [one["name"] for one in person.view["classes"]] == ["0", "1"]
    person.does("look")
    assert (person.view["problem"], person.view["labels"]) == ("", 1)


def test_many_answers_at_once_are_all_kept(begin):
    person = begin()
    person.exchange.map()  # which shows all rows
    keys = {row: person.keys[row] for row in person.campaign.rows[:12]}
    (label, _) = (one["key"] for one in person.view["classes"])
    people = [
        threading.Thread(
            target=person.exchange.receive,
            args=[{"act": "answer", "key": key, "row": key, "label": label}],
        )
        for key in keys.values()
    ]
    cell = threading.Thread(
        target=lambda: [person.campaign.tell(row, 1) for row in person.campaign.rows[12:20]]
    )
    for thread in [*people, cell]:
        thread.start()
    for thread in [*people, cell]:
        thread.join()
    expected = dict.fromkeys(keys, 0) | dict.fromkeys(person.campaign.rows[12:20], 1)
    assert person.campaign.labels == expected


# ---------------------------------------------------------------- other actions
def test_undo_takes_the_last_answer_back_and_asks_about_its_row(begin):
    person = begin()
    row = person.row
    person.answers(1)
    person.does("undo", number=person.view["number"])
    assert person.campaign.labels == {}
    assert person.row == row
    assert person.view["said"] == f"Undone: row {row}."
    person.does("undo", number=person.view["number"])
    assert person.view["said"] == "Nothing to undo."
    assert person.row == row


def test_an_undo_of_a_view_of_before_does_nothing_and_says_so(begin):
    person = begin()
    row = person.row
    person.answers(1)
    number = person.view["number"]
    second = person.row
    person.answers(0)
    person.does("undo", number=number)
    assert person.campaign.labels == {row: 1, second: 0}
    assert "nothing was undone" in person.view["problem"]


def test_a_class_is_added_in_the_type_of_the_others_and_can_be_undone(begin):
    person = begin()
    row = person.row
    person.does("class", name=" 2 ")
    assert person.campaign.classes == (0, 1, 2)
    assert person.view["said"] == "Done: class “2” added."
    assert person.row == row
    person.does("class", name="two")
    assert "name must be a number" in person.view["problem"]
    person.does("class", name="  ")
    assert "name must have a letter" in person.view["problem"]
    person.does("undo", number=person.view["number"])
    assert person.campaign.classes == (0, 1)
    assert (person.view["said"], person.row) == ("Undone.", row)


def test_classes_may_be_named_in_the_widget_alone(begin):
    person = begin(classes=())
    assert person.view["classes"] == []
    for name in ("yes", "no"):
        person.does("class", name=name)
    row = person.row
    person.answers("yes")
    assert person.campaign.labels == {row: "yes"}


def test_a_skipped_row_comes_later_and_others_are_there_as_the_campaign_knows_them(begin):
    person = begin()
    row = person.row
    kinds = ["skip"] + ["unsure", "bad"] * hasattr(person.campaign, "bad")
    assert person.view["others"] == kinds
    for kind in kinds:
        before = person.row
        person.does(kind, row=person.question["row"])
        assert person.view["said"].startswith("Saved: ")
        assert person.row != before
    assert row in person.campaign.left
    assert person.campaign.labels == {}


def test_what_a_campaign_does_not_know_is_refused():
    frame, _ = passengers(ROWS)
    person = Person(Campaign.start(frame, classes=[0, 1]))
    person.does("bad", row=person.question["row"])
    assert person.view["problem"].startswith("act must be something that the campaign knows; got")
    assert person.campaign.undo() is None


def test_what_was_never_shown_is_refused_in_a_sentence(begin):
    person = begin()
    row = person.row
    for act, more in (
        ("answer", {"row": "int 5", "label": "int 1"}),
        ("answer", {"row": person.question["row"], "label": "int 7"}),
        ("choose", {"row": None}),
    ):
        person.does(act, **more)
        assert re.match(r"(row|label) must be one that was shown; got", person.view["problem"])
    person.does("sing")
    assert person.row == row
    assert person.campaign.labels == {}


def test_a_labelled_row_of_the_map_is_not_asked_about(begin):
    person = begin()
    row, key = person.row, person.question["row"]
    person.answers(1)
    after = person.row
    person.does("choose", row=key)
    assert person.row == after
    assert person.view["problem"] == f"Row {row} is labelled 1: campaign.edit changes it."


def test_at_the_end_there_is_no_question(begin):
    person = begin()
    _, survived = passengers(ROWS)
    labelled(person.campaign, survived, ROWS - 2)
    person.does("look")
    for _ in range(2):
        person.answers(survived.loc[person.row])
    assert (person.question, person.view["left"], person.view["labels"]) == (None, 0, ROWS)
    person.does("undo", number=person.view["number"])
    assert person.question is not None


def test_a_map_that_cannot_be_drawn_says_why(begin, monkeypatch):
    person = begin()

    def fails():
        raise ValueError("X must be finite; got nan. Correct it.")

    monkeypatch.setattr(person.campaign, "map", fails)
    assert person.exchange.map() == {
        "classes": ["0", "1"],
        "points": [],
        "problem": "X must be finite; got nan. Correct it.",
    }


# ---------------------------------------------------------------- what the user wants to be seen
@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("some text", {"text": "some text", "fields": [], "picture": None}),
        ({"a": 1, "b": None}, {"text": None, "picture": None}),
    ],
)
def test_a_function_of_ones_own_says_what_is_seen(begin, given, seen):
    person = begin(show=lambda _: given)
    assert {key: person.question[key] for key in seen} == seen
    if isinstance(given, dict):
        assert [(one["name"], one["value"]) for one in person.question["fields"]] == [
            ("a", "1"),
            ("b", None),
        ]


def test_a_picture_comes_as_a_small_file(tmp_path):
    frame, _ = passengers()
    Image.fromarray(np.zeros((900, 1200, 3), np.uint8)).save(tmp_path / "a.png")
    person = Person(Campaign.start(frame, classes=[0, 1]), lambda _: tmp_path / "a.png")
    assert person.question["picture"].startswith("data:image/jpeg;base64,")
    assert len(person.question["picture"]) < 60_000
    person = Person(Campaign.start(frame, classes=[0, 1]), lambda _: Image.new("L", (8, 8)))
    assert person.question["picture"].startswith("data:image/png;base64,")


def test_a_picture_that_is_gone_is_told(tmp_path):
    frame, _ = passengers()
    person = Person(Campaign.start(frame, classes=[0, 1]), lambda _: tmp_path / "gone.png")
    assert person.question["picture"] is None
    assert person.question["trouble"] == module.BROKEN


def test_a_function_that_gives_something_else_is_told_in_a_sentence():
    frame, _ = passengers()
    person = Person(Campaign.start(frame, classes=[0, 1]), lambda _: 3)
    assert person.view["problem"].startswith("show must return text, a dict,")


def test_a_very_long_text_is_cut():
    frame = pd.DataFrame({"id": list("abcd"), "text": [one * 30_000 for one in "abcd"]})
    person = Person(Campaign.start(frame, ids="id", text="text", by="words", classes=["x", "y"]))
    assert len(person.question["text"]) == module.LONGEST_TEXT
    assert person.question["text"].endswith("…")
