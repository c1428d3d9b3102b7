import re
from pathlib import Path

import numpy as np
import pytest

from possibal.data.comparison import (
    WITHOUT,
    Comparison,
    check_comparisons,
    choose_embedder,
    comparisons,
    kept_comparisons,
    user_embedders,
)
from possibal.data.source import SourceSpec
from possibal.embedding import efficientnet, sentence_encoder
from possibal.embedding.embedder import Modality
from possibal.embedding.embedders import installed_embedder

TEXT, IMAGE = Modality.TEXT, Modality.IMAGE
ENGLISH = ["Where is my card?", "The train was late again.", None]
DNA = ["ACGTACGGTACCAGTAGGTA", "GGTACCAGTACGGATACCAT"]
SENTENCE = r"^[a-z]+ must [^\n]*; got [^\n]*\. [^\n]*[.?]$"


def spec(**wanted):
    """What a user says."""
    return SourceSpec(Path(), **wanted)


def mine(rows):
    """An encoder of one's own."""
    return np.array([[1.0, len(str(row)) % 5] for row in rows])


def other(rows):
    """Another one."""
    return np.array([[len(str(row)) % 7, 1.0] for row in rows])


def choice(modality, wanted, texts=()):
    """Which embedder rows get."""
    return choose_embedder(modality, wanted, user_embedders(wanted, [modality]), texts)


@pytest.fixture
def bare(monkeypatch):
    """An installation without models."""
    monkeypatch.setattr(sentence_encoder, "is_installed", lambda: False)
    monkeypatch.setattr(efficientnet, "is_installed", lambda: False)


# ---------------------------------------------------------------- what users write
@pytest.mark.parametrize(
    ("by", "found"),
    [
        ((), ()),
        ("words", ("words",)),
        ("words,colours", ("words", "colours")),
        ("words, colours", ("words", "colours")),
        (("meaning", "objects"), ("meaning", "objects")),
        ("numbers", ("numbers",)),
    ],
)
def test_comparisons_are_read_with_commas(by, found):
    assert comparisons(spec(by=by)) == found
    assert all(isinstance(one, Comparison) for one in comparisons(spec(by=by)))


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("word", "by must be one of .*; got 'word'"),
        ("", "by must be one of .*; got ''"),
        ("words,", "by must be one of .*; got ''"),
        ("meaning,words", "by must be one of 'meaning' and 'words' for texts; got both"),
        ("colours,objects", "by must be one of 'colours' and 'objects' for pictures; got both"),
    ],
)
def test_words_that_mean_nothing_or_two_things_are_refused(by, said):
    with pytest.raises(ValueError, match=SENTENCE) as e:
        comparisons(spec(by=by))
    assert re.match(said, str(e.value))


@pytest.mark.parametrize(
    ("wanted", "modalities", "said"),
    [
        ({"by": "words"}, [IMAGE], "by must fit the rows, and be 'colours' or 'objects'; got"),
        ({"by": "objects"}, [TEXT], "by must fit the rows, and be 'meaning' or 'words'; got"),
        ({"by": "meaning"}, [], "by must fit the rows, and be left out; got 'meaning'"),
        ({"by": "numbers"}, [TEXT], "by must fit the rows, and be 'meaning' or 'words'; got 'num"),
        ({"by": "words", "features": Path("x.npy")}, [TEXT], "and be 'numbers'; got 'words'"),
    ],
)
def test_a_comparison_by_what_rows_have_not_is_refused(wanted, modalities, said):
    with pytest.raises(ValueError, match=SENTENCE) as e:
        check_comparisons(spec(**wanted), modalities)
    assert said in str(e.value)


@pytest.mark.parametrize(
    ("wanted", "modalities"),
    [
        ({}, []),
        ({"by": "words"}, [TEXT]),
        ({"by": "words,objects"}, [IMAGE, TEXT]),
        ({"by": "numbers", "features": Path("x.npy")}, [TEXT]),
    ],
)
def test_a_comparison_by_what_rows_have_is_taken(wanted, modalities):
    check_comparisons(spec(**wanted), modalities)


# ---------------------------------------------------------------- the choice
def test_models_are_taken_if_nobody_says_otherwise():
    texts, pictures = choice(TEXT, spec(), ENGLISH), choice(IMAGE, spec())
    assert texts.embedder.identity == installed_embedder(TEXT).identity
    assert pictures.embedder.identity == installed_embedder(IMAGE).identity
    assert re.fullmatch(
        r"texts were compared by what they mean \(universal-.* [\d.]+\); "
        r"--by words compares their words instead\.",
        texts.note,
    )
    assert re.fullmatch(
        r"pictures were compared by what they show \(.* [\d.]+\); "
        r"--by colours compares light, colours and edges instead\.",
        pictures.note,
    )


def test_plain_comparisons_are_taken_if_asked():
    found = choice(TEXT, spec(by="words"), ENGLISH)
    assert (found.embedder, found.note) == (None, "texts were compared by words, as you asked.")
    found = choice(IMAGE, spec(by="colours"))
    assert found.embedder is None
    assert found.note == "pictures were compared by light, colours and edges, as you asked."


