import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pools import LOCAL, random_moments

from possibal import Belief, acquisition
from possibal.acquisition import scoring
from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.scoring import Monotonicity


@pytest.mark.parametrize("score", LOCAL.values(), ids=LOCAL)
@pytest.mark.parametrize("shape", [(50,), (50, 3)], ids=str)
def test_a_pool_of_many_chunks_is_scored_whole(score, shape, monkeypatch):
    mean, variance = random_moments(5, shape)
    whole = score(mean, variance)
    monkeypatch.setattr(scoring, "CHUNK", 100)
    np.testing.assert_allclose(score(mean, variance), whole, rtol=1e-6)


def test_a_chunk_never_has_less_than_a_row(monkeypatch):
    monkeypatch.setattr(scoring, "CHUNK", 1)
    mean, variance = random_moments(6, (3, 4))
    assert acquisition.uncertainty(mean, variance).shape == (3,)


def test_a_score_is_not_given_two_variances():
    belief = Belief.of([0.0], [1.0])
    with pytest.raises(TypeError, match="variance must be left out when a Belief is given"):
        acquisition.doubt(belief, [2.0])
    with pytest.raises(TypeError, match="variance must be given beside mean"):
        acquisition.doubt([0.0])


def test_a_score_keeps_its_name_and_its_words():
    assert acquisition.doubt.__name__ == "doubt"
    assert acquisition.doubt.__doc__.startswith("Asks")


@pytest.mark.parametrize("size", [scoring.one_per_latent, scoring.one_per_pair])
def test_more_latents_need_more_room(size):
    assert size(1) == 1
    assert size(2) < size(3) < size(10)


@pytest.mark.parametrize("labels", [2, 3, 30])
@pytest.mark.parametrize("score", [acquisition.uncertainty, acquisition.entropy])
def test_memory_is_bounded_by_the_chunks(score, labels):
    mean, variance = random_moments(7, (40_000 // labels**2 + 500, labels))
    tracemalloc.start()
    score(mean, 1e4 * variance)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - mean.nbytes < 8e6


def test_the_scores_of_the_paper_read_a_belief_row_by_row():
    papers = ["necessity", "uncertainty", "bald", "entropy", "margin"]
    papers += ["least_confidence", "latent_entropy"]
    assert [name for name, s in STRATEGIES.items() if scoring.is_local(s)] == papers


def test_only_a_score_is_known_to_be_local():
    @scoring.score(size=scoring.one_per_latent)
    def spread(belief):
        return belief.variance[0]

    def pretender(belief):
        return spread(belief)

    assert scoring.is_local(spread)
    assert not scoring.is_local(pretender)
    assert not scoring.is_local(np.add)


@pytest.mark.parametrize("score", LOCAL.values(), ids=LOCAL)
@pytest.mark.parametrize("shape", [(12,), (12, 3)], ids=str)
def test_a_local_score_says_the_same_of_pools_joined(score, shape):
    mean, variance = random_moments(8, shape)
    parts = [score(mean[some], variance[some]) for some in (slice(0, 5), slice(5, 12))]
    np.testing.assert_array_equal(score(mean, variance), np.concatenate(parts))


# ---------------------------------------------------------------- order
@pytest.mark.parametrize(
    ("name", "alone", "several", "classes"),
    [
        ("necessity", 2, 2, 1),
        ("uncertainty", 3, 3, 1),
        ("bald", 0, 0, 0),
        ("entropy", 2, 0, 0),
        ("margin", 2, 0, 0),
        ("least_confidence", 2, 0, 0),
        ("latent_entropy", 1, 1, 1),
    ],
)
def test_a_score_says_in_which_order_it_is(name, alone, several, classes):
    order = STRATEGIES[name].monotonicity
    assert (order(1, 1), order(3, 1), order(1, 3), order(3, 3)) == (
        Monotonicity(alone),
        Monotonicity(several),
        Monotonicity(classes),
        Monotonicity(classes),
    )


def test_nothing_is_known_of_a_score_that_does_not_say():
    @scoring.score(size=scoring.one_per_latent)
    def spread(belief):
        return belief.variance[0]

    assert spread.monotonicity(1, 1) is Monotonicity.UNKNOWN
    assert spread.size is scoring.one_per_latent
    assert (
        Monotonicity.UNKNOWN
        < Monotonicity.BY_VARIANCE
        < Monotonicity.BY_BOTH
        < Monotonicity.BY_LABELS
    )


def claimed(*orders):
    """Scores that say they are in such an order, for so many hypotheses and latents."""
    return [
        pytest.param((score, hypotheses, latents), id=f"{name}-{hypotheses}-{latents}")
        for name, score in LOCAL.items()
        for hypotheses in (1, 2, 4)
        for latents in (1, 3)
        if score.monotonicity(hypotheses, latents) in orders
    ]


def wide_belief(seed, hypotheses, latents, rows=40):
    """Beliefs over all sizes that moments may have, some means zero."""
    rng = np.random.default_rng(seed)
    shape = (hypotheses, rows) if latents == 1 else (hypotheses, rows, latents)
    mean = rng.uniform(-1, 1, shape) * 10 ** rng.uniform(-6, np.log10(30), shape)
    mean[rng.random(shape) < 0.05] = 0.0
    credibility = rng.uniform(0.0, 1.0, hypotheses) ** rng.integers(1, 9)
    credibility[rng.integers(hypotheses)] = 1.0
    return Belief(mean, 10 ** rng.uniform(-6, 4, shape), credibility)


def assert_not_lowered(score, before, after):
    was, is_now = score(before), score(after)
    assert np.all(is_now >= was - 1e-9 * np.abs(was))


@pytest.mark.parametrize(
    "case", claimed(Monotonicity.BY_VARIANCE, Monotonicity.BY_BOTH, Monotonicity.BY_LABELS)
)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), log_factor=st.floats(0, 6), share=st.floats(0, 1))
def test_larger_variances_never_lower_a_score_in_order(case, seed, log_factor, share):
    score, hypotheses, latents = case
    belief, rng = wide_belief(seed, hypotheses, latents), np.random.default_rng(seed + 1)
    raised = 10 ** (log_factor * rng.random(belief.mean.shape))
    raised[rng.random(belief.mean.shape) > share] = 1.0
    after = Belief(belief.mean, belief.variance * raised, belief.credibility)
    assert_not_lowered(score, belief, after)


