import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.estimators import (
    KERNEL,
    POLARS,
    WAYS,
    classifier,
    each_count,
    each_link,
    each_way,
    labelled,
    rows,
)

from possibal import Belief, acquisition
from possibal.errors import FlatScoresWarning, ManyClassesWarning
from possibal.estimators import latent_gaussian as estimators
from possibal.estimators.classifier import (
    PossibilisticGPClassifier,
    count_labels,
    fitted_posterior,
    unfitted,
    with_geometry,
    with_pool_scale,
)
from possibal.gp.hyperparameters import problem
from possibal.gp.latent_posterior import LatentPosterior
from possibal.gp.likelihoods import PROBIT
from possibal.gp.posterior import TrainingData
from possibal.gp.rbf import SphericalRBF
from possibal.numerics.diffusion import fit_diffusion
from possibal.numerics.distances import usual_distance
from possibal.numerics.geometry import RowGeometry

# ---------------------------------------------------------------- scikit-learn's contract


@pytest.mark.parametrize(
    "kernel",
    [KERNEL, RBF([0.5, 1.5]), ConstantKernel(2.0) * Matern(0.8, nu=1.5)],
    ids=["rbf", "ard", "matern"],
)
def test_a_logistic_classifier_agrees_with_scikit_learn(kernel):
    X, y = labelled()
    model = GaussianProcessClassifier(kernel, optimizer=None).fit(X, y)
    ours = PossibilisticGPClassifier(kernel, link="logistic", hyperparameters="fixed").fit(X, y)
    mean, variance = model.latent_mean_and_variance(rows(1))
    mu, sigma2 = ours.latent_mean_and_variance(rows(1))
    np.testing.assert_allclose(mu, mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(sigma2, variance, rtol=1e-6)
    assert ours.log_evidence_ == pytest.approx(model.log_marginal_likelihood_value_, rel=1e-6)


# ---------------------------------------------------------------- labels


@pytest.mark.parametrize(
    "names",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], object),
        np.array([-7, 12]),
        np.array([False, True]),
        np.array([1.0, 2.0]),
        np.array([3, 7], object),
        np.array(["2020", "2021"], "datetime64[Y]"),
    ],
    ids=["text", "objects", "integers", "booleans", "floats", "integer-objects", "dates"],
)
def test_labels_may_be_of_any_kind(names):
    X, y = labelled()
    plain = classifier()
    found = PossibilisticGPClassifier().fit(X, names[y])
    assert found.classes_.tolist() == names.tolist()
    assert found.predict(X).tolist() == names[plain.predict(X)].tolist()


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series])
def test_labels_may_come_in_any_container(kind):
    X, y = labelled(3)
    names = np.array(["a", "b", "c"])[y].tolist()
    assert PossibilisticGPClassifier().fit(X, kind(names)).score(X, names) > 0.8


@each_way
@each_link
@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]], ids=["two", "three"])
def test_with_no_label_every_label_is_equally_probable(classes, link, way):
    model = PossibilisticGPClassifier(classes=classes, link=link, hyperparameters=way)
    model.fit(np.empty((0, 2)), [])
    np.testing.assert_allclose(model.predict_proba(rows(0)), 1 / len(classes))
    np.testing.assert_array_equal(model.predict(rows(0)), [classes[0]] * 20)
    with pytest.warns(FlatScoresWarning):
        np.testing.assert_array_equal(model.necessity(rows(0)), 0.0)
    with pytest.warns(FlatScoresWarning):
        np.testing.assert_array_equal(model.possibility(rows(0)), 1.0)
    mean, variance = model.latent_mean_and_variance(rows(0))
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(variance, model.kernels_[0][0][0].diag(rows(0)[:1])[0])
    assert model.log_evidence_ == 0.0
    assert np.isfinite(model.sample_proba(rows(0), 3, random_state=0)).all()


@each_way
@each_link
@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "no", "yes"]], ids=["two", "three"])
def test_a_single_label_makes_a_one_sided_posterior(classes, n, link, way):
    model = PossibilisticGPClassifier(classes=classes, link=link, hyperparameters=way)
    model.fit(rows(0, n), ["yes"] * n)
    p = model.predict_proba(rows(1))
    assert model.classes_.tolist() == classes
    assert np.isfinite(p).all()
    assert (p[:, -1] >= 1 / len(classes)).all()
    assert (model.predict(rows(0, n)) == "yes").all()
    np.testing.assert_allclose(p[:, 0], p[:, -2])
    assert np.isfinite(model.necessity(rows(1))).all()