def test_texts_that_the_encoder_does_not_understand_are_compared_by_words():
    found = choice(TEXT, spec(), DNA)
    assert found.embedder is None
    assert found.note == (
        "texts were compared by words, for the encoder hardly knows their words; --by meaning "
        "overrules it."
    )
    assert choice(TEXT, spec(by="meaning"), DNA).embedder is not None


def test_an_encoder_of_ones_own_is_not_asked_whether_it_understands():
    found = choice(TEXT, spec(encoder=mine), DNA)
    assert found.embedder.identity.name == "mine"
    assert found.note == "texts were compared by mine."
    assert choice(IMAGE, spec(encoder=mine)).note == "pictures were compared by mine."
    assert choice(TEXT, spec(encoder=mine, by="meaning"), DNA).note == found.note


def test_an_encoder_of_ones_own_and_words_are_refused():
    with pytest.raises(ValueError, match=SENTENCE) as e:
        choice(TEXT, spec(encoder=mine, by="words"), ENGLISH)
    assert str(e.value).startswith("by must be left out where a model is given; got 'words'.")


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("modality", Modality)
def test_without_a_model_it_is_said_what_it_would_bring(modality):
    found = choice(modality, spec(), ENGLISH)
    assert found.embedder is None
    assert found.note == WITHOUT[modality]
    assert found.note.endswith(f"far fewer answers: pip install 'possibal[{modality}]'.")
    assert choice(modality, spec(encoder=mine), ENGLISH).embedder is not None


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("modality", "by"), [(TEXT, "meaning"), (IMAGE, "objects")])
def test_a_model_that_is_asked_for_but_not_there_is_refused(modality, by):
    with pytest.raises(ValueError, match=SENTENCE) as e:
        choice(modality, spec(by=by), ENGLISH)
    assert f"; got {by!r}. Run pip install 'possibal[{modality}]'." in str(e.value)


# ---------------------------------------------------------------- going on
def recipe(kind, embedder=None):
    """The document of a recipe."""
    return {"kind": kind, "parts": [], "embedder": embedder and embedder.document()}


def mixed(*parts):
    """The document of several."""
    return {"kind": "mixed", "parts": list(parts), "embedder": None}


MEANING = recipe("text", installed_embedder(TEXT).identity)
WORDS = recipe("text")
MINE = recipe("text", user_embedders(spec(encoder=mine), [TEXT]).of(TEXT).identity)
COLOURS = recipe("image")
TABLE = recipe("table")


@pytest.mark.parametrize(
    ("kept", "wanted"),
    [
        (MEANING, {}),
        (MEANING, {"by": "meaning"}),
        (WORDS, {"by": "words"}),
        (MINE, {"encoder": mine}),
        (MINE, {"by": "meaning", "encoder": {"text": mine}}),
        (mixed(COLOURS, MINE, TABLE), {"by": "colours", "encoder": {"text": mine}}),
        (TABLE, {}),
        ({"kind": "text", "columns": ["a"]}, {"by": "words"}),  # of a version without models
    ],
)
def test_the_same_as_before_needs_no_word(kept, wanted):
    assert kept_comparisons(kept, spec(**wanted)) == ()


@pytest.mark.parametrize(
    ("kept", "wanted", "said"),
    [
        (MEANING, {"by": "words"}, "texts stay compared by meaning"),
        (WORDS, {"by": "meaning"}, "texts stay compared by words"),
        (WORDS, {"encoder": mine}, "texts stay compared by words"),
        (mixed(COLOURS, TABLE), {"by": "objects"}, "pictures stay compared by colours"),
    ],
)
def test_what_stays_as_it_was_is_said(kept, wanted, said):
    assert kept_comparisons(kept, spec(**wanted)) == (f"{said}, as when the campaign began.",)


def test_the_kernel_stays_as_it_was():
    said = "kernel stays as when the campaign began."
    assert kept_comparisons(WORDS, spec(kernel="rbf")) == (said,)
    assert kept_comparisons({**WORDS, "kernel": "rbf"}, spec(kernel="rbf")) == ()
    both = kept_comparisons(WORDS, spec(kernel="rbf", by="meaning"))
    assert both == (said, "texts stay compared by words, as when the campaign began.")
    with pytest.raises(ValueError, match="kernel must be one of 'rbf'; got 'matern'"):
        spec(kernel="matern")


@pytest.mark.parametrize(
    ("kept", "wanted", "said"),
    [
        (MINE, {"encoder": other}, "encoder must be the one that the rows were embedded with, min"),
        (MEANING, {"encoder": mine}, "encoder must be the one that the rows were embedded with,"),
        (TABLE, {"encoder": mine}, "encoder must be left out where no column is a text or"),
        (TABLE, {"by": "words"}, "by must fit the rows, and be left out"),
        (WORDS, {"by": "objects"}, "by must fit the rows, and be 'meaning' or 'words'"),
    ],
)
def test_another_model_than_before_is_refused(kept, wanted, said):
    with pytest.raises(ValueError, match=SENTENCE) as e:
        kept_comparisons(kept, spec(**wanted))
    assert str(e.value).startswith(said)
