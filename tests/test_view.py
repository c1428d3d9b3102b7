import numpy as np
from pools import CountingPosterior

from possibal import acquisition
from possibal.acquisition import STRATEGIES
from possibal.view import View


def test_a_view_asks_the_posterior_once_and_only_if_a_strategy_does():
    posterior = CountingPosterior()
    view = View(posterior, np.zeros((2, 1)), np.random.default_rng(0))
    STRATEGIES["random"](view)
    assert posterior.asked == 0
    STRATEGIES["necessity"](view)
    STRATEGIES["uncertainty"](view)
    assert posterior.asked == 1


def test_a_strategy_may_look_at_the_whole_pool():
    def central(view):
        distance = np.abs(view.candidates - view.reference.mean(axis=0)).sum(axis=1)
        return -distance * acquisition.doubt(view)

    candidates, pool = np.array([[0.0], [4.0]]), np.full((9, 1), 4.0)
    view = View(CountingPosterior(), candidates, reference=pool)
    assert central(view).argmax() == 1
    alone = View(CountingPosterior(), candidates)
    assert alone.reference is candidates
