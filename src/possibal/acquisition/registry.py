"""What strategies say of candidates, checked, whoever wrote them."""

import numpy as np

from possibal.acquisition.pointwise import STRATEGIES
from possibal.acquisition.strategy import Strategy, View
from possibal.arrays import Vector


def pick(view: View, strategy: Strategy) -> int:
    """The place of the candidate with the largest utility; the lowest of several."""
    return int(utilities(view, strategy).argmax())


def utilities(view: View, strategy: Strategy) -> Vector:
    """One number for each candidate, none of them missing."""
    name = next((n for n, known in STRATEGIES.items() if known is strategy), None)
    name = name or getattr(strategy, "__name__", type(strategy).__name__)
    given, m = np.asarray(strategy(view)), len(view.candidates)
    if given.shape != (m,) or given.dtype.kind not in "fiub":
        raise ValueError(
            f"strategy {name} must give one number per row, {m}; got shape {given.shape} of "
            f"{given.dtype}. Score view.candidates."
        )
    missing = np.isnan(given)
    if missing.any():
        raise ValueError(
            f"strategy {name} must give numbers; got NaN at row {int(missing.argmax())}. "
            "Give rows of no interest -inf."
        )
    return given.astype(float)
