import numpy as np

from possibal.advice import Advice, State
from possibal.ranking import UNKNOWN, Ranking, Task


def test_the_likeliest_label_of_a_row_is_named_where_there_is_one():
    advice = Advice(State.GO_ON, "Go on.", 0.0, 2, None)
    leading = np.array([1, UNKNOWN, 0])
    ranking = Ranking(
        3, ("a", "b"), np.arange(3), np.zeros(3), leading, np.zeros(2), advice, is_cold=False
    )
    assert [ranking.thought(row) for row in range(3)] == ["b", None, "a"]


def test_a_task_without_anything_has_no_answers():
    assert Task() == Task((), (), frozenset(), (), Task().first)
