import numpy as np
import pytest
from support.outcomes import START, STEPS, learning, made_up

from possibal.experiments.compare import RANDOM, saving
from possibal.experiments.reporting.comparison_table import comparison_table
from possibal.experiments.spec import REFEREES


@pytest.fixture(scope="module", name="result")
def _result():
    rng = np.random.default_rng(1)
    curves = {RANDOM: 0, "fast": 8, "slow": -12, "faster": 12}
    return made_up(**{name: learning(rng, 10, ahead=k, noise=0.005) for name, k in curves.items()})


def test_the_most_accurate_comes_first_and_every_cell_is_filled(result):
    shown = comparison_table(result)
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in shown.rows}
    assert list(cells) == ["faster", "fast", "random", "slow"]
    assert all(cell for name in ("faster", "fast", "slow") for cell in cells[name])
    assert shown.title == "Strategies on wine"
    assert shown.note.startswith("10 runs of 30 questions, pools of 89 rows, 89 other rows")


def test_figures_of_the_table_are_those_of_the_runs(result):
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in comparison_table(result).rows}
    over, lead, end, needed, saved = cells["fast"]
    area, one = result.area, saving(result, "fast")
    gap = 100 * (area["fast"] - area[RANDOM])
    assert over == f"{100 * area['fast'].mean():.1f}"
    assert end == f"{100 * result.final['fast'].mean():.1f}"
    assert needed == str(one.needed)
    assert saved == f"{one.saved:+d} [{one.interval[0]:+.0f}, {one.interval[1]:+.0f}]"
    middle, low, high = (float(part.strip("[],")) for part in lead.split())
    assert middle == pytest.approx(gap.mean(), abs=0.05)
    assert low < middle < high
    # A normal interval is about as wide.
    assert high - low == pytest.approx(2 * 1.96 * gap.std() / np.sqrt(10), abs=0.15)


def test_referees_stand_beside_our_own_model(result):
    rng = np.random.default_rng(2)
    referee = made_up(**{name: learning(rng, 10, noise=0.01) for name in result.accuracy})
    alone, both = comparison_table(result), comparison_table(result, {"svm": referee})
    titles = [column.title for column in both.columns]
    assert titles[3:5] == ["by svm, %", "ahead of random by svm, points [95 %]"]
    assert titles[:3] + titles[5:] == [column.title for column in alone.columns]
    expected = {row[0].text: row[1:3] for row in comparison_table(referee).rows}
    for row, before in zip(both.rows, alone.rows, strict=True):
        assert row[:3] + row[5:] == before
        assert row[3:5] == expected[row[0].text]
    assert both.note == f"{alone.note} By svm: {REFEREES['svm']} that learns from the same labels."


def test_random_has_no_lead_over_itself_and_others_may_never_get_there(result):
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in comparison_table(result).rows}
    over, lead, end, needed, saved = cells[RANDOM]
    assert (lead, saved) == ("", "")
    assert float(over) < float(end)
    assert START < int(needed) <= START + STEPS
    assert cells["slow"][3] == "not reached"
    assert cells["slow"][4].startswith("-")
