"""Of too many labels those are learnt from that tell most."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

from possibal import Campaign, PossibilisticGPClassifier
from possibal.acquisition.pointwise import doubt
from possibal.estimators.subset import MAX_LABELS, SCORED_ROWS, stratified_sample, subset_of_data
from possibal.gp.hyperparameters import problem
from possibal.gp.likelihoods import PROBIT
from possibal.gp.posterior import TrainingData


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


def truth(X):
    return np.where(X[:, 0] + np.sin(2 * X[:, 1]) > 0, "yes", "no")


def made(n, **more):
    X = rows(n)
    y = np.where(truth(X) == "yes", 1.0, -1.0)[None]
    return problem(None, TrainingData(X, y, np.arange(1.0, n + 1)[None], PROBIT), **more)


def test_few_labels_are_all_learnt_from():
    whole = made(40)
    assert subset_of_data(whole, 40) is whole
    assert subset_of_data(whole) is whole
    assert MAX_LABELS == 5000  # the number the documentation names


def test_half_is_drawn_and_half_is_what_a_fit_to_it_doubts():
    whole = made(200)
    part = subset_of_data(whole, 60)
    y = whole.data.y[0]
    first = stratified_sample((y > 0).astype(int), 30)
    there = {x.tobytes(): at for at, x in enumerate(whole.data.X)}
    kept = np.array([there[x.tobytes()] for x in part.data.X])
    assert len(kept) == 60
    assert set(first.tolist()) <= set(kept.tolist())
    np.testing.assert_array_equal(part.data.y[0], y[kept])
    np.testing.assert_array_equal(part.data.weight[0], whole.data.weight[0, kept])
    assert part.distance == whole.distance
    rest, others = np.setdiff1d(np.arange(200), first), np.setdiff1d(kept, first)
    fit = whole.part(first).under(whole.hyperprior.centre[None])
    worth = dict(zip(rest.tolist(), doubt(fit.at(whole.data.X[rest])), strict=True))
    least = min(worth[at] for at in others)
    assert all(worth[at] <= least for at in rest if at not in set(others.tolist()))


@given(counts=st.lists(st.integers(1, 60), min_size=1, max_size=5), share=st.floats(0.0, 1.0))
def test_the_lot_leaves_some_of_every_class(counts, share):
    codes = np.repeat(np.arange(len(counts)), counts)
    wanted = round(share * len(codes))
    found = stratified_sample(codes, wanted)
    assert len(np.unique(found)) == len(found) == wanted
    if wanted >= sum(min(count, SCORED_ROWS) for count in counts):
        left = np.bincount(codes[found], minlength=len(counts))
        assert np.all(left >= np.minimum(counts, SCORED_ROWS))


def test_the_classifier_leaves_out_what_is_too_much_and_says_so():
    X = rows(300)
    every, some = (PossibilisticGPClassifier(most_labels=most) for most in (300, 80))
    assert every.fit(X, truth(X)).left_out_ == 0
    assert some.fit(X, truth(X)).left_out_ == 220
    assert len(some.posterior_.data) == 80
    there = rows(2000, seed=1)
    assert np.mean(some.predict(there) == truth(there)) > 0.9
    again = PossibilisticGPClassifier(most_labels=80).fit(X[::-1], truth(X)[::-1])
    np.testing.assert_array_equal(some.predict_proba(there), again.predict_proba(there))


def test_what_it_keeps_is_worth_more_than_as_many_by_lot():
    X, there = rows(1500), rows(4000, seed=1)
    right = []
    for seed in range(4):
        lot = np.random.default_rng(seed).permutation(1500)[:80]
        model = PossibilisticGPClassifier().fit(X[lot], truth(X)[lot])
        right.append(np.mean(model.predict(there) == truth(there)))
    model = PossibilisticGPClassifier(most_labels=80).fit(X, truth(X))
    assert np.mean(model.predict(there) == truth(there)) > max(right)


def test_several_classes_and_a_kernel_without_choices_will_do():
    X = rows(150)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = PossibilisticGPClassifier(most_labels=60).fit(X, y)
    assert len(model.posterior_.data) == 60
    assert np.mean(model.predict(X) == y) > 0.9
    fixed = PossibilisticGPClassifier(RBF(1.0, "fixed"), most_labels=60).fit(X, y > 1)
    assert fixed.left_out_ == 90


def test_a_campaign_goes_on_with_more_answers_than_are_learnt_from():
    X = rows(60)
    campaign = Campaign.start(X, classifier=PossibilisticGPClassifier(most_labels=20))
    for row in range(40):
        campaign = campaign.tell(row, str(truth(X)[row]))
    assert campaign.ask()[0] >= 40
    assert campaign.classifier.left_out_ == 20


@pytest.mark.parametrize("most", [1, 0, -3, 2.5, "many", True])
def test_a_number_of_labels_that_makes_no_sense_is_refused(most):
    model = PossibilisticGPClassifier(most_labels=most)
    with pytest.raises((ValueError, TypeError), match=r"^most_labels must be "):
        model.fit(rows(5), truth(rows(5)))
    assert not hasattr(model, "posterior_")


@pytest.mark.parametrize("usual", [0.0, -1.0, np.nan, np.inf, "far"])
def test_a_distance_that_is_none_is_refused(usual):
    with pytest.raises((ValueError, TypeError), match=r"^usual_distance must be "):
        PossibilisticGPClassifier(usual_distance=usual).fit(rows(5), truth(rows(5)))
