import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.campaign.calibration import StatedChance
from possibal.campaign.chance import CredibleChance
from possibal.labelling.class_changes import added, described, merged, removed, renamed
from possibal.labelling.explanation import (
    FAR,
    NEAR,
    NearestLabel,
    QuestionSource,
    Remainder,
    action,
    blind_sentence,
    mistakes_sentence,
    remainder_sentence,
    sentence,
    sought_sentence,
)
from possibal.labelling.ranking import ExpectedMistakes, Prediction
from possibal.labelling.storage.journal import Event, Kind

ALONE = "Nothing like it has been labelled yet."


def cat(chance: float = 0.8, necessity: float = 0.5, label: str = "cat") -> Prediction:
    return Prediction(label, StatedChance(chance, chance - 0.1, chance), necessity)


def test_a_check_row_says_nothing_of_what_the_model_thinks():
    said = sentence(QuestionSource.CHECK, cat(), NearestLabel("dog", 0.1))
    assert said == "It was drawn at random, to measure how well the model does."


def test_a_row_that_stands_for_others_says_so():
    begun = "Too little is known for a guess, and this row stands for many others."
    assert sentence(QuestionSource.DIVERSE, None, None) == f"{begun} {ALONE}"


def test_a_row_that_no_ranking_chose_does_not_say_that_it_stands_for_others():
    begun = "The model has not looked at the rows yet."
    assert sentence(QuestionSource.UNRANKED, None, None) == f"{begun} {ALONE}"


@pytest.mark.parametrize(
    ("source", "begun"),
    [
        (QuestionSource.CHOSEN, "You picked it. "),
        (QuestionSource.AGAIN, "You saw it before. "),
        (QuestionSource.MODEL, ""),
    ],
)
def test_a_row_without_a_guess_stands_for_no_others_unless_it_was_drawn_for_that(source, begun):
    said = sentence(source, None, None)
    assert said == f"{begun}Too little is known for a guess. {ALONE}"


@pytest.mark.parametrize(
    ("source", "begun"),
    [
        (QuestionSource.CHOSEN, "You picked it. "),
        (QuestionSource.AGAIN, "You saw it before. "),
        (QuestionSource.MODEL, ""),
    ],
)
def test_the_beginning_tells_whence_a_question_came(source, begun):
    said = sentence(source, cat(), None)
    assert said == f"{begun}It is probably cat. More labels may still change that. {ALONE}"


@pytest.mark.parametrize(("others", "said"), [(0, ""), (1, ""), (37, "It stands for 37 similar ")])
def test_a_row_that_speaks_for_others_in_doubt_says_for_how_many(others, said):
    predicted = "It is probably cat. More labels may still change that."
    told = f"{said}rows that the model is not sure about. " if said else ""
    assert sentence(QuestionSource.MODEL, cat(), None, others) == f"{predicted} {told}{ALONE}"
    for other in (QuestionSource.CHOSEN, QuestionSource.AGAIN):
        assert "stands for" not in sentence(other, cat(), None, others)


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (1.0, "It is very likely cat."),
        (0.95, "It is very likely cat."),
        (0.94, "It is probably cat."),
        (0.75, "It is probably cat."),
        (0.74, "It is perhaps cat."),
        (0.5, "It is perhaps cat."),
        (0.49, "It may be cat, but that is a guess."),
    ],
)
def test_how_likely_a_label_is_is_said_in_words(chance, said):
    told = sentence(QuestionSource.MODEL, cat(chance), None)
    assert told == f"{said} More labels may still change that. {ALONE}"


@pytest.mark.parametrize(
    ("necessity", "said"),
    [
        (0.0, "Few labels so far say anything about rows like it."),
        (0.19, "Few labels so far say anything about rows like it."),
        (0.2, "More labels may still change that."),
        (0.89, "More labels may still change that."),
        (0.9, "The labels so far leave hardly any other choice."),
    ],
)
def test_what_that_rests_on_is_said_in_words(necessity, said):
    told = sentence(QuestionSource.MODEL, cat(necessity=necessity), None)
    assert told == f"It is probably cat. {said} {ALONE}"


def test_what_is_open_is_told_from_what_is_random():
    def said(chance):
        return sentence(QuestionSource.MODEL, cat(), None, chance=chance)

    begun = "It is probably cat."
    assert said(CredibleChance(0.3, 0.8)) == said(None)
    assert said(CredibleChance(0.75, 0.9)) == f"{begun} {ALONE}"
    tossed = said(CredibleChance(0.45, 0.55))
    assert tossed == f"{begun} Close to a toss of a coin whatever is labelled. {ALONE}"


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        (
            ExpectedMistakes(4424, 35.4, 10.2, 90.6),
            "about 35 of the 4,424 rows without a label wrong (10 to 91).",
        ),
        (ExpectedMistakes(90, 0.1, 0.0, 0.4), "hardly any of the 90 rows without a label wrong."),
        (ExpectedMistakes(1, 0.3, 0.1, 0.6), "about 0 of the row without a label wrong (0 to 1)."),
    ],
)
def test_what_is_left_to_gain_is_said_in_words(expected, said):
    assert mistakes_sentence(expected) == f"Left to itself, the model would get {said}"


