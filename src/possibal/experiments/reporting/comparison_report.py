"""A comparison as one page of HTML that needs nothing else, with what a reader sees in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from possibal.acquisition.registry import STRATEGIES
from possibal.experiments.compare import FEWEST, FEWEST_SETS, RANDOM, verdict
from possibal.experiments.datasets import Dataset
from possibal.experiments.engine.results_file import versions
from possibal.experiments.reporting.html_report import about_part, figure_part, page, table_part
from possibal.experiments.reporting.paper_tables import TextTable
from possibal.experiments.results import Results
from possibal.experiments.spec import HYPERPARAMETERS, REFEREES

CURVES = "Mean accuracy against labels of every strategy; the table has the figures"


@dataclass(frozen=True, eq=False)
class StrategyComparison:
    """What was compared, and what came of it.

    Attributes:
        data: the set.
        results: by possibal's model.
        table: the strategies side by side.
        notes: what was done to the data.
        referees: other models that learnt from the same labels, by name.
    """

    data: Dataset
    results: Results
    table: TextTable
    notes: Sequence[str] = ()
    referees: Sequence[str] = ()


def comparison_report(done: StrategyComparison, curves: bytes) -> str:
    """The page.

    Args:
        done: what is told.
        curves: the learning curves as an SVG file.
    """
    title = f"Strategies compared on {done.data.name}"
    caption = f"{_band(done.results)} All strategies meet the same splits."
    return page(
        title,
        [
            _text_part("In short", [verdict(done.results), _seen(done.results), _scope(done)]),
            figure_part("curves", curves, CURVES, ("Learning curves", caption)),
            table_part("Strategies side by side", done.table),
            about_part("What each strategy asks", _described(done.results)),
            _text_part("How it was done", _method(done.results)),
            about_part("What was run", _about(done)),
        ],
    )


def _text_part(heading: str, sentences: Sequence[str]) -> str:
    """Paragraphs under a heading."""
    text = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return f"<h2>{escape(heading)}</h2>\n{text}"


def _seen(results: Results) -> str:
    """What a reader sees in the curves: where they begin and end."""
    first = 100 * results.accuracy[RANDOM][:, 0].mean()
    final = {name: 100 * float(np.mean(one)) for name, one in results.final.items()}
    best = max(final, key=final.__getitem__)
    size, labels = results.experiment.sizes, results.start + results.experiment.sizes.queries
    return (
        f"All begin with {results.start} labels, one of each class, at {first:.1f} % on average "
        f"over {size.runs} runs. With {labels} labels {best} has the highest mean, "
        f"{final[best]:.1f} %; asking at random comes to {final[RANDOM]:.1f} %."
    )


def _scope(done: StrategyComparison) -> str:
    """What a comparison on one set can tell, and what not."""
    runs = done.results.experiment.sizes.runs
    few = "" if runs >= FEWEST else f" At least {FEWEST} runs are needed, and {runs} are too few."
    return (
        f"This is one set of data: it says what happened on {done.data.name}, not what to expect "
        f"on others, for which at least {FEWEST_SETS} sets of {FEWEST} runs are needed.{few}"
    )


def _band(results: Results) -> str:
    """What the lines and bands of the figure are."""
    runs = results.experiment.sizes.runs
    if runs < FEWEST:
        return (
            f"Lines are means over {runs} runs; bands of uncertainty need at least {FEWEST} runs."
        )
    return (
        f"Lines are means over {runs} runs, bands their 95 % intervals. On the right each run is "
        "set against random in the same run: a band that lies above zero is beyond chance at that "
        "number of labels."
    )


def _described(results: Results) -> dict[str, str]:
    """Each strategy in a sentence."""
    ours = {name: (one.__doc__ or "").partition("\n")[0] for name, one in STRATEGIES.items()}
    return {name: ours.get(name, "A strategy of the user's.") for name in results.accuracy}


def _method(results: Results) -> tuple[str, str]:
    """How a comparison is made, in words."""
    size = results.experiment.sizes
    drawn = (
        f"Each run draws a pool of {size.pool} rows, of which one row of each class has a label to "
        f"start with, and {size.test} other rows to test on. A strategy then asks for "
        f"{size.queries} labels, one after the other; after each of them the classifier learns "
        "anew and is tested."
    )
    paired = (
        "Within a run all strategies have the same pool, start and test rows, so that differences "
        "are taken run by run. Intervals are bootstrapped over runs, which share the rows of the "
        "set: they do not say how much another set would differ."
    )
    return drawn, paired


def _about(done: StrategyComparison) -> dict[str, str]:
    """What was run, to be run again."""
    data, experiment = done.data, done.results.experiment
    counts = np.bincount(data.y, minlength=len(data.labels)).tolist()
    classes = ", ".join(f"{name} {n}" for name, n in zip(data.labels, counts, strict=True))
    made = ", ".join(f"{name} {number}" for name, number in versions().items() if number)
    told = {
        "Data": f"{data.name}: {len(data.y)} rows, {data.X.shape[1]} columns of numbers.",
        "Source": data.source.citation,
        "Rows of each class": classes,
        "Done to the data": " ".join(done.notes),
        "Hyperparameters": f"{experiment.hyperparameters}: "
        f"{HYPERPARAMETERS[experiment.hyperparameters]}.",
        "Referees": "; ".join(f"{name}: {REFEREES[name]}" for name in done.referees),
        "Seed": str(experiment.seed),
        "Made with": made,
    }
    return {name: text for name, text in told.items() if text}
