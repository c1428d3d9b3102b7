import numpy as np
from sklearn.linear_model import LogisticRegression
from support.estimators import labelled, rows

from possibal.acquisition import margin
from possibal.belief import ProbabilityBelief
from possibal.pool import probability_scorer
from possibal.pool.probability_scorer import ProbabilityScorer
from possibal.pool.reader import Chunk
from possibal.pool.top_k import TopK


def scorer():
    model = LogisticRegression().fit(*labelled(3, 40))

    def at(X):
        return ProbabilityBelief.of_probabilities(model.predict_proba(X), "a model")

    return ProbabilityScorer(at, margin)


def test_the_best_available_rows_are_kept_part_by_part(monkeypatch):
    monkeypatch.setattr(probability_scorer, "_ROWS", 7)
    X, found = rows(1, 50), scorer()
    expected = found.utilities(X)
    excluded = np.array([100 + expected.argmax()])
    top_k = TopK(3, found.slack)
    names = [f"row {place}" for place in range(50)]
    assert found.offer(Chunk(100, X, names), top_k, excluded) == 49
    (best,) = top_k.best(found.utilities)
    order = np.argsort(-expected, kind="stable")[1:4]
    assert best.places.tolist() == (100 + order).tolist()
    assert best.names == [f"row {place}" for place in order]


def test_no_rows_have_no_utilities():
    assert scorer().utilities(rows(0)[:0]).shape == (0,)
