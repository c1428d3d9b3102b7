import numpy as np
from support.pools import CountingPosterior

from possibal import acquisition
from possibal.acquisition.registry import STRATEGIES
from possibal.acquisition.strategy import View


def test_a_view_asks_the_posterior_once_and_only_if_a_strategy_does():
    posterior = CountingPosterior()
    view = View(posterior, np.zeros((2, 1)), np.random.default_rng(0))
    STRATEGIES["random"](view)
    assert posterior.asked == 0
    STRATEGIES["necessity"](view)
    STRATEGIES["uncertainty"](view)
    assert posterior.asked == 1


def test_what_depends_on_rows_alone_is_worked_out_once_for_a_batch():
    made = []

    def middle(view):
        made.append(view.candidates)
        return view.candidates.mean()

    view = View(
        CountingPosterior(),
        np.array([[1.0], [3.0]]),
        known=CountingPosterior().at(np.zeros((2, 1))),
    )
    later = view.after(CountingPosterior())
    assert view.once(middle) == later.once(middle) == 2.0
    assert len(made) == 1
    assert later.posterior is not view.posterior
    assert later.candidates is view.candidates
    assert later.known is None  # of the posterior before
    assert View(CountingPosterior(), np.array([[5.0]])).once(middle) == 5.0


def test_a_strategy_may_look_at_the_whole_pool():
    def central(view):
        distance = np.abs(view.candidates - view.reference.mean(axis=0)).sum(axis=1)
        return -distance * acquisition.doubt(view)

    candidates, pool = np.array([[0.0], [4.0]]), np.full((9, 1), 4.0)
    view = View(CountingPosterior(), candidates, reference=pool)
    assert central(view).argmax() == 1
    alone = View(CountingPosterior(), candidates)
    assert alone.reference is candidates