def test_classes_are_put_in_order():
    X, y = labelled(2)
    model = PossibilisticGPClassifier(classes=[2, 1, 0]).fit(X, y)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert model.predict_proba(X).shape == (20, 3)


@each_link
@each_way
def test_swapping_two_labels_swaps_their_probabilities(link, way):
    X, y = labelled()
    one, other = (
        PossibilisticGPClassifier(link=link, hyperparameters=way).fit(X, labels)
        for labels in (y, 1 - y)
    )
    found = other.predict_proba(rows(1))[:, ::-1]
    np.testing.assert_allclose(found, one.predict_proba(rows(1)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        other.necessity(rows(1)), one.necessity(rows(1)), rtol=1e-4, atol=1e-6
    )


# ---------------------------------------------------------------- what a classifier says


@each_way
@each_link
@each_count
def test_probabilities_sum_to_one_and_the_largest_is_predicted(classes, link, way):
    model, X = classifier(classes, link=link, hyperparameters=way), rows(1)
    p = model.predict_proba(X)
    assert p.shape == (20, classes)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])


@each_link
def test_the_probability_of_one_setting_is_that_of_the_mode(link):
    model = classifier(link=link, hyperparameters="fixed")
    mean, _ = model.latent_mean_and_variance(rows(1))
    expected = ndtr(mean) if link == "probit" else 1 / (1 + np.exp(-mean))
    np.testing.assert_allclose(model.predict_proba(rows(1))[:, 1], expected, rtol=1e-12)


