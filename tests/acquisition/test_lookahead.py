"""Posteriors one step ahead are close to those of a fit to the answer."""

import functools

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from possibal import PossibilisticGPClassifier, acquisition
from possibal.acquisition import lookahead
from possibal.acquisition.latents import (
    LatentMoments,
    average_probabilities,
    expected_brier,
    expected_entropy,
    expected_error,
    rival_possibility,
)
from possibal.acquisition.lookahead import (
    expected_information_gain,
    expected_loss_reduction,
    one_step_posteriors,
)
from possibal.acquisition.strategy import View
from possibal.gp.pending import PendingPosterior
from possibal.gp.posterior import TEMPERING
from possibal.numerics.distances import near_duplicate_width, similarity, usual_distance

LOSSES = {
    "error": expected_error,
    "brier": expected_brier,
    "entropy": expected_entropy,
    "rival": rival_possibility,
}
each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
each_kind = pytest.mark.parametrize("kind", ["two", "logistic", "three"])


def rows(m, seed=0):
    return np.random.default_rng(seed).normal(size=(m, 2))


def truth(X, kind):
    return np.digitize(X[:, 0], [-0.4, 0.4] if kind == "three" else [0.0])


@functools.cache
def posterior(kind="two", n=12):
    link = "logistic" if kind == "logistic" else "probit"
    return PossibilisticGPClassifier(link=link).fit(rows(n), truth(rows(n), kind)).posterior_


def after(kind, x, label, n=12):
    """What is believed once a row has its label, learnt from scratch."""
    X = np.vstack([rows(n), x])
    y = np.append(truth(rows(n), kind), label)
    link = "logistic" if kind == "logistic" else "probit"
    model = PossibilisticGPClassifier(link=link, usual_distance=usual_distance(rows(n)))
    return model.fit(X, y).posterior_


# ---------------------------------------------------------------- answers
@each_kind
def test_answers_are_as_probable_as_the_model_says(kind):
    X, Z = rows(7, 1), rows(5, 2)
    (some,) = one_step_posteriors(posterior(kind), X, Z)
    assert len(some) == (3 if kind == "three" else 2)
    chance = np.array([one.chance for one in some])
    np.testing.assert_allclose(chance.sum(axis=0), 1.0, atol=1e-12)
    belief = posterior(kind).at(X)
    if kind != "three":
        rarer = acquisition.least_confidence(belief)
        np.testing.assert_allclose(chance.min(axis=0), rarer, rtol=1e-9)


@pytest.mark.parametrize(("kind", "share"), [("two", 0.3), ("logistic", 0.3), ("three", 0.3)])
def test_what_is_foreseen_is_close_to_what_is_learnt(kind, share):
    X, Z = rows(6, 1), rows(40, 2)
    now = LatentMoments.of(posterior(kind), Z).probability
    (some,) = one_step_posteriors(posterior(kind), X, Z)
    off, moved = [], []
    for label, one in enumerate(some):
        for at, ahead in enumerate(one.latents.probability):
            learnt = LatentMoments.of(after(kind, X[at], label), Z).probability
            off.append(one.chance[at] * np.abs(ahead - learnt).mean())
            moved.append(one.chance[at] * np.abs(now - learnt).mean())
    assert sum(off) < share * sum(moved)


@each_kind
def test_a_candidate_itself_moves_by_its_own_step_and_no_variance_grows(kind):
    X = rows(4, 3)
    before = LatentMoments.of(posterior(kind), X)
    (some,) = one_step_posteriors(posterior(kind), X, X)
    for one in some:
        assert np.all(one.latents.variance <= before.variance[:, None] * (1 + 1e-9))
        assert np.all(one.latents.variance > 0)
    if kind == "two":
        down, up = (one.latents.mean[:, np.arange(4), np.arange(4), 0] for one in some)
        assert np.all(down < before.mean[..., 0])
        assert np.all(up > before.mean[..., 0])


def test_an_answer_tells_settings_apart():
    X = rows(5, 4)
    (some,) = one_step_posteriors(posterior(), X, X[:2])
    belief = posterior().at(X)
    here = LatentMoments.of(posterior(), X)
    for label, one in enumerate(some):
        each = average_probabilities(here.mean, here.variance)[:, :, label]
        expected = belief.credibility[:, None] * each**TEMPERING
        np.testing.assert_allclose(
            one.latents.credibility, expected / expected.max(axis=0), rtol=1e-12
        )


