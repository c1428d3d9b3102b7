"""Reproduction of the paper's Section 6 and Appendix E: which experiments, and what is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from possibal.arguments import at_least, choice
from possibal.experiments.datasets import load
from possibal.experiments.engine.drawn_scores import drawn_scores
from possibal.experiments.engine.results_file import versions
from possibal.experiments.engine.runner import ExperimentJob
from possibal.experiments.recipes import OURS, RECIPES, Recipe
from possibal.experiments.reporting.figures import (
    METADATA,
    Drawing,
    as_bytes,
    critical_difference,
    curves,
)
from possibal.experiments.reporting.html_report import report
from possibal.experiments.reporting.paper_tables import TextTable, summary, table1, table2, table3
from possibal.experiments.reporting.rank_tests import RankTest, ranks
from possibal.experiments.reporting.timing import Cost
from possibal.experiments.results import Results
from possibal.experiments.spec import (
    BINARY,
    ENVELOPE,
    HYPERPARAMETERS,
    LAPLACE,
    MODELS,
    MULTICLASS,
    PAPER,
    PROTOCOLS,
    TABLE_3,
    TESTED,
    VARIATIONAL,
    WHAT,
    experiment,
    strategies,
)
from possibal.experiments.strategies import resolve_strategy, strategy_source

SETS = tuple(name for name in TABLE_3 if not name.startswith("block-")) + BINARY[:2]
"""The paper's sets, those of its Figure 1 first."""
FIGURES = {"curves": {"curves", "all"}, "critical_difference": {"table2", "all"}}
"""Names of figures, and what they are drawn for."""
QUICK, QUICK_MULTICLASS = 5, 2
"""Runs of a set with --quick."""


@dataclass(frozen=True)
class ReproduceRequest:
    """What to run.

    Attributes:
        what: one of `WHAT`.
        datasets: names of sets; none means those that the table or figure has.
        protocol: one of `PROTOCOLS`.
        hyperparameters: one of `HYPERPARAMETERS`.
        runs: of each set; None means Table 3's.
        quick: whether a few runs of each set will do.
        own: strategies besides the paper's, by name or as module:function.
        seed: where every draw comes from.
        recipe: one of `RECIPES`.
        model: one of `MODELS`.
        tested: one of `TESTED`; None means as the recipe has it.
    """

    what: str = "all"
    datasets: tuple[str, ...] = ()
    protocol: str = PAPER
    hyperparameters: str = PAPER
    runs: int | None = None
    quick: bool = False
    own: tuple[str, ...] = ()
    seed: int = 0
    recipe: str = OURS.name
    model: str = LAPLACE
    tested: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be run before anything is."""
        choice("what", self.what, WHAT)
        choice("protocol", self.protocol, PROTOCOLS)
        choice("hyperparameters", self.hyperparameters, HYPERPARAMETERS)
        choice("recipe", self.recipe, RECIPES)
        choice("model", self.model, MODELS)
        if self.tested is not None:
            choice("tested", self.tested, TESTED)
        self._check_together()
        for name in self.datasets:
            choice("datasets", name, dict.fromkeys(self._known))
        if self.runs is not None:
            at_least("runs", self.runs, 1)
        at_least("seed", self.seed, 0)

    def _check_together(self) -> None:
        """Refuse settings that exclude each other."""
        if self.recipe != OURS.name and self.hyperparameters != PAPER:
            raise ValueError(
                f"hyperparameters must be left out with recipe {self.recipe}, which fixes them; "
                f"got {self.hyperparameters!r}. Leave it out."
            )
        if self.model == VARIATIONAL:
            refused = {
                "what": self.what if self.what == "table2" else "",
                "hyperparameters": ENVELOPE if self.hyperparameters == ENVELOPE else "",
                "strategy": ", ".join(self.own),
            }
            for name, got in refused.items():
                if got:
                    raise ValueError(
                        f"{name} must be another with model variational, which is for three labels "
                        f"and scores of single rows; got {got!r}. Use model laplace."
                    )

    @property
    def _known(self) -> tuple[str, ...]:
        """The sets that may be named."""
        if self.model == VARIATIONAL:
            return MULTICLASS
        return BINARY if self.what == "table2" else tuple(TABLE_3)

    @property
    def chosen_recipe(self) -> Recipe:
        """The recipe of that name."""
        return RECIPES[self.recipe]

    @property
    def sets(self) -> tuple[str, ...]:
        """The sets to run, each once, in the order of the paper."""
        usual = () if self.what in {"table3", "cost"} else self._known
        chosen = self.datasets or usual
        return tuple(name for name in SETS if name in chosen and usual)

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures to draw, of those in `FIGURES`."""
        return tuple(name for name, when in FIGURES.items() if self.what in when and self.sets)