@pytest.mark.parametrize("case", claimed(Monotonicity.BY_BOTH))
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), log_off=st.floats(-9, 2), is_common=st.booleans())
def test_means_closer_to_zero_never_lower_a_score_in_order_by_both(case, seed, log_off, is_common):
    score, hypotheses, latents = case
    belief, rng = wide_belief(seed, hypotheses, latents), np.random.default_rng(seed + 1)
    off = np.full(belief.mean.shape, 10**log_off)
    if not is_common:
        off *= rng.random(off.shape)
    mean = np.copysign(np.maximum(np.abs(belief.mean) - off, 0.0), belief.mean)
    closer = Belief(mean, belief.variance, belief.credibility)
    assert_not_lowered(score, belief, closer)
    wider = Belief(mean, belief.variance * (1 + rng.random(off.shape)), belief.credibility)
    assert_not_lowered(score, closer, wider)


@pytest.mark.parametrize("log_variance", np.linspace(-6, 4, 11))
def test_uncertainty_of_one_probit_latent_falls_as_its_mean_leaves_zero(log_variance):
    mean = np.concatenate([np.linspace(0, 1e-3, 50), np.linspace(1e-3, 30, 4000)[1:]])
    values = acquisition.uncertainty(mean, np.full(len(mean), 10**log_variance))
    assert np.all(np.diff(values) <= 1e-12 * values[:-1])
    apart = acquisition.uncertainty([0.0, 1.0, 3.0], np.full(3, 10**log_variance))
    assert apart[0] > apart[1] > apart[2]


@pytest.mark.parametrize("score", LOCAL.values(), ids=LOCAL)
@pytest.mark.parametrize("latents", [1, 3])
def test_a_score_of_several_hypotheses_is_finite(score, latents):
    assert np.isfinite(score(wide_belief(11, 3, latents, rows=300))).all()


# ---------------------------------------------------------------- functions of users
def closest(mean, variance):
    return -abs(mean) / variance**0.5


class Odd:
    """Something that can be called, of which nobody can tell what it needs."""

    __signature__ = "none"

    def __call__(self, view):
        return view.belief.mean[0]


def test_a_function_of_mean_and_variance_is_a_score_of_each_row(monkeypatch):
    mean, variance = random_moments(7, (60,))
    ours = scoring.as_strategy(closest)
    assert scoring.is_local(ours)
    assert (ours.__name__, ours.monotonicity(1, 1)) == ("closest", Monotonicity.UNKNOWN)
    expected = closest(mean, variance)
    np.testing.assert_array_equal(ours(mean, variance), expected)
    monkeypatch.setattr(scoring, "CHUNK", 7)
    np.testing.assert_array_equal(ours(mean, variance), expected)


def test_it_reads_the_most_credible_hypothesis():
    mean, variance = random_moments(8, (2, 9))
    belief = Belief(mean, variance, np.array([0.5, 1.0]))
    np.testing.assert_array_equal(
        scoring.as_strategy(closest)(belief), closest(mean[1], variance[1])
    )


def test_a_function_of_a_view_stays_what_it_is():
    def middle(view, power=2):
        return view.candidates.sum(axis=1) ** power

    odd = Odd()
    for function in (middle, odd, acquisition.doubt, STRATEGIES["random"], STRATEGIES["herding"]):
        assert scoring.as_strategy(function) is function


def test_a_function_of_more_is_refused():
    def three(mean, variance, labels):
        return mean + variance + labels

    with pytest.raises(
        ValueError,
        match=r"^strategy must take a view, or a mean and a variance; got three\(mean, var",
    ):
        scoring.as_strategy(three)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            lambda mean, variance: 0.0 * mean.sum() * variance.sum(),
            r"one number per row, 4; got shape \(\) of",
        ),
        (
            lambda mean, variance: (mean > variance).astype(str),
            r"one number per row, 4; got shape \(4,\) of <U5",
        ),
        (lambda mean, variance: mean * np.nan + variance, r"must give numbers; got NaN"),
    ],
)
def test_what_gives_no_number_for_each_row_is_told(function, words):
    with pytest.raises(ValueError, match=words):
        scoring.as_strategy(function)(np.arange(4.0), np.ones(4))