# ---------------------------------------------------------------- gains
@each_kind
@each_loss
def test_a_gain_is_the_loss_now_less_that_after_the_answers(kind, loss):
    X, Z = rows(5, 5), rows(9, 6)
    found = expected_loss_reduction(posterior(kind), X, Z, loss)
    now = loss(LatentMoments.of(posterior(kind), Z)).mean()
    for at in range(5):
        (some,) = one_step_posteriors(posterior(kind), X[[at]], Z)
        then = sum(one.chance[0] * loss(one.latents)[0].mean() for one in some)
        assert found[at] == pytest.approx(now - then, rel=1e-9, abs=1e-9)


@each_kind
def test_a_row_that_is_known_well_gains_little_and_tells_little(kind):
    X, y = rows(12), truth(rows(12), kind)
    often = np.where(np.arange(12) == 0, 300.0, 1.0)
    link = "logistic" if kind == "logistic" else "probit"
    known = PossibilisticGPClassifier(link=link).fit(X, y, often).posterior_
    candidates, Z = np.vstack([X[:1], rows(30, 7)]), rows(30, 8)
    for found in (
        expected_loss_reduction(known, candidates, Z, expected_brier),
        expected_information_gain(known, candidates, Z),
    ):
        assert found[0] < 0.2 * found.max()


@each_kind
def test_candidates_may_be_many_or_none(kind, monkeypatch):
    X, Z = rows(11, 9), rows(4, 10)
    there = (
        expected_loss_reduction(posterior(kind), X, Z, expected_brier),
        expected_information_gain(posterior(kind), X, Z),
    )
    monkeypatch.setattr(lookahead, "CHUNK", 30)
    np.testing.assert_allclose(
        expected_loss_reduction(posterior(kind), X, Z, expected_brier), there[0], rtol=1e-9
    )
    np.testing.assert_allclose(
        expected_information_gain(posterior(kind), X, Z), there[1], rtol=1e-9, atol=1e-15
    )
    for none in (
        expected_loss_reduction(posterior(kind), X[:0], Z, expected_brier),
        expected_information_gain(posterior(kind), X[:0], Z),
    ):
        assert none.shape == (0,)


def test_information_is_that_of_the_joint_table_of_labels():
    X, Z = rows(3, 11), rows(1, 12)
    (some,) = one_step_posteriors(posterior(), X, Z)
    joint = np.stack([one.chance[:, None] * one.latents.probability[:, 0] for one in some], axis=1)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=2, keepdims=True)
    mutual = (joint * np.log(joint / apart)).sum(axis=(1, 2))
    np.testing.assert_allclose(
        expected_information_gain(posterior(), X, Z), mutual, rtol=1e-6, atol=1e-12
    )


def test_rows_whose_labels_are_on_their_way_count_as_known():
    X = rows(20, 13)
    first = int(expected_loss_reduction(posterior(), X, X, expected_error).argmax())
    pending = PendingPosterior(posterior()).with_pending(X[first])
    later = expected_loss_reduction(pending, X, X, expected_brier)
    assert later[first] < 0.5 * expected_loss_reduction(posterior(), X, X, expected_brier)[first]


# ---------------------------------------------------------------- strategies
@pytest.mark.parametrize("kind", ["two", "three"])
def test_looking_ahead_is_the_gain_that_counts_rows_of_crowds_less(kind):
    now = View(posterior(kind), rows(12, 5))
    X, source = now.candidates, posterior(kind)
    there = source.coordinates(X)
    weight = similarity(cdist(there, there), near_duplicate_width(there)).sum(axis=1) ** -0.5
    before = weight @ expected_brier(LatentMoments.of(source, X)) ** 2
    found = lookahead.look_ahead(now) * weight.sum()
    for at in range(len(X)):
        (some,) = lookahead.one_step_posteriors(source, X[[at]], X)
        after = sum(one.chance[0] * weight @ expected_brier(one.latents)[0] ** 2 for one in some)
        assert found[at] == pytest.approx(before - after, rel=1e-7)


@pytest.mark.parametrize("kind", ["two", "three"])
@pytest.mark.parametrize(
    ("strategy", "slow"),
    [
        (
            lookahead.mocu,
            functools.partial(lookahead.expected_loss_reduction, loss=expected_error),
        ),
        (
            lookahead.bemps,
            functools.partial(lookahead.expected_loss_reduction, loss=expected_brier),
        ),
    ],
)
def test_the_others_are_gains_over_all_rows_alike(kind, strategy, slow):
    now = View(posterior(kind), rows(12, 5))
    expected = slow(posterior(kind), now.candidates, now.candidates)
    np.testing.assert_allclose(strategy(now), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["two", "three"])
def test_what_a_label_tells_about_the_others_is_never_negative(kind):
    now = View(posterior(kind), rows(12, 5))
    expected = lookahead.expected_information_gain(posterior(kind), now.candidates, now.candidates)
    np.testing.assert_allclose(lookahead.epig(now), expected / 12, rtol=1e-12)
    assert lookahead.epig(now).min() >= 0
