"""Why a campaign asks about a row: what its model predicts there, and what is labelled near it."""

import numpy as np

from possibal.acquisition.pointwise import necessity
from possibal.campaign.chance import LEVEL, CredibleChance, chance_sentence
from possibal.campaign.snapshot import Snapshot
from possibal.estimators.possibilistic import PossibilisticClassifier

FAR = 0.7
"""Share of the usual distance beyond which rows are not alike."""


def reason(snapshot: Snapshot, place: int) -> str:
    """In a few words, why a row is asked about."""
    if snapshot.is_cold:
        return "It stands for many others."
    here = np.array([place], dtype=np.intp)
    classifier = snapshot.classifier
    chances = classifier.posterior_.probability(snapshot.pool.X[here])[0]
    label = str(classifier.classes_[chances.argmax()])
    if not isinstance(classifier, PossibilisticClassifier):
        new = "Nothing like it has a label." if _is_far(snapshot, place) else ""
        return f"Perhaps {label} ({chances.max():.0%}). {new}".rstrip()
    certain = float(necessity(snapshot.belief_of(here))[0])
    split = classifier.split(snapshot.pool.X[here], LEVEL)
    chance = CredibleChance(float(split.lower[0]), float(split.upper[0]), len(chances))
    told = chance_sentence(str(split.label[0]), chance)
    new = "Nothing like it has a label." if _is_far(snapshot, place) else ""
    perhaps = f"Perhaps {label} ({chances.max():.0%}), with necessity {certain:.2f}."
    return " ".join(part for part in (perhaps, told, new) if part)


def _is_far(snapshot: Snapshot, place: int) -> bool:
    """Whether no labelled row is like it."""
    X = snapshot.pool.X
    rows = [snapshot.pool.places[answer.row] for answer in snapshot.answers]
    distances = np.sqrt(((X[rows] - X[place]) ** 2).sum(axis=1))
    return float(distances.min()) > FAR * snapshot.pool.usual_distance