@each_link
@each_count
def test_the_possibility_of_rivals_is_what_the_necessity_of_one_setting_lacks(classes, link):
    model, X = classifier(classes, link=link, hyperparameters="evidence"), rows(1)
    possibility, necessity = model.possibility(X), model.necessity(X)
    assert possibility.shape == (20, classes)
    np.testing.assert_array_equal(possibility.max(axis=1), 1.0)
    leading = model.classes_[possibility.argmax(axis=1)]
    np.testing.assert_array_equal(leading, model.predict(X))
    second = np.sort(possibility, axis=1)[:, -2]
    np.testing.assert_allclose(1.0 - second, necessity, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(necessity, acquisition.necessity(model.belief(X)))


@each_count
def test_the_most_credible_setting_decides_which_label_leads(classes):
    model, X = classifier(classes), rows(1)
    possibility, belief = model.possibility(X), model.belief(X)
    assert len(belief.credibility) > 1
    lead = belief.mean[0] > 0 if classes == 2 else belief.mean[0].argmax(axis=1)
    np.testing.assert_array_equal(possibility[np.arange(20), lead.astype(int)], 1.0)
    assert ((possibility >= 0) & (possibility <= 1)).all()


@each_link
@each_count
def test_the_latent_moments_are_those_of_the_leading_hypothesis(classes, link):
    model = classifier(classes, link=link)
    mean, variance = model.latent_mean_and_variance(rows(1))
    belief = model.belief(rows(1))
    scale = np.sqrt(np.pi / 8) if link == "logistic" and classes == 2 else 1.0
    assert mean.shape == ((20,) if classes == 2 else (20, classes))
    np.testing.assert_allclose(belief.mean[0], scale * mean, rtol=1e-12)
    np.testing.assert_allclose(belief.variance[0], scale**2 * variance, rtol=1e-12)


def test_weights_count_rows():
    X, y = labelled(3)
    k = np.arange(20) % 3
    one = PossibilisticGPClassifier(KERNEL, hyperparameters="fixed").fit(X, y, sample_weight=k)
    other = clone(one).fit(np.repeat(X, k, axis=0), np.repeat(y, k))
    np.testing.assert_allclose(one.predict_proba(rows(1)), other.predict_proba(rows(1)), rtol=1e-6)
    np.testing.assert_allclose(one.necessity(rows(1)), other.necessity(rows(1)), atol=1e-6)


def test_a_label_whose_rows_all_weigh_nothing_was_not_seen():
    X, y = labelled(3)
    model = PossibilisticGPClassifier().fit(X, y, sample_weight=y < 2)
    np.testing.assert_array_equal(model.classes_, [0, 1])


@pytest.mark.parametrize("way", ["envelope", "fixed"])
def test_every_class_may_have_a_kernel_of_its_own(way):
    kernels = [KERNEL, ConstantKernel(3.0) * Matern(1.5, nu=2.5), DotProduct()]
    model = classifier(3, kernel=kernels, hyperparameters=way)
    assert [len(setting) for setting, _ in model.kernels_] == [3] * len(model.kernels_)
    assert model.score(*labelled(3)) > 0.8
    assert np.isfinite(model.necessity(rows(1))).all()


def test_the_same_kernel_for_every_class_is_one_kernel_for_all():
    one = classifier(3, kernel=KERNEL, hyperparameters="fixed")
    each = classifier(3, kernel=[KERNEL] * 3, hyperparameters="fixed")
    np.testing.assert_allclose(one.predict_proba(rows(1)), each.predict_proba(rows(1)), rtol=1e-6)


@each_way
def test_a_kernel_that_leaves_nothing_free_serves_every_way(way):
    kernel = ConstantKernel(2.0, "fixed") * RBF(0.8, "fixed")
    found = classifier(kernel=kernel, hyperparameters=way).predict_proba(rows(1))
    fixed = classifier(kernel=KERNEL, hyperparameters="fixed").predict_proba(rows(1))
    np.testing.assert_allclose(found, fixed, rtol=1e-9)


# ---------------------------------------------------------------- draws


@each_link
@each_count
def test_draws_are_probabilities(classes, link):
    p = classifier(classes, link=link).sample_proba(rows(1), 7, random_state=0)
    assert p.shape == (7, 20, classes)
    assert p.min() >= 0.0
    np.testing.assert_allclose(p.sum(axis=2), 1.0, rtol=1e-12)


@each_count
def test_the_same_seed_gives_the_same_draws(classes):
    model = classifier(classes, random_state=3)
    one = model.sample_proba(rows(1), 5)
    np.testing.assert_array_equal(one, model.sample_proba(rows(1), 5))
    np.testing.assert_array_equal(one, model.sample_proba(rows(1), 5, random_state=3))
    assert not np.array_equal(one, model.sample_proba(rows(1), 5, random_state=4))


def test_the_average_of_many_draws_is_the_average_probability():
    model = classifier(n=8, hyperparameters="fixed")
    mu, sigma2 = model.latent_mean_and_variance(rows(1, 4))
    draws = model.sample_proba(rows(1, 4), 20_000, random_state=0)[:, :, 1]
    np.testing.assert_allclose(
        draws.mean(axis=0), ndtr(mu / np.sqrt(1 + sigma2)), atol=5 * 0.5 / np.sqrt(20_000)
    )


@each_count
def test_rows_are_drawn_together(classes):
    X = np.repeat(rows(1, 3), 2, axis=0)
    p = classifier(classes, n=8).sample_proba(X, 50, random_state=0)
    np.testing.assert_allclose(p[:, ::2], p[:, 1::2], atol=1e-4)
    assert p[:, 0].std() > 1e-3


def test_more_rows_than_a_block_are_drawn_block_by_block(monkeypatch):
    monkeypatch.setattr(estimators, "_BLOCK", 8)
    X = np.repeat(rows(1, 1), 20, axis=0)
    p = classifier(n=4).sample_proba(X, 6, random_state=0)[:, :, 1]
    assert p.shape == (6, 20)
    np.testing.assert_allclose(p[:, :8], p[:, :1] + np.zeros(8), atol=1e-4)
    assert np.abs(p[:, 0] - p[:, 8]).max() > 1e-3


# ---------------------------------------------------------------- what a fit keeps


# ---------------------------------------------------------------- frames and pipelines


@pytest.mark.parametrize("frame", [pytest.param(pd.DataFrame, id="pandas"), POLARS])
@pytest.mark.works_with("scikit-learn", "a pipeline hands on frames (`set_output`)", "scikit-learn")
def test_a_pipeline_may_hand_on_frames(frame):
    X, y = labelled()
    kind = frame.__module__.split(".")[0]
    frame = frame({"height": X[:, 0], "width": X[:, 1]})
    scaler = make_column_transformer((StandardScaler(), ["width", "height"]))
    model = make_pipeline(scaler, PossibilisticGPClassifier()).set_output(transform=kind)
    model.fit(frame, y)
    names = model[-1].feature_names_in_.tolist()
    assert names == ["standardscaler__width", "standardscaler__height"]
    assert model.score(frame, y) > 0.8


@pytest.mark.works_with("scikit-learn", "metadata routing of sample weights", "scikit-learn")
def test_sample_weights_are_routed():
    X, y = labelled()
    weight = np.arange(20) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        step = PossibilisticGPClassifier(KERNEL, hyperparameters="fixed")
        step.set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = make_pipeline(scaler, step).fit(X, y, sample_weight=weight)
        scaled = StandardScaler().fit_transform(X)
        direct = PossibilisticGPClassifier(KERNEL, hyperparameters="fixed")
        direct.fit(scaled, y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict_proba(X), direct.predict_proba(scaled))


@pytest.mark.works_with("scikit-learn", "`GridSearchCV` over the choices", "scikit-learn")
def test_a_grid_is_searched_over_the_choices():
    grid = {
        "possibilisticgpclassifier__hyperparameters": WAYS,
        "possibilisticgpclassifier__link": ["probit", "logistic"],
    }
    model = make_pipeline(StandardScaler(), PossibilisticGPClassifier())
    found = GridSearchCV(model, grid, cv=3, error_score="raise").fit(*labelled(n=30))
    assert found.best_score_ > 0.7


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.works_with("scikit-learn", "`cross_validate` with any score", "scikit-learn")
def test_a_classifier_is_cross_validated(classes):
    X, y = labelled(classes, n=40)
    scoring = ["accuracy", "neg_log_loss", "roc_auc_ovr"]
    found = cross_validate(
        PossibilisticGPClassifier(), X, y, cv=3, scoring=scoring, error_score="raise"
    )
    assert found["test_accuracy"].mean() > 0.7
    assert np.isfinite(found["test_neg_log_loss"]).all()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.works_with("scikit-learn", "`CalibratedClassifierCV`", "scikit-learn")
def test_a_classifier_is_calibrated(classes):
    X, y = labelled(classes, n=40)
    model = CalibratedClassifierCV(PossibilisticGPClassifier(), cv=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


# ---------------------------------------------------------------- envelopes


@each_count
def test_an_envelope_of_one_setting_is_that_setting(classes):
    kernel = ConstantKernel(2.0, "fixed") * RBF(0.8, "fixed")
    envelope = classifier(classes, kernel=kernel, hyperparameters="envelope")
    fixed = classifier(classes, kernel=KERNEL, hyperparameters="fixed")
    np.testing.assert_allclose(envelope.belief(rows(1)).credibility, [1.0])
    np.testing.assert_allclose(envelope.necessity(rows(1)), fixed.necessity(rows(1)), rtol=1e-12)


def test_a_wider_envelope_never_raises_necessity():
    X, y = labelled()
    made = problem(
        (KERNEL,), TrainingData(X, np.where(y == 1, 1.0, -1.0)[None], np.ones((1, 20)), PROBIT)
    )
    rng = np.random.default_rng(0)
    thetas = made.given + 0.7 * rng.normal(size=(8, 2))
    ranked = thetas[np.argsort(-made.at(thetas).credibility)]
    before = np.full(20, np.inf)
    for count in range(2, 9):  # of nested sets the most credible setting stays the same
        necessity = acquisition.necessity(made.at(ranked[:count]).at(rows(1)))
        assert (necessity <= before + 1e-12).all()
        before = necessity


def test_the_necessity_of_an_envelope_is_at_most_that_of_its_leading_setting():
    belief = classifier(3).belief(rows(1))
    alone = Belief.of(belief.mean[0], belief.variance[0])
    assert len(belief.credibility) > 1
    assert (acquisition.necessity(belief) <= acquisition.necessity(alone) + 1e-12).all()


# ---------------------------------------------------------------- warnings


def test_scores_that_tell_no_rows_apart_are_told():
    model = classifier(kernel=RBF(1e-6), hyperparameters="fixed")
    with pytest.warns(FlatScoresWarning, match="Only 1 of 20 rows have a score") as caught:
        model.belief(rows(1) + 1000)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("ask", ["belief", "necessity", "possibility"])
def test_the_warning_points_to_the_call(ask):
    model = classifier(kernel=RBF(1e-6), hyperparameters="fixed")
    with pytest.warns(FlatScoresWarning) as caught:
        getattr(model, ask)(rows(1) + 1000)
    assert caught[0].filename == __file__


def test_ten_rows_alike_are_no_wonder():
    model = classifier(kernel=RBF(1e-6), hyperparameters="fixed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.belief(rows(1, 10) + 1000)


def test_rows_that_scores_tell_apart_cause_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier().belief(rows(1, 5000))


def test_of_many_rows_some_are_looked_at():
    model = classifier(kernel=RBF(1e-6), hyperparameters="fixed")
    with pytest.warns(FlatScoresWarning, match="Only 1 of 1000 rows"):
        model.belief(rows(1, 2500) + 1000)


# ---------------------------------------------------------------- several settings and weights


def test_probabilities_are_averaged_over_credible_settings():
    X, y = labelled()
    model = PossibilisticGPClassifier().fit(X, y)
    weight = model.posterior_.credibility / model.posterior_.credibility.sum()
    assert len(weight) > 1
    mean, _ = model.posterior_.moments(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], weight @ ndtr(mean[:, 0]), rtol=1e-12)


def test_draws_are_from_settings_as_often_as_they_are_credible(monkeypatch):
    X, y = labelled()
    model = PossibilisticGPClassifier().fit(X, y)
    drawn = []
    real_draw = type(model.posterior_).draw

    def spy(self, rows, members, rng):
        drawn.extend(members.tolist())
        return real_draw(self, rows, members, rng)

    monkeypatch.setattr(type(model.posterior_), "draw", spy)
    model.sample_proba(X[:2], 20_000, 0)
    share = np.bincount(drawn, minlength=len(model.kernels_)) / 20_000
    weight = model.posterior_.credibility / model.posterior_.credibility.sum()
    np.testing.assert_allclose(share, weight, atol=0.02)


def test_minus_zero_is_zero():
    X = np.array([[0.0], [-0.0], [1.0]])
    model = PossibilisticGPClassifier(hyperparameters="fixed").fit(X, [0, 0, 1])
    assert len(model.posterior_.data) == 2
    assert model.posterior_.data.weight.sum() == 3


def test_an_error_names_the_row_of_the_user_even_where_weights_leave_rows_out():
    with pytest.raises(ValueError, match="got 7 at row 3"):
        PossibilisticGPClassifier(classes=[0, 1]).fit(
            np.arange(4.0)[:, None], [0, 1, 1, 7], sample_weight=[0, 0, 0, 1]
        )


# ---------------------------------------------------------------- what pools and campaigns read


def test_a_fitted_classifier_gives_its_posterior_and_counts_its_labels():
    X, y = labelled()
    model = classifier()
    assert fitted_posterior(model) is model.posterior_
    assert count_labels(model) == 20
    assert count_labels(PossibilisticGPClassifier().fit(X, y, np.full(20, 3.0))) == 60
    own = LatentPosterior(lambda X: (X[:, 0], np.eye(len(X))), X)
    assert fitted_posterior(own) is own
    assert count_labels(own) == 20
    with pytest.raises(NotFittedError):
        fitted_posterior(PossibilisticGPClassifier())
    with pytest.raises(TypeError, match=r"^model must be a Possibilistic.*; got Gauss"):
        fitted_posterior(GaussianProcessClassifier())


def test_an_unfitted_classifier_has_the_same_choices():
    model = classifier(link="logistic")
    again = unfitted(model)
    assert again.link == "logistic"
    assert not hasattr(again, "posterior_")
    with pytest.raises(TypeError, match=r"^classifier must be a Possibilistic.*; got int"):
        unfitted(3)


# ---------------------------------------------------------------- blocks
def test_which_block_counts_is_learnt():
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(80, 2)), rng.normal(size=(80, 6))])
    y = X[:, 0] > 0
    plain, blocks = (
        PossibilisticGPClassifier(blocks=one).fit(X[:40], y[:40]) for one in (None, (2, 6))
    )
    assert blocks.score(X[40:], y[40:]) > plain.score(X[40:], y[40:])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"blocks": (2, 2)}, "blocks must have 3 columns together"),
        ({"blocks": (3, 0)}, "blocks must be at least 1"),
        ({"blocks": (1, 2), "kernel": RBF()}, "blocks must be left out where a kernel is given"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        PossibilisticGPClassifier(**options).fit(np.eye(3), [0, 1, 1])


# ---------------------------------------------------------------- directions
def embeddings(rows=120, classes=4, d=30):
    """Rows whose class is told by their direction, with lengths that tell nothing."""
    rng = np.random.default_rng(0)
    y = np.arange(rows) % classes
    X = 2.0 * np.eye(classes, d)[y] + rng.normal(size=(rows, d)) / np.sqrt(d) * 2.0
    return X, X * np.exp(rng.normal(size=(rows, 1))), y


def test_by_cosine_lengths_of_rows_tell_nothing():
    X, stretched, y = embeddings()
    cosine, other = (
        PossibilisticGPClassifier(metric="cosine").fit(Z[:40], y[:40]) for Z in (X, stretched)
    )
    np.testing.assert_allclose(cosine.predict_proba(X), other.predict_proba(stretched), atol=1e-9)
    np.testing.assert_allclose(cosine.necessity(X), other.necessity(3.0 * X), atol=1e-9)
    plain = PossibilisticGPClassifier().fit(stretched[:40], y[:40])
    assert cosine.score(X[40:], y[40:]) > plain.score(stretched[40:], y[40:])


def test_by_cosine_one_more_label_of_a_class_makes_it_no_more_likely_elsewhere():
    X = np.eye(8)
    first, second = (
        PossibilisticGPClassifier(metric=metric, mean=[0.0] * 3).fit(X[:5], [0, 1, 2, 0, 0])
        for metric in ("cosine", "euclidean")
    )
    np.testing.assert_allclose(first.predict_proba(X[5:]), 1 / 3)
    assert second.predict_proba(X[5:])[:, 0].min() > 0.4


@pytest.mark.parametrize("way", ["envelope", "evidence", "fixed"])
def test_by_cosine_a_row_of_zeros_is_like_no_other(way):
    X, _, y = embeddings()
    X[[0, 50]] = 0.0
    model = PossibilisticGPClassifier(metric="cosine", hyperparameters=way).fit(X[:40], y[:40])
    labels = model.predict(X[[0, 50]])
    assert labels[0] == labels[1] == y[0]
    assert np.isfinite(model.necessity(X)).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metric": "cosin"}, "metric must be one of"),
        ({"metric": "cosine", "kernel": RBF()}, "metric must be left out where a kernel is given"),
        ({"metric": "cosine", "blocks": (1, 2)}, "metric must be 'euclidean' where columns come"),
        ({"metric": "euclidean", "kernel": RBF()}, "metric must be left out where a kernel is"),
        ({"kernel": SphericalRBF([1.0, 2.0, 1.0])}, "kernel must have one length-scale where it"),
    ],
)
def test_a_metric_that_does_not_fit_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        PossibilisticGPClassifier(**options).fit(np.eye(3), [0, 1, 1])


