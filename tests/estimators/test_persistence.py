import subprocess
import sys

import numpy as np
import pytest
import skops.io
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.estimators import labelled, measured, rows

from possibal import (
    PossibilisticGPClassifier,
    PossibilisticGPRegressor,
    as_possibilistic,
    skops_types,
)

ESTIMATORS = [
    *(PossibilisticGPClassifier(link=link) for link in ("probit", "logistic")),
    PossibilisticGPClassifier(metric="cosine"),
    PossibilisticGPClassifier(blocks=[1, 1]),
    PossibilisticGPClassifier(diffusion=1),
    PossibilisticGPClassifier("rbf", hyperparameters="evidence"),
    PossibilisticGPClassifier(Matern(), diffusion=1),
    PossibilisticGPClassifier(mean="learned"),
    PossibilisticGPRegressor(),
    PossibilisticGPRegressor(noise="systematic", hyperparameters="envelope"),
    PossibilisticGPRegressor(RBF() * DotProduct() + WhiteKernel(), noise_variance=1.0),
    make_pipeline(StandardScaler(), PossibilisticGPClassifier()),
    as_possibilistic(make_pipeline(StandardScaler(), PossibilisticGPClassifier())),
]
MLFLOW = """
import sys
import warnings

warnings.simplefilter("ignore")
import mlflow
import numpy as np
from possibal import PossibilisticGPClassifier, skops_types

X = np.random.default_rng(0).normal(size=(30, 2))
y = np.where(X[:, 0] > 0, "yes", "no")
model = PossibilisticGPClassifier().fit(X, y)
mlflow.set_tracking_uri(sys.argv[1])
info = mlflow.sklearn.log_model(
    model, name="model", skops_trusted_types=skops_types(), pip_requirements=["possibal"]
)
again = mlflow.sklearn.load_model(info.model_uri)
np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
print(mlflow.pyfunc.load_model(info.model_uri).predict(X)[:3].tolist() == y[:3].tolist())
"""


def lopsided(X):
    return X[:, 0]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: " ".join(str(one).split()))
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.works_with("skops", "fitted models, with the types to trust named", "skops")
def test_skops_loads_what_it_kept_with_the_types_that_are_named(estimator, classes):
    is_number = isinstance(estimator, PossibilisticGPRegressor)
    model = estimator.fit(*(measured() if is_number else labelled(classes)))
    said = model.predict(rows(1))
    again = skops.io.loads(skops.io.dumps(model), trusted=skops_types())
    np.testing.assert_array_equal(again.predict(rows(1)), said)
    assert type(again) is type(model)


def test_what_would_run_code_of_the_file_is_not_trusted():
    model = PossibilisticGPClassifier(mean=lopsided).fit(*labelled())
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException, match="CallableMean"):
        skops.io.loads(skops.io.dumps(model), trusted=skops_types())


@pytest.mark.long
@pytest.mark.works_with("MLflow", "`log_model` and `load_model`", "mlflow-skinny")
def test_mlflow_logs_and_loads_a_model(tmp_path):
    pytest.importorskip("mlflow", reason="make interop installs it")
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", MLFLOW, (tmp_path / "runs").as_uri()],
        env={"MLFLOW_ALLOW_FILE_STORE": "true", "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == ["True"], done.stderr
