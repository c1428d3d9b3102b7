import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, random_array
from sklearn.linear_model import LogisticRegression
from support.estimators import labelled, rows

from possibal import Belief, Campaign, rank
from possibal.estimators.classifier import PossibilisticGPClassifier, with_geometry, with_pool_scale
from possibal.estimators.logistic import INTERCEPT, PossibilisticLogisticRegression
from possibal.gp.kernels import LeadingColumns
from possibal.gp.linear import LinearPrior
from possibal.numerics.geometry import RowGeometry


def noisy(seed=0, n=60):
    X = rows(seed, n, 3)
    return X, (X[:, 0] + np.random.default_rng(seed + 1).logistic(size=n) > 0.3).astype(int)


def logistic(precision=None, count=2, n=20, **choices):
    return PossibilisticLogisticRegression(precision, **choices).fit(*labelled(count, n))


# ---------------------------------------------------------------- what others say


def test_weights_of_a_given_precision_are_those_of_scikit_learn():
    X, y = noisy()
    ours = PossibilisticLogisticRegression(2.0, hyperparameters="fixed", fit_intercept=False)
    theirs = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10).fit(X, y)
    ours.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    assert ours.precision_ == pytest.approx(2.0)
    assert ours.intercept_.tolist() == [0.0]


def test_weights_without_any_precision_are_those_of_scikit_learn():
    X, y = noisy()
    ours = PossibilisticLogisticRegression(0).fit(X, y)
    theirs = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert ours.precision_ == 0.0


@pytest.mark.parametrize("count", [2, 3])
def test_a_gaussian_process_of_the_same_kernel_says_the_same(count):
    X, y = labelled(count, 40)
    ours = PossibilisticLogisticRegression(0.5, hyperparameters="fixed").fit(X, y)
    kernel = ours.kernels_[0][0][0]
    theirs = PossibilisticGPClassifier(kernel, link="logistic", hyperparameters="fixed").fit(X, y)
    for one, other in [
        (ours.belief(rows(1)).mean, theirs.belief(rows(1)).mean),
        (ours.belief(rows(1)).variance, theirs.belief(rows(1)).variance),
        (ours.necessity(rows(1)), theirs.necessity(rows(1))),
    ]:
        np.testing.assert_allclose(one, other, rtol=1e-8)


# ---------------------------------------------------------------- what it says itself


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("way", ["envelope", "evidence", "fixed"])
def test_latents_are_weights_times_columns(count, way):
    model = logistic(count=count, hyperparameters=way)
    expected = rows(1) @ model.coef_.T + model.intercept_
    mean, _ = model.latent_mean_and_variance(rows(1))
    np.testing.assert_allclose(mean, expected[:, 0] if count == 2 else expected, atol=1e-10)
    assert isinstance(model.belief(rows(1)), Belief)


def test_an_envelope_has_several_precisions():
    assert len(logistic().kernels_) > 1
    assert len(logistic(hyperparameters="evidence").kernels_) == 1


def test_the_usual_precision_follows_the_length_of_rows():
    X, y = labelled()
    model = PossibilisticLogisticRegression(hyperparameters="fixed").fit(X, y)
    longer = PossibilisticLogisticRegression(hyperparameters="fixed").fit(10 * X, y)
    np.testing.assert_allclose(longer.belief(10 * X).mean, model.belief(X).mean, rtol=1e-8)
    assert longer.precision_ == pytest.approx(100 * model.precision_)
    given = PossibilisticLogisticRegression(hyperparameters="fixed", usual_length=2.0).fit(X, y)
    prior = given.posterior_.prior
    assert isinstance(prior, LinearPrior)
    assert prior.intercept == pytest.approx(INTERCEPT * 4.0)


def test_without_labels_it_knows_nothing():
    model = PossibilisticLogisticRegression(classes=["a", "b"]).fit(np.empty((0, 2)), [])
    assert (model.necessity(rows(0, 5)) == 0).all()
    np.testing.assert_allclose(model.predict_proba(rows(0)), 0.5)


def test_of_one_class_alone_it_stays_in_doubt_far_away():
    model = PossibilisticLogisticRegression(classes=["a", "b"]).fit(np.ones((3, 2)), ["a"] * 3)
    assert model.predict(np.ones((1, 2))).tolist() == ["a"]
    assert model.necessity(np.array([[10.0, -10.0]]))[0] < 0.2


def test_a_prior_mean_is_what_is_thought_before_labels():
    def last_layer(X):
        return 3.0 * X[:, 0]

    model = PossibilisticLogisticRegression(classes=[0, 1], mean=last_layer)
    model.fit(np.empty((0, 2)), [])
    mean, _ = model.latent_mean_and_variance(rows(0))
    np.testing.assert_allclose(mean, last_layer(rows(0)))


def test_diffusion_coordinates_are_not_seen():
    X, y = labelled()
    wide = np.column_stack([X, rows(3, len(X), 2)])
    model = PossibilisticLogisticRegression(diffusion=2).fit(wide, y)
    assert (model.coef_[:, 2:] == 0).all()
    alone = PossibilisticLogisticRegression(usual_length=1.0).fit(X, y)
    again = PossibilisticLogisticRegression(usual_length=1.0, diffusion=2).fit(wide, y)
    np.testing.assert_allclose(again.belief(wide).mean, alone.belief(X).mean, rtol=1e-8)
    assert isinstance(model.kernels_[0][0][0], LeadingColumns)


