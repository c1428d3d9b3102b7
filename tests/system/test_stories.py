"""Stories of people with tables of their own: what they bring keeps its meaning."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from possibal import Campaign, open_campaign
from possibal.data.ingest import SourceSpec, ingest_file

TITLES = {"male": ("Mr.", "Master."), "female": ("Mrs.", "Miss.")}


def silent(_words, _share):
    """Nothing is told."""


def passengers(count=300):
    """A passenger list: id, class, name, sex, age with gaps, fare, ticket, cabin, port."""
    rng = np.random.default_rng(12)
    sex = rng.choice(["male", "female"], count, p=[0.65, 0.35])
    age = np.round(np.clip(rng.normal(30, 14, count), 0.5, 80), 1)
    kind = rng.choice([1, 2, 3], count, p=[0.25, 0.2, 0.55])
    chance = 0.1 + 0.6 * (sex == "female") + 0.15 * (kind == 1) + 0.15 * (age < 12)
    names = [
        f"{a}{b}" for a in ("Hans", "Peters", "Ny", "O'Bri", "Van ") for b in ("en", "son", "a")
    ]
    return pd.DataFrame(
        {
            "PassengerId": np.arange(1, count + 1),
            "Survived": (rng.random(count) < chance).astype(int),
            "Pclass": kind,
            "Name": [
                f"{rng.choice(names)}, {rng.choice(TITLES[s])} {rng.choice(names)} {i}"
                for i, s in enumerate(sex)
            ],
            "Sex": sex,
            "Age": np.where(rng.random(count) < 0.2, np.nan, age),
            "Ticket": [
                f"{rng.choice(['A/5', 'PC', 'C.A.'])} {n}" for n in rng.integers(1e5, size=count)
            ],
            "Fare": np.round(rng.lognormal(3 - 0.5 * kind), 2),
            "Cabin": [f"C{n}" if n < 90 else None for n in rng.integers(400, size=count)],
            "Embarked": rng.choice(["S", "C", "Q"], count),
        }
    )


LIST = passengers()
FRAME = LIST.set_index("PassengerId")
TRUTH = FRAME["Survived"]


# ---------------------------------------------------------------- another passenger's label
@pytest.mark.parametrize("order", ["as it is", "shuffled", "text"])
def test_a_label_is_never_that_of_another_passenger(tmp_path, order):
    frame = FRAME.sample(frac=1, random_state=1) if order == "shuffled" else FRAME
    frame = frame.set_index("p" + frame.index.astype(str)) if order == "text" else frame
    truth = frame["Survived"]
    pool = frame.drop(columns="Survived")
    in_memory = Campaign.start(pool, classes=[0, 1])
    with open_campaign(tmp_path / "a.db", pool, classes=[0, 1]) as stored:
        for campaign in (in_memory, stored):
            for row in campaign.ask(10):
                campaign.tell(row, truth.loc[row])
            labels = campaign.labels
            assert len(labels) == 10
            assert all(truth.loc[row] == label for row, label in labels.items())
            assert {type(label) for label in labels.values()} <= {int}
            assert set(labels) <= set(frame.index)
    with open_campaign(tmp_path / "a.db") as again:
        assert all(truth.loc[row] == label for row, label in again.labels.items())


# ---------------------------------------------------------------- the running number
def test_a_running_number_is_not_learnt_from(tmp_path):
    """The default is level with leaving the id out by hand: the numbers are the same."""
    LIST.to_csv(tmp_path / "list.csv", index=False)
    LIST.drop(columns="PassengerId").to_csv(tmp_path / "without.csv", index=False)
    default, by_hand = (
        ingest_file(SourceSpec(tmp_path / name, label="Survived"), silent)
        for name in ("list.csv", "without.csv")
    )
    np.testing.assert_array_equal(default.X, by_hand.X)
    assert default.ids == tuple(range(1, 301))
    assert ("PassengerId", "id") in {(one.name, str(one.kind)) for one in default.columns}
    frame = LIST.drop(columns="Survived")
    in_python = Campaign.start(frame, classes=[0, 1])
    assert in_python.rows == tuple(range(300))  # it is a column of the frame, and no index
    kinds = {one.name: str(one.kind) for one in default.columns}
    assert [name for name, kind in kinds.items() if kind == "left out"] == [
        "Name",
        "Ticket",
        "Cabin",
    ]


# ---------------------------------------------------------------- a title and an abstract
TOPICS = {
    "yes": "randomised trial of a new drug in patients with asthma treated for months",
    "no": "survey of how teachers plan their lessons and mark the work of pupils at school",
}


def papers(path: Path) -> dict[int, str]:
    """A file of papers; the truth by row."""
    rng, truth = np.random.default_rng(3), dict[int, str]()
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["title", "abstract", "year"])
        for row in range(80):
            truth[row] = "yes" if rng.random() < 0.4 else "no"
            words = TOPICS[truth[row]].split()
            title, abstract = (" ".join(rng.permutation(words)[:n]) for n in (6, 9))
            lines.writerow([f"{title} no {row}", f"{abstract} and more {row}", 1990 + row % 30])
    return truth


def test_a_title_and_an_abstract_are_both_read(tmp_path):
    truth = papers(tmp_path / "papers.csv")
    with open_campaign(
        tmp_path / "a.db", tmp_path / "papers.csv", classes=["yes", "no"]
    ) as campaign:
        for _ in range(10):
            (row,) = campaign.ask()
            campaign.tell(row, truth[row])
        frame = pd.read_csv(tmp_path / "papers.csv")
        right = np.mean([said == truth[row] for row, said in enumerate(campaign.predict(frame))])
    assert right > 0.95  # the year alone, which was all that was read, tells nothing


# ---------------------------------------------------------------- texts beside numbers
def test_numbers_beside_a_text_count(tmp_path):
    """The label follows the number; the text, which is named, says nothing."""
    rng = np.random.default_rng(0)
    words = np.array(
        ["soup", "bed", "room", "quiet", "salty", "soft", "cold", "warm", "small", "large"]
    )
    frame = pd.DataFrame(
        {
            "review": [" ".join(rng.choice(words, 6)) for _ in range(120)],
            "stars": rng.integers(1, 6, 120),
        }
    )
    truth = np.where(frame["stars"] > 3, "good", "bad")
    with open_campaign(
        tmp_path / "a.db", frame, text="review", classes=["good", "bad"]
    ) as campaign:
        for _ in range(25):
            (row,) = campaign.ask()
            campaign.tell(row, truth[row])
        right = np.mean(campaign.predict(frame) == truth)
    assert right > 0.9
