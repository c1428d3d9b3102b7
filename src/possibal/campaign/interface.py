"""What every campaign can do, whether it is in memory or in a database.

    (row,) = campaign.ask()
    campaign.tell(row, "yes")

Verbs change the campaign and keep what they are told: tell, edit, skip, undo, add_class,
rename_class, remove_class. Everything else only returns something.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from possibal.arrays import Matrix, Places, as_python
from possibal.campaign.answer import check_row
from possibal.campaign.beliefs import RowBeliefs, row_beliefs
from possibal.campaign.encoding import RowEncoding
from possibal.campaign.frame_output import build_frame, extend_frame
from possibal.campaign.html import NextRow, campaign_html
from possibal.campaign.reasons import reason
from possibal.campaign.recall import RecallEstimate
from possibal.campaign.snapshot import Snapshot
from possibal.campaign.stopping import Advice, AdviceState
from possibal.data.encoders import unique_names
from possibal.data.frames import as_frame
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.pipeline import CampaignPipeline

SHOWN_CLASSES = 4
"""Classes that are named in one line; of more, their number is."""
SHOWN_ROWS, SHOWN_COLUMNS = 5, 4
"""Of the next rows in a notebook."""


class CampaignInterface(ABC):
    """A labelling campaign: rows, what is known of them, and what to ask next.

    Rows are called by their ids, and both ids and labels come back in the type they were given in.
    """

    # ------------------------------------------------------------ verbs, which change the campaign

    @abstractmethod
    def tell(self, row: Hashable, label: Hashable) -> Self:
        """Keep the label of a row that has none; the campaign itself, which is changed."""

    @abstractmethod
    def edit(self, row: Hashable, label: Hashable) -> Self:
        """Keep another label of a row."""

    @abstractmethod
    def skip(self, row: Hashable) -> Self:
        """Put a row off; it comes back later."""

    @abstractmethod
    def undo(self) -> Hashable | None:
        """Take the last change back; the row that it was about, None if it was about none."""

    @abstractmethod
    def add_class(self, name: Hashable) -> Self:
        """Let there be one more label to choose from."""

    @abstractmethod
    def rename_class(self, old: Hashable, new: Hashable) -> Self:
        """Give a class another name, also where rows have it as their label."""

    @abstractmethod
    def remove_class(self, name: Hashable) -> Self:
        """Remove a class that no row has as its label."""

    # ------------------------------------------------------------ what to do next

    @abstractmethod
    def ask(self, n: int = 1) -> list[Hashable]:
        """The rows to label next, the best first; fewer where fewer are left."""

    def ranked(self, n: int = 1) -> list[Hashable]:
        """All rows left that the model may ask about, the best first.

        The first n are as diverse as those of :meth:`ask`; of a large pool, only the candidates.
        """
        return list(self._moment.ranked(n))

    @property
    @abstractmethod
    def advice(self) -> Advice:
        """Whether to go on asking, and why."""

    @property
    def should_stop(self) -> bool:
        """Whether one may stop or should; :attr:`advice` says why.

        Where a class is sought, whether one should: that one may is right too seldom.
        """
        state = self.advice.state
        if self._moment.find is not None:
            return state is AdviceState.DONE
        return state is not AdviceState.GO_ON

    @property
    def recall(self) -> RecallEstimate | None:
        """How much of the sought class was found; None where none is, or too little is known."""
        return self._moment.recall

    @abstractmethod
    def report(self) -> dict[str, Any]:
        """How far the campaign is, as plain values."""

    # ------------------------------------------------------------ rows and labels

    @property
    @abstractmethod
    def labels(self) -> dict[Hashable, Hashable]:
        """The label of each row that has one, in the order in which they came by it."""

    @property
    @abstractmethod
    def classes(self) -> tuple[Hashable, ...]:
        """The labels there may be."""

    @property
    @abstractmethod
    def rows(self) -> tuple[Hashable, ...]:
        """The ids of all rows, in the order of the pool."""

    @property
    @abstractmethod
    def left(self) -> tuple[Hashable, ...]:
        """The ids of the rows that still want a label, in the order of the pool."""

    @property
    def notes(self) -> tuple[str, ...]:
        """How the rows were read: what is learnt from, what was left out, and why."""
        return self._encoding.notes

    def __len__(self) -> int:
        """How many rows have a label."""
        return len(self.labels)

    def __bool__(self) -> bool:
        """True, also while no row has a label."""
        return True

    # ------------------------------------------------------------ the model

    @property
    def classifier(self) -> CampaignModel | CampaignPipeline:
        """The classifier, fitted to the labels; behind the user's own pipeline, if there is one."""
        return self._encoding.reaching(self._moment.classifier)

    def predict(self, rows: Any) -> NDArray[Any]:  # noqa: ANN401 - what the pool was, or is like
        """The likeliest label of each row of a frame, an array or a file like that of the pool."""
        classifier = self._moment.classifier
        return classifier.predict(self._encoding.features(rows))

    def predict_proba(self, rows: Any) -> Matrix:  # noqa: ANN401 - as above
        """The probability of each class for new rows, (m, C), in the order of the classifier's."""
        classifier = self._moment.classifier
        return classifier.predict_proba(self._encoding.features(rows))

    def beliefs(self, rows: Iterable[Hashable] | None = None) -> RowBeliefs:
        """What the model believes about rows of the pool.

        Args:
            rows: their ids; all if left out.
        """
        snapshot = self._moment
        if rows is None:
            return row_beliefs(snapshot, np.arange(len(snapshot.pool.ids)))
        names = [as_python(row) for row in rows]
        for name in names:
            check_row(name, snapshot.pool.places, {})
        places = [snapshot.pool.places[name] for name in names]
        return row_beliefs(snapshot, np.array(places, dtype=np.intp))

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401 - of any library
        """One line per row: the user's columns, its id and label, and what the model predicts.

        The predicted label comes with its probability and its necessity, which is zero where the
        most credible setting leads to another; all three are missing before two classes were told.
        Where the classifier gives probabilities alone, there is no column of necessity.

        Args:
            library: "pandas", "polars" or "pyarrow"; if left out, that of the pool, if it was a
                frame, else the first of these that is installed.
        """
        said, source = self._said(), self._source
        if library is None and source is not None and as_frame(source) is not None:
            return extend_frame(source, said, self._superseded)
        own = self._cells(np.arange(len(self.rows)))
        names = unique_names([*own, *said])
        return build_frame(dict(zip(names, [*own.values(), *said.values()], strict=True)), library)

    # ------------------------------------------------------------ for people to look at

    def __repr__(self) -> str:
        """One line, for which nothing is fitted."""
        advice = self._known_advice
        state = "" if advice is None else f": {advice.state.value}"
        rows, labels = _counted(len(self.rows), "row"), _counted(len(self), "label")
        return (
            f"{type(self).__name__}({rows}, {labels}, {_listed(self.classes)}, "
            f"{self._strategy_name}{state})"
        )

    def _repr_html_(self) -> str:
        """Progress, balance, advice, and the next rows with why they are asked about."""
        snapshot, labels = self._moment, list(self.labels.values())
        following = self.ranked(SHOWN_ROWS)[:SHOWN_ROWS]
        places = np.array([snapshot.pool.places[row] for row in following], dtype=np.intp)
        columns = self._cells(places).items()
        shown = dict(islice((one for one in columns if one[1] != following), SHOWN_COLUMNS))
        rows = [
            NextRow(
                row,
                {name: cells[at] for name, cells in shown.items()},
                reason(snapshot, int(places[at])),
            )
            for at, row in enumerate(following)
        ]
        balance = {label: labels.count(label) for label in self.classes}
        head = f"{type(self).__name__} by {self._strategy_name}"
        return campaign_html(head, len(self.rows), balance, self.advice, rows, notes=self.notes)

    # ------------------------------------------------------------ what each campaign has of its own

    @property
    @abstractmethod
    def _moment(self) -> Snapshot:
        """The campaign as it is now, with ids and labels in their type."""

    @property
    @abstractmethod
    def _strategy_name(self) -> str:
        """What the strategy is called."""

    @property
    @abstractmethod
    def _encoding(self) -> RowEncoding:
        """How rows become numbers."""

    @property
    @abstractmethod
    def _known_advice(self) -> Advice | None:
        """The advice, if it was worked out already."""

    @abstractmethod
    def _cells(self, places: Places) -> Mapping[str, Sequence[object]]:
        """The user's own columns of rows, by their places."""

    @property
    @abstractmethod
    def _source(self) -> object:
        """The frame that the pool was given as, if it was one."""

    @property
    @abstractmethod
    def _superseded(self) -> Sequence[str]:
        """Columns of that frame that the campaign has its own of."""

    def _said(self) -> dict[str, Sequence[object]]:
        """What the campaign says of each row, as columns."""
        labels, count = self.labels, len(self.rows)
        found: dict[str, Sequence[object]] = {
            "id": self.rows,
            "label": [labels.get(row) for row in self.rows],
        }
        nothing = [None] * count
        if self._moment.is_cold:
            found |= {"predicted": nothing, "probability": nothing, "necessity": nothing}
        else:
            beliefs = self.beliefs()
            certain = beliefs.label_necessity
            found |= {
                "predicted": beliefs.labels,
                "probability": beliefs.probability.max(axis=1).tolist(),
                "necessity": nothing if certain is None else certain.tolist(),
            }
        if self._moment.knows_only_probabilities:
            del found["necessity"]
        return found


def _counted(count: int, what: str) -> str:
    """So many of something, in words."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def _listed(classes: Sequence[Hashable]) -> str:
    """The classes in a few words."""
    if not classes:
        return "no classes yet"
    if len(classes) > SHOWN_CLASSES:
        return f"{len(classes)} classes"
    return f"classes {'/'.join(str(label)[:20] for label in classes)}"