# ---------------------------------------------------------------- what else makes rows alike


def two_rings(rows=160):
    """Rows on two rings whose side no straight line tells, their directions, and their clusters."""
    rng = np.random.default_rng(1)
    y = np.arange(rows) % 2
    angle, radius = rng.uniform(0, 2 * np.pi, rows), np.where(y == 1, 1.0, 0.75)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, np.hstack([X, fit_diffusion(X).apply(X)]), y


def test_each_column_by_itself_tells_what_all_together_do_not_yet():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = (np.abs(X[:, 0]) > 0.7).astype(int)
    default, rbf = (PossibilisticGPClassifier(k).fit(X[:60], y[:60]) for k in (None, "rbf"))
    assert default.score(X[60:], y[60:]) > rbf.score(X[60:], y[60:]) + 0.04
    assert str(default.kernels_[0][0][0]).count("FeatureRBF") == 1
    assert "FeatureRBF" not in str(rbf.kernels_[0][0][0])


def test_clusters_tell_with_few_labels_what_directions_do_not_yet():
    rng, cluster = np.random.default_rng(0), np.arange(240) % 8
    X = rng.normal(size=(8, 30))[cluster] + 1.5 * rng.normal(size=(240, 30))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    fitted, y = fit_diffusion(X), cluster % 2
    Z = np.hstack([X, fitted.apply(X)])
    plain = PossibilisticGPClassifier(metric="cosine").fit(X[:16], y[:16])
    model = PossibilisticGPClassifier(metric="cosine", diffusion=fitted.width).fit(Z[:16], y[:16])
    assert model.score(Z[16:], y[16:]) > plain.score(X[16:], y[16:]) + 0.05


