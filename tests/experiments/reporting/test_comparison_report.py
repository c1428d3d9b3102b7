"""The report of a comparison: its parts, what it says, and that it needs nothing else."""

import re
from dataclasses import replace

import numpy as np
import pytest

from possibal.experiments.compare import RANDOM
from possibal.experiments.datasets import load
from possibal.experiments.reporting.comparison_report import StrategyComparison, comparison_report
from possibal.experiments.reporting.comparison_table import comparison_table
from possibal.experiments.reporting.figures import as_bytes, mean_curves
from possibal.experiments.results import Results
from possibal.experiments.spec import ENVELOPE, HELD_OUT, Experiment, Sizes

WINE = load("wine")
ODD = "<b>mine</b>:f"


def results(runs):
    """Results of so many runs, one strategy among them with an odd name."""
    rng = np.random.default_rng(4)
    curves = {RANDOM: 0.5, "herding": 0.7, ODD: 0.6}
    accuracy = {n: mean + 0.1 * rng.uniform(size=(runs, 7)) for n, mean in curves.items()}
    size = Sizes(runs, 6, 80, 90)
    return Results(Experiment("wine", HELD_OUT, ENVELOPE, size), 2, accuracy)


def report(runs, **more):
    found = results(runs)
    done = StrategyComparison(replace(WINE, name="my wine"), found, comparison_table(found), **more)
    return comparison_report(done, as_bytes(mean_curves(found), "svg"))


@pytest.fixture(scope="module", name="text")
def _text():
    return report(12, notes=("column day was left out.",), referees=("svm",))


def test_it_has_contents_that_lead_to_its_parts(text):
    assert "<h1>Strategies compared on my wine</h1>" in text
    headings = re.findall(r'<h2 id="([\w-]+)">(.*?)</h2>', text)
    assert [name for _, name in headings] == [
        "In short",
        "Learning curves",
        "Strategies side by side",
        "What each strategy asks",
        "How it was done",
        "What was run",
    ]
    assert re.findall(r'<a href="#([\w-]+)">(.*?)</a>', text) == headings


def test_it_says_what_a_reader_sees(text):
    assert "herding saved" in text
    assert "With 8 labels herding has the highest mean, 7" in text
    assert "This is one set of data: it says what happened on my wine, not what to expect" in text
    assert "bands their 95 % intervals" in text
    assert "column day was left out." in text
    assert "svm: a support vector machine" in text
    assert "<dt>herding</dt><dd>Asks for rows that stand for many others" in text


def test_it_is_one_file_that_asks_for_nothing_and_runs_nothing(text):
    assert "default-src 'none'" in text
    assert ODD not in text
    assert "&lt;b&gt;mine&lt;/b&gt;:f" in text
    assert not re.search(r"<script|<link|<img|@import|url\((?!#)", text)
    assert all(link.startswith("#") for link in re.findall(r'href="(.*?)"', text))


def test_of_few_runs_it_draws_no_interval_and_says_how_many_are_needed():
    text = report(5)
    assert "bands of uncertainty need at least 10 runs" in text
    assert "At least 10 runs are needed, and 5 are too few." in text
    assert "let there be at least 10 runs; 5 are too few." in text
    assert "holds" not in text.partition("</style>")[2]
    assert "Done to the data" not in text


def test_the_figure_has_bands_only_where_there_are_intervals():
    many, few = (mean_curves(results(runs)) for runs in (10, 5))
    for figure, bands in ((many, (3, 2)), (few, (0, 0))):
        assert tuple(len(panel.collections) for panel in figure.axes) == bands
        assert [len(panel.lines) for panel in figure.axes] == [3, 3]  # the second has the zero
