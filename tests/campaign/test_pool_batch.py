import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.campaigns import each_strategy, few, rows, seeds, truth

import possibal
from possibal import Campaign, PossibilisticGPClassifier
from possibal.campaign import pool
from possibal.gp import LatentPosterior
from possibal.pool import sampling


def campaign_of(X, told, classes=2, **choices):
    """A campaign that knows the first rows."""
    campaign = Campaign.start(X, classes=range(classes), **choices)
    for row, label in zip(range(told), truth(X, classes), strict=False):
        campaign.tell(row, label)
    return campaign


@each_strategy
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("told", [0, 1, 12])
def test_a_batch_is_what_a_campaign_asks(strategy, classes, told):
    X = rows(5, m=40)
    campaign = campaign_of(X, told, classes, strategy=strategy, seed=3)
    found = possibal.batch(campaign.classifier, X, 6, strategy, aside=range(told), seed=3)
    assert found.places.tolist() == list(found.ids) == campaign.ask(6)
    np.testing.assert_array_equal(found.X, X[found.places])


@few
@given(seed=seeds, told=st.integers(0, 6), n=st.integers(1, 6))
def test_a_batch_of_one_seed_is_always_the_same_and_begins_with_a_smaller_one(seed, told, n):
    X = rows(seed)
    model = campaign_of(X, told).classifier
    found = possibal.batch(model, X, n, aside=range(told), seed=seed)
    again = possibal.batch(model, X, 6, aside=range(told), seed=seed)
    assert found.places.tolist() == again.places[:n].tolist()


@pytest.mark.parametrize("strategy", ["herding", "uncertainty", "random"])
def test_a_large_pool_has_the_batch_of_a_campaign(monkeypatch, strategy):
    monkeypatch.setattr(pool, "LARGE_POOL", 100)
    monkeypatch.setattr(sampling, "JOINT_CANDIDATES", 20)
    monkeypatch.setattr(sampling, "SAMPLE_SIZE", 60)
    X = rows(1, m=300)
    campaign = campaign_of(X, 9, strategy=strategy, seed=7)
    found = possibal.batch(campaign.classifier, X, 5, strategy, aside=range(9), seed=7)
    assert found.places.tolist() == campaign.ask(5)


def test_functions_of_users_are_strategies():
    X = rows(m=30)
    model = PossibilisticGPClassifier().fit(X[:9], truth(X[:9]))
    left = -np.abs(model.latent_mean_and_variance(X)[0])
    moments = possibal.batch(model, X, strategy=lambda mean, _variance: -abs(mean))
    viewed = possibal.batch(model, X, strategy=lambda view: -abs(view.belief.mean[0]))
    assert moments.places.tolist() == viewed.places.tolist() == [left.argmax()]


# ---------------------------------------------------------------- utilities


@each_strategy
def test_utilities_of_the_pool_are_those_that_each_row_was_picked_by(strategy):
    X = rows(2, m=20)
    model = campaign_of(X, 5).classifier
    found = possibal.batch(model, X, 4, strategy, aside=range(5))
    table = found.pool_utilities
    assert table.shape == (4, 20)
    assert np.isnan(table[:, :5]).all()
    for line, place in enumerate(found.places):
        assert table[line, place] == np.nanmax(table[line]) == found.utilities[line]
        assert np.isnan(table[line + 1 :, place]).all()
        assert np.isnan(table[line]).sum() == 5 + line
    assert np.isfinite(table[0, 5:]).all()


def test_a_copy_of_a_picked_row_does_not_compete():
    X = np.repeat(rows(3, m=8), 2, axis=0)
    model = PossibilisticGPClassifier().fit(rows(4), truth(rows(4)))
    found = possibal.batch(model, X, 2)
    copy = found.places[0] ^ 1
    assert found.pool_utilities[1, copy] == -np.inf
    assert found.pool_utilities[0, copy] == found.utilities[0]


# ---------------------------------------------------------------- models and pools


def test_a_pipeline_and_a_frame_have_the_batch_of_their_campaign():
    X = pd.DataFrame(rows(6, m=30) * [1, 100], columns=["a", "b"], index=range(100, 130))
    pipeline = make_pipeline(StandardScaler(), PossibilisticGPClassifier())
    campaign = Campaign.start(X, classes=[0, 1], classifier=pipeline)
    for row in range(100, 108):
        campaign.tell(row, row % 2)
    found = possibal.batch(campaign.classifier, X, 3, aside=range(8))
    assert list(found.ids) == campaign.ask(3)
    assert found.ids == tuple(100 + place for place in found.places.tolist())
    assert repr(found) == f"PoolBatch(3 of 30 rows: {list(found.ids)})"
    assert len(found) == 3


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (
            LogisticRegression(),
            TypeError,
            "got LogisticRegression. Fit one first",
        ),
        (make_pipeline(LogisticRegression()), TypeError, "must end in a PossibilisticGPClassifier"),
        (PossibilisticGPClassifier(), NotFittedError, "not fitted"),
    ],
)
def test_other_models_are_refused(model, error, words):
    with pytest.raises(error, match=words):
        possibal.batch(model, rows())


@pytest.mark.parametrize(
    ("choices", "error", "words"),
    [
        ({"n": 0}, ValueError, "n must be at least 1; got 0"),
        ({"n": 1.5}, TypeError, "n must be a whole number; got 1.5"),
        ({"n": 13}, ValueError, r"n must be at most 12, the rows left; got 13\. Ask for fewer"),
        ({"n": 12, "aside": [3]}, ValueError, "n must be at most 11, the rows left; got 12"),
        ({"aside": [12]}, ValueError, r"aside must hold places of rows, 0 to 11; got 12\. Count"),
        ({"aside": [-1]}, ValueError, "aside must hold places of rows, 0 to 11; got -1"),
        ({"aside": ["a"]}, TypeError, "aside must hold places of rows, which are whole numbers"),
        ({"strategy": "herdin"}, ValueError, "Did you mean 'herding'?"),
        ({"seed": -1}, ValueError, "seed must be at least 0; got -1"),
        ({"X": "pool.csv"}, TypeError, r"X must be rows in memory; got 'pool.csv'\. Read the file"),
        ({"X": rows(d=3)}, ValueError, "X has 3 features, but .* is expecting 2"),
        ({"X": rows(m=0)}, ValueError, "X must have at least 1 row; got none"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(choices, error, words):
    model = PossibilisticGPClassifier().fit(rows(), truth(rows()))
    with pytest.raises(error, match=words):
        possibal.batch(model, **({"X": rows()} | choices))


def test_chunks_behind_a_pipeline_are_refused():
    pipeline = make_pipeline(StandardScaler(), PossibilisticGPClassifier())
    pipeline.fit(rows(), truth(rows()))
    with pytest.raises(TypeError, match="X must be rows in memory; got chunks of them"):
        possibal.batch(pipeline, iter([rows(), rows()]))


def test_a_model_of_ones_own_gives_a_batch():
    X = np.random.default_rng(4).normal(size=(60, 2))

    def latents(rows):
        return rows[:, 0], np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2))

    own = LatentPosterior(latents, X[:10])
    found = possibal.batch(own, X, 4, "necessity", aside=range(10))
    assert len(set(found.places.tolist()) - set(range(10))) == 4
    with pytest.raises(ValueError, match="X must have the 2 columns of the labelled rows; got 3"):
        possibal.batch(own, np.ones((5, 3)), 1)
