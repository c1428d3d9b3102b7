import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.colors import to_hex

from possibal.errors import MissingPackageError
from possibal.experiments.reporting.figures import (
    PENS,
    SPARE,
    as_bytes,
    critical_difference,
    curves,
)
from possibal.experiments.reporting.rank_tests import RankTest
from possibal.experiments.results import Results
from possibal.experiments.spec import TABLE_3, experiment, strategies

PNG = b"\x89PNG\r\n\x1a\n"
SIX = ("sonar", "wine", "breast", "ionosphere", "fri", "vehicle")
RANKING = RankTest(("a", "b", "c", "d", "e"), (1.25, 2.0, 3.0, 4.0, 4.75), 1.5, 0.01, SIX)


def drawn(dataset, *own, start=2):
    """Results with five runs of four questions."""
    rng = np.random.default_rng(len(dataset))
    names = [*strategies(dataset), *own]
    return Results(experiment(dataset), start, {s: rng.uniform(size=(5, 5)) for s in names})


def texts(figure):
    """What an SVG of the figure says."""
    root = ET.fromstring(as_bytes(figure, "svg"))  # noqa: S314 - our own file
    return [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]


def size(png):
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


# ---------------------------------------------------------------- learning curves
@pytest.mark.parametrize(
    ("panels", "grid"),
    [(1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 2)), (5, (2, 3)), (6, (2, 3)), (11, (3, 4))],
)
def test_panels_stand_in_a_grid_of_few_empty_places(panels, grid):
    figure = curves([drawn(name) for name in list(TABLE_3)[:panels]])
    shape = figure.axes[0].get_gridspec()
    assert (shape.nrows, shape.ncols) == grid
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(TABLE_3)[:panels]


def test_a_line_is_the_median_over_runs_and_starts_with_the_labels_of_the_start():
    result = drawn("iris", start=3)
    panel = curves([result]).axes[0]
    lines = {to_hex(line.get_color()): line for line in panel.lines}
    line = lines[PENS["necessity"].colour]
    assert line.get_xdata().tolist() == [3, 4, 5, 6, 7]
    assert line.get_ydata() == pytest.approx(np.median(result.accuracy["necessity"], axis=0))
    assert len(lines) == 6


def test_a_band_reaches_from_the_first_to_the_third_quartile():
    result = drawn("iris")
    panel = curves([result]).axes[0]
    bands = {to_hex(band.get_facecolor()[0]): band for band in panel.collections}
    heights = bands[PENS["margin"].colour].get_paths()[0].vertices[:, 1]
    low, high = np.quantile(result.accuracy["margin"], (0.25, 0.75), axis=0)
    assert heights.min() == pytest.approx(low.min())
    assert heights.max() == pytest.approx(high.max())


def test_a_strategy_has_the_same_pen_in_every_figure():
    one, both = curves([drawn("sonar", "z", "y")]), curves([drawn("wine", "y"), drawn("iris", "z")])
    for figure in (one, both):
        handles = dict(
            zip(
                [text.get_text() for text in figure.legends[0].get_texts()],
                [to_hex(line.get_color()) for line in figure.legends[0].get_lines()],
                strict=True,
            )
        )
        assert handles["bald"] == PENS["bald"].colour
        assert (handles["y"], handles["z"]) == SPARE[:2]


def test_no_two_known_strategies_share_a_pen():
    assert {s for name in TABLE_3 for s in strategies(name)} == set(PENS)
    assert len({pen.colour for pen in PENS.values()} | set(SPARE)) == len(PENS) + len(SPARE)


def test_more_strategies_than_colours_can_be_drawn():
    figure = curves([drawn("sonar", *(f"own {i}" for i in range(25)))])
    assert len(figure.legends[0].get_texts()) == 31


@pytest.mark.parametrize(
    "own",
    [
        (),
        ("one", "two", "three", "four"),
        ("a name " * 20,),
        tuple("a name " * 9 + c for c in "abcd"),
    ],
)
def test_the_legend_lies_within_the_picture_and_names_each_strategy_once(own):
    figure = curves([drawn("sonar", *own), drawn("iris", *own)])
    as_bytes(figure, "png")
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= 1400
    assert len(legend.get_texts()) == 8 + len(own)


def test_two_sets_are_1400_dots_wide():
    image = as_bytes(curves([drawn(name) for name in SIX[:2]]), "png")
    assert image.startswith(PNG)
    assert size(image)[0] == 1400


