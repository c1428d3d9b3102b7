import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import skops.io
from support.begun import campaign, clouds, said, source, told
from support.passengers import labelled, passengers

import possibal
from possibal.errors import MissingPackageError
from possibal.labelling import saved_model as models
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.read_model import ReadModel
from possibal.labelling.saved_model import SavedModel
from possibal.labelling.storage.journal import Kind
from possibal.labelling.storage.store import Store


@pytest.fixture(name="db")
def _db(tmp_path):
    """A campaign with check rows in which people agreed and did not."""
    db = campaign(source(tmp_path), tmp_path / "a.db", check=6, people=2)
    clouds(db, 20)
    told(
        db,
        said(1, "small", "bob"),
        said(2, kind=Kind.BAD, who="bob"),
        said(3, "small", "bob"),
        said(3, "small", "cy", Kind.SETTLE),
        said(4, kind=Kind.UNSURE),
    )
    return db


@pytest.fixture(name="kept")
def _kept(db):
    """The model of that campaign."""
    with Store.open(db, writes=False) as store:
        return SavedModel.of(store)


def files(folder: Path) -> list[str]:
    """What is in a folder, hidden files too."""
    return sorted(path.name for path in folder.iterdir())


# ---------------------------------------------------------------- what it is
def test_it_is_learnt_from_what_the_campaign_learns_from(db, kept):
    with Store.open(db, writes=False) as store:
        setup, X = store.setup(), store.array("X")
        ranker = InProcessRanker(X, setup.strategy, setup.seed)
        read_model = ReadModel(store)
        task = read_model.task()
        classifier = ranker.campaign(task).classifier
    rows = [answer.row for answer in task.answers]
    assert not set(rows) & set(read_model.check_rows)
    assert {1, 2, 4}.isdisjoint(rows)
    assert kept.labels == tuple(answer.label for answer in task.answers)
    np.testing.assert_array_equal(kept.X, X[rows])
    np.testing.assert_array_equal(kept.fitted().predict_proba(X), classifier.predict_proba(X))
    assert kept.fitted().classes_.tolist() == classifier.classes_.tolist()


def test_it_is_fitted_the_same_each_time(kept):
    X = np.random.default_rng(0).normal(size=(50, kept.X.shape[1]))
    one, other = kept.predict(X), kept.predict(X)
    assert one.label == other.label
    np.testing.assert_array_equal(one.probability, other.probability)
    np.testing.assert_array_equal(one.necessity, other.necessity)


def test_it_knows_where_it_comes_from(kept):
    assert kept.notes["campaign"] == "things"
    assert kept.notes["pool"] == 30
    assert kept.notes["when"].endswith("Z")
    assert set(kept.notes["versions"]) == {"possibal", "numpy", "scipy", "scikit-learn"}


def test_classes_that_nobody_named_yet_are_possible(tmp_path):
    db = campaign(source(tmp_path), tmp_path / "a.db", classes=("small", "large", "huge"))
    clouds(db)
    with Store.open(db, writes=False) as store:
        kept = SavedModel.of(store)
    assert kept.classes == ("small", "large", "huge")
    assert set(kept.predict(kept.X).label) == {"small", "large"}


@pytest.mark.parametrize("answers", [0, 1])
def test_two_classes_are_needed(tmp_path, answers):
    db = campaign(source(tmp_path), tmp_path / "a.db")
    clouds(db, answers)
    sentence = (
        rf"^db must have rows of at least 2 classes to learn from; got {answers} in {answers}"
    )
    with (
        Store.open(db, writes=False) as store,
        pytest.raises(ValueError, match=f"{sentence} answers. Label more rows.$"),
    ):
        SavedModel.of(store)


# ---------------------------------------------------------------- what it says
def test_labels_probabilities_and_necessities_are_the_classifiers(kept, monkeypatch):
    X = 3 * np.random.default_rng(1).normal(size=(40, kept.X.shape[1]))
    classifier = kept.fitted()
    chances, possible = classifier.predict_proba(X), classifier.possibility(X)
    monkeypatch.setattr(models, "BLOCK", 7)
    told_shares = []
    found = kept.predict(X, told_shares.append)
    assert found.label == tuple(classifier.predict(X))
    np.testing.assert_allclose(found.probability, chances.max(axis=1), rtol=1e-9)
    # Of the label that is named, not of one that another setting would name.
    rivals = np.where(np.arange(2) == chances.argmax(axis=1)[:, None], 0.0, possible)
    np.testing.assert_allclose(found.necessity, 1.0 - rivals.max(axis=1), atol=1e-9)
    assert told_shares == pytest.approx([7 / 40, 14 / 40, 21 / 40, 28 / 40, 35 / 40, 1.0])


