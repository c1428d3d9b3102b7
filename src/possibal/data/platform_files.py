"""Files of labelling platforms: Label Studio's JSON, and the JSON lines of Prodigy and doccano.

    platform = platform_of(objects)        platform.task(one, "line 3") -> PlatformTask

Whatever the platform, a task is data and what people said of it. So the same reading serves a pool,
whose rows may come with labels, and a campaign, which keeps what each person said.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from reprlib import repr as brief
from typing import Any, TypeAlias, cast

ROW_ID = "possibal_id"
"""What the id of a row is called in the data of a task: no platform has a name of its own for it,
and numbers that platforms give are numbers of tasks."""
ROW, ORIGIN = "row", "possibal"
"""What the cells of a row are called that are shown as a table, and where an annotation that we
wrote says whose opinion it is."""
CHOICE = "label"
"""What the control of classes is called in our labelling interface of Label Studio."""
PRODIGY_ANSWERS = frozenset(["accept", "reject", "ignore"])
PRODIGY_OWN = frozenset(
    (
        *("_input_hash", "_task_hash", "_view_id", "_timestamp", "_annotator_id", "_session_id"),
        *(
            "_is_binary",
            "accept",
            "answer",
            "options",
            "label",
            "config",
            "tokens",
            "html",
            "style",
        ),
    )
)
"""What Prodigy and its recipes add to the data of a task."""
LAST_SECOND = 250_000_000_000
"""Of the year 9892: dates end soon after."""
ONE_CLASS = "Keep one of them, for a row has one class."

JsonObject: TypeAlias = Mapping[str, Any]


# ---------------------------------------------------------------- values
class Said(StrEnum):
    """What a person did with a task."""

    LABEL = "label"
    UNSURE = "unsure"
    BAD = "bad"
    NOT = "not"


@dataclass(frozen=True)
class PlatformAnnotation:
    """What a person said of a task.

    Attributes:
        said: what they did; of a label that was rejected it is not.
        label: the class that they named, or rejected.
        who: the person.
        when: as ISO 8601 has it; empty where the platform does not say.
        key: of this version of the annotation; empty where the platform has none.
    """

    said: Said
    label: str | None
    who: str
    when: str = ""
    key: str = ""


@dataclass(frozen=True)
class PlatformTask:
    """A task of a platform.

    Attributes:
        data: what it shows, and the id of the row if we wrote it.
        annotations: what people said, in the order of the file.
    """

    data: JsonObject
    annotations: tuple[PlatformAnnotation, ...] = ()

    @property
    def agreed(self) -> str | None:
        """The class that all who named one named; None if there is none."""
        named = {one.label for one in self.annotations if one.said is Said.LABEL}
        return named.pop() if len(named) == 1 else None

    @property
    def is_disputed(self) -> bool:
        """Whether people named different classes."""
        return len({one.label for one in self.annotations if one.said is Said.LABEL}) > 1


@dataclass(frozen=True)
class Platform:
    """A labelling platform, by its files.

    Attributes:
        name: of the platform.
        is_own: whether an object of a file is one of its tasks.
        task: an object as a task, or one sentence that names its place.
    """

    name: str
    is_own: Callable[[JsonObject], bool]
    task: Callable[[JsonObject, str], PlatformTask]


def platform_of(objects: Sequence[JsonObject]) -> Platform | None:
    """The platform whose tasks all these objects are; None if they are of none."""
    return next((one for one in PLATFORMS if objects and all(map(one.is_own, objects))), None)


def refused(rule: str, got: object, place: str, remedy: str) -> ValueError:
    """The sentence on an annotation that cannot be taken."""
    return ValueError(f"annotation must {rule}; got {got} at {place}. {remedy}")


# ---------------------------------------------------------------- Label Studio
def label_studio_annotation(given: JsonObject, place: str) -> PlatformAnnotation:
    """An annotation as Label Studio exports it, or sends it to a webhook."""
    who, when = _label_studio_person(given), str(given.get("updated_at") or "")
    key = _label_studio_key(given)
    if given.get("was_cancelled"):
        return PlatformAnnotation(Said.UNSURE, None, who, when, key)
    result = given.get("result")
    if not isinstance(result, list):
        raise refused("have a result", brief(result), place, "Export the project as JSON.")
    found = [one for one in cast("list[Any]", result) if _is_choices(one)]
    if result and not found:
        got = f"a result of type {brief(_type(result[0]))}"
        raise refused("be a choice of a class", got, place, "Label with <Choices>.")
    label = _one_choice(found, place)
    if label is None:
        return PlatformAnnotation(Said.UNSURE, None, who, when, key)
    return _as_written(found, label) or PlatformAnnotation(Said.LABEL, label, who, when, key)


def annotation_key(project: object, annotation: object) -> str:
    """What the keys of all versions of an annotation of Label Studio begin with."""
    return f"label-studio-{project}-{annotation}-"


def _label_studio_key(given: JsonObject) -> str:
    """The key of a version of an annotation: another one once it is updated."""
    number, updated = given.get("id"), _moment(given.get("updated_at"))
    if number is None or updated is None:
        return ""
    return f"{annotation_key(given.get('project'), number)}{updated}"


def _moment(when: object) -> int | None:
    """Microseconds since 1970 of a moment as ISO 8601 has it."""
    try:
        found = dt.datetime.fromisoformat(str(when))
    except ValueError:
        return None
    aware = found if found.tzinfo else found.replace(tzinfo=dt.UTC)
    return (aware - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)


def _label_studio_person(given: JsonObject) -> str:
    """Who made an annotation; Label Studio names people by their numbers."""
    by = given.get("completed_by")
    if isinstance(by, Mapping):
        known = cast("JsonObject", by)
        by = known.get("id")
        if by is None and known.get("email"):
            return str(known["email"])
    return "label-studio" if by is None else f"label-studio-{by}"


def _is_choices(one: object) -> bool:
    """Whether a part of a result is a choice."""
    return isinstance(one, Mapping) and _type(one) == "choices"


def _type(one: object) -> object:
    """The type of a part of a result."""
    return cast("JsonObject", one).get("type") if isinstance(one, Mapping) else one


def _one_choice(found: Sequence[JsonObject], place: str) -> str | None:
    """The class that was chosen; where there are several controls, in ours."""
    own = [one for one in found if one.get("from_name") == CHOICE] or found
    values = (one.get("value") for one in own)
    listed = (one.get("choices") for one in values if isinstance(one, Mapping))
    chosen = [name for names in listed if isinstance(names, list) for name in names]
    return _only(chosen, place)


def _only(chosen: Iterable[object], place: str) -> str | None:
    """The one class that is named; None where none is."""
    names = list(dict.fromkeys(map(str, chosen)))
    if len(names) > 1:
        raise refused("name one class", f"{len(names)} ({brief(names)})", place, ONE_CLASS)
    return names[0] if names else None


def _as_written(found: Sequence[JsonObject], label: str) -> PlatformAnnotation | None:
    """The opinion that an annotation was written for, if nobody chose another class since."""
    metas = (one.get("meta") for one in found)
    origins = (one.get(ORIGIN) for one in metas if isinstance(one, Mapping))
    for origin in (cast("JsonObject", one) for one in origins if isinstance(one, Mapping)):
        if origin.get("label") == label and origin.get("who"):
            when = str(origin.get("when") or "")
            return PlatformAnnotation(Said.LABEL, label, str(origin["who"]), when)
    return None


def _is_label_studio(one: JsonObject) -> bool:
    """Whether an object is a task of Label Studio."""
    has_data = isinstance(one.get("data"), Mapping)
    return has_data and any(
        isinstance(one.get(name), list) for name in ("annotations", "predictions")
    )


def _label_studio_task(one: JsonObject, place: str) -> PlatformTask:
    """A task as Label Studio exports it."""
    said = (one.get("annotations") or ()) if isinstance(one.get("annotations"), list) else ()
    made = [
        label_studio_annotation({"project": one.get("project"), **cast("JsonObject", given)}, place)
        for given in cast("Iterable[object]", said)
        if isinstance(given, Mapping)
    ]
    return PlatformTask(cast("JsonObject", one["data"]), tuple(made))


# ---------------------------------------------------------------- Prodigy
def _is_prodigy(one: JsonObject) -> bool:
    """Whether an object is a task of Prodigy, answered or to be answered."""
    options = one.get("options")
    is_listed = isinstance(options, list) and bool(options) and isinstance(options[0], Mapping)
    return one.get("answer") in PRODIGY_ANSWERS or is_listed


def _prodigy_task(one: JsonObject, place: str) -> PlatformTask:
    """A task as Prodigy keeps it."""
    data = {name: value for name, value in one.items() if name not in PRODIGY_OWN}
    answer = one.get("answer")
    if answer not in PRODIGY_ANSWERS:
        return PlatformTask(data)
    who = str(one.get("_annotator_id") or one.get("_session_id") or "prodigy")
    said, label = _prodigy_said(one, place)
    return PlatformTask(data, (PlatformAnnotation(said, label, who, _since_1970(one)),))


def _since_1970(one: JsonObject) -> str:
    """When a task was answered, of seconds since 1970; empty where nothing says so."""
    made = one.get("_timestamp")
    if not isinstance(made, int | float) or not 0 <= made < LAST_SECOND:
        return ""
    return dt.datetime.fromtimestamp(made, dt.UTC).isoformat()


def _prodigy_said(one: JsonObject, place: str) -> tuple[Said, str | None]:
    """What an answer says: a choice among options, or yes or no to one label."""
    chosen, answer = one.get("accept"), one["answer"]
    named = cast("list[object]", chosen) if isinstance(chosen, list) else None
    if answer == "ignore":
        return Said.UNSURE, None
    if answer == "reject":
        label = one.get("label")
        return (Said.BAD, None) if named is not None or label is None else (Said.NOT, str(label))
    label = _only([one["label"]] if named is None and "label" in one else named or (), place)
    return (Said.UNSURE, None) if label is None else (Said.LABEL, label)


# ---------------------------------------------------------------- doccano
def _is_doccano(one: JsonObject) -> bool:
    """Whether an object is a line of doccano: a text, and its classes in a list."""
    return isinstance(one.get("text"), str) and _are_names(one.get("label"))


def _are_names(value: object) -> bool:
    """Whether something is a list of words alone."""
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[Any]", value))


def _doccano_task(one: JsonObject, place: str) -> PlatformTask:
    """A line as doccano exports it; its id is a number of doccano's own."""
    data = {name: value for name, value in one.items() if name != "label"}
    label = _only(one["label"], place)
    said = () if label is None else (PlatformAnnotation(Said.LABEL, label, "doccano"),)
    return PlatformTask(data, said)


