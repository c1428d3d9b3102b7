import numpy as np

from possibal.campaign.reasons import reason
from possibal.campaign.snapshot import Answer, Snapshot


def test_a_cold_start_asks_about_rows_that_stand_for_others():
    assert reason(Snapshot.start(np.arange(4.0)[:, None]), 1) == "It stands for many others."


def test_later_it_says_what_the_model_thinks_and_whether_the_row_is_new():
    X = np.concatenate([np.linspace(0, 1, 10), [9.0]])[:, None]
    snapshot = Snapshot.start(X).tell(0, "low").tell(9, "high")
    assert reason(snapshot, 1).startswith("Perhaps low (")
    assert "with necessity 0." in reason(snapshot, 1)
    assert reason(snapshot, 10).endswith("Nothing like it has a label.")
    assert not reason(snapshot, 1).endswith("Nothing like it has a label.")


def test_it_says_whether_a_label_is_open_or_random():
    X = np.concatenate([np.zeros(301), [5.0]])[:, None]
    snapshot = Snapshot.start(X).replay(
        [Answer(row, "heads" if row % 2 else "tails") for row in range(300)]
    )
    assert "Close to a toss of a coin whatever is labelled." in reason(snapshot, 300)
    assert "not known yet." in reason(snapshot, 301)
