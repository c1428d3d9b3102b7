import numpy as np
import polars as pl
import pytest
from support.campaigns import rows, truth

from possibal.campaign import beliefs
from possibal.campaign.beliefs import row_beliefs
from possibal.campaign.snapshot import Answer, Snapshot


def told(classes: int = 2) -> Snapshot:
    """A snapshot with ten answers."""
    X = rows(m=30)
    names = [f"r{row}" for row in range(30)]
    labels = truth(X, classes)
    answers = (Answer(names[row], labels[row]) for row in range(10))
    return Snapshot.start(X, ids=names, classes=list(range(classes))).replay(answers)


@pytest.mark.parametrize("classes", [2, 3])
def test_beliefs_are_those_of_the_classifier(classes, monkeypatch):
    monkeypatch.setattr(beliefs, "BLOCK", 4)
    snapshot, places = told(classes), np.array([3, 20, 11, 5, 29, 0])
    found, X = row_beliefs(snapshot, places), rows(m=30)[places]
    model = snapshot.classifier
    mean, variance = model.latent_mean_and_variance(X)
    np.testing.assert_allclose(found.mean, mean)
    np.testing.assert_allclose(found.variance, variance)
    np.testing.assert_allclose(found.necessity, model.necessity(X))
    np.testing.assert_allclose(found.probability, model.predict_proba(X))
    assert found.labels == model.predict(X).tolist()
    assert found.ids == ("r3", "r20", "r11", "r5", "r29", "r0")
    assert found.classes == tuple(range(classes))
    assert len(found) == 6
    assert (found.label_necessity <= found.necessity).all()


def test_no_rows_have_no_beliefs():
    assert len(row_beliefs(told(), np.array([], dtype=int))) == 0


@pytest.mark.parametrize(("classes", "columns"), [(2, 6), (3, 11)])
def test_they_become_a_frame(classes, columns):
    found = row_beliefs(told(classes), np.array([1, 2]))
    frame = found.to_frame()
    assert frame.shape == (2, columns)
    assert frame["id"].tolist() == ["r1", "r2"]
    np.testing.assert_allclose(frame["probability 1"], found.probability[:, 1])
    assert isinstance(found.to_frame("polars"), pl.DataFrame)
