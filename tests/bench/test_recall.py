"""The rules beside which ours is measured."""

import numpy as np
import pytest
from scipy.stats import hypergeom

pytest.importorskip("skactiveml", reason="its sets are read as those of the benchmark of peers")

import recall

from possibal.campaign.recall import RecallEstimate, RowCount

POOL, RARE = 400, 20


def trail(labels, drawn=(), estimates=None) -> recall.Trail:
    labels = np.array(labels, dtype=bool)
    return recall.Trail("a", POOL, RARE, labels, estimates or {}, np.array(drawn, dtype=np.intp))


FOUND_FIRST = trail([1] * RARE + [0] * 300)


def test_rows_in_a_row_that_are_not_of_the_class_are_counted():
    assert recall.in_a_row(50)(FOUND_FIRST) == RARE + 50
    assert recall.in_a_row(3)(trail([1, 0, 0, 1, 0, 0, 0, 1])) == 7
    assert recall.in_a_row(50)(trail([1, 0] * 100)) == POOL


def test_recall_below_the_target_is_refuted_when_too_few_are_found_for_it():
    asked = recall.hypergeometric(FOUND_FIRST)
    missing = 2  # floor(20 / 0.95 - 20 + 1)

    def p(n):
        return hypergeom.cdf(0, POOL - RARE, missing, n - RARE)

    assert p(asked) < 0.05 <= p(asked - 1)
    assert recall.hypergeometric(trail([1, 0] * 100)) == POOL


def test_a_knee_is_where_the_slope_before_is_many_times_that_after():
    labels = np.array([1] * RARE + [0] * 300, dtype=bool)
    assert recall.slope_ratios(labels)[RARE + 59] == pytest.approx(1 / (1 / 60))
    assert recall.knee(FOUND_FIRST) == RARE + 136  # 156 - 20
    assert recall.budget(FOUND_FIRST) == 10 * POOL / RARE
    assert recall.budget(trail([1, 0] * 150)) == 300  # three quarters


def test_a_target_is_enough_when_those_that_were_drawn_are_found_and_they_are_paid_for():
    drawn = [*range(10), 50, POOL]
    assert recall.target(trail([1] * RARE + [0] * 300, drawn)) == 10
    assert recall.paid("target", trail([1] * RARE + [0] * 300, drawn)) == (12, 0.5)
    assert recall.paid("target", trail([1] * RARE + [0] * 300, drawn[:9])) == (POOL, 1.0)


def test_possibals_rule_is_its_advice():
    sure, likely = RowCount(0.0, 0.0, 0.0), RowCount(0.5, 0.0, 9.0)
    said = {30: RecallEstimate(20, likely, 30, 10), 60: RecallEstimate(20, sure, 60, 40)}
    told = trail([1] * RARE + [0] * 300, estimates=said)
    assert recall.paid("possibal, may stop", told) == (30, 1.0)
    assert recall.paid("possibal, stop", told) == (60, 1.0)
    assert recall.paid("possibal, stop", trail([1] * RARE)) == (POOL, 1.0)
    (rules, sets, held) = recall.tables([told])
    assert (rules.row_count, sets.row_count, held.row_count) == (len(recall.RULES), 1, 4)


def test_pools_have_so_many_rows_of_the_class():
    pool = recall.drawn(0.03, np.random.default_rng(0))
    assert (len(pool.X), int(pool.is_rare.sum())) == (recall.POOL, 30)
