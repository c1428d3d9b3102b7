import numpy as np
import pytest

from possibal.experiments.reporting.timing import CLAIMED, SCORES, Cost, measured


@pytest.fixture(scope="module", name="tiny")
def _tiny():
    return measured(repeats=1, rows=2000)


def test_every_score_of_the_paper_takes_time(tiny):
    assert list(tiny.row) == list(tiny.step) == list(SCORES)
    for figures in (tiny.row, tiny.step):
        assert all(np.isfinite(figure) and figure > 0 for figure in figures.values())
    assert tiny.rows == 2000


def test_the_table_has_a_line_for_every_score_and_no_empty_figure(tiny):
    table = tiny.table()
    assert [row[0].text for row in table.rows] == list(SCORES)
    for row in table.rows:
        assert all(cell.text for column, cell in enumerate(row) if column != 3)
    assert "one of 2000 scored at once" in table.note
    assert "50 labels of sonar" in table.note


def test_costs_stand_beside_the_papers_claim():
    row, step = ({name: float(n) for n, name in enumerate(SCORES, first)} for first in (10, 40))
    shown = Cost(row, step).table()
    cells = {line[0].text: [cell.text for cell in line[1:]] for line in shown.rows}
    assert cells["standard"] == ["10", "1.00", "", "40.00", "1.00"]
    assert cells["N"] == ["15", "1.50", "1.12", "45.00", "1.12"]
    assert cells["BALD, closed form"] == ["12", "1.20", "1.23", "42.00", "1.05"]
    assert {name for name, line in cells.items() if line[2]} == set(CLAIMED)
    assert "N is 12 % slower than the standard score and 9 % faster than BALD" in shown.note