@pytest.mark.parametrize("way", ["envelope", "evidence", "fixed"])
@pytest.mark.parametrize("kernel", ["rbf", ConstantKernel(4.0) * RBF(0.5), Matern(0.5, nu=1.5)])
def test_other_kernels_do_not_see_diffusion_coordinates(kernel, way):
    X, with_clusters, y = two_rings()
    rows, given = slice(0, 20), {"hyperparameters": way, "usual_distance": 1.0}
    plain = PossibilisticGPClassifier(kernel, **given).fit(X[rows], y[rows])
    width = with_clusters.shape[1] - 2
    model = PossibilisticGPClassifier(kernel, diffusion=width, **given)
    model.fit(with_clusters[rows], y[rows])
    np.testing.assert_allclose(
        model.predict_proba(with_clusters), plain.predict_proba(X), rtol=1e-6, atol=1e-9
    )
    (found,), (expected,) = model.kernels_[0][0], plain.kernels_[0][0]
    Z = with_clusters[:5]
    np.testing.assert_allclose(found(Z), expected(X[:5]), rtol=1e-6)
    np.testing.assert_allclose(found(Z, Z), expected(X[:5]), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.diag(Z), expected.diag(X[:5]), rtol=1e-6)


def test_a_pool_gives_its_scale_where_the_classifier_has_none():
    X, with_clusters, _ = two_rings()
    width = with_clusters.shape[1] - 2
    found = with_pool_scale(PossibilisticGPClassifier(diffusion=width), with_clusters)
    assert found.usual_distance == usual_distance(X)
    np.testing.assert_array_equal(found.centre, with_clusters.mean(axis=0))
    kept = with_pool_scale(PossibilisticGPClassifier(usual_distance=3.0, centre=[1.0, 2.0]), X)
    assert (kept.usual_distance, kept.centre) == (3.0, [1.0, 2.0])


