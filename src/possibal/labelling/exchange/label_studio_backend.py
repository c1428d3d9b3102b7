"""Label Studio's calls of a machine-learning backend, answered by a campaign.

    backend = LabelStudioBackend(service)
    backend.predict(tasks)        backend.receive("ANNOTATION_CREATED", payload)

Tasks are rows by their ids. What is annotated is kept in the journal once for each version of an
annotation, in the name of whoever made it, and is undone when the annotation is deleted.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from possibal.data.platform_files import (
    ROW,
    JsonObject,
    Said,
    annotation_key,
    label_studio_annotation,
)
from possibal.errors import RefusedError
from possibal.labelling.exchange.exchanged_rows import model_version, row_predictions
from possibal.labelling.exchange.formats import task_row_id
from possibal.labelling.exchange.label_studio import TEXT, control_of, prediction
from possibal.labelling.label_files import moment
from possibal.labelling.service import LabellingService
from possibal.labelling.storage.journal import Event, Kind, check_who
from possibal.labelling.storage.store import clock

if TYPE_CHECKING:  # scikit-learn takes a second to import, and rows are predicted without
    from possibal.campaign.encoding import RowEncoding
    from possibal.labelling.saved_model import Predictions, SavedModel

LOG = logging.getLogger(__name__)
NO_LABELS = "possibal-0"
"""The version of predictions before there are any."""
LAST = 1.0
"""The score of a task that is no row and cannot be predicted: it is asked last, for an annotation
of it is kept nowhere. Without a score, some databases would put it first."""
ENOUGH_CLASSES = 2
"""Where so many are named, there are no others."""
KINDS = {Said.LABEL: Kind.LABEL, Said.UNSURE: Kind.UNSURE}
MADE = frozenset(["ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED"])
"""Events of Label Studio that bring annotations."""
DELETED = frozenset(["ANNOTATIONS_DELETED", "ANNOTATION_DELETED"])
"""Events that take them away; they name no more than their numbers."""


class LabelStudioBackend:
    """Predicts tasks, and keeps annotations."""

    def __init__(self, service: LabellingService) -> None:
        """Answer for a campaign."""
        self._service, self._read_model = service, service.read_model
        self._model: tuple[int, RowEncoding, SavedModel] | None = None  # after so many changes

    # ------------------------------------------------------------ predicting

    @property
    def version(self) -> str:
        """Of what is predicted now."""
        predictions = self._service.scheduler.whole_predictions
        return NO_LABELS if predictions is None else model_version(predictions.ranking)

    def predict(self, tasks: Sequence[JsonObject]) -> list[dict[str, Any]]:
        """A prediction for each task, in their order; without a choice where nothing is known.

        A task that is no row is predicted from its data, if it has what the model learns from.
        """
        predictions = self._service.scheduler.whole_predictions
        version = NO_LABELS if predictions is None else model_version(predictions.ranking)
        rows = [self._row(task) for task in tasks]
        known = sorted({row for row in rows if row is not None})
        told = row_predictions(self._read_model, predictions, known)
        shown, found = control_of(self._service.setup), list[dict[str, Any]]()
        for task, row in zip(tasks, rows, strict=True):
            if row is None:
                label, necessity = self._foreign(task)
            else:
                one, necessity = told[row]
                label = one and one.label
            found.append(prediction(shown, label, necessity, version))
        return found

    def _row(self, task: JsonObject) -> int | None:
        """The place of the row that a task is; None where it is none."""
        try:
            name = task_row_id(_data(task), self._service.setup, _place(task))
        except ValueError:
            return None
        return self._read_model.place_of(name)

    def _foreign(self, task: JsonObject) -> tuple[str | None, float | None]:
        """What the model makes of the data of a task that is no row."""
        try:
            found = self._from_data(_data(task))
        except (ValueError, TypeError) as error:
            LOG.warning("Label Studio: %s is no row of the campaign: %s", _place(task), error)
            return None, LAST
        return found.label[0], float(found.necessity[0])

    def _from_data(self, data: JsonObject) -> "Predictions":
        """What the model predicts from the columns that a task has."""
        setup = self._service.setup
        if setup.folder:
            raise ValueError("pictures must be rows; got a task of another. Export the campaign.")
        nested = data.get(ROW)
        cells = dict(data) | (
            dict(cast("JsonObject", nested)) if isinstance(nested, Mapping) else {}
        )
        if setup.text and setup.text not in cells and TEXT in cells:
            cells[setup.text] = cells[TEXT]
        encoding, model = self._fitted()
        return model.predict(encoding.features([cells]))

    def _fitted(self) -> "tuple[RowEncoding, SavedModel]":
        """How rows become numbers, and the model of all labels; made once after a change."""
        from possibal.campaign.encoding import RowEncoding
        from possibal.labelling.create import feature_recipe
        from possibal.labelling.saved_model import SavedModel

        changes = self._read_model.changes
        if self._model is None or self._model[0] != changes:
            store = self._service.store
            encoding = RowEncoding(feature_recipe(store))
            self._model = changes, encoding, SavedModel.of(store)
        return self._model[1:]

    # ------------------------------------------------------------ receiving

    def receive(self, action: str, payload: JsonObject) -> int:
        """Keep what an event of Label Studio says; how many answers that is.

        Raises:
            RefusedError: where an annotation cannot be kept; those before it are.
        """
        if action in MADE:
            return sum(self._keep(*pair) for pair in _annotated(payload))
        if action in DELETED:
            return sum(map(self._undo, self._deleted(payload)))
        return 0

    def _keep(self, annotation: JsonObject, task: JsonObject) -> int:
        """Keep an annotation, if this version of it is not known; one if it was not."""
        try:
            event = self._event(annotation, task)
        except ValueError as error:
            raise RefusedError(str(error)) from None
        if event is None or event.key in self._read_model.state.events:
            return 0
        if event.label is not None and len(self._service.setup.classes) < ENOUGH_CLASSES:
            self._service.ensure_class(event.label, event.who)
        self._service.answer(event)
        return 1

    def _event(self, annotation: JsonObject, task: JsonObject) -> Event | None:
        """What an annotation says, in its version; None for one that we wrote."""
        place = f"annotation {annotation.get('id')} of Label Studio"
        said = label_studio_annotation(annotation, place)
        name = task_row_id(_data(task), self._service.setup, place)
        row, made = self._read_model.place_of(name), moment(said.when)
        if row is None:
            raise ValueError(
                f"task must be a row of the campaign; got {name!r} at {place}. "
                "Begin the project with what possibal export writes."
            )
        if not said.key and annotation.get("updated_at"):
            return None
        if not said.key or made is None:
            raise ValueError(
                f"updated_at must be the moment of the annotation; got "
                f"{annotation.get('updated_at')!r} at {place}. Let webhooks send their payload."
            )
        check_who(said.who)
        now = self._service.store.clock()
        return Event(said.key, KINDS[said.said], said.who, min(made, now), row, said.label)

    def _deleted(self, payload: JsonObject) -> Iterator[Event]:
        """The events that hold and that came of annotations that were deleted."""
        project = cast("JsonObject", payload.get("project") or {}).get("id")
        listed = cast("Sequence[JsonObject]", payload.get("annotations") or ())
        begun = tuple(annotation_key(project, one.get("id")) for one in listed)
        state = self._read_model.state
        found = [event for key, event in state.events.items() if key.startswith(begun)]
        yield from filter(state.holds, found)

    def _undo(self, event: Event) -> int:
        """Take an answer back, once."""
        key = sha256(f"undo {event.key}".encode()).hexdigest()[:32]
        made = max(clock(), event.made + 1)
        self._service.undo(Event(key, Kind.UNDO, event.who, made, target=event.key))
        return 1


def _data(task: JsonObject) -> JsonObject:
    """The data of a task; none where it is odd."""
    data = task.get("data")
    return cast("JsonObject", data) if isinstance(data, Mapping) else {}


def _place(task: JsonObject) -> str:
    """What a task is called in a sentence."""
    return f"task {task.get('id')} of Label Studio"


def _annotated(payload: JsonObject) -> Iterator[tuple[JsonObject, JsonObject]]:
    """The annotations of an event, each with its task."""
    annotations, tasks = payload.get("annotation"), payload.get("task")
    made = annotations if isinstance(annotations, list) else [annotations]
    about = tasks if isinstance(tasks, list) else [tasks]
    by_number = {
        one.get("id"): cast("JsonObject", one) for one in about if isinstance(one, Mapping)
    }
    for one in made:
        if isinstance(one, Mapping):
            annotation = cast("JsonObject", one)
            yield annotation, by_number.get(annotation.get("task"), {})
