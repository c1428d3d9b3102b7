import numpy as np
import pytest

from possibal.acquisition import bald, doubt, entropy, latent_entropy
from possibal.theory import FiniteThetas, Latents, OuterMeasure, Stretches, axioms
from possibal.theory.axiom_search import AXIOMS
from possibal.theory.finite_measures import probability_variance

U_THETA, U_Y = OuterMeasure.uncertainty_parameter, OuterMeasure.uncertainty_outcome


def failing(report):
    return [verdict.axiom for verdict in report.verdicts if verdict.holds is False]


def test_prop_1_is_found_by_search_but_for_a3():
    assert failing(axioms(U_Y)) == ["A3", "A3'", "A4 strict"]
    assert failing(axioms(U_Y, Stretches(), tries=60)) == ["A3", "A3'", "A4 strict"]
    assert failing(axioms(U_THETA, Stretches())) == []


def test_a_point_of_a_finite_set_has_a_volume():
    report = axioms(U_THETA)
    assert failing(report) == ["A1", "A3"]
    assert report["A1"].counterexample.value == 1.0


def test_prop_4_is_found_by_search():
    assert failing(axioms(doubt, Latents())) == ["A3'"]
    assert failing(axioms(doubt, Latents(labels=3))) == ["A3'", "A4 strict"]
    assert failing(axioms(doubt, Latents(ties=True))) == ["A1", "A3'", "A4 strict"]


def test_entropies_are_not_epistemic():
    assert "A1" in failing(axioms(entropy, Latents()))
    assert failing(axioms(latent_entropy, Latents())) == ["A0", "A1"]


@pytest.mark.parametrize(
    ("measure", "setting"),
    [(U_Y, FiniteThetas()), (U_THETA, FiniteThetas(labels=3)), (bald, Latents(labels=3))],
)
def test_a_counterexample_can_be_computed_again(measure, setting):
    for verdict in axioms(measure, setting, tries=60).verdicts:
        found = verdict.counterexample
        if found is not None:
            assert found.recompute(measure) == (found.value, found.other_value)
            assert f"{found.value:.4g}" in str(verdict)


def test_a_search_is_the_same_for_the_same_seed():
    assert str(axioms(U_Y, seed=3)) == str(axioms(U_Y, seed=3))
    assert str(axioms(U_Y, seed=3)) != str(axioms(U_Y, seed=4))


def test_a_counterexample_is_shrunk():
    found = axioms(lambda measure: float(np.sum(measure.possibility.values > 0) > 1) - 0.5)
    assert (found["A0"].counterexample.known.possibility.values > 0).sum() == 1


def test_a_measure_that_breaks_everything_is_caught_everywhere():
    rng = np.random.default_rng(0)
    report = axioms(lambda _: rng.normal())
    assert failing(report) == list(AXIOMS)


def test_a_report_is_read_in_words():
    report = axioms(lambda _mean, variance: -variance, Latents())
    lines = str(report).splitlines()
    assert [line.split(":")[0] for line in lines] == list(AXIOMS)
    assert lines[3] == "A3: no premise in this setting"
    assert "it should not be negative" in lines[0]
    assert report["A3"].holds is None
    assert "latents of mean (" in lines[5]
    assert "f = 1 everywhere" in str(axioms(probability_variance))


def test_stretches_are_written_in_words():
    def length(measure):
        """Larger for what is known, and blind to all but the support."""
        return 2.0 + float(measure.possibility.lower[0] - measure.possibility.upper[0])

    said = str(axioms(length, Stretches(), tries=60))
    assert "the point 0" in said
    assert "f = 1 on [0, 1]" in said
    assert "a Gaussian of mean" in str(axioms(U_Y, Stretches(), tries=60))


def test_tries_are_a_number_above_zero():
    with pytest.raises(ValueError, match="tries must"):
        axioms(U_Y, tries=0)