def test_rows_say_how_they_are_compared_unless_the_classifier_does():
    given = RowGeometry((), "cosine", 3)
    found = with_geometry(PossibilisticGPClassifier(), given)
    assert (found.metric, found.diffusion, found.kernel) == ("cosine", 3, None)
    own = with_geometry(PossibilisticGPClassifier(metric="euclidean", diffusion=2), given)
    assert (own.metric, own.diffusion) == ("euclidean", 2)
    kernel = RBF()
    other = with_geometry(PossibilisticGPClassifier(kernel), replace(given, kernel="rbf"))
    assert (other.metric, other.diffusion) == (None, 3)
    assert other.kernel == kernel
    plain = with_geometry(PossibilisticGPClassifier(), RowGeometry(kernel="rbf"))
    assert (plain.kernel, plain.diffusion) == ("rbf", None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"diffusion": 3}, "diffusion must leave other columns of X, which has 3; got 3"),
        ({"diffusion": 0}, "diffusion must be at least 1; got 0"),
        ({"diffusion": 1, "blocks": (1, 1)}, "diffusion must be left out where columns come in bl"),
        ({"centre": [0.0, 1.0]}, "centre must have one number per column of X, 3; got shape"),
        ({"centre": [0.0, np.nan, 1.0]}, "centre must"),
        ({"centre": "here"}, "centre must have one number per column of X, 3; got 'here'. Leave"),
        ({"kernel": "linear"}, "kernel must be one of 'rbf'; got 'linear'"),
    ],
)
def test_a_likeness_that_does_not_fit_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        PossibilisticGPClassifier(**options).fit(np.eye(3), [0, 1, 1])


