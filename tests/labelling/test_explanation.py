import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.campaign.chance import CredibleChance
from possibal.labelling.class_changes import added, described, merged, removed, renamed
from possibal.labelling.explanation import (
    FAR,
    NEAR,
    NearestLabel,
    QuestionSource,
    action,
    blind_sentence,
    certainty,
    sentence,
)
from possibal.labelling.storage.journal import Event, Kind

ALONE = "Nothing like it has been labelled yet."


@pytest.mark.parametrize(
    ("necessity", "words"),
    [(1.0, "sure"), (0.9, "sure"), (0.89, "not sure"), (0.2, "not sure"), (0.19, "a guess")],
)
def test_certainty_is_said_in_words(necessity, words):
    assert certainty(necessity) == words


def test_a_check_row_says_nothing_of_what_the_model_thinks():
    said = sentence(QuestionSource.CHECK, "cat", 0.95, NearestLabel("dog", 0.1))
    assert said == "It was drawn at random, to measure how well the model does."


def test_a_row_that_stands_for_others_says_so():
    begun = "Too little is known for a guess, and this row stands for many others."
    assert sentence(QuestionSource.DIVERSE, None, 0.0, None) == f"{begun} {ALONE}"


def test_a_row_that_no_ranking_chose_does_not_say_that_it_stands_for_others():
    begun = "The model has not looked at the rows yet."
    assert sentence(QuestionSource.UNRANKED, None, 0.0, None) == f"{begun} {ALONE}"


@pytest.mark.parametrize(
    ("source", "begun"),
    [
        (QuestionSource.CHOSEN, "You picked it. "),
        (QuestionSource.AGAIN, "You saw it before. "),
        (QuestionSource.MODEL, ""),
    ],
)
def test_a_row_without_a_guess_stands_for_no_others_unless_it_was_drawn_for_that(source, begun):
    said = sentence(source, None, 0.0, None)
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
    said = sentence(source, "cat", 0.5, None)
    assert said == f"{begun}The model thinks it is cat, but is not sure. {ALONE}"


@pytest.mark.parametrize(("others", "said"), [(0, ""), (1, ""), (37, "It stands for 37 similar ")])
def test_a_row_that_speaks_for_others_in_doubt_says_for_how_many(others, said):
    predicted = "The model thinks it is cat, but is not sure."
    told = f"{said}rows that the model is not sure about. " if said else ""
    assert sentence(QuestionSource.MODEL, "cat", 0.5, None, others) == f"{predicted} {told}{ALONE}"
    for other in (QuestionSource.CHOSEN, QuestionSource.AGAIN):
        assert "stands for" not in sentence(other, "cat", 0.5, None, others)


@pytest.mark.parametrize(
    ("necessity", "said"),
    [
        (0.0, "The model leans to cat, but it could well be something else."),
        (0.19, "The model leans to cat, but it could well be something else."),
        (0.2, "The model thinks it is cat, but is not sure."),
        (0.89, "The model thinks it is cat, but is not sure."),
        (0.9, "The model is sure that it is cat."),
        (1.0, "The model is sure that it is cat."),
    ],
)
def test_how_sure_the_model_is_is_said_in_words(necessity, said):
    assert sentence(QuestionSource.MODEL, "cat", necessity, None) == f"{said} {ALONE}"


def test_what_is_open_is_told_from_what_is_random():
    begun, chance = "The model thinks it is ham, but is not sure.", CredibleChance(0.3, 0.8)
    said = sentence(QuestionSource.MODEL, "ham", 0.5, None, chance=chance)
    assert said == f"{begun} Between 30% and 80% likely to be ham: not known yet. {ALONE}"
    tossed = sentence(QuestionSource.CHOSEN, "ham", 0.5, None, chance=CredibleChance(0.45, 0.55))
    assert "Close to a toss of a coin whatever is labelled." in tossed
    settled = CredibleChance(0.75, 0.9)
    assert sentence(QuestionSource.MODEL, "ham", 0.5, None, chance=settled) == f"{begun} {ALONE}"


@pytest.mark.parametrize(
    ("source", "label", "necessity"),
    [
        (QuestionSource.CHECK, "ham", 0.5),
        (QuestionSource.DIVERSE, "ham", 0.5),
        (QuestionSource.MODEL, None, 0.0),
        (QuestionSource.MODEL, "ham", 0.95),
    ],
)
def test_chances_are_told_only_of_a_label_that_is_not_sure(source, label, necessity):
    chance = CredibleChance(0.3, 0.8)
    assert sentence(source, label, necessity, None, 0, chance) == sentence(
        source, label, necessity, None
    )


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
    assert sentence(QuestionSource.MODEL, "cat", 1.0, NearestLabel("dog", distance)).endswith(said)


@given(
    st.sampled_from(QuestionSource),
    st.sampled_from([None, "cat"]),
    st.floats(0, 1),
    st.none() | st.builds(NearestLabel, st.just("dog"), st.none() | st.floats(0, 3)),
)
def test_every_reason_is_made_of_whole_sentences(source, label, necessity, nearest):
    said = sentence(source, label, necessity, nearest)
    assert re.fullmatch(r"[A-Z][^.]*\.( [A-Z][^.]*\.)*", said)


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