@pytest.mark.parametrize(("version", "first"), [(1, 1), (2, 1), (3, 0)])
def test_rows_without_names_are_counted_as_the_version_of_a_model_did(
    kept, tmp_path, version, first
):
    kept.save(tmp_path / "model")
    document = json.loads((tmp_path / "model/model.json").read_text())
    assert document.pop("first") == 0
    document["version"] = version
    (tmp_path / "model/model.json").write_text(json.dumps(document))
    assert SavedModel.load(tmp_path / "model").first == first


def test_a_model_of_the_first_version_takes_distances_from_its_labelled_rows(kept, tmp_path):
    kept.save(tmp_path / "model")
    settings = {"link": "probit", "hyperparameters": "envelope"}
    spoil(tmp_path / "model", version=1, settings=settings)
    first = SavedModel.load(tmp_path / "model")
    assert first.fitted().usual_distance is None
    assert kept.fitted().usual_distance > 0


def test_rows_that_look_alike_are_no_cause_for_a_warning(kept):
    found = kept.predict(np.zeros((100, kept.X.shape[1])))
    assert len(set(found.necessity)) == 1


def test_no_rows_have_no_labels(kept):
    assert kept.predict(kept.X[:0]).label == ()


# ---------------------------------------------------------------- keeping
@pytest.mark.parametrize("name", ["model", "deep/er/model", "model.skops", "deep/model.SKOPS"])
@pytest.mark.works_with("skops", "a model in one file, or in a folder", "skops")
def test_a_model_that_was_kept_says_the_same(kept, tmp_path, name):
    kept.save(tmp_path / name)
    again = SavedModel.load(tmp_path / name)
    X = np.random.default_rng(0).normal(size=(20, kept.X.shape[1]))
    np.testing.assert_array_equal(again.predict(X).necessity, kept.predict(X).necessity)
    assert again.predict(X).label == kept.predict(X).label
    assert again.recipe.document() == kept.recipe.document()
    for part, array in kept.recipe.arrays().items():
        np.testing.assert_array_equal(again.recipe.arrays()[part], array)
    assert (again.labels, again.classes) == (kept.labels, kept.classes)
    assert (again.settings, again.notes) == (kept.settings, kept.notes)


def test_a_folder_holds_two_files_and_nothing_is_left_beside_it(kept, tmp_path):
    kept.save(tmp_path / "new" / "model")
    assert files(tmp_path / "new") == ["model"]
    assert files(tmp_path / "new" / "model") == ["arrays.npz", "model.json"]


def test_a_model_takes_the_place_of_another(kept, tmp_path):
    kept.save(tmp_path / "new" / "model")
    replace(kept, notes={"campaign": "second"}).save(tmp_path / "new" / "model")
    assert SavedModel.load(tmp_path / "new" / "model").notes == {"campaign": "second"}
    assert files(tmp_path / "new") == ["model"]


def test_a_model_stays_where_the_next_cannot_take_its_place(kept, tmp_path, monkeypatch):
    kept.save(tmp_path / "new" / "model")
    rename = Path.rename

    def fails(path, to):
        if path.name.endswith(".part"):
            raise OSError(28, "No space left on device")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="No space"):
        replace(kept, notes={}).save(tmp_path / "new" / "model")
    assert SavedModel.load(tmp_path / "new" / "model").notes == kept.notes
    assert files(tmp_path / "new") == ["model"]


@pytest.mark.parametrize("inside", [[], ["model.json"], ["model.json", "arrays.npz", "mine.txt"]])
def test_a_folder_of_something_else_is_left_alone(kept, tmp_path, inside):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in inside:
        (folder / name).write_text("mine")
    with pytest.raises(ValueError, match=r"^to must be a new folder, or one that holds a model"):
        kept.save(folder)
    assert files(folder) == sorted(inside)


def test_a_file_is_left_alone(kept, tmp_path):
    path = tmp_path / "mine"
    path.write_text("mine")
    with pytest.raises(ValueError, match=r"^to must be a new folder"):
        kept.save(path)
    assert path.read_text() == "mine"