# ---------------------------------------------------------------- the prior mean


@pytest.mark.parametrize(
    ("mean", "expected"),
    [(0.8, [0.8]), (0, [0.0]), (np.float32(-1.5), [-1.5]), ([0.4], [0.4])],
)
@pytest.mark.parametrize("kernel", [None, KERNEL], ids=["default", "own"])
def test_far_from_every_label_the_latent_is_believed_at_the_mean(mean, expected, kernel):
    X, y = labelled()
    model = PossibilisticGPClassifier(kernel, mean=mean, hyperparameters="fixed").fit(X, y)
    far, _ = model.latent_mean_and_variance(np.full((2, 2), 1e4))
    np.testing.assert_allclose(far, expected[0], atol=1e-9)
    np.testing.assert_allclose(model.predict_proba([[1e4, 1e4]])[0, 1], ndtr(expected[0]))


@each_way
def test_every_class_may_have_a_mean_of_its_own(way):
    X, y = labelled(3)
    model = PossibilisticGPClassifier(mean=[1.0, -1.0, 0.5], hyperparameters=way).fit(X, y)
    far, _ = model.latent_mean_and_variance([[1e4, 1e4]])
    np.testing.assert_allclose(far, [[1.0, -1.0, 0.5]], atol=1e-6)
    assert model.predict([[1e4, 1e4]])[0] == model.classes_[0]


