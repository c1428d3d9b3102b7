import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.estimators import rows

from possibal import PossibilisticGPClassifier, simulate
from possibal.acquisition import STRATEGIES
from possibal.data.frames import from_frame
from possibal.experiments.compare import sizes
from possibal.experiments.engine.model_runs import model_runs
from possibal.experiments.learning_curves import simulate as curves
from possibal.experiments.spec import ENVELOPE, HELD_OUT, Experiment
from possibal.experiments.user_data import LoadedTable, given_source, loaded


def frame(n=40):
    X = rows(0, n, 2)
    label = np.where(X[:, 0] + 0.2 * X[:, 1] > 0, "yes", "no")
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": label})


def test_the_usual_classifier_alone_has_the_curves_of_the_batches():
    options = {"label": "label", "strategies": ["margin"], "runs": 2, "questions": 4, "jobs": 1}
    batched = curves(frame(), **options)
    alone = curves(frame(), classifier=PossibilisticGPClassifier(), **options)
    pd.testing.assert_frame_equal(alone, batched)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())]
)
def test_a_run_asks_each_row_once_and_is_the_same_again(model):
    data = loaded(LoadedTable("t", from_frame(frame()), given_source("a test")), "label").dataset
    experiment = Experiment(data.name, HELD_OUT, ENVELOPE, sizes(data, 2, 5), 0)
    strategies = {"herding": STRATEGIES["herding"]}
    (first,), (again,) = (
        model_runs(experiment, data, strategies, model, [("herding", 1)]) for _ in range(2)
    )
    assert len(set(first.rows.tolist())) == 5
    assert first.accuracy.shape == (6,)
    assert first.accuracy[-1] > 0.6
    np.testing.assert_array_equal(first.rows, again.rows)


def test_what_a_model_cannot_be_asked_is_refused_before_any_run():
    with pytest.raises(TypeError, match=r"got necessity\. Use herding"):
        simulate(frame(), label="label", strategies=["necessity"], classifier=LogisticRegression())
    with pytest.raises(ValueError, match="hyperparameters must be left out"):
        simulate(
            frame(), label="label", hyperparameters="evidence", classifier=LogisticRegression()
        )