# ---------------------------------------------------------------- what is none
def spoil(folder: Path, **changes) -> None:
    """Change some of a model's document."""
    path = folder / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"version": 5}, r"of version 5, later than 4\. Update possibal"),
        ({"format": "x"}, r"\(of another program\)\. Name another"),
        ({"version": None}, r"\(int\(\) argument.*\)\. Save it again"),
        ({"recipe": {}}, r"\('kind'\)\. Save it again"),
        ({"labels": ["small"]}, r"\(its rows do not fit its labels\)\. Save it again"),
        ({"classes": ["a", "b"]}, r"\(its labels are not all among its classes\)\. Save"),
        ({"settings": {}}, r"\('link'\)\. Save it again"),
        ({"version": float("inf")}, r"\(cannot convert float infinity to integer\)\. Save"),
        ({"settings": {"link": "x"}}, r"\('hyperparameters'\)\. Save it again"),
        ({"settings": {"link": "x", "hyperparameters": "x"}}, r"\(link must be one of"),
        ({"settings": {"link": "probit", "hyperparameters": "x"}}, r"\(hyperparameters must be"),
        (
            {
                "settings": {
                    "link": "probit",
                    "hyperparameters": "fixed",
                    "usual_distance": float("inf"),
                }
            },
            r"\(usual_distance must be a positive number",
        ),
    ],
)
def test_a_document_that_is_wrong_is_refused(kept, tmp_path, changes, sentence):
    kept.save(tmp_path / "model")
    spoil(tmp_path / "model", **changes)
    start = r"^model must be what possibal model wrote; got '.*model' "
    with pytest.raises(ValueError, match=start + sentence):
        SavedModel.load(tmp_path / "model")


@pytest.mark.parametrize("name", ["model.json", "arrays.npz"])
@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"PK\x03\x04", b"\xff\xfe"])
def test_a_file_that_is_spoilt_is_refused(kept, tmp_path, name, content):
    kept.save(tmp_path / "model")
    (tmp_path / "model" / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"^model must be what possibal model wrote; got "):
        SavedModel.load(tmp_path / "model")


def test_a_model_that_would_run_code_is_refused(kept, tmp_path):
    kept.save(tmp_path / "model")
    arrays = {"X": np.array([print, print], dtype=object)}
    np.savez(tmp_path / "model" / "arrays.npz", **arrays)
    with pytest.raises(ValueError, match=r"^model must be .*Object arrays cannot be loaded"):
        SavedModel.load(tmp_path / "model")


@pytest.mark.parametrize("name", ["recipe.centre", "recipe.scale"])
@pytest.mark.parametrize("change", [None, lambda a: a[:-1], lambda a: a * np.nan])
def test_arrays_that_are_lost_or_spoilt_are_refused(kept, tmp_path, name, change):
    kept.save(tmp_path / "model")
    path = tmp_path / "model" / "arrays.npz"
    arrays = dict(np.load(path))
    given = arrays.pop(name)
    np.savez(path, **arrays | ({} if change is None else {name: change(given)}))
    with pytest.raises(ValueError, match=r"^model must be .*its array '.*' is missing or does not"):
        SavedModel.load(tmp_path / "model")


def test_numbers_that_are_none_are_refused(kept, tmp_path):
    replace(kept, X=np.full_like(kept.X, np.nan)).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"^model must be .*its rows do not fit its labels"):
        SavedModel.load(tmp_path / "model")


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^model must exist; got '.*none'\. Check its name"):
        SavedModel.load(tmp_path / "none")
    with pytest.raises(ValueError, match=r"^model must be .* without a file model\.json\. Name"):
        SavedModel.load(tmp_path)
    path = source(tmp_path)
    with pytest.raises(ValueError, match=r"^model must be .* that does not end in \.skops\. Name"):
        SavedModel.load(path)


@pytest.mark.parametrize("content", [b"x", skops.io.dumps([1]), skops.io.dumps({"document": {}})])
def test_a_skops_file_of_something_else_is_refused(tmp_path, content):
    (tmp_path / "a.skops").write_bytes(content)
    with pytest.raises(ValueError, match=r"^model must be what possibal model wrote; got "):
        SavedModel.load(tmp_path / "a.skops")


def test_a_skops_file_of_something_else_is_not_written_over(kept, tmp_path):
    path = tmp_path / "a.skops"
    content = skops.io.dumps([1])
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"^to must be a new file, or one that holds a model; got"):
        kept.save(path)
    assert path.read_bytes() == content
    kept.save(tmp_path / "b.skops")
    kept.save(tmp_path / "b.skops")  # its own


def test_a_skops_file_with_other_types_is_not_let_in(tmp_path):
    (tmp_path / "a.skops").write_bytes(
        skops.io.dumps({"document": Kind.BAD, "arrays": InProcessRanker})
    )
    with pytest.raises(ValueError, match=r"^model must be .*Untrusted types found in the file"):
        SavedModel.load(tmp_path / "a.skops")