def reproduction_jobs(settings: ReproduceRequest) -> list[ExperimentJob]:
    """The experiments that the settings ask for."""
    own = {name: resolve_strategy(name) for name in dict.fromkeys(settings.own)}
    recipe = settings.chosen_recipe
    experiments = list[ExperimentJob]()
    for name in settings.sets:
        one = replace(
            experiment(name, settings.protocol, settings.hyperparameters, settings.seed),
            recipe=recipe,
            model=settings.model,
            tested=settings.tested or recipe.tested,
        )
        few = QUICK_MULTICLASS if name in MULTICLASS else QUICK
        runs = settings.runs or (few if settings.quick else one.sizes.runs)
        one, data = one.with_runs(runs), load(name, settings.seed)
        usual = {ours: resolve_strategy(ours) for ours in strategies(name)}
        usual |= drawn_scores(recipe, len(data.labels))
        experiments.append(ExperimentJob(one, data, usual))
        for mine, function in own.items():
            if mine not in usual:
                experiments.append(
                    ExperimentJob(one, data, {mine: function}, strategy_source(function))
                )
    return experiments


def merged(results: Sequence[Results]) -> list[Results]:
    """One result for each experiment, of all its strategies."""
    together = dict[str, Results]()
    for one in results:
        name = one.experiment.name
        known = together[name].accuracy if name in together else {}
        together[name] = Results(one.experiment, one.start, {**known, **one.accuracy})
    return list(together.values())


# ---------------------------------------------------------------- what is written


@dataclass(frozen=True, eq=False)
class Reproduction:
    """All there is to write about.

    Attributes:
        settings: what was asked for.
        results: of every experiment.
        timing: milliseconds that a step took, by set.
        cost: what scores cost; None if that was not asked for.
    """

    settings: ReproduceRequest
    results: Sequence[Results]
    timing: Mapping[str, float]
    cost: Cost | None = None

    @cached_property
    def tables(self) -> dict[str, TextTable]:
        """The tables asked for, by name; none of the others is worked out."""
        every = dict[str, Callable[[], TextTable]]()
        if self.results:
            every["table1"] = partial(table1, self.results)
            if self._binary:
                every["table2"] = partial(table2, self._binary)
        every["table3"] = table3
        if self.cost is not None:
            every["cost"] = self.cost.table
        return {name: made() for name, made in every.items() if self.settings.what in {name, "all"}}

    @cached_property
    def ranking(self) -> RankTest:
        """Average ranks of the accuracies after the last answer, on the sets with two labels."""
        return ranks(self._binary or self.results, "final")

    def files(self) -> dict[str, bytes]:
        """What to write: names of files and their content."""
        files = dict[str, bytes]()
        for name, table in self.tables.items():
            files[f"{name}.md"] = table.markdown().encode()
            files[f"{name}.csv"] = table.csv().encode()
        drawn = self._figures()
        for name, figure in drawn.items():
            for kind, content in figure.items():
                files[f"{name}.{kind}"] = content
        if self.settings.what == "all" and self.results:
            svg = {name: figure["svg"] for name, figure in drawn.items()}
            page = report(self.ranking, self.tables, svg, self.about(), self.summary)
            files["report.html"] = page.encode()
        return files

    @cached_property
    def summary(self) -> list[str]:
        """What holds of the paper's claims, and what does not."""
        return summary(self.results) if self.settings.what == "all" and self.results else []

    def about(self) -> dict[str, str]:
        """What was run, for the report."""
        first = self.results[0].experiment
        protocol, settings = first.protocol, first.hyperparameters
        made = ", ".join(f"{name} {number}" for name, number in versions().items() if number)
        runs = ", ".join(f"{r.experiment.dataset} {r.experiment.sizes.runs}" for r in self.results)
        steps = ", ".join(f"{name} {ms:.2f} ms" for name, ms in self.timing.items())
        return {
            "Protocol": f"{protocol}: {PROTOCOLS[protocol]}.",
            "Hyperparameters": f"{settings}: {HYPERPARAMETERS[settings]}.",
            "Recipe": f"{first.recipe.name}: {first.recipe.about}.",
            "Model": f"{first.model}: {MODELS[first.model]}.",
            "Tested": f"{first.tested}: {TESTED[first.tested]}.",
            "Runs": runs,
            "Time per step": steps or "all rows were there already",
            "Seed": str(first.seed),
            "Made with": made,
        }

    @property
    def _binary(self) -> list[Results]:
        return [one for one in self.results if one.experiment.dataset in BINARY]

    def _figures(self) -> dict[str, dict[str, bytes]]:
        """The figures asked for, as PNG and SVG."""
        asked = self.settings.figures if self.results else ()
        drawn: dict[str, Callable[[], Drawing]] = {
            "curves": lambda: curves(self.results),
            "critical_difference": lambda: critical_difference(self.ranking),
        }
        return {name: _kinds(drawn[name]()) for name in asked}


def _kinds(figure: Drawing) -> dict[str, bytes]:
    """A figure as every kind of file."""
    return {kind: as_bytes(figure, kind) for kind in METADATA}
