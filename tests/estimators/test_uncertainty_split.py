import numpy as np
import pytest
from scipy.special import entr, ndtr, ndtri, softmax
from support.estimators import classifier, each_count, each_link, each_way, labelled, rows

from possibal import PossibilisticGPClassifier

LEVEL = 0.9


@each_way
@each_link
def test_the_range_of_two_labels_is_that_of_their_latent(way, link):
    model = classifier(hyperparameters=way, link=link)
    found = model.credible_probability(rows(1), LEVEL)
    belief = model.belief(rows(1))  # on the scale of the probit
    allowed = 2 * np.log(belief.credibility / (1 - LEVEL))
    kept = allowed >= 0
    half = np.sqrt(allowed[kept, None] * belief.variance[kept])
    low, high = (belief.mean[kept] - half).min(axis=0), (belief.mean[kept] + half).max(axis=0)
    scale = model.posterior_.scale
    link = model.posterior_.data.link
    np.testing.assert_allclose(found[:, 1, 0], link.probability(low / scale), rtol=1e-10)
    np.testing.assert_allclose(found[:, 1, 1], link.probability(high / scale), rtol=1e-10)
    np.testing.assert_allclose(found[:, 0], 1 - found[:, 1, ::-1], atol=1e-12)


@each_way
@each_count
def test_the_most_credible_probability_lies_in_the_range(way, classes):
    model = classifier(classes, n=30, hyperparameters=way)
    found = model.credible_probability(rows(1), LEVEL)
    assert found.shape == (20, classes, 2)
    mode = model.posterior_.leading.probability(rows(1))
    assert (found[..., 0] <= mode).all()
    assert (mode <= found[..., 1]).all()
    assert (found[..., 0].sum(axis=1) <= 1).all()
    assert (found[..., 1].sum(axis=1) >= 1).all()


@each_count
def test_ranges_are_nested(classes):
    model = classifier(classes, n=30)
    wide, narrow = (model.credible_probability(rows(1), level) for level in (0.95, 0.5))
    assert (wide[..., 0] <= narrow[..., 0] + 1e-12).all()
    assert (narrow[..., 1] <= wide[..., 1] + 1e-12).all()


def test_the_range_of_many_labels_holds_credible_latents_of_every_setting():
    model = classifier(3, n=30)
    belief, rng = model.belief(rows(1)), np.random.default_rng(0)
    found = model.credible_probability(rows(1), LEVEL)
    for h, credibility in enumerate(belief.credibility):
        z = 2 * rng.normal(size=(500, 20, 3))
        kept = credibility * np.exp(-0.5 * (z * z).sum(axis=2)) >= 1 - LEVEL
        p = softmax(belief.mean[h] + np.sqrt(belief.variance[h]) * z, axis=2)
        inside = (p >= found[..., 0] - 1e-12) & (p <= found[..., 1] + 1e-12)
        assert inside.all(axis=2)[kept].all()


@each_way
@each_count
def test_a_split_has_the_range_of_the_leading_label_and_what_is_random(way, classes):
    model = classifier(classes, n=30, hyperparameters=way)
    split = model.split(rows(1), LEVEL)
    mode = model.posterior_.leading.probability(rows(1))
    leading = mode.argmax(axis=1)
    np.testing.assert_array_equal(split.label, model.classes_[leading])
    both = model.credible_probability(rows(1), LEVEL)[np.arange(20), leading]
    np.testing.assert_allclose(np.column_stack([split.lower, split.upper]), both, rtol=1e-9)
    np.testing.assert_allclose(split.epistemic, both[:, 1] - both[:, 0], atol=1e-12)
    np.testing.assert_allclose(split.random, entr(mode).sum(axis=1), atol=1e-12)
    assert (len(split), split.level) == (20, LEVEL)


def test_labels_tossed_again_and_again_become_known_to_be_random():
    X = np.zeros((400, 1))
    y = np.arange(400) % 2
    model = PossibilisticGPClassifier().fit(X, y)
    few = PossibilisticGPClassifier(classes=[0, 1]).fit(X[:2], y[:2])
    much, little = model.split(X[:1]), few.split(X[:1])
    assert little.epistemic[0] > 0.9
    assert much.epistemic[0] < 0.2
    assert much.random[0] == pytest.approx(np.log(2), abs=1e-3)


def test_before_any_label_every_probability_is_credible():
    model = PossibilisticGPClassifier(classes=["a", "b"]).fit(np.empty((0, 2)), [])
    found = model.credible_probability(rows(1))
    sd = np.sqrt(model.posterior_.moments(rows(1))[1].max())
    assert found[0, 1, 1] == pytest.approx(ndtr(sd * np.sqrt(-2 * np.log(0.05))), rel=1e-3)
    assert ndtri(found[0, 1, 0]) < -2


def test_a_level_is_checked():
    X, y = labelled()
    model = PossibilisticGPClassifier().fit(X, y)
    for ask in (model.credible_probability, model.split):
        with pytest.raises(ValueError, match="level must lie between"):
            ask(X, level=95)
