"""A list of passengers as people have them: names of rows, words, numbers and gaps."""

import numpy as np
import pandas as pd


def passengers(rows: int = 60, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """A frame whose index is the passenger's number, and who survived, by the same index."""
    rng = np.random.default_rng(seed)
    index = pd.Index(1000 + rng.permutation(rows), name="PassengerId")
    frame = pd.DataFrame(
        {
            "Sex": rng.choice(["male", "female"], rows),
            "Age": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(30, 10, rows)),
            "Fare": rng.exponential(30, rows),
        },
        index=index,
    )
    return frame, (frame["Sex"] == "female").astype(int).rename("Survived")


def labelled(campaign, truth, times: int = 8):
    """The campaign after true answers to its own questions, by the names of the rows."""
    for _ in range(times):
        for row in campaign.ask():
            campaign.tell(row, truth.loc[row])
    return campaign
