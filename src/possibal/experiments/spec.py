"""The experiments of the paper as values: Table 3, strategies, protocols, hyperparameters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from possibal.arguments import at_least, choice
from possibal.experiments.recipes import AFTER, OURS, TESTED, Recipe

PAPER, HELD_OUT, EVIDENCE, ENVELOPE = "paper", "held-out", "evidence", "envelope"
ENVELOPE_RBF = "envelope-rbf"
LAPLACE, VARIATIONAL = "laplace", "variational"

PROTOCOLS: Mapping[str, str] = MappingProxyType(
    {
        PAPER: "test rows are drawn from the whole set, so that some are in the pool too",
        HELD_OUT: "no test row is in the pool",
    }
)
HYPERPARAMETERS: Mapping[str, str] = MappingProxyType(
    {
        PAPER: "two labels: fitted in advance to all labels; more: refitted after every answer",
        EVIDENCE: "refitted after every answer to the labels known by then",
        ENVELOPE: "every credible setting given the labels known by then",
        ENVELOPE_RBF: "the same of an RBF alone, without what else may make rows alike",
    }
)
MODELS: Mapping[str, str] = MappingProxyType(
    {
        LAPLACE: "Laplace's method, the paper's theory",
        VARIATIONAL: "variational inference, the paper's experiments with three labels",
    }
)
REFEREES: Mapping[str, str] = MappingProxyType(
    {
        "svm": "a support vector machine with an RBF kernel and C = 10",
        "forest": "a random forest of a hundred trees",
        "logistic": "logistic regression",
    }
)
"""Models of scikit-learn that may learn from the same labels."""

WHAT: Mapping[str, str] = MappingProxyType(
    {
        "table1": "accuracy after the last question, ours beside the paper's",
        "table2": "average ranks, ours beside the paper's",
        "table3": "the settings of the experiments; nothing is run",
        "curves": "accuracy against labels, as in Figure 1",
        "cost": "what each score costs, by the row and by the step",
        "all": "all of these, and a report to open in a browser",
    }
)
"""What can be reproduced."""
RUNS, QUESTIONS = 20, 50
"""Of a comparison on a user's own set."""
DEMO_SETS, DEMO_QUESTIONS = ("moons", "breast-cancer", "wine"), 30
"""Of the demonstration."""


@dataclass(frozen=True)
class Sizes:
    """A line of Table 3.

    Paper: App. E.1, Table 3.

    Attributes:
        runs: how many runs.
        queries: questions of a run.
        pool: rows of a run that may be asked about, the start among them.
        test: rows that accuracy is measured on.
    """

    runs: int
    queries: int
    pool: int
    test: int


TABLE_3: Mapping[str, Sizes] = MappingProxyType(
    {
        "block-center": Sizes(50, 25, 150, 200),
        "block-corner": Sizes(50, 25, 150, 200),
        "sonar": Sizes(300, 50, 120, 80),
        "wine": Sizes(200, 45, 120, 160),
        "breast": Sizes(200, 50, 150, 300),
        "ionosphere": Sizes(200, 50, 120, 300),
        "fri": Sizes(200, 50, 120, 220),
        "vehicle": Sizes(200, 50, 300, 800),
        "thyroid": Sizes(50, 40, 115, 100),
        "iris": Sizes(50, 40, 100, 100),
        "seismic": Sizes(50, 40, 150, 200),
    }
)
"""Paper: App. E.1, Table 3, in its order."""

MULTICLASS = ("thyroid", "iris", "seismic")
"""The sets with more than two labels."""
BINARY = tuple(name for name in TABLE_3 if name not in MULTICLASS)

BINARY_STRATEGIES: Mapping[str, str] = MappingProxyType(
    {
        "random": "Rand.",
        "least_confidence": "Stand.",
        "latent_entropy": "Max. Ent.",
        "bald": "BALD",
        "uncertainty": "U",
        "necessity": "N",
    }
)
MULTICLASS_STRATEGIES: Mapping[str, str] = MappingProxyType(
    {
        "random": "Rand.",
        "least_confidence": "Least Conf.",
        "margin": "Margin",
        "entropy": "Entropy",
        "uncertainty": "U",
        "necessity": "N",
    }
)
"""Our name of each strategy, and the paper's.

Paper: Sec. 6 and App. E.4.
"""


def strategies(dataset: str) -> Mapping[str, str]:
    """The strategies the paper compares on a set, with what it calls them."""
    return MULTICLASS_STRATEGIES if dataset in MULTICLASS else BINARY_STRATEGIES


@dataclass(frozen=True)
class Experiment:
    """One set under one protocol: all that decides what its rows are.

    Attributes:
        dataset: name of the set.
        protocol: one of `PROTOCOLS`.
        hyperparameters: one of `HYPERPARAMETERS`.
        sizes: runs, questions, pool and test.
        seed: where every draw comes from; the strategies share all of them.
        recipe: what the paper leaves open.
        model: one of `MODELS`.
        tested: one of `TESTED`; it decides which of its rows are told about, not what they are.
    """

    dataset: str
    protocol: str
    hyperparameters: str
    sizes: Sizes
    seed: int = 0
    recipe: Recipe = OURS
    model: str = LAPLACE
    tested: str = AFTER

    def __post_init__(self) -> None:
        """Refuse names that are not known and counts that make no experiment."""
        choice("protocol", self.protocol, PROTOCOLS)
        choice("hyperparameters", self.hyperparameters, HYPERPARAMETERS)
        choice("model", self.model, MODELS)
        choice("tested", self.tested, TESTED)
        for name in ("runs", "queries", "test"):
            at_least(name, getattr(self.sizes, name), 1)
        at_least("pool", self.sizes.pool, self.sizes.queries)
        at_least("seed", self.seed, 0)

    @property
    def name(self) -> str:
        """What its files are called."""
        usual = (OURS.name, LAPLACE)
        other = [name for name in (self.recipe.name, self.model) if name not in usual]
        return "-".join([self.dataset, self.protocol, self.hyperparameters, *other])

    @property
    def is_plain(self) -> bool:
        """Whether the kernel is an RBF alone, as in the paper; else that of the classifier."""
        return self.model != LAPLACE or self.hyperparameters != ENVELOPE

    def with_runs(self, runs: int) -> "Experiment":
        """The same with another number of runs."""
        return replace(self, sizes=replace(self.sizes, runs=runs))


def experiment(
    dataset: str, protocol: str = PAPER, hyperparameters: str = PAPER, seed: int = 0
) -> Experiment:
    """One of the paper's experiments, of the sizes of Table 3."""
    return Experiment(dataset, protocol, hyperparameters, choice("dataset", dataset, TABLE_3), seed)
