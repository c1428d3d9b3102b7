"""What embeddings of texts and pictures are worth: ours with and without them, and beside peers.

    python bench/features.py --data FOLDER --runs 10

FOLDER has texts/*.csv, with a column called text and the labels in the last one, and
pictures/*.zip with a labels.csv of files and labels. One label per class and then 50 questions;
test rows are held out, and columns are fitted to the pool alone. All meet the same rows:

- possibal's default on embeddings, and on the features that it has without an encoder,
- logistic regression on the same embeddings, with random, margin and MaxHerding questions, as it
  comes and with C = 100,
- for texts a linear support vector machine on TF-IDF, with margin questions.

Rows are kept in the folder of --out, and the same command goes on where it was stopped.
"""

import csv
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, TypeAlias
from warnings import catch_warnings, simplefilter
from zipfile import ZipFile

import efficiency
import numpy as np
from efficiency import Estimate
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from possibal.acquisition.registry import STRATEGIES
from possibal.arguments import DEFAULT_STRATEGY
from possibal.arrays import Matrix, Places
from possibal.data import features
from possibal.data.features import FeatureMatrix, ImageFiles
from possibal.embedding.cache import EmbeddingCache
from possibal.embedding.embedder import Embedder, Modality
from possibal.embedding.embedders import Embedders, installed_embedder
from possibal.embedding.projection import MANY_AXES
from possibal.experiments import referees
from possibal.experiments.compare import RANDOM, in_words
from possibal.experiments.datasets import Citation, Dataset
from possibal.experiments.engine.runner import (
    ExperimentJob,
    RunProgress,
    StartedJob,
    Work,
    begin,
    cores,
    run,
)
from possibal.experiments.engine.simulation import Names
from possibal.experiments.reporting.figures import as_bytes, check_drawing, curves
from possibal.experiments.reporting.paper_tables import Cell, TableColumn, TextTable, claimed
from possibal.experiments.results import Results, Run
from possibal.experiments.spec import ENVELOPE, HELD_OUT, Experiment, Sizes
from possibal.experiments.splits import random_stream, split
from possibal.files import alone, folder, write
from possibal.numerics.geometry import COSINE, EUCLIDEAN
from possibal.progress import bar

QUESTIONS, MOST_POOL, MOST_TEST = 50, 1000, 1000
ANSWERS = (10, 20, 30, 50)
"""After how many answers accuracy is shown."""
GAIN = 10.0
"""Points over the run that embeddings should bring on texts, and on pictures."""
FEW = 20
"""Questions that ours may need, in the median run, to come to what random ends with."""
OURS, PLAIN, BY_CHANCE = "possibal", "possibal without embeddings", "random, possibal's model"
CHANCE, MARGIN, HERDED = "random, logistic", "margin, logistic", "MaxHerding, logistic"
LOOSE = 100.0
"""C of logistic regression as a peer with experience would set it: embeddings have length one, and
the C of 1 that scikit-learn starts from holds their weights down for as long as labels are few."""
TERMS = "margin, SVM on TF-IDF"
SOURCE = Path(__file__).read_text(encoding="utf-8")
"""Of the peers, so that rows of earlier ones are not taken for theirs."""


# ---------------------------------------------------------------- sets
@dataclass(frozen=True)
class TextColumns:
    """Columns of texts, fitted to those of a pool.

    Attributes:
        texts: of all rows.
        cache: of their embeddings; None for the features without an encoder.
    """

    metric: ClassVar[str] = COSINE
    texts: tuple[str, ...]
    cache: Path | None

    def __call__(self, pool: Places) -> Matrix:
        """(rows, columns), of all rows."""
        known = [self.texts[row] for row in pool]
        made = features.text_features(known, ["text"], **_embedding(Modality.TEXT, self.cache))
        return _applied(self, made, self.texts)


@dataclass(frozen=True)
class ImageColumns:
    """Columns of pictures, fitted to those of a pool; see :class:`TextColumns`."""

    files: ImageFiles
    cache: Path | None

    def __call__(self, pool: Places) -> Matrix:
        """(rows, columns), of all rows."""
        known = ImageFiles(self.files.folder, tuple(self.files.names[row] for row in pool))
        made = features.image_features(known, **_embedding(Modality.IMAGE, self.cache))
        return _applied(self, made, self.files)

    @property
    def metric(self) -> str:
        """How its rows are compared: light, colours and edges by distance."""
        return EUCLIDEAN if self.cache is None else COSINE


