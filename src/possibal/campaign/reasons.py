"""Why a campaign asks about a row: what its model predicts there, and what is labelled near it."""

from collections.abc import Hashable

import numpy as np

from possibal.acquisition.pointwise import necessity
from possibal.arrays import Places
from possibal.campaign.calibration import StatedChance
from possibal.campaign.chance import LEVEL, CredibleChance, chance_sentence
from possibal.campaign.label_set_snapshot import LabelSetSnapshot, sets_of
from possibal.campaign.snapshot import Snapshot
from possibal.estimators.latent_gaussian import LatentGaussianClassifier

FAR = 0.7
"""Share of the usual distance beyond which rows are not alike."""


def reason(snapshot: Snapshot, place: int) -> str:
    """In a few words, why a row is asked about."""
    if snapshot.is_cold:
        return "It stands for many others."
    here = np.array([place], dtype=np.intp)
    new = "Nothing like it has a label." if _is_far(snapshot, place) else ""
    if isinstance(snapshot, LabelSetSnapshot):
        return " ".join(part for part in (_set_reason(snapshot, here), new) if part)
    classifier = snapshot.classifier
    label, stated = predicted_chance(snapshot, place)
    if not isinstance(classifier, LatentGaussianClassifier):
        return f"Perhaps {label} ({stated.value:.0%}). {new}".rstrip()
    certain = float(necessity(snapshot.belief_of(here))[0])
    split = classifier.split(snapshot.pool.X[here], LEVEL)
    chance = CredibleChance(float(split.lower[0]), float(split.upper[0]), len(classifier.classes_))
    told = chance_sentence(str(split.label[0]), chance)
    perhaps = f"Perhaps {label} ({stated.value:.0%}), with necessity {certain:.2f}."
    return " ".join(part for part in (perhaps, told, new) if part)


def predicted_chance(snapshot: Snapshot, place: int) -> tuple[Hashable, StatedChance]:
    """The likeliest label of a row, and the chance that it is right, once two classes are told."""
    posterior, X = snapshot.classifier.posterior_, snapshot.pool.X[place : place + 1]
    chances = posterior.probability(X)[0]
    label = snapshot.classifier.classes_.tolist()[int(chances.argmax())]
    return label, snapshot.calibration.stated(float(chances.max()))


def _set_reason(snapshot: LabelSetSnapshot, here: Places) -> str:
    """The classes that are predicted of a row, and which of them is least known."""
    belief, classes = snapshot.set_belief_of(here), snapshot.classes
    (label,) = sets_of(belief, classes)
    open_one = int(belief.necessity[0].argmin())
    said = " and ".join(map(str, label)) or "none of the classes"
    return (
        f"Perhaps {said} ({belief.set_chance[0]:.0%}), with necessity "
        f"{belief.set_necessity[0]:.2f}. Least is known of {classes[open_one]} "
        f"({belief.probability[0, open_one]:.0%})."
    )


def _is_far(snapshot: Snapshot, place: int) -> bool:
    """Whether no labelled row is like it."""
    X = snapshot.pool.X
    rows = [snapshot.pool.places[answer.row] for answer in snapshot.answers]
    distances = np.sqrt(((X[rows] - X[place]) ** 2).sum(axis=1))
    return float(distances.min()) > FAR * snapshot.pool.usual_distance
