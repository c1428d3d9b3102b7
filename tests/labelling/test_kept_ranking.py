import json

import numpy as np
import pytest
from support.services import campaign, created, event, in_process_ranker, rows, truth

from possibal.labelling import kept_ranking
from possibal.labelling.kept_ranking import FORMAT, keep, kept
from possibal.labelling.ranking import RankingTask
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.store import KEPT_RANKING, Contents, Store

pytest_plugins = ["support.postgres"]
X = rows(30)
ATTRIBUTES = (
    "answers",
    "classes",
    "usual_distance",
    "advice",
    "is_cold",
    "chances",
    "contradicted",
)


@pytest.fixture(name="store")
def _store(tmp_path):
    with created(tmp_path, X, find="yes") as made:
        yield made


@pytest.fixture(name="ranking")
def _ranking(store):
    store.append([event("ann", row, truth(X)[row]) for row in range(8)])
    return in_process_ranker(store).rank(ReadModel(store).task())


def _changed(store, name, change):
    """One of the arrays that are kept, changed."""
    arrays = store.arrays(KEPT_RANKING)
    arrays[f"{KEPT_RANKING}{name}"] = change(arrays[f"{KEPT_RANKING}{name}"])
    store.replace_arrays(KEPT_RANKING, arrays)


def test_a_ranking_is_kept_whole_and_takes_the_place_of_the_one_before(store, ranking):
    cold = in_process_ranker(store).rank(RankingTask(classes=("no", "yes")))
    assert kept(store, *X.shape) is None
    for one in (cold, ranking, cold):
        keep(store, one, len(X))
        found = kept(store, *X.shape)
        for name in ATTRIBUTES:
            assert getattr(found, name) == getattr(one, name), name
        for name in kept_ranking.ARRAYS:
            np.testing.assert_array_equal(getattr(found, name), getattr(one, name))
        for told in kept_ranking.LEFT_OUT:
            for name in ("chances", "is_right"):
                np.testing.assert_array_equal(
                    getattr(getattr(found, told), name), getattr(getattr(one, told), name)
                )
    assert ranking.chances
    assert len(ranking.left_out) == ranking.answers
    assert len(store.array_names()) == 1 + 5 + len(kept_ranking.ARRAYS)


def test_one_of_other_rows_is_none(store, ranking):
    keep(store, ranking, len(X))
    assert kept(store, len(X) + 1, X.shape[1]) is None
    assert kept(store, len(X), X.shape[1] + 1) is None


def _about(**changes):
    return lambda array: np.array(json.dumps(json.loads(str(array)) | changes))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("about", _about(format=FORMAT + 1)),
        ("about", _about(usual_distance=float("nan"))),
        ("about", _about(usual_distance=0.0)),
        ("about", _about(advice={"state": "go home"})),
        ("about", _about(labels=[])),
        ("about", lambda _: np.array("{")),
        ("order", lambda one: one + len(X)),
        ("order", lambda one: one - 1 - one.max()),
        ("order", lambda one: one.astype(float)),
        ("order", lambda one: one[None]),
        ("looked_at", lambda one: one[::-1].copy()),
        ("looked_at", lambda one: one[1:]),
        ("necessity", lambda one: one + 2.0),
        ("necessity", lambda one: one * np.nan),
        ("predicted", lambda one: one + 2),
        ("predicted", lambda one: one - 2),
        ("relevance", lambda one: one * np.inf),
        ("chances", lambda one: one[:, :2].copy()),
        ("chance", lambda one: one[1:]),
        ("contradicted", lambda one: one + np.array([len(X), 0, 0])),
        ("contradicted", lambda one: one + np.array([0, 2, 0])),
        ("contradicted", lambda one: one + np.array([0, 0, 2])),
        ("contradicted", lambda one: one[:, :2].copy()),
        ("left_out", lambda one: one + 2.0),
        ("left_out", lambda one: one[:, :1].copy()),
        ("sought_left_out", lambda one: one - 2.0),
        ("sought", lambda one: one[1:]),
        ("sought", lambda one: one + 2.0),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_one_that_does_not_fit_together_is_none(store, ranking, name, change):
    keep(store, ranking, len(X))
    assert kept(store, *X.shape) is not None
    _changed(store, name, change)
    assert kept(store, *X.shape) is None


def test_one_that_is_damaged_is_none(store, ranking):
    keep(store, ranking, len(X))
    store.writing.run(
        lambda connection: connection.exec_driver_sql(
            "UPDATE parts SET content = x'00' WHERE name = 'ranking:order'"
        )
    )
    assert kept(store, *X.shape) is None


def test_rows_that_change_end_what_was_kept_of_those_before(store, ranking):
    keep(store, ranking, len(X))
    store.extend(store.setup(), Contents((), {"X": X + 1.0}), ())
    assert kept(store, *X.shape) is None
    assert store.array_names() == ["X"]


@pytest.mark.parametrize("where", ["file", "server"])
def test_it_is_kept_on_any_database(request, tmp_path, where, ranking):
    db = str(tmp_path / "b.db") if where == "file" else request.getfixturevalue("postgresql")
    with Store.create(db, *campaign(X)) as store:
        for _ in range(2):
            keep(store, ranking, len(X))
        np.testing.assert_array_equal(kept(store, *X.shape).order, ranking.order)