@dataclass(frozen=True)
class TermColumns:
    """TF-IDF of words and pairs of them, of the terms of a pool."""

    metric: ClassVar[str] = EUCLIDEAN  # a peer's, which does not ask
    texts: tuple[str, ...]

    def __call__(self, pool: Places) -> Matrix:
        """(rows, terms), of all rows."""
        weights = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2)
        known: Any = weights.fit([self.texts[row] for row in pool])
        return known.transform(self.texts).toarray()


def _embedding(modality: Modality, cache: Path | None) -> dict[str, Any]:
    """The installed embedder and its cache, or nothing."""
    if cache is None:
        return {}
    return {"embedder": _installed(modality), "cache": EmbeddingCache(cache)}


def _installed(modality: Modality) -> Embedder:
    """The installed embedder, or one sentence."""
    found = installed_embedder(modality)
    if found is None:
        raise SystemExit(
            f"Nothing that embeds is installed: run pip install 'possibal[{modality}]'."
        )
    return found


def _applied(
    columns: TextColumns | ImageColumns, made: FeatureMatrix, rows: features.Rows
) -> Matrix:
    """All rows by the recipe of a pool's."""
    if len(made.recipe.features) >= MANY_AXES:
        assert made.recipe.metric == columns.metric  # which campaigns of such rows have
    embedders = Embedders(cache=EmbeddingCache(columns.cache))
    return made.recipe.apply(rows, embedders=embedders).X


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """A set of texts or pictures with its labels, by the kinds of columns that it can have.

    Attributes:
        modality: what its rows are.
        embedded, plain: with an encoder, and without.
        terms: TF-IDF; None for pictures.
    """

    modality: Modality
    embedded: Dataset
    plain: Dataset
    terms: Dataset | None


def read_sets(data: Path, out: Path) -> list[LabelledSet]:
    """The sets of a folder; pictures are unpacked, and embeddings kept, in another."""
    cache = out / "embeddings.db"
    texts = [_text_set(path, cache) for path in sorted((data / "texts").glob("*.csv"))]
    pictures = [_image_set(path, out) for path in sorted((data / "pictures").glob("*.zip"))]
    return [*texts, *pictures]


