"""Saved model of a campaign: training rows, labels and feature recipe, refitted when loaded.

    SavedModel.of(store).save(folder)        SavedModel.load(folder).predict(X) -> Predictions
    load_model(folder).predict(frame)

It holds the labelled rows and how rows become numbers. The classifier follows from them, so what is
kept is text and numbers only: nothing in it can run.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

import possibal
from possibal.acquisition.pointwise import necessity
from possibal.arguments import choice
from possibal.arrays import Array, Matrix, Vector
from possibal.belief import leading_labels
from possibal.campaign.encoding import RowEncoding
from possibal.campaign.label_set_snapshot import sets_of
from possibal.data.decoding import no_progress
from possibal.data.features import FeatureRecipe
from possibal.data.label_sets import LabelSyntax
from possibal.data.name_types import NameType
from possibal.errors import MissingPackageError, summary
from possibal.estimators.classifier import (
    PossibilisticGPClassifier,
    with_geometry,
    with_pool_scale,
)
from possibal.estimators.multilabel import LabelSetBelief, PossibilisticMultiLabelClassifier
from possibal.estimators.validation import centre, distance
from possibal.files import folder, part_of, write
from possibal.gp.hyperparameters import INFERENCES
from possibal.gp.likelihoods import LINKS
from possibal.labelling import label_files
from possibal.labelling.create import PART, feature_recipe
from possibal.labelling.growth import counts_from_one
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.store import Store, clock

FORMAT, VERSION = "possibal model", 4
SINGLE_VERSION = 3
"""What a model of one label a row is kept as, so that an earlier possibal reads it."""
COUNTS_FROM_ZERO = 3
"""The first version whose rows without names are counted from 0, unless it says otherwise."""
DOCUMENT, ARRAYS = "model.json", "arrays.npz"
"""The files of a folder that is a model."""
BLOCK = 2000
"""Rows that are predicted at a time."""
SKOPS = ".skops"
"""What a model in a single file ends in."""
Kept: TypeAlias = tuple[dict[str, Any], dict[str, Array]]
"""A model as it is kept: a document of JSON, and arrays."""


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of rows.

    Attributes:
        label: of largest probability, one per row.
        probability: of that label, (m,).
        necessity: of that label, (m,); zero where the most credible setting names another.
        members: where rows may have several classes, the probability and the necessity of each by
            its name, (m,) and (m,); `label` is then a set by its text.
    """

    label: tuple[str, ...]
    probability: Vector
    necessity: Vector
    members: Mapping[str, tuple[Vector, Vector]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SavedModel:
    """What a campaign taught.

    Attributes:
        recipe: how rows become numbers.
        X: the labelled rows, (n, d).
        labels: of these rows.
        classes: all labels there may be.
        settings: of the classifier.
        notes: where it comes from.
        label_type: of the labels, which are kept as text.
        first: the number of the first row of a file whose rows have no names.
        multi: whether labels are sets of classes, by their texts.
    """

    recipe: FeatureRecipe
    X: Matrix
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    settings: Mapping[str, str | float]
    notes: Mapping[str, Any]
    label_type: NameType = NameType.TEXT
    first: int = 0
    multi: bool = False

    @classmethod
    def of(cls, store: Store, *, with_check: bool = False) -> "SavedModel":
        """The model of a campaign, learnt from the answers that hold.

        Args:
            store: of the campaign.
            with_check: whether to learn from the check rows too, which otherwise only measure.
        """
        read_model = ReadModel(store)
        task, setup, X = read_model.task(), read_model.setup, read_model.X
        answers = (*task.answers, *(task.check if with_check else ()))
        said = tuple(str(answer.label) for answer in answers)
        if len(set(said)) < 2:  # noqa: PLR2004 - a choice needs two
            raise ValueError(
                f"db must have rows of at least 2 {'sets of ' * setup.multi}classes to learn from; "
                f"got {len(set(said))} in {len(said)} answers. Label more rows."
            )
        rows = [cast("int", answer.row) for answer in answers]
        recipe = feature_recipe(store)
        default = with_geometry(PossibilisticGPClassifier(), recipe.geometry)
        scale = with_pool_scale(default, X)
        return cls(
            recipe=recipe,
            X=X[rows],
            labels=said,
            classes=task.classes,
            settings={
                "link": default.link,
                "hyperparameters": default.hyperparameters,
                "usual_distance": cast("float", scale.usual_distance),
                "centre": np.asarray(scale.centre).tolist(),
            },
            notes={
                "campaign": setup.name,
                "when": label_files.timestamp(clock()),
                "pool": setup.rows,
                "versions": {
                    "possibal": possibal.__version__,
                    **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
                },
            },
            label_type=NameType(setup.label_type),
            first=int(counts_from_one(setup, store.places())),
            multi=setup.multi,
        )

    # ------------------------------------------------------------ what follows

    def fitted(self, label_type: NameType = NameType.TEXT) -> PossibilisticGPClassifier:
        """The classifier, the same each time.

        Args:
            label_type: what its classes are; text if left out.
        """
        if self.multi:
            raise ValueError(
                "model must be one of one label a row; got one of several. Use fitted_labels."
            )
        named = cast("ArrayLike", [label_type.read(text) for text in self.classes])
        plain = PossibilisticGPClassifier(classes=named)
        classifier = with_geometry(plain, self.recipe.geometry).set_params(**self.settings)
        labels = [label_type.read(text) for text in self.labels]
        return classifier.fit(self.X, cast("ArrayLike", labels))

    def fitted_labels(self) -> PossibilisticMultiLabelClassifier:
        """The classifier of a model whose rows may have several classes, the same each time."""
        plain = with_geometry(PossibilisticGPClassifier(), self.recipe.geometry)
        plain.set_params(**self.settings)
        sets = [LabelSyntax.SEVERAL.members(label) for label in self.labels]
        Y = np.array([[name in members for name in self.classes] for members in sets])
        names = cast("ArrayLike", list(self.classes))
        return PossibilisticMultiLabelClassifier(plain, classes=names).fit(self.X, Y)

    def _predicted_sets(self, X: Matrix, progress: Callable[[float], None]) -> Predictions:
        """What the model says of rows that may have several classes."""
        classifier, parts = self.fitted_labels(), list[LabelSetBelief]()
        for start in range(0, max(len(X), 1), BLOCK):
            parts.append(classifier.beliefs(X[start : start + BLOCK]))
            progress(min(1.0, (start + BLOCK) / max(len(X), 1)))
        probability = np.concatenate([part.probability for part in parts])
        certain = np.concatenate([part.necessity for part in parts])
        has = [one for part in parts for one in part.has.tolist()]
        text = LabelSyntax.SEVERAL.text
        labels = (
            text(name for name, is_there in zip(self.classes, one, strict=True) if is_there)
            for one in has
        )
        each = zip(self.classes, probability.T, certain.T, strict=True)
        return Predictions(
            tuple(labels),
            np.concatenate([part.set_chance for part in parts]),
            np.concatenate([part.set_necessity for part in parts]),
            {name: (chance, sure) for name, chance, sure in each},
        )

    def predict(self, X: Matrix, progress: Callable[[float], None] = no_progress) -> Predictions:
        """What the model says of rows that its recipe made numbers.

        Args:
            X: (m, d).
            progress: called with the share that is done.
        """
        if self.multi:
            return self._predicted_sets(X, progress)
        classifier = self.fitted()
        best = np.empty(len(X), dtype=np.intp)
        probability, certain = np.empty(len(X)), np.empty(len(X))
        for start in range(0, len(X), BLOCK):
            part = slice(start, start + BLOCK)
            chances = classifier.predict_proba(X[part])
            best[part], probability[part] = chances.argmax(axis=1), chances.max(axis=1)
            belief = classifier.posterior_.at(X[part])
            agreed = leading_labels(belief) == best[part]
            certain[part] = np.where(agreed, necessity(belief), 0.0)
            progress(min(1.0, (start + BLOCK) / len(X)))
        names = [str(label) for label in classifier.classes_]
        return Predictions(tuple(names[place] for place in best), probability, certain)

    # ------------------------------------------------------------ keeping

    def save(self, to: Path) -> None:
        """Keep the model in a folder, or in one file that ends in .skops, all at once."""
        if to.suffix.lower() == SKOPS:
            _check_free_file(to)
            document, arrays = self._kept()
            content = _skops().dumps({"document": document, "arrays": arrays})
            folder(to.parent, "to")
            write(to, content)
            return
        _save(to, self._kept())

    def _kept(self) -> Kept:
        """The model as it is kept."""
        document = {
            "format": FORMAT,
            "version": VERSION if self.multi else SINGLE_VERSION,
            "recipe": self.recipe.document(),
            "labels": list(self.labels),
            "classes": list(self.classes),
            "settings": dict(self.settings),
            "notes": dict(self.notes),
            "label_type": self.label_type,
            "first": self.first,
            **({"multi": True} if self.multi else {}),
        }
        kept = {f"{PART}{name}": array for name, array in self.recipe.arrays().items()}
        return document, {"X": self.X, **kept}

    @classmethod
    def load(cls, path: Path) -> "SavedModel":
        """A model that was kept, or one sentence on why there is none."""
        _check_there(path)
        try:
            document, arrays = _from_skops(path) if path.is_file() else _from_folder(path)
            if document["format"] == FORMAT and int(document["version"]) <= VERSION:
                return cls._restored(document, arrays)
        except MissingPackageError:
            raise
        except Exception as error:  # noqa: BLE001 - readers fail in as many ways as files
            raise _refused(
                path, f"({summary(error)})", "Save it again with possibal model."
            ) from None
        if document["format"] != FORMAT:
            raise _refused(path, "(of another program)", "Name another.")
        raise _refused(
            path,
            f"of version {document['version']}, later than {VERSION}",
            "Update possibal: pip install --upgrade possibal.",
        )

    @classmethod
    def _restored(cls, document: Mapping[str, Any], arrays: Mapping[str, Array]) -> "SavedModel":
        """The model of a document and its arrays, if they fit one another."""
        parts = {name.removeprefix(PART): array for name, array in arrays.items() if name != "X"}
        known, given = FeatureRecipe.restored(document["recipe"], parts), document["settings"]
        known.check_sound()
        X = np.asarray(arrays["X"], dtype=float)
        said, classes = tuple(document["labels"]), tuple(document["classes"])
        if X.shape != (len(said), known.width) or not np.isfinite(X).all():
            raise ValueError("its rows do not fit its labels")
        multi = bool(document.get("multi", False))
        members = LabelSyntax.of(multi=multi).members
        if not {one for label in said for one in members(label)} <= set(classes):
            raise ValueError("its labels are not all among its classes")
        settings = {name: given[name] for name in ("link", "hyperparameters")}
        choice("link", settings["link"], LINKS)
        choice("hyperparameters", settings["hyperparameters"], INFERENCES)
        if "usual_distance" in given:  # the first version took that of the labelled rows
            settings["usual_distance"] = distance(float(given["usual_distance"]))
        if "centre" in given:
            settings["centre"] = list(centre(given["centre"], X))
        label_type = NameType(document.get("label_type", NameType.TEXT))
        first = int(document.get("first", document["version"] < COUNTS_FROM_ZERO))
        return cls(known, X, said, classes, settings, document["notes"], label_type, first, multi)


# ---------------------------------------------------------------- for frames
class LoadedModel:
    """A model that was saved, for rows like those of its pool; see :func:`load_model`.

    Attributes:
        saved: what was kept.
        classifier: fitted to it.
        classes_: the labels in their type, in the order of the columns of probabilities.
    """

    def __init__(self, saved: SavedModel, encoder: object = None) -> None:
        """Fit the classifier."""
        self.saved = saved
        self.classifier: Any = (
            saved.fitted_labels() if saved.multi else saved.fitted(saved.label_type)
        )
        self.classes_ = self.classifier.classes_
        self._encoding = RowEncoding(saved.recipe, encoder=encoder)

    def predict(self, rows: Any) -> NDArray[Any]:  # noqa: ANN401 - frames of several libraries
        """The likeliest label of each row of a frame, or of the file or folder at a path.

        Where rows may have several, the tuple of those that are likelier there than not.
        """
        X = self._encoding.features(rows)
        if not self.saved.multi:
            return self.classifier.predict(X)
        found = sets_of(self.classifier.beliefs(X), tuple(self.saved.classes))
        return np.array([*found, None], dtype=object)[:-1]  # lest NumPy make a table of tuples

    def predict_proba(self, rows: Any) -> Matrix:  # noqa: ANN401 - as above
        """The probability of each class, (m, C)."""
        return self.classifier.predict_proba(self._encoding.features(rows))

    def necessity(self, rows: Any) -> Vector:  # noqa: ANN401 - as above
        """The necessity that the leading label is truly the likeliest, in [0, 1].

        Where rows may have several, of each class (m, L): that it is there or is not.
        """
        if self.saved.multi:
            return self.classifier.necessity(self._encoding.features(rows))
        return necessity(self.classifier.posterior_.at(self._encoding.features(rows)))

    def __repr__(self) -> str:
        """One line."""
        labels, source = len(self.saved.labels), self.saved.notes["campaign"]
        return f"LoadedModel({labels} labels, {len(self.classes_)} classes, from {source!r})"


def load_model(path: str | PathLike[str], encoder: object = None) -> LoadedModel:
    """A model that `possibal model` saved, to predict the rows of a frame of any library.

    Args:
        path: its folder, or its file that ends in .skops.
        encoder: the user's own encoder of texts or pictures, if the campaign had one; another one
            is refused.
    """
    return LoadedModel(SavedModel.load(Path(path)), encoder)


# ---------------------------------------------------------------- folders
def _save(to: Path, kept: Kept) -> None:
    """Write a folder beside, and move it into place."""
    _check_free(to)
    folder(to.parent, "to")
    part = part_of(to)
    old = part.with_name(f"{part.name}.old")
    try:
        part.mkdir()
        (part / DOCUMENT).write_text(f"{json.dumps(kept[0], indent=1)}\n", encoding="utf-8")
        buffer = BytesIO()
        np.savez(buffer, **cast("dict[str, Any]", kept[1]))
        (part / ARRAYS).write_bytes(buffer.getvalue())
        if to.exists():
            to.rename(old)
        part.rename(to)
    finally:
        if old.exists() and not to.exists():
            old.rename(to)
        for left in (part, old):
            shutil.rmtree(left, ignore_errors=True)


def _check_free(to: Path) -> None:
    """Refuse to write over what is no model."""
    is_model = to.is_dir() and {path.name for path in to.iterdir()} == {DOCUMENT, ARRAYS}
    if to.exists() and not is_model:
        raise ValueError(
            "to must be a new folder, or one that holds a model and nothing else; "
            f"got {str(to)!r}. Choose another."
        )


def _check_free_file(to: Path) -> None:
    """Refuse to write over a file that is no model."""
    if to.exists():
        try:
            SavedModel.load(to)
        except ValueError:
            raise ValueError(
                f"to must be a new file, or one that holds a model; got {str(to)!r}, which exists "
                "and is another. Choose another."
            ) from None


def _check_there(path: Path) -> None:
    """Refuse what can be no model."""
    if not path.exists():
        raise ValueError(f"model must exist; got {str(path)!r}. Check its name and folder.")
    if path.is_dir() and not (path / DOCUMENT).is_file():
        raise _refused(path, f"without a file {DOCUMENT}", "Name another.")
    if path.is_file() and path.suffix.lower() != SKOPS:
        raise _refused(path, f"that does not end in {SKOPS}", "Name a folder, or another file.")


def _from_folder(path: Path) -> Kept:
    """What a folder holds."""
    document = json.loads((path / DOCUMENT).read_text(encoding="utf-8"))
    content = BytesIO((path / ARRAYS).read_bytes())
    with np.load(content, allow_pickle=False) as arrays:
        return document, {name: arrays[name] for name in arrays.files}


def _refused(path: Path, got: str, remedy: str) -> ValueError:
    """The sentence on what is no model."""
    return ValueError(f"model must be what possibal model wrote; got {str(path)!r} {got}. {remedy}")


# ---------------------------------------------------------------- skops
def _skops() -> Any:  # noqa: ANN401 - it is not always there
    """What reads and writes models in one file."""
    try:
        import skops.io as found
    except ImportError:
        raise MissingPackageError(
            "A model in a .skops file needs skops, which is not installed: run pip install skops. "
            "A folder needs nothing."
        ) from None
    return found


def _from_skops(path: Path) -> Kept:
    """What a file holds; types other than text, numbers and arrays of them are not let in."""
    found = _skops().loads(path.read_bytes(), trusted=[])
    return found["document"], found["arrays"]