# ---------------------------------------------------------------- sparse rows


@pytest.mark.parametrize("made", [csr_matrix, csr_array])
@pytest.mark.parametrize("precision", [None, 0])
def test_sparse_rows_say_what_dense_ones_say(made, precision):
    X, y = noisy()
    dense = PossibilisticLogisticRegression(precision).fit(X, y)
    sparse = PossibilisticLogisticRegression(precision).fit(made(X), y)
    np.testing.assert_allclose(sparse.predict_proba(made(X)), dense.predict_proba(X), atol=1e-10)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(sparse.predict_proba(X), dense.predict_proba(X), atol=1e-10)


def test_rows_too_wide_to_be_dense_are_learnt_from():
    X = random_array((30, 10**6), density=1e-5, rng=np.random.default_rng(0), format="csr")
    model = PossibilisticLogisticRegression().fit(X, np.arange(30) % 3)
    assert (model.predict(X) == np.arange(30) % 3).all()
    assert model.necessity(X).shape == (30,)


def test_sparse_rows_count_as_often_as_they_are_weighed():
    X, y = noisy(n=20)
    twice = PossibilisticLogisticRegression().fit(csr_array(np.vstack([X, X])), np.append(y, y))
    weighed = PossibilisticLogisticRegression().fit(csr_array(X), y, np.full(20, 2.0))
    np.testing.assert_array_equal(weighed.belief(X).mean, twice.belief(X).mean)


def test_sparse_rows_that_are_no_numbers_are_refused():
    X = csr_array(np.array([[1.0, np.nan], [0.0, 2.0]]))
    with pytest.raises(ValueError, match="X must be finite"):
        PossibilisticLogisticRegression().fit(X, [0, 1])


def test_a_fit_leaves_sparse_rows_as_they_are():
    X = csr_matrix(([1.0, 2.0, 0.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    before = X.copy()
    PossibilisticLogisticRegression().fit(X, [0, 1])
    assert X.nnz == before.nnz
    np.testing.assert_array_equal(X.data, before.data)


# ---------------------------------------------------------------- wherever a classifier goes


@pytest.mark.parametrize("strategy", ["herding", "look_ahead", "necessity", "bemps"])
def test_a_campaign_asks_by_it(strategy):
    X, y = labelled(3, 40)
    model = PossibilisticLogisticRegression()
    campaign = Campaign.start(X, classifier=model, strategy=strategy)
    for _ in range(6):
        for row in campaign.ask(2):
            campaign.tell(row, int(y[row]))
    assert (campaign.predict(X) == y).mean() > 0.7
    assert isinstance(campaign.classifier, PossibilisticLogisticRegression)


def test_a_pool_is_ranked_as_it_scores_it():
    X, y = labelled(2, 100)
    model = PossibilisticLogisticRegression().fit(X, y)
    pool = rows(5, 300)
    found = rank(model, pool, "necessity", top=5)
    assert list(found.ids) == np.argsort(model.necessity(pool), kind="stable")[:5].tolist()


def test_the_scale_of_a_pool_is_taken_where_there_is_no_other():
    X = 3.0 * rows(0)
    found = with_pool_scale(PossibilisticLogisticRegression(), X)
    assert found.usual_length == pytest.approx(np.sqrt((X * X).sum(axis=1).mean()))
    kept = with_pool_scale(PossibilisticLogisticRegression(usual_length=2.0), X)
    assert kept.usual_length == 2.0
    clusters = with_geometry(PossibilisticLogisticRegression(), RowGeometry(diffusion=1))
    assert clusters.diffusion == 1


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"precision": -1.0}, "precision must be a positive number; got -1.0"),
        ({"precision": True}, "precision must be a positive number; got True"),
        ({"usual_length": 0.0}, "usual_length must be a positive number; got 0.0"),
        ({"mean": "learned"}, "mean must be a number or a function of rows; got 'learned'"),
        ({"precision": 0, "mean": 1.0}, "precision must be above zero where mean"),
        ({"precision": 0, "diffusion": 1}, "precision must be above zero where mean or diffusion"),
        ({"precision": 0, "most_labels": 5}, "for more than most_labels=5 labelled rows"),
        ({"link": "logit"}, "link must be"),
    ],
)
def test_what_has_no_meaning_is_refused(choices, sentence):
    with pytest.raises(ValueError, match=sentence):
        PossibilisticLogisticRegression(**choices).fit(*noisy())


def test_complete_ignorance_is_for_two_labels_and_no_campaign():
    X, y = labelled(3)
    with pytest.raises(ValueError, match=r"for more than two classes.*got 0 and 3 classes"):
        PossibilisticLogisticRegression(0).fit(X, y)
    with pytest.raises(ValueError, match="precision must be above zero in a campaign"):
        Campaign.start(X, classifier=PossibilisticLogisticRegression(0))
    model = PossibilisticLogisticRegression(0).fit(*noisy())
    with pytest.raises(ValueError, match="to rank pools; got 0"):
        rank(model, rows(0, 20, 3), "necessity", top=1)
    with pytest.raises(ValueError, match="for draws"):
        model.sample_proba(rows(0, 2, 3))