def _text_set(path: Path, cache: Path) -> LabelledSet:
    """A file of texts."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    texts, label = tuple(row["text"] for row in rows), list(rows[0])[-1]
    y, X = [row[label] for row in rows], _hashes([text.encode() for text in texts])
    return LabelledSet(
        Modality.TEXT,
        _dataset(path.stem, "embedded", X, y, TextColumns(texts, cache)),
        _dataset(path.stem, "plain", X, y, TextColumns(texts, None)),
        _dataset(path.stem, "terms", X, y, TermColumns(texts)),
    )


def _image_set(path: Path, out: Path) -> LabelledSet:
    """A zip file of pictures."""
    place = folder(out / path.stem, "out")
    with ZipFile(path) as packed:
        packed.extractall(place)
    with (place / "labels.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    files, y = ImageFiles(place, tuple(row["file"] for row in rows)), [row["label"] for row in rows]
    X = _hashes([(place / name).read_bytes() for name in files.names])
    embedded, plain = ImageColumns(files, out / "embeddings.db"), ImageColumns(files, None)
    return LabelledSet(
        Modality.IMAGE,
        _dataset(path.stem, "embedded", X, y, embedded),
        _dataset(path.stem, "plain", X, y, plain),
        None,
    )


def _hashes(contents: Sequence[bytes]) -> Matrix:
    """One number for each row, which changes with it: what results files tell sets apart by."""
    return np.array([[float(int(sha256(one).hexdigest()[:12], 16))] for one in contents])


def _dataset(
    name: str,
    kind: str,
    X: Matrix,
    labels: Sequence[str],
    made: Any,  # noqa: ANN401 - any maker
) -> Dataset:
    """A set with one kind of columns."""
    names = tuple(sorted(set(labels)))
    y = np.array([names.index(label) for label in labels])
    source = Citation("the user's own", "unknown", None, None)
    return Dataset(
        f"{name}-{kind}", X, y, names, ("content",), source, fitted_to=made, metric=made.metric
    )


# ---------------------------------------------------------------- peers
@dataclass(frozen=True, eq=False)
class Known:
    """What a peer knows at a step.

    Attributes:
        model: a classifier that has learnt from the labels so far.
        X, y: the rows with labels, and the numbers of these.
        left: the other rows of the pool.
        rng: for what it draws.
    """

    model: referees.Classifier
    X: Matrix
    y: Places
    left: Matrix
    rng: np.random.Generator


def at_random(known: Known) -> int:
    """Any row."""
    return int(known.rng.integers(len(known.left)))


def least_margin(known: Known) -> int:
    """The row whose two likeliest classes are closest, by probabilities or decision values."""
    model = known.model
    if hasattr(model, "predict_proba"):
        closest = np.sort(model.predict_proba(known.left), axis=1)
    else:
        decided = model.decision_function(known.left)
        if decided.ndim == 1:
            return int(np.abs(decided).argmin())
        closest = np.sort(decided, axis=1)
    return int((closest[:, -1] - closest[:, -2]).argmin())


def most_covering(known: Known) -> int:
    """The row by which a kernel covers most of the pool (Bae, Noh and Sutherland, 2024)."""
    from skactiveml.pool import MaxHerding  # a peer: only the benchmark itself needs it

    rows = np.concatenate([known.X, known.left])
    labels = np.concatenate([known.y, np.full(len(known.left), np.nan)])
    peer = MaxHerding(random_state=int(known.rng.integers(2**31 - 1)))
    return int(peer.query(rows, labels)[0]) - len(known.X)


def linear_svm() -> SVC:
    """What texts are mostly classified with."""
    return SVC(kernel="linear", C=1.0)


Question: TypeAlias = Callable[[Known], int]
"""The place, among the rows left, of the one that is asked about."""
ON_EMBEDDINGS: dict[str, tuple[Question, float]] = {
    f"{name}{suffix}": (question, C)
    for suffix, C in (("", 1.0), (f", C = {LOOSE:g}", LOOSE))
    for name, question in ((CHANCE, at_random), (MARGIN, least_margin), (HERDED, most_covering))
}
"""Peers that have logistic regression: what they ask, and its C."""


@dataclass(frozen=True, eq=False)
class PeerJob(StartedJob):
    """An experiment whose runs a peer asks and learns by itself.

    Attributes:
        question: what it asks about.
        model: what learns.
    """

    question: Question
    model: referees.Classifier

    @property
    def work(self) -> Work:
        """What the workers do."""
        experiment, data = self.job.experiment, self.job.data
        return partial(peer_runs, experiment, data, self.question, self.model)


def peer_runs(
    experiment: Experiment,
    data: Dataset,
    question: Question,
    model: referees.Classifier,
    names: Names,
) -> list[Run]:
    """Runs of a peer with its own model, from the same pools, starts and tests as ours."""
    found = list[Run]()
    for name, number in names:
        share = split(experiment, data, number)
        known, left = list(share.start), np.setdiff1d(share.pool, share.start)
        rng, truth = random_stream(experiment.seed, number, name), data.y[share.test]
        accuracy = list[float]()
        for step in range(experiment.sizes.queries + 1):
            X, y = share.X[known], data.y[known]
            with catch_warnings():
                simplefilter("ignore")  # that most labels are of classes of their own
                learnt: referees.Classifier = clone(model)
                learnt.fit(X, y)
            accuracy.append(float(np.mean(learnt.predict(share.X[share.test]) == truth)))
            if step < experiment.sizes.queries:
                place = question(Known(learnt, X, y, share.X[left], rng))
                known.append(left[place])
                left = np.delete(left, place)
        asked = np.array(known[len(share.start) :])
        found.append(Run(name, number, asked, np.array(accuracy)))
    return found


# ---------------------------------------------------------------- runs
def sizes(data: Dataset, runs: int) -> Sizes:
    """Two thirds of the rows are the pool, up to a thousand; the others are the test."""
    pool = min(MOST_POOL, 2 * len(data.y) // 3)
    return Sizes(runs, QUESTIONS, pool, min(MOST_TEST, len(data.y) - pool))


def experiment(data: Dataset, settings: Namespace) -> Experiment:
    """What is run on a set."""
    return Experiment(data.name, HELD_OUT, ENVELOPE, sizes(data, settings.runs), settings.seed)


def planned(some: LabelledSet, settings: Namespace) -> list[ExperimentJob]:
    """The experiments on a set; those of peers have a source."""
    default, chance = STRATEGIES[DEFAULT_STRATEGY], STRATEGIES[RANDOM]
    on, without = (experiment(one, settings) for one in (some.embedded, some.plain))
    plan = [
        ExperimentJob(on, some.embedded, {RANDOM: chance, DEFAULT_STRATEGY: default}),
        ExperimentJob(without, some.plain, {DEFAULT_STRATEGY: default}),
        *(ExperimentJob(on, some.embedded, {peer: chance}, SOURCE) for peer in ON_EMBEDDINGS),
    ]
    if some.terms is not None:
        terms = experiment(some.terms, settings)
        plan.append(ExperimentJob(terms, some.terms, {TERMS: chance}, SOURCE))
    return plan


def as_peer(one: StartedJob) -> StartedJob:
    """An experiment as it is worked on: by the engine, or by a peer."""
    (name, *_) = one.job.strategies
    if one.job.source is None:
        return one
    if name == TERMS:
        return PeerJob(one.job, one.results_file, least_margin, linear_svm())
    question, C = ON_EMBEDDINGS[name]
    return PeerJob(one.job, one.results_file, question, LogisticRegression(C=C, max_iter=1000))


def measured(plan: Sequence[ExperimentJob], settings: Namespace) -> list[Results]:
    """The results, with a bar while they come."""
    rows = folder(settings.out / "rows", "out")
    with ExitStack() as stack:
        execute = stack.enter_context(cores(settings.jobs))
        stack.enter_context(alone(rows, "out"))
        stack.enter_context(threadpool_limits(1))  # small matrices lose by more threads
        show = stack.enter_context(bar(sum(job.run_count for job in plan)))

        def watch(progress: RunProgress) -> None:
            show(progress.experiment.dataset, progress.runs)

        return run([as_peer(one) for one in begin(plan, rows, execute)], execute, watch)


def contenders(results: Sequence[Results], some: LabelledSet) -> Results:
    """The learning curves of all contenders on a set, by their names."""
    found = _by_strategy(results)
    here, name = some.embedded.name, some.embedded.name.removesuffix("-embedded")
    curves_of = {
        OURS: found[here, DEFAULT_STRATEGY],
        PLAIN: found[some.plain.name, DEFAULT_STRATEGY],
        BY_CHANCE: found[here, RANDOM],
        **{peer: found[here, peer] for peer in ON_EMBEDDINGS},
    }
    if some.terms is not None:
        curves_of[TERMS] = found[some.terms.name, TERMS]
    first = next(one for one in results if one.experiment.dataset == here)
    return Results(replace(first.experiment, dataset=name), first.start, curves_of)


def _by_strategy(results: Sequence[Results]) -> dict[tuple[str, str], Matrix]:
    """Learning curves by set and strategy."""
    return {(o.experiment.dataset, k): v for o in results for k, v in o.accuracy.items()}


# ---------------------------------------------------------------- tables
def questions_needed(results: Results, name: str) -> Places:
    """Questions after which each run first has what random ends with in the same run, (runs,).

    Random has the same model and the same columns. A run that never has counts one more than all.
    """
    ours, goal = results.accuracy[name], results.accuracy[BY_CHANCE][:, -1:]
    there = ours >= goal
    return np.where(there.any(axis=1), there.argmax(axis=1), ours.shape[1])


def table(results: Results) -> TextTable:
    """The contenders on a set side by side, the most accurate over the run first."""
    columns = (
        TableColumn("contender"),
        TableColumn("over the run, %", figures=True),
        TableColumn(f"{OURS} ahead of it, points [95 %]", figures=True),
        *(TableColumn(f"after {at}, %", figures=True) for at in ANSWERS),
        TableColumn("questions to random's end, median", figures=True),
    )
    order = sorted(results.accuracy, key=lambda name: -efficiency.over([results], name))
    rows = tuple(_row(results, name) for name in order)
    experiment = results.experiment
    note = (
        f"{experiment.sizes.runs} runs, seed {experiment.seed}, pools of {experiment.sizes.pool}, "
        f"{results.start} labels to start with."
    )
    return TextTable(experiment.dataset, columns, rows, note=note)


def _row(results: Results, name: str) -> tuple[Cell, ...]:
    """The cells of one contender."""
    at = results.accuracy[name].mean(axis=0)
    return (
        Cell(name),
        Cell(f"{efficiency.over([results], name):.1f}"),
        Cell() if name == OURS else Cell(_told(efficiency.ahead([results], OURS, name))),
        *(Cell(f"{100 * at[answers]:.1f}") for answers in ANSWERS),
        Cell(f"{np.median(questions_needed(results, name)):g}"),
    )


def _told(lead: Estimate) -> str:
    """A lead with its interval."""
    return f"{lead.value:+.1f}{in_words(lead.interval, 1)}"


def verdict(found: Mapping[Modality, Sequence[Results]]) -> list[str]:
    """Whether embeddings bring what they should, one sentence for each goal."""
    sets = [one for some in found.values() for one in some]
    return [
        *(_gained(modality, some) for modality, some in found.items() if some),
        *(_level(one) for one in sets),
        *(_soon(one) for one in sets),
    ]


def _gained(modality: Modality, results: Sequence[Results]) -> str:
    """Are embeddings far better than the features without?"""
    lead = efficiency.ahead(results, OURS, PLAIN)
    claim = f"embeddings bring at least {GAIN:g} points over the run, {modality}"
    return claimed(claim, lead.value >= GAIN, _told(lead))


def _level(results: Results) -> str:
    """Is ours at least level with the best peer on the same columns?"""
    peer = efficiency.best([results], ON_EMBEDDINGS)
    lead = efficiency.ahead([results], OURS, peer)
    level = lead.value >= 0 or (lead.interval is not None and lead.interval[1] >= 0)
    claim = f"at least level with the best peer on the same columns, {results.experiment.dataset}"
    return claimed(claim, level, f"{_told(lead)} against {peer}")


def _soon(results: Results) -> str:
    """Does ours soon have what random ends with?"""
    count = float(np.median(questions_needed(results, OURS)))
    claim = f"random's accuracy after {QUESTIONS} with {FEW} questions or fewer in the median run"
    return claimed(f"{claim}, {results.experiment.dataset}", count <= FEW, f"with {count:g}")


def contents(found: Mapping[Modality, Sequence[Results]]) -> dict[str, bytes]:
    """What is written: a report, its tables as CSV, and curves."""
    sets = [one for some in found.values() for one in some]
    tables = {one.experiment.dataset: table(one) for one in sets}
    report = [one.markdown() for one in tables.values()]
    report += ["**Verdict**", "", *(f"- {sentence}" for sentence in verdict(found)), ""]
    shown = [_drawn(one) for one in sets]
    return {
        "report.md": "\n".join(report).encode(),
        **{f"{name}.csv": one.csv().encode() for name, one in tables.items()},
        "curves.png": as_bytes(curves(shown), "png"),
    }


def _drawn(results: Results) -> Results:
    """The curves of ours, and of the best peer on the same columns."""
    names = (OURS, PLAIN, BY_CHANCE, efficiency.best([results], ON_EMBEDDINGS), TERMS)
    known = {name: results.accuracy[name] for name in names if name in results.accuracy}
    return replace(results, accuracy=known)


def asked() -> Namespace:
    """What the user asks for."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of texts/*.csv and pictures/*.zip")
    parser.add_argument("--runs", type=int, default=10, help="of each set")
    parser.add_argument("--seed", type=int, default=2029)
    parser.add_argument("--jobs", type=int, help="processes; one per core if left out")
    parser.add_argument("--out", type=Path, default=Path("features"))
    settings = parser.parse_args()
    if settings.data is None or not settings.data.is_dir():
        parser.error(
            "data must be a folder with texts/*.csv and pictures/*.zip; got "
            f"{'none' if settings.data is None else repr(str(settings.data))}. "
            "Run make features DATA=folder."
        )
    return settings


def main() -> None:
    """Run what is missing, write the report and print it."""
    check_drawing()
    settings = asked()
    settings.out = folder(settings.out, "out").resolve()
    sets = read_sets(settings.data, settings.out)
    for one in sets:  # so that workers find the embeddings
        assert one.embedded.fitted_to is not None
        one.embedded.fitted_to(np.arange(len(one.embedded.y)))
    results = measured([job for one in sets for job in planned(one, settings)], settings)
    found = dict[Modality, list[Results]]()
    for one in sets:
        found.setdefault(one.modality, []).append(contenders(results, one))
    files = contents(found)
    for name, content in files.items():
        write(settings.out / name, content)
    print(files["report.md"].decode())
    print(f"Written to {settings.out}: {', '.join(sorted(files))}")


if __name__ == "__main__":
    main()