PLATFORMS = (
    Platform("Label Studio", _is_label_studio, _label_studio_task),
    Platform("Prodigy", _is_prodigy, _prodigy_task),
    Platform("doccano", _is_doccano, _doccano_task),
)


# ---------------------------------------------------------------- as rows
def plain_rows(
    objects: Sequence[JsonObject], places: Sequence[str]
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Objects as rows of a table: tasks of a platform as their data and the label that they have.

    Args:
        objects: of a file.
        places: where each stands.

    Returns:
        The rows, and what was done in sentences; other objects are returned as they are.
    """
    platform = platform_of(objects)
    if platform is None:
        return [dict(one) for one in objects], ()
    tasks = [platform.task(one, at) for one, at in zip(objects, places, strict=True)]
    rows = [_plain_row(task) for task in tasks]
    disputed = sum(task.is_disputed for task in tasks)
    notes = [f"the file was read as tasks of {platform.name}, with labels as column label."]
    if disputed:
        notes.append(f"{disputed} tasks that people labelled differently have no label.")
    return rows, tuple(notes)


def _plain_row(task: PlatformTask) -> dict[str, Any]:
    """The data of a task and its label as one row."""
    nested = task.data.get(ROW)
    own = cast("JsonObject", nested) if isinstance(nested, Mapping) else {}
    row = {name: value for name, value in task.data.items() if name != ROW or not own} | dict(own)
    if ROW_ID in row and "id" not in row:
        row = {"id": row.pop(ROW_ID)} | row
    return row if task.agreed is None and "label" in row else row | {"label": task.agreed}