@pytest.mark.parametrize(
    ("distance", "said"),
    [
        (0.0, "A similar row was labelled dog."),
        (NEAR, "A similar row was labelled dog."),
        (0.5, "The most similar labelled row is dog, but not very similar."),
        (FAR, "The most similar labelled row is dog, but not very similar."),
        (0.71, ALONE),
        (None, "The most similar labelled row is dog."),
    ],
)
def test_how_like_the_nearest_labelled_row_is_is_said_in_words(distance, said):
    assert sentence(QuestionSource.MODEL, cat(), NearestLabel("dog", distance)).endswith(said)


@given(
    st.sampled_from(QuestionSource),
    st.none() | st.builds(cat, st.floats(0, 1), st.floats(0, 1)),
    st.none() | st.builds(NearestLabel, st.just("dog"), st.none() | st.floats(0, 3)),
)
def test_every_reason_is_made_of_whole_sentences(source, prediction, nearest):
    said = sentence(source, prediction, nearest)
    assert re.fullmatch(r"[A-Z][^.]*\.( [A-Z][^.]*\.)*", said)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (Remainder(0, 0, 0, is_alone=True), "Every row has an answer: nothing is left to ask."),
        (Remainder(1, 0, 0, is_alone=False), "Others are at work on 1 row."),
        (Remainder(0, 2, 0, is_alone=True), "You were not sure about 2 rows; see History."),
        (Remainder(0, 1, 0, is_alone=False), "about 1 row; see History. Others may know more."),
        (Remainder(0, 0, 1, is_alone=True), "1 row waits for another person's answer."),
        (
            Remainder(2, 0, 1200, is_alone=False),
            "Others are at work on 2 rows. 1,200 rows wait for another person's answer.",
        ),
    ],
)
def test_the_end_is_told_by_what_is_still_open(left, said):
    assert remainder_sentence(left).endswith(said)
    assert left.is_complete == ("Every" in said)


def test_the_page_is_told_plain_words():
    assert [source.value for source in QuestionSource] == [
        "model",
        "diverse",
        "unranked",
        "check",
        "chosen",
        "again",
    ]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Event("k", Kind.LABEL, "ann", 1, 0, "cat"), "cat"),
        (Event("k", Kind.SETTLE, "ann", 1, 0, "{dog}"), "{dog}"),
        (Event("k", Kind.SKIP, "ann", 1, 0), "skipped for now"),
        (Event("k", Kind.BAD, "ann", 1, 0), "row dropped"),
        (Event("k", Kind.BAD, "ann", 1, 0, detail={"rows": "[1]"}), "row dropped, and 1 other row"),
        (
            Event("k", Kind.LABEL, "ann", 1, 0, "a", detail={"rows": "[1, 2]"}),
            "a, and 2 other rows",
        ),
        (added("{a}", "ann"), "class “{a}” added"),
        (renamed("a", "b", "ann"), "class “a” renamed to “b”"),
        (merged("a", "b", "ann"), "class “a” merged with “b”"),
        (removed("a", "ann"), "class “a” removed"),
        (described("a", "ann", ""), "class “a” described"),
        (Event("k", Kind.CHECK, "ann", 1, detail={"rows": "[1]"}), "1 more check row"),
        (Event("k", Kind.CHECK, "ann", 1, detail={"rows": "[1, 2]"}), "2 more check rows"),
    ],
)
def test_an_action_is_told_in_words(event, words):
    assert action(event) == words


@pytest.mark.parametrize("source", QuestionSource)
def test_a_blind_question_tells_of_no_label(source):
    said = blind_sentence(source)
    assert said.endswith(".")
    assert ("drawn at random" in said) == (source is QuestionSource.CHECK)
    assert ("You picked it." in said) == (source is QuestionSource.CHOSEN)


@pytest.mark.parametrize(
    ("chance", "begins"),
    [
        (0.97, "Very likely spam."),
        (0.8, "Likely spam."),
        (0.6, "Perhaps spam."),
        (0.12, "Of the rows left it is among the likeliest to be spam (12%)."),
        (0.001, "Of the rows left it is among the likeliest to be spam (less than 1%)."),
        (None, "It is among the rows left that are likeliest to be spam."),
    ],
)
def test_a_row_that_may_be_of_a_sought_class_says_how_likely(chance, begins):
    stated = None if chance is None else StatedChance(chance, 0.0, 1.0)
    assert sought_sentence("spam", stated, None) == f"{begins} {ALONE}"
    near = sought_sentence("spam", stated, NearestLabel("ham", 0.1))
    assert near == f"{begins} A similar row was labelled ham."
