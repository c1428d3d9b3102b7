"""Runs of Algorithm 1 by a classifier of the user's choice, one campaign each.

    model_runs(experiment, data, strategies, model, names) -> runs

Runs of the usual classifier are fitted in batches (simulation.py); any other model is fitted by
itself, in the very campaign that :class:`~possibal.Campaign` would be.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from possibal.acquisition.strategy import Strategy
from possibal.campaign.campaign import Campaign
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.classifier import with_geometry
from possibal.estimators.pipeline import for_campaign
from possibal.experiments.datasets import Dataset
from possibal.experiments.engine.simulation import Names, campaign_seed
from possibal.experiments.results import Run
from possibal.experiments.spec import Experiment
from possibal.experiments.splits import split
from possibal.numerics.geometry import RowGeometry
from possibal.numerics.linalg import one_thread


def model_runs(
    experiment: Experiment,
    data: Dataset,
    strategies: Mapping[str, Strategy],
    model: Any,  # noqa: ANN401 - of scikit-learn or ours
    names: Names,
) -> list[Run]:
    """Runs of strategies by a model.

    Paper: App. E.2, Algorithm 1.

    Args:
        experiment: that the runs are of.
        data: the set.
        strategies: by name.
        model: what learns in place of the usual classifier; it is copied.
        names: strategy and number of each run.
    """
    with one_thread():
        return [
            _model_run(experiment, data, (name, strategies[name]), model, run)
            for name, run in names
        ]


def _model_run(
    experiment: Experiment,
    data: Dataset,
    strategy: tuple[str, Strategy],
    model: Any,  # noqa: ANN401 - as above
    run: int,
) -> Run:
    """One run, whose questions a campaign asks and the data set answers."""
    share, found = split(experiment, data, run), for_campaign(model)
    rows = share.X
    if isinstance(found, CampaignModel):  # a pipeline makes columns of its own
        rows = share.rows
        geometry = RowGeometry(metric=data.metric, diffusion=share.diffusion.shape[1])
        found = with_geometry(found, geometry)
    campaign = Campaign.start(
        rows[share.pool],
        ids=share.pool.tolist(),
        classes=np.unique(data.y),
        strategy=strategy[1],
        classifier=found,
        seed=campaign_seed(experiment.seed, run),
    )
    asked, accuracy = list[int](), list[float]()
    for row in share.start.tolist():
        campaign.tell(row, int(data.y[row]))
    for left in range(experiment.sizes.queries, -1, -1):
        predicted = campaign.predict(rows[share.test])
        accuracy.append(float(np.mean(predicted == data.y[share.test])))
        if left:
            (row,) = campaign.ask()
            campaign.tell(row, int(data.y[int(str(row))]))
            asked.append(int(str(row)))
    return Run(strategy[0], run, np.array(asked, dtype=np.intp), np.array(accuracy))
