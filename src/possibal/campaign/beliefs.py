"""Beliefs about the rows of a campaign, one line per row."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from possibal.acquisition.pointwise import necessity
from possibal.arrays import Array, Matrix, Places, Vector
from possibal.belief import leading_labels
from possibal.campaign.frame_output import build_frame
from possibal.campaign.label_set_snapshot import LabelSetSnapshot, sets_of
from possibal.campaign.snapshot import Snapshot
from possibal.gp.likelihoods import Softmax
from possibal.gp.posterior import Posterior
from possibal.gp.probabilities import ProbabilityPosterior

BLOCK = 10_000
"""Rows that are looked at together."""


@dataclass(frozen=True, eq=False)
class RowBeliefs:
    """What the model believes about rows.

    Attributes:
        ids: of the rows.
        classes: the labels, in the order of the columns of `probability`.
        mean: of the latent under the most credible setting: (m,) for two classes, else (m, C);
            None where the model gives probabilities alone, as are variance and necessity.
        variance: of the latent, shaped like mean.
        necessity: that the leading label is truly the likeliest, (m,).
        probability: of each class, (m, C), averaged over credible settings.
        leading: the place of the leading label, that of the most credible setting, (m,).
    """

    ids: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    mean: Array | None
    variance: Array | None
    necessity: Vector | None
    probability: Matrix
    leading: Places

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.ids)

    @property
    def labels(self) -> list[Hashable]:
        """The label of largest probability of each row."""
        return [self.classes[place] for place in self.probability.argmax(axis=1)]

    @property
    def label_chance(self) -> Vector:
        """The probability of that label."""
        return self.probability.max(axis=1)

    @property
    def label_necessity(self) -> Vector | None:
        """The necessity of that label: zero where the most credible setting leads to another."""
        if self.necessity is None:
            return None
        return np.where(self.probability.argmax(axis=1) == self.leading, self.necessity, 0.0)

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401 - of any library
        """One line per row: id, latent moments, necessity, and the probability of each class.

        A model of probabilities alone has no moments and no necessity, nor columns of them.
        """
        latents = {"mean": self.mean, "variance": self.variance}
        columns = dict[str, Sequence[Any]](id=self.ids)
        for name, values in latents.items():
            if values is None:
                continue
            if values.ndim == 1:
                columns[name] = values.tolist()
            else:
                each = zip(self.classes, values.T.tolist(), strict=True)
                columns |= {f"{name} {label}": one for label, one in each}
        if self.necessity is not None:
            columns["necessity"] = self.necessity.tolist()
        each = zip(self.classes, self.probability.T.tolist(), strict=True)
        columns |= {f"probability {label}": one for label, one in each}
        return build_frame(columns, library)


@dataclass(frozen=True, eq=False)
class LabelSetBeliefs:
    """What the model believes about rows that may have several of the classes.

    Attributes:
        ids: of the rows.
        classes: in the order of the columns.
        probability: of each class, (m, L), that a row has it.
        necessity: that a row has each class or has it not, as is likelier, (m, L).
        labels: the classes that are likelier there than not, of each row.
        label_chance: the probability that all of that is right, (m,).
        label_necessity: the necessity of all of that, the least of each row, (m,).
    """

    ids: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    probability: Matrix
    necessity: Matrix
    labels: list[tuple[Hashable, ...]]
    label_chance: Vector
    label_necessity: Vector

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.ids)

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401 - of any library
        """One line per row: id, and the probability and necessity of each class."""
        columns = dict[str, Sequence[Any]](id=self.ids)
        for name, values in {"probability": self.probability, "necessity": self.necessity}.items():
            each = zip(self.classes, values.T.tolist(), strict=True)
            columns |= {f"{name} {label}": one for label, one in each}
        return build_frame(columns, library)


def label_set_beliefs(snapshot: LabelSetSnapshot, places: Places) -> LabelSetBeliefs:
    """The beliefs about some rows, by their places, where a row may have several classes."""
    parts = [
        snapshot.set_belief_of(places[at : at + BLOCK])
        for at in range(0, max(len(places), 1), BLOCK)
    ]
    classes = snapshot.classes
    return LabelSetBeliefs(
        ids=tuple(snapshot.pool.ids[place] for place in places.tolist()),
        classes=classes,
        probability=np.concatenate([part.probability for part in parts]),
        necessity=np.concatenate([part.necessity for part in parts]),
        labels=[one for part in parts for one in sets_of(part, classes)],
        label_chance=np.concatenate([part.set_chance for part in parts]),
        label_necessity=np.concatenate([part.set_necessity for part in parts]),
    )


def row_beliefs(snapshot: Snapshot, places: Places) -> RowBeliefs:
    """The beliefs about some rows, by their places."""
    classifier, X = snapshot.classifier, snapshot.pool.X[places]
    blocks = [X[at : at + BLOCK] for at in range(0, max(len(X), 1), BLOCK)]
    ids = tuple(snapshot.pool.ids[place] for place in places.tolist())
    classes, posterior = tuple(classifier.classes_.tolist()), classifier.posterior_
    if isinstance(posterior, ProbabilityPosterior):
        chances = np.concatenate([posterior.probability(block) for block in blocks])
        return RowBeliefs(ids, classes, None, None, None, chances, chances.argmax(axis=1))
    parts = zip(*(_looked_at(posterior, block) for block in blocks), strict=True)
    mean, variance, certain, probability, leading = (np.concatenate(part) for part in parts)
    return RowBeliefs(ids, classes, mean, variance, certain, probability, leading)


def _looked_at(posterior: Posterior, X: Matrix) -> tuple[Array, Array, Vector, Matrix, Places]:
    """Latent moments, necessity, probability and leading label of a few rows."""
    mean, variance = posterior.leading.moments(X)
    is_multiclass = isinstance(posterior.data.link, Softmax)
    mean, variance = (m[0].T if is_multiclass else m[0, 0] for m in (mean, variance))
    belief = posterior.at(X)
    return mean, variance, necessity(belief), posterior.probability(X), leading_labels(belief)
