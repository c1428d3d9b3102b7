"""Pace of a person: how long an answer takes, from when answers were made.

pace([event, ...]) -> seconds
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from possibal.campaign.stopping import MOST_IN_DOUBT, Advice, AdviceState
from possibal.labelling.storage.journal import Event, Kind

ONE_BY_ONE = frozenset([Kind.LABEL, Kind.SKIP, Kind.UNSURE, Kind.BAD])
"""Kinds of answers to questions; changes, settlements and comments are none."""
PAUSE = 120_000
"""Milliseconds between two answers from which on somebody did something else meanwhile."""
LATEST = 50
"""Answers that are looked at: people get faster."""
FEWEST = 5
"""With fewer times between answers nothing is said."""
LEAST_ANSWERS, MOST_DOUBT = 10, 0.8
"""With fewer labels, or a larger share of rows in doubt, no labels to come are guessed."""
LOW, HIGH = 0.5, 4.0
"""What bounds the labels to come, times their extrapolation; bench/plateau.py measures how well."""


@dataclass(frozen=True)
class LabelsToCome:
    """How many more labels it probably takes until one may stop."""

    low: int
    high: int


def pace(acts: Sequence[Event]) -> float | None:
    """Median of the seconds between answers, pauses left out; None of too few.

    Args:
        acts: what one person did, by when it was made.
    """
    made = [event.made for event in acts if event.kind in ONE_BY_ONE][-LATEST:]
    between = [after - before for before, after in pairwise(made) if after - before < PAUSE]
    return median(between) / 1000 if len(between) >= FEWEST else None


def labels_to_come(advice: Advice | None, labels: int) -> LabelsToCome | None:
    """How many more labels it probably takes until one may stop; None where that is not known.

    The share of rows in doubt falls about linearly with the labels, from all of them at none.

    Args:
        advice: after these labels.
        labels: how many the model learnt from.
    """
    if advice is None or advice.state is not AdviceState.GO_ON or not advice.rows:
        return None
    assert advice.in_doubt is not None  # noqa: S101 - tells the type checker
    share = advice.in_doubt / advice.rows
    if labels < LEAST_ANSWERS or share >= MOST_DOUBT:
        return None
    expected = max(1.0, labels * (share - MOST_IN_DOUBT) / (1.0 - share))
    most = min(round(HIGH * expected), advice.rows)
    return LabelsToCome(min(max(1, round(LOW * expected)), most), most)
