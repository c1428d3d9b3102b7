"""Checkpoint of the last ranking, kept with the campaign so that a restart need not wait for one.

keep(store, ranking)        kept(store, rows, columns) -> Ranking | None

It is derived data: one that is damaged, or of another pool or program, counts as none.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from possibal.campaign.chance import CredibleChance
from possibal.campaign.stopping import Advice, AdviceState
from possibal.labelling.ranking import UNKNOWN, Ranking
from possibal.labelling.storage.store import KEPT_RANKING, Store

FORMAT = 1
"""Of what is kept; a later program may know others."""
ARRAYS = ("order", "looked_at", "necessity", "predicted", "relevance")
"""Attributes of a ranking that are kept as they are."""
ABOUT, CHANCES = "about", "chances"
"""What the other arrays are called: a JSON document, and a line (row, lower, upper) per chance."""


def keep(store: Store, ranking: Ranking, rows: int) -> None:
    """Keep a ranking in the place of the one before.

    Args:
        store: of the campaign.
        ranking: the last one.
        rows: how many the pool has.
    """
    arrays = _arrays(ranking, rows)
    store.replace_arrays(KEPT_RANKING, {f"{KEPT_RANKING}{n}": a for n, a in arrays.items()})


def kept(store: Store, rows: int, columns: int) -> Ranking | None:
    """The ranking that was kept; None where there is none that can be used.

    Args:
        store: of the campaign.
        rows: how many the pool has.
        columns: and how many numbers each of them is.
    """
    try:
        found = store.arrays(KEPT_RANKING)
        arrays = {name.removeprefix(KEPT_RANKING): array for name, array in found.items()}
        return _ranking(arrays, rows, columns) if arrays else None
    except Exception:  # noqa: BLE001 - whatever is wrong with it, a new one is made
        return None


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
    }
    chances = [(row, one.lower, one.upper) for row, one in ranking.chances.items()]
    return {
        ABOUT: np.array(json.dumps(about)),
        CHANCES: np.array(chances, dtype=float).reshape(-1, 3),
        **{name: getattr(ranking, name) for name in ARRAYS},
    }


def _ranking(arrays: Mapping[str, NDArray[Any]], rows: int, columns: int) -> Ranking | None:
    """The ranking of arrays by name; None if they do not fit together or the pool."""
    about: dict[str, Any] = json.loads(str(arrays[ABOUT]))
    if (about["format"], about["rows"]) != (FORMAT, rows):
        return None
    advice: dict[str, Any] = {**about["advice"], "state": AdviceState(about["advice"]["state"])}
    each = zip(arrays[CHANCES].tolist(), about["labels"], strict=True)
    ranking = Ranking(
        answers=int(about["answers"]),
        classes=tuple(map(str, about["classes"])),
        usual_distance=float(about["usual_distance"]),
        advice=Advice(**advice),
        is_cold=bool(about["is_cold"]),
        chances={int(row): CredibleChance(low, high, int(n)) for (row, low, high), n in each},
        **{name: arrays[name] for name in ARRAYS},
    )
    return ranking if _is_sound(ranking, rows, columns) else None


def _is_sound(ranking: Ranking, rows: int, columns: int) -> bool:
    """Whether a ranking is one of so many rows of so many columns."""
    looked_at, classes = ranking.looked_at, len(ranking.classes)
    return (
        all(_is_within(places, 0, rows - 1) for places in (ranking.order, looked_at))
        and bool(np.all(np.diff(looked_at) > 0))
        and looked_at.shape == ranking.necessity.shape == ranking.predicted.shape
        and _is_within(ranking.predicted, UNKNOWN, classes - 1)
        and bool(np.all((ranking.necessity >= 0) & (ranking.necessity <= 1)))
        and ranking.relevance.shape == (columns,)
        and bool(np.all(np.isfinite(ranking.relevance)))
        and 0 < ranking.usual_distance < math.inf
    )


def _is_within(places: NDArray[Any], low: int, high: int) -> bool:
    """Whether an array is a line of whole numbers between two, both included."""
    is_line = places.dtype == np.intp and places.ndim == 1
    return is_line and bool(np.all((places >= low) & (places <= high)))