@each_count
def test_a_mean_may_be_a_function_of_the_rows(classes):
    X, y = labelled(classes)

    def slope(rows):
        return rows[:, 0] if classes == 2 else np.outer(rows[:, 0], np.arange(classes))

    model = PossibilisticGPClassifier(mean=slope, hyperparameters="fixed").fit(X, y)
    far = np.array([[1e4, 1e4], [-1e4, 0.0]])
    np.testing.assert_allclose(model.latent_mean_and_variance(far)[0], slope(far), rtol=1e-9)
    prior = PossibilisticGPClassifier(mean=slope, classes=range(classes))
    prior.fit(np.empty((0, 2)), np.empty(0, dtype=int))
    np.testing.assert_allclose(prior.latent_mean_and_variance(X)[0], slope(X), rtol=1e-9)


def test_a_mean_that_is_learned_is_a_level_that_rows_share():
    X, y = labelled()
    usual, named = (PossibilisticGPClassifier(mean=mean).fit(X, y) for mean in (None, "learned"))
    assert str(usual.kernels_) == str(named.kernels_)
    plain = PossibilisticGPClassifier(mean=0).fit(X, y)
    assert "+" not in str(plain.kernels_[0][0])
    for kernel in (KERNEL, [Matern(0.8)]):
        own = PossibilisticGPClassifier(kernel, mean="learned", hyperparameters="fixed").fit(X, y)
        assert "0.548**2" in str(own.kernels_[0][0][0])  # the root of 0.3, as scikit-learn has it


@pytest.mark.parametrize(
    ("mean", "classes"),
    [
        (1.0, 3),
        ([1.0, 2.0], 3),
        ([1.0, 2.0], 2),
        (np.nan, 2),
        ("learnt", 2),
        (np.ones((1, 3)), 3),
        ([True, False], 2),
    ],
    ids=str,
)
def test_a_mean_that_does_not_fit_is_refused(mean, classes):
    X, y = labelled(classes)
    with pytest.raises(ValueError, match=r"^mean must be .*; got .*\. Use 0 for a mean of zero\.$"):
        PossibilisticGPClassifier(mean=mean).fit(X, y)


def test_a_wave_is_learnt_by_the_default():
    hits = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, T = rng.uniform(-3, 3, (80, 1)), rng.uniform(-3, 3, (1000, 1))
        model = PossibilisticGPClassifier().fit(X, np.sin(6 * X[:, 0]) > 0)
        hits.append(np.mean(model.predict(T) == (np.sin(6 * T[:, 0]) > 0)))
    assert np.mean(hits) >= 0.93


def test_very_many_classes_are_told_of_before_the_fit_takes_long(monkeypatch):
    monkeypatch.setattr(estimators, "MANY_CLASSES", 3)
    X = np.arange(12.0).reshape(6, 2)
    PossibilisticGPClassifier().fit(X, [0, 1, 2, 0, 1, 2])
    PossibilisticGPClassifier(classes=[0, 1, 2, 3]).fit(X[:0], [])
    with pytest.warns(ManyClassesWarning, match=r"^y has 4 classes in 6 rows, and a fit") as caught:
        PossibilisticGPClassifier().fit(X, [0, 1, 2, 3, 0, 1])
    assert caught[0].filename == __file__