def test_names_are_shown_as_they_are_and_as_text():
    odd = ("_hidden", "$x_1$", "<b>&amp;", "n" * 60)
    found = texts(curves([drawn("sonar", *odd)]))
    assert {"sonar", "labels", "accuracy", "necessity", *odd[:3], "n" * 39 + "…"} <= set(found)


def test_results_without_a_strategy_are_an_empty_panel():
    figure = curves([Results(experiment("sonar"), 2, {})])
    assert as_bytes(figure, "png").startswith(PNG)
    assert not figure.axes[0].lines


def test_no_results_are_refused():
    with pytest.raises(ValueError, match=r"^results must hold at least one set; got none\."):
        curves([])


# ---------------------------------------------------------------- ranks
def bars(figure):
    """The ends of the bars that join strategies."""
    thick = [line for line in figure.axes[0].lines if line.get_linewidth() == 5]
    ends = [line.get_xdata() for line in thick]
    return [(round(low + 0.04, 6), round(high - 0.04, 6)) for low, high in ends]


def test_bars_join_the_longest_stretches_within_the_critical_difference():
    assert bars(critical_difference(RANKING)) == [(1.25, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, 4.75)]
    wide = RankTest(RANKING.strategies, RANKING.average, 2.0, 0.01, SIX)
    assert bars(critical_difference(wide)) == [(1.25, 3.0), (2.0, 4.0), (3.0, 4.75)]


def test_one_bar_joins_all_if_nothing_can_be_told_apart():
    alike = RankTest(("a", "b", "c"), (1.9, 2.0, 2.1), 1.9, 0.9, SIX)
    assert bars(critical_difference(alike)) == [(1.9, 2.1)]


def test_the_diagram_names_strategies_ranks_and_the_length_of_the_difference():
    found = texts(critical_difference(RANKING))
    assert {"critical difference 1.50", "Average rank (1 is best)", "1", "5"} <= set(found)
    joined = " ".join(found)
    for name, average in zip(RANKING.strategies, RANKING.average, strict=True):
        assert f"{name}  {average:.2f}" in joined or f"{average:.2f}  {name}" in joined


def test_the_better_half_stands_on_the_left():
    axes = critical_difference(RANKING).axes[0]
    sides = {text.get_text().strip(): text.get_ha() for text in axes.texts}
    assert [sides[f"{name}  {rank}"] for name, rank in (("a", "1.25"), ("c", "3.00"))] == [
        "right"
    ] * 2
    assert sides["4.75  e"] == "left"


def test_names_do_not_touch_and_stay_in_the_picture():
    many = tuple(f"a strategy with a long name {i}" for i in range(12))
    ranking = RankTest(many, tuple(1 + 0.1 * i for i in range(12)), 0.35, 0.01, SIX)
    figure = critical_difference(ranking)
    width, height = size(as_bytes(figure, "png"))
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert all(box.x0 >= 0 and box.x1 <= width for box in boxes)
    assert all(box.y0 >= 0 and box.y1 <= height for box in boxes)
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize("strategies", [("a",), ("a", "b")])
def test_without_a_test_there_are_no_bars_and_the_diagram_says_why(strategies):
    ranking = RankTest(strategies, (1.0, 2.0)[: len(strategies)], None, None, ("sonar",))
    figure = critical_difference(ranking)
    assert bars(figure) == []
    assert "too few sets or strategies for a test" in texts(figure)


def test_an_empty_ranking_is_refused():
    with pytest.raises(ValueError, match=r"^ranking must hold at least one strategy; got none\."):
        critical_difference(RankTest((), (), None, None, ()))


# ---------------------------------------------------------------- files
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_results_give_the_same_bytes(kind):
    first, again = (as_bytes(curves([drawn("sonar")]), kind) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_ranking_gives_the_same_bytes(kind):
    first, again = (as_bytes(critical_difference(RANKING), kind) for _ in range(2))
    assert first == again


def test_an_svg_has_no_date():
    assert b"<dc:date>" not in as_bytes(critical_difference(RANKING), "svg")


def test_another_kind_of_file_is_refused():
    with pytest.raises(ValueError, match=r"^kind must be one of 'png', 'svg'; got 'gif'"):
        as_bytes(critical_difference(RANKING), "gif")


def test_figures_without_matplotlib_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[plot\]'"):
        curves([drawn("sonar")])
    with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[plot\]'"):
        critical_difference(RANKING)
