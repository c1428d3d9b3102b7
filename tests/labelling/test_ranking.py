import numpy as np

from possibal.campaign.stopping import Advice, AdviceState
from possibal.labelling import ranking as module
from possibal.labelling.ranking import UNKNOWN, Ranking, RankingTask, overview_sample

ADVICE = Advice(AdviceState.GO_ON, "Go on.", 0.0, 2, None)


def ranking(looked_at, necessity, predicted) -> Ranking:
    sure = np.array(necessity)
    told = np.array(looked_at), sure, (1 + sure) / 2, np.array(predicted)
    return Ranking(3, ("a", "b"), np.arange(3), *told, np.zeros(2), 1.0, ADVICE, is_cold=False)


def test_the_likeliest_label_of_a_row_is_named_where_there_is_one():
    found = ranking([0, 1, 2], [0.1, 0.0, 0.7], [1, UNKNOWN, 0])
    assert [found.predicted_label(row) for row in range(3)] == ["b", None, "a"]
    assert [found.necessity_of(row) for row in range(3)] == [0.1, 0.0, 0.7]
    assert found.predicted_labels_of([2, 7, 1, 0]) == ["a", None, None, "b"]
    assert found.chances_of([2, 7, 1, 0]) == [0.85, None, None, 0.55]


def test_nothing_is_said_of_rows_that_were_not_looked_at():
    found = ranking([2, 5], [0.1, 0.7], [1, 0])
    assert [found.predicted_label(row) for row in range(7)] == [
        None,
        None,
        "b",
        None,
        None,
        "a",
        None,
    ]
    assert [found.necessity_of(row) for row in range(7)] == [0.0, 0.0, 0.1, 0.0, 0.0, 0.7, 0.0]
    assert found.necessities_of([5, 6, 2]) == [0.7, 0.0, 0.1]
    nothing = ranking([], [], [])
    assert (nothing.predicted_label(3), nothing.necessity_of(3)) == (None, 0.0)


def test_the_rows_that_stand_for_a_pool_are_drawn_by_the_seed(monkeypatch):
    monkeypatch.setattr(module, "OVERVIEW_SAMPLE", 5)
    assert len(set(overview_sample(30, 1).tolist())) == 5
    assert (
        overview_sample(30, 1).tolist()
        == overview_sample(30, 1).tolist()
        != overview_sample(30, 2).tolist()
    )
    assert sorted(overview_sample(3, 1).tolist()) == [0, 1, 2]


def test_a_task_without_anything_has_no_answers():
    assert RankingTask() == RankingTask((), (), frozenset(), (), RankingTask().first)
