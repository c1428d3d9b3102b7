"""What every campaign can do, whether it is in memory or in a database.

    (row,) = campaign.ask()
    campaign.tell(row, "yes")

Verbs change the campaign and keep what they are told: tell, edit, skip, undo, add_class,
rename_class, remove_class. Everything else only returns something.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from possibal.arrays import Matrix, Places, as_python
from possibal.campaign.answer import check_row
from possibal.campaign.beliefs import (
    LabelSetBeliefs,
    RowBeliefs,
    label_set_beliefs,
    row_beliefs,
)
from possibal.campaign.encoding import RowEncoding
from possibal.campaign.frame_output import build_frame, extend_frame
from possibal.campaign.html import NextRow, campaign_html
from possibal.campaign.label_set_snapshot import LabelSetSnapshot, sets_of
from possibal.campaign.learning_curve import CurvePoint, accuracy_curve, own_curve
from possibal.campaign.pool_map import RowPoint
from possibal.campaign.question import RowQuestion
from possibal.campaign.reasons import reason
from possibal.campaign.recall import RecallEstimate
from possibal.campaign.snapshot import Snapshot
from possibal.campaign.stopping import Advice, AdviceState
from possibal.data.encoders import unique_names
from possibal.data.frames import as_frame
from possibal.data.label_sets import LabelSyntax
from possibal.errors import MissingPackageError
from possibal.estimators.campaign_model import CampaignModel
from possibal.estimators.pipeline import CampaignPipeline

if TYPE_CHECKING:
    from possibal.campaign.notebook.widget import LabellingWidget

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
    def ask(self, n: int = 1) -> list[Any]:
        """The rows to label next, the best first; fewer where fewer are left.

        Their type is that of the ids, which a type checker cannot know.
        """

    def ranked(self, n: int = 1) -> list[Any]:
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
    def rows(self) -> tuple[Any, ...]:
        """The ids of all rows, in the order of the pool."""

    @property
    @abstractmethod
    def left(self) -> tuple[Any, ...]:
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
        if self.multi and self._encoding.pipeline is not None:
            raise ValueError(
                "classifier must be one of one label a row to stand behind a pipeline; got several "
                "labels. Use predict and predict_proba of the campaign."
            )
        return self._encoding.reaching(self._moment.classifier)

    def predict(self, rows: Any) -> NDArray[Any]:  # noqa: ANN401 - what the pool was, or is like
        """The likeliest label of each row of a frame, an array or a file like that of the pool.

        Where a row may have several, the tuple of those that are likelier there than not.
        """
        classifier, X = self._moment.classifier, self._encoding.features(rows)
        if not self.multi:
            return classifier.predict(X)
        found = sets_of(cast("Any", classifier).beliefs(X), self.classes)
        return np.array([*found, None], dtype=object)[:-1]  # lest NumPy make a table of tuples

    def predict_proba(self, rows: Any) -> Matrix:  # noqa: ANN401 - as above
        """The probability of each class for new rows, (m, C), in the order of the classifier's."""
        classifier = self._moment.classifier
        return classifier.predict_proba(self._encoding.features(rows))

    def beliefs(self, rows: Iterable[Hashable] | None = None) -> RowBeliefs | LabelSetBeliefs:
        """What the model believes about rows of the pool.

        Args:
            rows: their ids; all if left out.
        """
        snapshot = self._moment
        if rows is None:
            return _beliefs(snapshot, np.arange(len(snapshot.pool.ids)))
        names = [as_python(row) for row in rows]
        for name in names:
            check_row(name, snapshot.pool.places, {})
        places = [snapshot.pool.places[name] for name in names]
        return _beliefs(snapshot, np.array(places, dtype=np.intp))

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

    @abstractmethod
    def question(self, row: Hashable) -> RowQuestion:
        """A row as people see it: what it is, why it is asked about, and what is predicted."""

    @abstractmethod
    def map(self) -> list[RowPoint]:
        """Rows as points in the plane, alike ones side by side: a sample, and all with a label."""

    def widget(self, show: Callable[[Any], Any] | None = None) -> "LabellingWidget":
        """Buttons and keys to label with in a notebook; it needs possibal[notebook].

        Args:
            show: what a person is to see of a row, by its id: text, the path of a picture or one
                of Pillow, or a dict of cells. If left out, the columns of the pool.
        """
        self._check_one_label("widget")
        try:
            from possibal.campaign.notebook.widget import LabellingWidget
        except ImportError as error:
            raise MissingPackageError(
                f"The widget needs {error.name}, which is not installed: "
                "run pip install 'possibal[notebook]'."
            ) from None
        return LabellingWidget(self, show)

    def plot_map(self, *, ax: Any = None) -> Any:  # noqa: ANN401 - matplotlib has no types
        """Draw :meth:`map`: colours and shapes are classes; what has a label is large.

        Args:
            ax: matplotlib's axes to draw on; those of a new figure if left out.
        """
        from possibal import plotting

        return plotting.row_map(self.map(), list(self.classes), ax=ax)

    def plot_curve(
        self,
        rows: Any = None,  # noqa: ANN401 - what the pool was, or is like
        labels: Sequence[Hashable] | None = None,
        *,
        ax: Any = None,  # noqa: ANN401 - as above
    ) -> Any:  # noqa: ANN401 - as above
        """Draw how often the model is right against how many answers it had, with 95 % ranges.

        It is told by the rows that are given, else by the check rows of a stored campaign if some
        have a label, else by the model's own chances of being right about rows without one.

        Args:
            rows: a frame, an array or a file like that of the pool.
            labels: of these rows.
            ax: matplotlib's axes to draw on; those of a new figure if left out.
        """
        from possibal import plotting

        self._check_one_label("plot_curve")
        if (rows is None) != (labels is None):
            given = "rows" if labels is None else "labels"
            raise ValueError(
                f"rows and labels must be given together; got {given} alone. Pass both or neither."
            )
        if labels is not None:
            X, y = self._encoding.features(rows), list(labels)
            if len(X) != len(y) or not y:
                raise ValueError(
                    f"labels must name the label of each row, at least one; got {len(y)} for "
                    f"{len(X)} rows. Pass one for each."
                )
            points, told = accuracy_curve(self._moment, X, y), "right on the rows given"
        elif points := self._check_curve():
            told = "right on check rows"
        else:
            points, told = own_curve(self._moment), "chance of being right, by the model itself"
        return plotting.learning_curve(points, told, ax=ax)

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
        balance = self._counted(labels)
        head = f"{type(self).__name__} by {self._strategy_name}"
        return campaign_html(
            head, len(self.rows), balance, self.advice, rows, done=len(labels), notes=self.notes
        )

    # ------------------------------------------------------------ what each campaign has of its own

    @property
    @abstractmethod
    def _moment(self) -> Snapshot:
        """The campaign as it is now, with ids and labels in their type."""

    @abstractmethod
    def _check_curve(self) -> Sequence[CurvePoint]:
        """How often the model was right on check rows, after each number of answers; none yet."""

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

    @property
    def multi(self) -> bool:
        """Whether a row may have several of the classes; a label is then the tuple of them."""
        return isinstance(self._moment, LabelSetSnapshot)

    def _check_one_label(self, method: str) -> None:
        """Refuse what is not there for campaigns whose rows may have several labels."""
        if self.multi:
            raise ValueError(
                f"{method} must be asked of a campaign of one label a row; got one of several. The "
                "page and to_frame() show what it holds."
            )

    def _counted(self, labels: Iterable[Hashable]) -> dict[Hashable, int]:
        """How many rows have each class."""
        counts = Counter(
            one
            for label in labels
            for one in (cast("tuple[Hashable, ...]", label) if self.multi else (label,))
        )
        return {label: counts[label] for label in self.classes}

    def _cell(self, label: Hashable | None) -> Hashable | None:
        """A label as a cell of a frame: a set by its text."""
        if label is None or not self.multi:
            return label
        return LabelSyntax.SEVERAL.text(cast("tuple[str, ...]", label))

    def _said(self) -> dict[str, Sequence[object]]:
        """What the campaign says of each row, as columns."""
        labels, count = self.labels, len(self.rows)
        found: dict[str, Sequence[object]] = {
            "id": self.rows,
            "label": [self._cell(labels.get(row)) for row in self.rows],
        }
        nothing = [None] * count
        if self._moment.is_cold:
            found |= {"predicted": nothing, "probability": nothing, "necessity": nothing}
        else:
            beliefs = self.beliefs()
            certain = beliefs.label_necessity
            found |= {
                "predicted": [self._cell(label) for label in beliefs.labels],
                "probability": beliefs.label_chance.tolist(),
                "necessity": nothing if certain is None else certain.tolist(),
            }
        if self._moment.knows_only_probabilities:
            del found["necessity"]
        return found


def _beliefs(snapshot: Snapshot, places: Places) -> RowBeliefs | LabelSetBeliefs:
    """The beliefs about some rows, by their places."""
    if isinstance(snapshot, LabelSetSnapshot):
        return label_set_beliefs(snapshot, places)
    return row_beliefs(snapshot, places)


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