def test_a_skops_file_needs_skops(kept, tmp_path, monkeypatch):
    kept.save(tmp_path / "a.skops")
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for work in (
        lambda: kept.save(tmp_path / "b.skops"),
        lambda: SavedModel.load(tmp_path / "a.skops"),
    ):
        with pytest.raises(MissingPackageError, match=r"needs skops, which is not installed: run"):
            work()
    assert not (tmp_path / "b.skops").exists()


# ---------------------------------------------------------------- for frames
def test_check_rows_are_learnt_from_where_that_is_wanted(db, kept):
    with Store.open(db, writes=False) as store:
        every = SavedModel.of(store, with_check=True)
        checked = ReadModel(store).task().check
    assert checked
    assert len(every.labels) == len(kept.labels) + len(checked)
    assert every.labels[: len(kept.labels)] == kept.labels


@pytest.mark.parametrize("library", [lambda frame: frame, pl.from_pandas])
@pytest.mark.parametrize("kind", [int, bool, str])
def test_a_model_predicts_frames_in_the_type_of_the_labels(tmp_path, kind, library):
    frame, survived = passengers()
    with possibal.open_campaign(tmp_path / "a.db", frame, classes=[kind(0), kind(1)]) as campaign:
        labelled(campaign, survived.map(kind), 12)
        expected, chances = campaign.predict(frame), campaign.predict_proba(frame)
        certain = campaign.beliefs().necessity
    with Store.open(str(tmp_path / "a.db"), writes=False) as store:
        SavedModel.of(store).save(tmp_path / "model")
    model = possibal.load_model(str(tmp_path / "model"))
    assert model.classes_.tolist() == [kind(0), kind(1)]
    assert model.predict(library(frame)).tolist() == expected.tolist()
    np.testing.assert_allclose(model.predict_proba(library(frame)), chances)
    np.testing.assert_allclose(model.necessity(library(frame)), certain)
    assert repr(model) == "LoadedModel(12 labels, 2 classes, from 'pool')"


def test_a_model_of_before_has_labels_of_text(kept, tmp_path):
    kept.save(tmp_path / "model")
    document = json.loads((tmp_path / "model" / models.DOCUMENT).read_text())
    del document["label_type"]
    (tmp_path / "model" / models.DOCUMENT).write_text(json.dumps(document))
    assert set(possibal.load_model(tmp_path / "model").classes_) == {"small", "large"}


# ---------------------------------------------------------------- texts by a model
NOTES = pl.DataFrame(
    {
        "note": ["the soup was cold", "our dinner was salty", "a tiny room", "the bed was hard"]
        * 3,
        "label": ["food", "food", "room", "room"] * 3,
    }
)


def letters(texts):
    """Texts by the letters that they have."""
    return np.array([[1.0, *(text.count(a) for a in "abdelmnorst")] for text in texts])


def lengths(texts):
    """Texts by their lengths."""
    return np.array([[1.0, len(text)] for text in texts])


def of_notes(folder, **options):
    """The folder of the model of a campaign of texts."""
    frame = NOTES.with_columns(nr=pl.arange(len(NOTES)), note=pl.col("note") + " again")
    db = str(folder / "a.db")
    possibal.open_campaign(db, frame, id="nr", text="note", **options).close()
    with Store.open(db, writes=False) as store:
        SavedModel.of(store).save(folder / "model")
    return folder / "model"


def test_a_model_names_the_encoder_its_version_and_its_hash(tmp_path):
    path = of_notes(tmp_path)
    (document,) = [json.loads(one.read_text()) for one in path.glob("*.json")]
    embedder = document["recipe"]["embedder"]
    assert embedder["name"] == "universal-sentence-encoder-multilingual"
    assert embedder["version"]
    assert len(embedder["digest"]) == 64
    found = possibal.load_model(path).predict(pl.DataFrame({"note": ["a bowl of soup", "a hotel"]}))
    assert found.tolist() == ["food", "room"]


def test_a_model_of_ones_own_encoder_wants_it_again(tmp_path):
    path = of_notes(tmp_path, encoder=letters)
    assert possibal.load_model(path, encoder=letters).predict(NOTES).tolist() == list(
        NOTES["label"]
    )
    for encoder in (None, lengths):
        with pytest.raises(
            ValueError, match=r"^encoder must be the one .* with, letters \(.*; got"
        ):
            possibal.load_model(path, encoder=encoder).predict(NOTES)
