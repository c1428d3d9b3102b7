import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.campaign.stopping import Advice, AdviceState
from possibal.labelling.pace import FEWEST, LATEST, PAUSE, LabelsToCome, labels_to_come, pace
from possibal.labelling.storage.journal import Event, Kind


def acts(*times: int, kind: Kind = Kind.LABEL) -> list[Event]:
    """Answers made at these times, in milliseconds."""
    return [Event(f"k{place}", kind, "ann", made, place) for place, made in enumerate(times)]


def test_the_pace_is_the_median_time_between_answers():
    assert pace(acts(0, 1000, 3000, 6000, 10_000, 15_000)) == 3.0


def test_pauses_do_not_count():
    assert pace(acts(0, 1000, 3000, 6000, 10_000, 10_000 + PAUSE, 15_000 + PAUSE)) == 3.0


def test_of_too_few_answers_nothing_is_said():
    assert pace(acts(*range(0, 1000 * FEWEST, 1000))) is None
    assert pace(acts(*range(0, PAUSE * 20, PAUSE))) is None
    assert pace([]) is None


def test_what_is_no_answer_to_a_question_does_not_count():
    asked, changed = acts(*range(0, 10_000, 1000)), acts(*range(500, 10_500, 1000), kind=Kind.EDIT)
    both = sorted([*asked, *changed], key=lambda event: event.made)
    assert pace(both) == 1.0


def advice(in_doubt: int, rows: int = 100, state: AdviceState = AdviceState.GO_ON) -> Advice:
    """Advice with so many rows in doubt."""
    return Advice(state, "Go on.", 0.0, in_doubt, 0.1, rows)


def test_labels_to_come_follow_from_how_fast_the_rows_in_doubt_became_fewer():
    assert labels_to_come(advice(52), 24) == LabelsToCome(12, 100)
    assert labels_to_come(advice(27), 73) == LabelsToCome(12, 100)
    assert labels_to_come(advice(27, rows=1000), 73) == LabelsToCome(1, 4)
    assert labels_to_come(advice(270, rows=1000), 73) == LabelsToCome(12, 100)
    assert labels_to_come(advice(1, rows=2), 20) == LabelsToCome(2, 2)


@pytest.mark.parametrize(
    ("told", "labels"),
    [
        (None, 20),
        (advice(50), 9),
        (advice(80), 20),
        (advice(0, rows=0), 20),
        (advice(5, state=AdviceState.SETTLED), 20),
    ],
)
def test_labels_to_come_are_not_guessed_where_little_is_known(told, labels):
    assert labels_to_come(told, labels) is None


@given(st.lists(st.integers(1, PAUSE - 1), min_size=2 * LATEST, max_size=3 * LATEST))
def test_the_last_answers_alone_matter(between):
    times = [sum(between[:place]) for place in range(len(between) + 1)]
    assert pace(acts(*times)) == pytest.approx(pace(acts(*times[-LATEST:])))
