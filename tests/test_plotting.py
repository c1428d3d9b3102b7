"""Figures of notebooks: what is drawn is what was worked out, on the axes that are given."""

import importlib.util

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from sklearn.gaussian_process.kernels import RBF
from support.passengers import labelled, passengers

from possibal import (
    Campaign,
    GaussianNoise,
    PossibilisticGP,
    PossibilisticGPClassifier,
    PossibilisticGPRegressor,
    open_campaign,
    plotting,
)
from possibal.campaign.learning_curve import CurvePoint, accuracy_curve, own_curve
from possibal.errors import MissingPackageError

X = np.linspace(0, 10, 21)


@pytest.fixture(autouse=True)
def _closed():
    """No figure is left open."""
    yield
    plt.close("all")


def lines(axes: Axes) -> dict[str, np.ndarray]:
    """What is drawn as lines, by their names."""
    return {one.get_label(): one.get_ydata() for one in axes.lines}


def ends(axes: Axes, place: int) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper end of a band at `X`."""
    corners = axes.collections[place].get_paths()[0].vertices
    columns = [corners[np.isclose(corners[:, 0], x), 1] for x in X]
    return np.array([one.min() for one in columns]), np.array([one.max() for one in columns])


# ---------------------------------------------------------------- bands
def test_the_band_of_a_process_is_its_own_at_each_level():
    process = PossibilisticGP(0.0, 1.0 * RBF(1.4)).given(
        [1.0, 4.0], [0.5, -0.7], GaussianNoise(0.1)
    )
    axes = plotting.band(process, X, levels=[0.5, 0.9])
    for place, level in enumerate((0.9, 0.5)):  # the widest is behind
        np.testing.assert_allclose(np.transpose(ends(axes, place)), process.band(X, level))
    np.testing.assert_allclose(lines(axes)["most credible"], process.band(X).mean(axis=1))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        *("necessity 0.9", "necessity 0.5", "most credible")
    ]


def test_the_band_of_a_regressor_is_its_credible_interval_whatever_the_order_of_rows():
    model = PossibilisticGPRegressor(kernel=1.0 * RBF(1.0)).fit(X[::4, None], np.sin(X[::4]))
    axes = plotting.band(model, np.random.default_rng(0).permutation(X)[:, None], levels=[0.9])
    expected = model.credible_interval(X[:, None], 0.9)
    np.testing.assert_allclose(np.transpose(ends(axes, 0)), expected)
    np.testing.assert_allclose(lines(axes)["most credible"], model.predict(X[:, None]))


@pytest.mark.parametrize("names", [("down", "up"), ("a", "b", "c")])
def test_of_two_classes_the_second_is_drawn_and_of_more_each(names):
    labels = [names[int(x * len(names) / 11)] for x in X]
    model = PossibilisticGPClassifier().fit(X[:, None], labels)
    axes = plotting.band(model, X, levels=[0.5])
    shown = names[1:] if len(names) == 2 else names
    assert list(lines(axes)) == [f"probability of {name}" for name in shown]
    chances = model.predict_proba(X[:, None])
    ranges = model.credible_probability(X[:, None], 0.5)
    for place, name in enumerate(shown):
        column = names.index(name)
        np.testing.assert_allclose(lines(axes)[f"probability of {name}"], chances[:, column])
        np.testing.assert_allclose(np.transpose(ends(axes, place)), ranges[:, column])


def test_what_has_no_band_is_refused():
    with pytest.raises(TypeError, match="process must be a PossibilisticGP, or a fitted"):
        plotting.band(object(), X)
    process = PossibilisticGP(0.0, 1.0 * RBF(1.4))
    with pytest.raises(ValueError, match=r"X must have one column; got shape \(21, 2\)"):
        plotting.band(process, np.column_stack([X, X]))


# ---------------------------------------------------------------- curves
def test_a_curve_has_its_shares_in_per_cent_and_their_ranges():
    points = [CurvePoint(2, 0.5, 0.25, 0.75), CurvePoint(4, 0.75, 0.5, 1.0)]
    _, given = plt.subplots()
    axes = plotting.learning_curve(points, "right", ax=given)
    assert axes is given
    (line,) = axes.lines
    assert line.get_xydata().tolist() == [[2, 50], [4, 75]]
    corners = axes.collections[0].get_paths()[0].vertices.tolist()
    for corner in ([2, 25], [2, 75], [4, 50], [4, 100]):
        assert corner in corners
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("answers", "right, in %")


def test_an_empty_curve_says_when_it_begins():
    axes = plotting.learning_curve([], "right")
    assert axes.texts[0].get_text() == "The curve begins once two classes have a label."


def test_a_campaign_draws_what_tells_most_of_it(tmp_path):
    frame, survived = passengers()
    campaign = labelled(Campaign.start(frame, classes=[0, 1]), survived, 8)
    own = campaign.plot_curve()
    assert own.get_ylabel() == "chance of being right, by the model itself, in %"
    expected = [100 * one.accuracy for one in own_curve(campaign.snapshot)]
    np.testing.assert_allclose(own.lines[0].get_ydata(), expected)
    test = campaign.plot_curve(frame, survived)
    assert test.get_ylabel() == "right on the rows given, in %"
    known = accuracy_curve(campaign.snapshot, campaign.snapshot.pool.X, survived.tolist())
    np.testing.assert_allclose(test.lines[0].get_ydata(), [100 * one.accuracy for one in known])
    with open_campaign(tmp_path / "a.db", frame, classes=[0, 1], check=10) as stored:
        assert stored.plot_curve().get_ylabel().startswith("chance of being right")
        labelled(stored, survived, 16)
        checked = stored.plot_curve()
        assert checked.get_ylabel() == "right on check rows, in %"
        shares = [100 * one["accuracy"] for one in stored.report()["curve"]]
        np.testing.assert_allclose(checked.lines[0].get_ydata(), shares)


def test_rows_come_with_their_labels():
    frame, survived = passengers()
    campaign = Campaign.start(frame, classes=[0, 1])
    with pytest.raises(ValueError, match="rows and labels must be given together; got rows alone"):
        campaign.plot_curve(frame)
    with pytest.raises(ValueError, match="got labels alone"):
        campaign.plot_curve(labels=survived)
    with pytest.raises(ValueError, match="labels must name the label of each row, at least one; "):
        campaign.plot_curve(frame, survived[:5])


# ---------------------------------------------------------------- maps
def test_a_map_has_every_row_once_in_the_colour_and_shape_of_its_class():
    frame, survived = passengers()
    campaign = labelled(Campaign.start(frame, classes=[0, 1]), survived, 8)
    axes = campaign.plot_map()
    dots = [one for one in axes.collections if isinstance(one, PathCollection)]
    drawn = np.concatenate([one.get_offsets() for one in dots])
    points = campaign.map()
    assert sorted(drawn.tolist()) == sorted([one.x, one.y] for one in points)
    by_name = {one.get_label(): one for one in dots if not one.get_label().startswith("_")}
    assert set(by_name) == {"0", "1"}
    told = [[one.x, one.y] for one in points if one.label == 1]
    assert sorted(by_name["1"].get_offsets().tolist()) == sorted(told)
    looks = {
        (tuple(one.get_facecolor()[0]), one.get_paths()[0].vertices.size)
        for one in by_name.values()
    }
    assert len(looks) == 2


def test_a_map_of_many_classes_names_some_and_says_so():
    campaign = Campaign.start(np.arange(40.0).reshape(20, 2), classes=list(range(20)))
    axes = campaign.plot_map()
    assert axes.get_title() == "12 of 20 classes are named"
    assert len(axes.get_legend().get_texts()) == 13  # and what nothing is known of


def test_no_rows_make_an_empty_map():
    assert plotting.row_map([], []).get_legend() is None


def test_names_are_drawn_as_they_are_with_dollars_and_underscores():
    campaign = Campaign.start(np.arange(8.0).reshape(4, 2), classes=["$a$", "_b"])
    axes = campaign.plot_map()
    axes.figure.canvas.draw()
    shown = [
        text.get_text().strip("\N{ZERO WIDTH SPACE}") for text in axes.get_legend().get_texts()
    ]
    assert shown == ["no guess", r"\$a\$", "_b"]


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(plotting, "find_spec", lambda _: None)
    assert importlib.util.find_spec("matplotlib")
    with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[plot\]'"):
        plotting.learning_curve([], "right")
