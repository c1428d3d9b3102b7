"""Checkpoint of the last ranking, kept with the campaign so that a restart need not wait for one.

keep(store, ranking)        kept(store, rows, columns) -> Ranking | None
KeptRanking(read_model): what it tells of a campaign that nobody ranks now

It is derived data: one that is damaged, or of another pool or program, counts as none.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from possibal.campaign.calibration import Outcomes
from possibal.campaign.chance import CredibleChance
from possibal.campaign.stopping import Advice, AdviceState
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.ranking import UNKNOWN, Contradiction, Ranking
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.store import KEPT_RANKING, Store

FORMAT = 4
"""Of what is kept; a later program may know others."""
ARRAYS = ("order", "looked_at", "necessity", "chance", "predicted", "relevance", "sought")
"""Attributes of a ranking that are kept as they are."""
MEMBERS = ("member_chance", "member_necessity")
"""And those of a campaign whose rows have several labels."""
ABOUT, CHANCES, CONTRADICTED = "about", "chances", "contradicted"
"""What the other arrays are called: a JSON document, a line (row, lower, upper) per chance, and one
(row, predicted, chance) per row whose label others contradict."""
LEFT_OUT = ("left_out", "sought_left_out")
"""And those with a line (chance, whether it was right) per row that was left out."""


def keep(store: Store, ranking: Ranking, rows: int) -> None:
    """Keep a ranking in the place of the one before.

    Args:
        store: of the campaign.
        ranking: the last one.
        rows: how many the pool has.
    """
    arrays = _arrays(ranking, rows)
    store.replace_arrays(KEPT_RANKING, {f"{KEPT_RANKING}{n}": a for n, a in arrays.items()})


def kept(store: Store, rows: int, columns: int | None = None) -> Ranking | None:
    """The ranking that was kept; None where there is none that can be used.

    Args:
        store: of the campaign.
        rows: how many the pool has.
        columns: and how many numbers each of them is; None where nobody looks at them.
    """
    try:
        found = store.arrays(KEPT_RANKING)
        arrays = {name.removeprefix(KEPT_RANKING): array for name, array in found.items()}
        return _ranking(arrays, rows, columns) if arrays else None
    except Exception:  # noqa: BLE001 - whatever is wrong with it, a new one is made
        return None


class KeptRanking:
    """The last ranking of a campaign and what follows from it, for those who only look.

    Nothing is ranked anew, so that it comes at once; it may know of fewer answers than there are.
    """

    random_curve = None
    trouble = None

    def __init__(self, read_model: ReadModel) -> None:
        """Read what was kept, if anything was."""
        self.ranking = kept(read_model.store, read_model.setup.rows)
        self.predictions = self.ranking and RankingPredictions(self.ranking, read_model)
        self.check_predictions = dict[int, list[str]]()
        self.answers = len(read_model.task().answers)
        """How many there are to learn from now."""

    @property
    def is_behind(self) -> bool:
        """Whether it knows of fewer or more answers than there are."""
        return self.ranking is None or self.ranking.answers != self.answers


def _arrays(ranking: Ranking, rows: int) -> dict[str, NDArray[Any]]:
    """A ranking as arrays by name."""
    about = {
        "format": FORMAT,
        "rows": rows,
        "answers": ranking.answers,
        "classes": ranking.classes,
        "usual_distance": ranking.usual_distance,
        "advice": asdict(ranking.advice) | {"state": ranking.advice.state.value},
        "is_cold": ranking.is_cold,
        "labels": [chance.labels for chance in ranking.chances.values()],
        "members": ranking.members,
    }
    chances = [(row, one.lower, one.upper) for row, one in ranking.chances.items()]
    against = [(row, one.predicted, one.chance) for row, one in ranking.contradicted.items()]
    return {
        CONTRADICTED: np.array(against, dtype=float).reshape(-1, 3),
        ABOUT: np.array(json.dumps(about)),
        CHANCES: np.array(chances, dtype=float).reshape(-1, 3),
        **{name: _as_array(getattr(ranking, name)) for name in LEFT_OUT},
        **{name: getattr(ranking, name) for name in ARRAYS},
        **({name: getattr(ranking, name) for name in MEMBERS} if ranking.members else {}),
    }


def _as_array(told: Outcomes) -> NDArray[np.float64]:
    """Outcomes as an array, a line for each."""
    return np.array([told.chances, told.is_right], dtype=float).T


def _ranking(arrays: Mapping[str, NDArray[Any]], rows: int, columns: int | None) -> Ranking | None:
    """The ranking of arrays by name; None if they do not fit together or the pool."""
    about: dict[str, Any] = json.loads(str(arrays[ABOUT]))
    if (about["format"], about["rows"]) != (FORMAT, rows):
        return None
    advice: dict[str, Any] = {**about["advice"], "state": AdviceState(about["advice"]["state"])}
    each = zip(arrays[CHANCES].tolist(), about["labels"], strict=True)
    outcomes = (Outcomes(arrays[n][:, 0], arrays[n][:, 1] > 0) for n in LEFT_OUT)
    left_out, sought_left_out = outcomes
    members = tuple(map(str, about.get("members", ())))
    of_members = {name: arrays[name] for name in MEMBERS} if members else {}
    ranking = Ranking(
        members=members,
        answers=int(about["answers"]),
        classes=tuple(map(str, about["classes"])),
        usual_distance=float(about["usual_distance"]),
        advice=Advice(**advice),
        is_cold=bool(about["is_cold"]),
        chances={int(row): CredibleChance(low, high, int(n)) for (row, low, high), n in each},
        contradicted={
            int(row): Contradiction(int(label), chance)
            for row, label, chance in arrays[CONTRADICTED].tolist()
        },
        left_out=left_out,
        sought_left_out=sought_left_out,
        **cast("dict[str, Any]", {name: arrays[name] for name in ARRAYS} | of_members),
    )
    return ranking if _is_sound(ranking, rows, columns) else None


def _is_sound(ranking: Ranking, rows: int, columns: int | None) -> bool:
    """Whether a ranking is one of so many rows of so many columns."""
    looked_at, classes = ranking.looked_at, len(ranking.classes)
    against = list(ranking.contradicted.values())
    shares = (
        *(ranking.necessity, ranking.chance, ranking.sought, [one.chance for one in against]),
        *(ranking.left_out.chances, ranking.sought_left_out.chances),
        *(ranking.member_chance, ranking.member_necessity),
    )
    return (
        all(_is_within(places, 0, rows - 1) for places in (ranking.order, looked_at))
        and bool(np.all(np.diff(looked_at) > 0))
        and looked_at.shape == ranking.necessity.shape == ranking.predicted.shape
        and looked_at.shape == ranking.chance.shape
        and ranking.member_chance.shape == ranking.member_necessity.shape
        and ranking.member_chance.shape in {(0, 0), (len(looked_at), len(ranking.members))}
        and ranking.sought.shape in {(0,), looked_at.shape}
        and _is_within(ranking.predicted, UNKNOWN, classes - 1)
        and all(0 <= row < rows for row in ranking.contradicted)
        and all(0 <= one.predicted < classes for one in against)
        and all(np.all((np.asarray(one) >= 0) & (np.asarray(one) <= 1)) for one in shares)
        and (columns is None or ranking.relevance.shape == (columns,))
        and bool(np.all(np.isfinite(ranking.relevance)))
        and 0 < ranking.usual_distance < math.inf
    )


def _is_within(places: NDArray[Any], low: int, high: int) -> bool:
    """Whether an array is a line of whole numbers between two, both included."""
    is_line = places.dtype == np.intp and places.ndim == 1
    return is_line and bool(np.all((places >= low) & (places <= high)))
