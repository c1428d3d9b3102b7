"""More labels than can be learnt from exactly: the ones that tell most.

    shortened(problem, most) -> Problem        # as it is, where labels are few

Time grows with the cube of the labels and memory with their square. Of too many, half are drawn by
lot, some of every class; of the others those are taken that a fit to the first half doubts most, as
if the model had asked for them itself. That fit has the kernel as it is given.
"""

import numpy as np
from numpy.typing import NDArray

from possibal.acquisition.pointwise import doubt
from possibal.arrays import Places
from possibal.gp.hyperparameters import InferenceProblem, fixed

MAX_LABELS = 5000
"""Labels that are learnt from exactly."""
SCORED_ROWS = 16
"""Labels of each class that the lot leaves in, where there are so many."""


def subset_of_data(problem: InferenceProblem, most: int = MAX_LABELS) -> InferenceProblem:
    """The same with as many labels as can be learnt from exactly; the usual distance stays.

    Paper: none; Props. 2 to 4, 1 - N, tells which labels are worth keeping.
    """
    data = problem.data
    if len(data) <= most:
        return problem
    codes = data.y.argmax(axis=0) if len(data.y) > 1 else (data.y[0] > 0).astype(np.intp)
    first = drawn(codes, (most + 1) // 2)
    fit = fixed(problem.part(first))
    rest = np.setdiff1d(np.arange(len(data)), first)
    worth = doubt(fit.at(data.X[rest]))
    others = rest[np.argsort(-worth, kind="stable")[: most - len(first)]]
    return problem.part(np.union1d(first, others))


def drawn(codes: NDArray[np.intp], count: int) -> Places:
    """Places of so many labels drawn by lot, with some of every class.

    Args:
        codes: (n,), the class of each label.
        count: how many are wanted; at most n.
    """
    lots = np.random.default_rng(0).permutation(len(codes))
    turn = np.empty(len(codes), dtype=np.intp)  # the how manieth of its class each one is
    for code in np.unique(codes):
        own = lots[codes[lots] == code]
        turn[own] = np.arange(len(own))
    return np.sort(lots[np.argsort(turn[lots] >= SCORED_ROWS, kind="stable")[:count]])
