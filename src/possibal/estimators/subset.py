"""Subset of data: at most max_labels training rows, where more would be too slow to fit exactly.

    subset_of_data(problem, most) -> InferenceProblem        # as it is, where labels are few

Time grows with the cube of the labels and memory with their square. Half of the subset is a random
sample stratified by class; the other half are the rows of largest doubt 1 - N under a fit to the
first half, with the kernel as it is given, as if the model had asked for them itself. There are no
inducing points and no Nystroem approximation.
"""

import numpy as np
from numpy.typing import NDArray

from possibal.acquisition.pointwise import doubt
from possibal.arrays import Places
from possibal.gp.hyperparameters import InferenceProblem, fixed

MAX_LABELS = 5000
"""Labels that are fitted exactly."""
SCORED_ROWS = 16
"""Labels of each class that the sample holds at least, where there are so many."""


def subset_of_data(problem: InferenceProblem, most: int = MAX_LABELS) -> InferenceProblem:
    """The same problem with a subset of its rows; the usual distance stays.

    Paper: none; Props. 2 to 4, 1 - N, selects half of them.
    """
    data = problem.data
    if len(data) <= most:
        return problem
    codes = data.y.argmax(axis=0) if len(data.y) > 1 else (data.y[0] > 0).astype(np.intp)
    first = stratified_sample(codes, (most + 1) // 2)
    fit = fixed(problem.part(first))
    rest = np.setdiff1d(np.arange(len(data)), first)
    utility = doubt(fit.at(data.X[rest]))
    others = rest[np.argsort(-utility, kind="stable")[: most - len(first)]]
    return problem.part(np.union1d(first, others))


def stratified_sample(codes: NDArray[np.intp], count: int) -> Places:
    """Places of a random sample of labels, stratified so that it has some of every class.

    Args:
        codes: (n,), the class of each label.
        count: how many are wanted; at most n.
    """
    order = np.random.default_rng(0).permutation(len(codes))
    turn = np.empty(len(codes), dtype=np.intp)  # the how manieth of its class each one is
    for code in np.unique(codes):
        own = order[codes[order] == code]
        turn[own] = np.arange(len(own))
    return np.sort(order[np.argsort(turn[order] >= SCORED_ROWS, kind="stable")[:count]])
