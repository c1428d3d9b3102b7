import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from possibal.acquisition import pointwise
from possibal.acquisition.registry import STRATEGIES, utilities
from possibal.acquisition.strategy import View
from possibal.belief import Belief
from possibal.experiments.engine.drawn_scores import (
    DrawnScore,
    drawn_bald,
    drawn_entropy,
    drawn_least_confidence,
    drawn_scores,
    label_probabilities,
    latent_draws,
    misread_margin,
)
from possibal.experiments.recipes import OURS, PUBLISHED

MANY = 200_000


def rng(seed=0):
    return np.random.default_rng(seed)


def three_rows(seed=1):
    """Moments of two labels' one latent, and of three labels' latents, (P, m)."""
    draw = rng(seed)
    return draw.normal(size=(3, 4)), draw.uniform(0.2, 2.0, size=(3, 4))


# ---------------------------------------------------------------- BALD
@pytest.mark.parametrize(("mean", "variance"), [(0.0, 0.9), (0.7, 0.6), (-1.5, 0.4)])
def test_bald_by_many_draws_is_bald(mean, variance):
    drawn = latent_draws(np.array([[mean]]), np.array([[variance]]), MANY, rng())
    with np.errstate(all="ignore"):
        assert drawn_bald(drawn)[0] == pytest.approx(
            pointwise.bald(np.array([mean]), np.array([variance]))[0], abs=3e-3
        )


def test_beyond_five_and_a_half_the_probit_is_one_in_single_precision_and_bald_is_missing():
    latents = np.array([[[0.1, 5.3]], [[0.2, 5.6]]], dtype=np.float32)
    with np.errstate(all="ignore"):
        fine, missing = drawn_bald(latents)
    assert np.isfinite(fine)
    assert np.isnan(missing)
    assert 1.0 - ndtr(5.6) > 0  # which double precision knows


def test_a_row_whose_bald_is_missing_is_asked_before_all_others():
    mean = np.array([[0.0, 0.0, 9.0, 0.0]])
    variance = np.array([[1.0, 1.0, 0.01, 1.0]])
    assert DrawnScore(drawn_bald, 60).place(mean, variance, rng()) == 2


def test_where_bald_is_missing_everywhere_any_row_may_be_asked():
    mean, variance = np.full((1, 5), 30.0), np.full((1, 5), 1.0)
    asked = {DrawnScore(drawn_bald, 4).place(mean, variance, rng(seed)) for seed in range(60)}
    assert asked == set(range(5))


# ---------------------------------------------------------------- three labels
def test_least_confidence_and_entropy_by_many_draws_are_those_of_the_average():
    mean, variance = three_rows()
    drawn, belief = latent_draws(mean, variance, MANY, rng()), Belief.of(mean.T, variance.T)
    np.testing.assert_allclose(
        drawn_least_confidence(drawn), pointwise.least_confidence(belief), atol=5e-3
    )
    np.testing.assert_allclose(drawn_entropy(drawn), pointwise.entropy(belief), atol=5e-3)


@given(st.integers(0, 500), st.integers(2, 5))
def test_probabilities_come_draws_first_and_sum_to_one(seed, labels):
    latents = rng(seed).normal(scale=3.0, size=(10, labels, 7)).astype(np.float32)
    p = label_probabilities(latents)
    assert p.shape == (10, 7, labels)
    np.testing.assert_allclose(p.sum(axis=2), 1.0, atol=1e-6)


def test_the_misread_margin_looks_at_the_first_two_rows_alone():
    latents = rng().normal(size=(10, 3, 40)).astype(np.float32)
    other = latents.copy()
    other[:, :, 2:] = 0.0
    np.testing.assert_array_equal(misread_margin(latents), misread_margin(other))
    assert misread_margin(latents).shape == (30,)
    assert misread_margin(latents[:, :, :1]).shape == (30,)


def test_the_misread_margin_asks_any_row_however_certain():
    mean = np.zeros((3, 6))
    mean[0, 3:] = 20.0  # nothing is to be learnt there
    asked = {
        DrawnScore(misread_margin, 10).place(mean, np.ones((3, 6)), rng(seed)) for seed in range(80)
    }
    assert asked == set(range(6))


# ---------------------------------------------------------------- as strategies
@pytest.mark.parametrize("labels", [2, 3])
def test_a_drawn_score_is_a_strategy_that_marks_one_row(labels):
    class Posterior:
        def at(self, X):
            moments = np.zeros(len(X)) if labels == 2 else np.zeros((len(X), labels))
            return Belief.of(moments, moments + 1.0)

    for one in drawn_scores(PUBLISHED, labels).values():
        for seed in (rng(3), None):
            merit = utilities(View(Posterior(), np.zeros((5, 2)), seed), one)
            assert sorted(merit) == [0, 0, 0, 0, 1]


def test_a_recipe_without_draws_has_no_scores_of_its_own():
    assert drawn_scores(OURS, 2) == drawn_scores(OURS, 3) == {}


def test_the_scores_of_the_recipe_stand_for_ours_and_are_not_among_them():
    assert set(drawn_scores(PUBLISHED, 2)) == {"bald"}
    assert set(drawn_scores(PUBLISHED, 3)) == {"least_confidence", "margin", "entropy"}
    assert not [one for one in STRATEGIES.values() if isinstance(one, DrawnScore)]
