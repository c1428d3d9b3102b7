"""Which rows are selected; tests/campaign/test_snapshot.py has what campaigns ask with it."""

from dataclasses import replace

import numpy as np
import pytest
from support.campaigns import begun, each_strategy, rows

from possibal.acquisition.registry import STRATEGIES
from possibal.campaign import pool, selection
from possibal.campaign.batch import representativeness
from possibal.pool.ranking import rank


def selected(told, strategy="necessity", m=12):
    """The selection of a campaign that knows so many rows."""
    return begun(rows(m=m), range(told), strategy=strategy, classes=[0, 1]).selection


@each_strategy
def test_what_is_asked_are_rows_that_may_be(strategy):
    chosen = selected(4, strategy)
    places = [pick.place for pick in chosen.asked(8)]
    assert sorted(places) == chosen.available.tolist() == list(range(4, 12))


@each_strategy
def test_every_pick_has_the_largest_utility_of_those_it_was_picked_from(strategy):
    gone = set()
    for pick in selected(4, strategy).asked(6):
        assert gone.isdisjoint(pick.places)
        assert pick.utilities[pick.places == pick.place] == pick.utilities.max()
        gone.add(pick.place)


def test_rows_represent_others_until_two_labels_are_known_except_at_random():
    cold = replace(selected(4), is_cold=True)
    assert cold.rule is representativeness
    assert selected(4).rule is STRATEGIES["necessity"]
    assert replace(cold, strategy=STRATEGIES["random"]).rule is STRATEGIES["random"]


@pytest.mark.parametrize(
    ("wanted", "several", "scored"), [(1, False, 1), (1, True, 10), (5, True, 15)]
)
def test_of_a_large_pool_a_local_strategy_scores_the_best_rows(
    monkeypatch, wanted, several, scored
):
    monkeypatch.setattr(pool, "LARGE_POOL", 30)
    monkeypatch.setattr(selection, "BATCH_CANDIDATES", 10)
    campaign = begun(rows(m=40), range(6), strategy="uncertainty")
    found = campaign.selection.candidates(wanted, several=several)
    best = rank(campaign.classifier, rows(m=40), "uncertainty", top=scored, aside=range(6))
    assert found.places.tolist() == sorted(best.places.tolist())


def test_after_all_representatives_the_other_rows_are_asked(monkeypatch):
    monkeypatch.setattr(pool, "COLD_START_SAMPLE", 5)
    chosen = selected(0)
    assert len(chosen.pool.representatives) == 5
    places = [pick.place for pick in chosen.asked(12)]
    assert set(places[:5]) == set(chosen.pool.representatives.tolist())
    assert sorted(places) == list(range(12))
    assert np.isfinite([pick.utilities.max() for pick in chosen.asked(12)]).all()
