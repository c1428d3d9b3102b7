"""Pydantic schemas of the HTTP API: strict requests in, responses out."""

import unicodedata
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from possibal.data.schema import LONGEST_LABEL, MOST_CLASSES
from possibal.labelling.class_changes import LONGEST_DESCRIPTION
from possibal.labelling.create import FILE
from possibal.labelling.remarks import LONGEST
from possibal.labelling.row_table import RowState
from possibal.labelling.storage.journal import JOINERS, Kind, is_seen

WORDS = (
    r"^[^\s\x00-\x1f\x7f-\x9f]"
    r"([^\x00-\x1f\x7f-\x9f\u2028\u2029]*[^\s\x00-\x1f\x7f-\x9f])?$"
)
"""Text without control characters that neither begins nor ends with a space."""


def _whole(given: object) -> object:
    """A number without a fraction as a whole one: JSON knows no difference between 1.0 and 1."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _normal(given: str) -> str:
    """Text in Unicode's composed form, without characters that nobody sees.

    Joiners stay between letters of scripts that need them, and within emoji.
    """
    text = unicodedata.normalize("NFC", given)
    for place, one in enumerate(text):
        beside = text[max(place - 1, 0) : place] + text[place + 1 : place + 2]
        is_joiner = one in JOINERS and len(beside) > 1 and not any(c.isascii() for c in beside)
        if unicodedata.category(one) == "Cf" and not is_joiner:
            raise ValueError("have no characters that cannot be seen")
    return text


def _person(given: str) -> str:
    """A name that is nobody's in the journal already."""
    if given.casefold() in RESERVED:
        raise ValueError("be another, for it stands for labels that came with a file")
    if not is_seen(given):
        raise ValueError("have no characters that cannot be seen")
    return given


WHOLE = BeforeValidator(_whole)
NORMAL = AfterValidator(_normal)
RESERVED = frozenset([FILE])
"""Names under which labels come from files."""
Name: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=60, pattern=WORDS), NORMAL, AfterValidator(_person)
]
"""A person's name."""
Label: TypeAlias = Annotated[str, Field(min_length=1, max_length=200, pattern=WORDS), NORMAL]
"""A class."""
LabelText: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=MOST_CLASSES * (LONGEST_LABEL + 1), pattern=WORDS), NORMAL
]
"""The label of a row: a class, or where rows may have several the set of them by its text."""
Sentence: TypeAlias = Annotated[
    str, Field(max_length=LONGEST_DESCRIPTION, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")
]
"""A sentence on one line, or nothing."""
Colour: TypeAlias = Annotated[str, Field(pattern=r"^(#[0-9a-fA-F]{6})?$")]
"""A colour such as #3366cc, or nothing."""
Key: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
"""Client-generated idempotency key of an action."""
EventKey: TypeAlias = Annotated[str, Field(min_length=1, max_length=64)]
"""The key of any event, also of one that a file brought."""
Made: TypeAlias = Annotated[int, Field(ge=0, le=2**53), WHOLE]
"""When an action was made, in milliseconds."""
Sent: TypeAlias = Annotated[int | None, Field(ge=0, le=2**53), WHOLE]
"""When it was sent, by the same clock: what waited longer was made earlier."""
Device: TypeAlias = Annotated[str | None, Field(pattern=r"^[0-9a-f]{32}$")]
"""Where it was made: actions of one device keep their order."""
Secret: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""What a browser drew at random, and nobody else knows."""
Row: TypeAlias = Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE]
"""The place of a row."""


MOST_OTHERS = 1000
"""Rows that one answer may be about, beside the first."""


class Strict(BaseModel):
    """Nothing but what is named, of the very type that is named."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ActionIn(Strict):
    """Something that a person did, and when by the clock of their device."""

    key: Key
    who: Name
    made: Made
    sent: Sent = None
    device: Device = None


class AskIn(Strict):
    """A person wants a question, or a row of their choice."""

    who: Name
    row: Row | None = None


class ReserveIn(Strict):
    """A person wants questions in reserve."""

    who: Name
    count: Annotated[int, Field(ge=1, le=50), WHOLE] = 25


class RenewIn(Strict):
    """A person is still there."""

    who: Name


class AnswerIn(ActionIn):
    """What a person says of a row, or of several at once."""

    row: Row
    others: Annotated[list[Row], Field(max_length=MOST_OTHERS)] = []
    """Further rows of which the same is said; undo takes it back for all."""
    kind: Literal["label", "skip", "unsure", "bad", "edit", "settle"]
    label: LabelText | None = None
    unlabelled: bool = False
    """Whether rows that have a label by now, or that somebody else is at, are left out."""
    next: bool = True


class UndoIn(ActionIn):
    """A person takes an action back."""

    target: Key | None = None


class NewClassIn(ActionIn):
    """A person adds a class."""

    label: Label


class RenamedClassIn(NewClassIn):
    """A person gives a class another name, or lets it count as another class."""

    to: Label
    merge: bool = False


class RemovedClassIn(NewClassIn):
    """A person takes out a class that no row has."""


class DescribedClassIn(NewClassIn):
    """A person says what is shown of a class; what is left out stays, and empty text goes."""

    description: Sentence | None = None
    colour: Colour | None = None


class GuidelinesIn(ActionIn):
    """A person says how to label; empty text takes that away."""

    text: Annotated[str, Field(max_length=2 * LONGEST[Kind.GUIDELINES])]


class RemarkIn(ActionIn):
    """What a person remarks on a row; empty text takes it away."""

    row: Row
    text: Annotated[str, Field(max_length=2 * LONGEST[Kind.COMMENT])]


class CheckRowsIn(ActionIn):
    """A person wants more check rows."""

    count: Annotated[int, Field(ge=1, le=2**31 - 1), WHOLE]


class JoinIn(Strict):
    """A browser exchanges an invitation for a session, which it drew itself."""

    code: Annotated[str, Field(pattern=r"^[\w-]{1,100}$")]
    session: Secret
    pictures: Secret


class InvitedIn(Strict):
    """An owner invites somebody."""

    who: Name
    role: Literal["annotator", "owner"] = "annotator"


class WithdrawnIn(Strict):
    """An owner withdraws an invitation."""

    number: Annotated[int, Field(ge=1, le=2**53), WHOLE]


# ---------------------------------------------------------------- answers
class ProblemOut(BaseModel):
    """What is wrong, in one sentence."""

    detail: str


class ForbiddenOut(ProblemOut):
    """That somebody may not do this: as what they are, or as a foreign page, which has no role."""

    role: str | None = None


class SessionOut(BaseModel):
    """Which campaign this is, and who is asking: nobody, if they are not in."""

    campaign: str
    role: str | None
    who: str | None


class LeftOut(BaseModel):
    """That a session has ended."""


class InvitationOut(BaseModel):
    """Somebody who is invited, or in."""

    number: int
    who: str | None
    role: str
    made: int
    expires: int
    joined: int | None
    is_mine: bool


class InvitationsOut(BaseModel):
    """Everybody who is invited, or in."""

    invitations: list[InvitationOut]


class InvitedOut(InvitationsOut):
    """An invitation: what it lets in with, and where this machine can be reached."""

    code: str
    origins: list[str]


class FieldOut(BaseModel):
    """A cell, what it is called, and whether it goes closely with the labels so far."""

    name: str
    value: str | None
    important: bool


class ItemOut(BaseModel):
    """A row as people read it."""

    row: int
    id: str
    fields: list[FieldOut]
    text: str | None
    image: str | None


class NearOut(BaseModel):
    """A labelled row that is like the one asked about."""

    item: ItemOut
    label: str


class WhyOut(BaseModel):
    """Why a row is asked about."""

    sentence: str
    predicted: "PredictionOut | None"
    near: list[NearOut]


class ChanceOut(BaseModel):
    """The chance that a predicted label is right, and its range."""

    value: float
    low: float
    high: float


class MemberPredictionOut(BaseModel):
    """What the model makes of one class of a row that may have several."""

    label: str
    chance: float
    necessity: float


class PredictionOut(BaseModel):
    """What the model predicts of a row; how many check rows its chance was measured by."""

    label: str
    chance: ChanceOut
    necessity: float
    measured: int
    members: list[MemberPredictionOut] = []


class MineOut(BaseModel):
    """What a person said of a row before."""

    kind: str
    label: str | None


class CommentOut(BaseModel):
    """What somebody remarked on a row."""

    who: str
    text: str


class CommentedOut(BaseModel):
    """That a comment is kept, and all comments on its row that somebody may see."""

    repeated: bool
    counts: bool
    comments: list[CommentOut]


class GuidelinesOut(BaseModel):
    """How to label, as text; the key tells versions apart, and is None before the first."""

    key: str | None
    who: str | None
    text: str


class QuestionOut(BaseModel):
    """A question."""

    item: ItemOut
    source: str
    lease: int
    why: WhyOut
    mine: MineOut | None
    copies: int
    comments: list[CommentOut]


class AskedOut(BaseModel):
    """The next question, or why there is none."""

    question: QuestionOut | None
    reason: str | None
    complete: bool = False
    """Whether there is none because every row has its answers."""


class AnsweredOut(AskedOut):
    """That an answer is kept, and the next question."""

    repeated: bool
    counts: bool
    """Whether it is what holds of its row: a later answer may have come before it."""
    left_out: list[int]
    """Places of the rows that it is not about, where those with a label are left out."""


class ReserveOut(BaseModel):
    """Questions in reserve."""

    questions: list[QuestionOut]


class UndoneOut(BaseModel):
    """What was taken back, in words too, and its row to be answered anew."""

    target: str | None
    said: str | None
    question: QuestionOut | None


class ClassOut(BaseModel):
    """A class, what people are told of it, and how many rows have it."""

    name: str
    description: str
    colour: str
    rows: int


class ClassesOut(BaseModel):
    """The classes there are."""

    classes: list[str]
    catalogue: list[ClassOut]


class DrawnOut(BaseModel):
    """How many check rows were drawn."""

    drawn: int
    check: "CheckOut"


class ColumnOut(BaseModel):
    """How a column of the source was understood."""

    name: str
    kind: str
    note: str


class RenewedOut(BaseModel):
    """How long rows are kept for a person."""

    seconds: int


class CampaignOut(ClassesOut):
    """What a campaign is; its id tells it from others on the same address."""

    id: str
    name: str
    kind: str
    strategy: str
    answers_per_row: int
    check: int
    rows: int
    blind: bool
    multi: bool
    """Whether a row may have several of the classes: labels are then sets, by their texts."""
    notes: list[str]
    columns: list[ColumnOut]
    people: list[str]
    participants: list[str]
    """Those of them who answered rows."""
    guidelines: GuidelinesOut


class ShareOut(BaseModel):
    """How often a class was given."""

    label: str
    count: int


class AdviceOut(BaseModel):
    """Whether to go on."""

    state: str
    reason: str
    gain: str | None
    """What is left to gain, in words."""


class PointOut(BaseModel):
    """A point of the learning curve."""

    answers: int
    accuracy: float
    low: float
    high: float


class CheckOut(BaseModel):
    """How many check rows are answered, how many there are, and how many more there may be."""

    answered: int
    size: int
    more: int


class SavingOut(BaseModel):
    """What was saved against asking at random."""

    sentence: str


class PersonOut(BaseModel):
    """A person, their answers, and how many seconds one takes; None where that is not known."""

    who: str
    answers: int
    pace: float | None


class ArrivingOut(BaseModel):
    """How far the intake of further rows is."""

    arrived: int
    embedded: int
    total: int
    trouble: str | None


class RecallOut(BaseModel):
    """How much of the sought class was found, and the range of 95 %."""

    label: str
    found: int
    left: float
    most_left: float
    """The upper end of the range of those that are left."""
    value: float
    low: float
    high: float
    fruitless: int
    """How many were answered since the last one that was of it."""
    sentence: str


class ToComeOut(BaseModel):
    """How many more labels it probably takes until one may stop."""

    low: int
    high: int


class ProgressOut(BaseModel):
    """How far a campaign is."""

    rows: int
    arriving: ArrivingOut | None
    left_out: list[str]
    answered: int
    copies: int
    left: int
    unsure: int
    bad: int
    balance: list[ShareOut]
    catalogue: list[ClassOut]
    advice: AdviceOut
    sought: str | None
    """The class of which nearly all rows are to be found."""
    recall: RecallOut | None
    """How much of it was found; None where nothing can be said yet."""
    curve: list[PointOut]
    check: CheckOut
    saving: SavingOut | None
    fitting: bool
    trouble: str | None
    people: list[PersonOut]
    participants: list[str]
    guidelines: str | None
    """The key of the present guidelines."""
    to_come: ToComeOut | None
    conflicts: int
    """Rows on which people differ, and that nobody settled."""


class MeasuredOut(BaseModel):
    """A share of check rows and its interval; None where there are none."""

    value: float | None
    low: float
    high: float
    rows: int


class ClassResultOut(BaseModel):
    """How well one class is told: of its rows found, and of rows taken for it right."""

    label: str
    recall: MeasuredOut
    precision: MeasuredOut
    counts: list[int]
    """Of its rows by what they are taken for, class by class; none where rows have several."""
    f1: float | None = None


class ResultsOut(BaseModel):
    """What was reached, on the check rows."""

    accuracy: MeasuredOut
    decisions: MeasuredOut | None = None
    """Of rows and classes, those told rightly, where rows may have several."""
    classes: list[ClassResultOut]
    saving: SavingOut | None
    check: CheckOut


class SpotOut(BaseModel):
    """A row on the map."""

    row: int
    id: str
    x: float
    y: float
    chance: float | None
    label: str | None
    predicted: str | None


class MapOut(BaseModel):
    """The map."""

    points: list[SpotOut]
    classes: list[str]


class EntryOut(BaseModel):
    """An event in the history."""

    key: str
    number: int
    at: int
    who: str
    kind: str
    row: int | None
    id: str
    label: str | None
    others: int
    copies: int
    copied: bool
    comment: str
    holds: bool
    counts: bool
    preview: str
    image: str | None


class HistoryOut(BaseModel):
    """Events, the latest first."""

    entries: list[EntryOut]
    more: bool


class PredictedClassOut(BaseModel):
    """How many rows are predicted to be of a class, and how many of them very likely are."""

    label: str
    rows: int
    likely: int


class PredictedRowOut(BaseModel):
    """A row without a label, the chance that its prediction is right, and its copies."""

    item: ItemOut
    chance: ChanceOut
    copies: int


class ConfirmationOut(BaseModel):
    """Rows of one predicted class, the likeliest first."""

    label: str
    classes: list[PredictedClassOut]
    rows: list[PredictedRowOut]
    more: bool
    looked_at: int | None


class LabelledRowOut(BaseModel):
    """A row and the label that it has now."""

    item: ItemOut
    label: str | None


class EventRowsOut(BaseModel):
    """The rows that an answer was about, and how many more there are."""

    rows: list[LabelledRowOut]
    left: int


class OtherLabelOut(BaseModel):
    """A label and its chance."""

    label: str
    chance: ChanceOut


class TableRowOut(BaseModel):
    """A row with all that is known of it."""

    item: ItemOut
    label: str | None
    people: list[str]
    state: RowState
    predicted: OtherLabelOut | None
    """What the model makes of it."""
    other: OtherLabelOut | None
    """What all other labels speak for, where the row has another."""
    check: bool
    copy_of: str | None
    """The row that is asked in its stead."""
    copies: int


class RowsOut(BaseModel):
    """Some of the rows that were wanted, and how many there are in all."""

    rows: list[TableRowOut]
    count: int
    looked_at: int | None
    fitting: bool
    """Whether the model has yet to learn from the last answers, or to look at more rows."""


class NamedRowOut(BaseModel):
    """A row by its place and its id."""

    row: int
    id: str


class FoundOut(BaseModel):
    """The row that has an id, or rows whose ids are like it."""

    row: int | None
    near: list[NamedRowOut]


class RowOut(BaseModel):
    """A row that somebody looks at."""

    question: QuestionOut


class NearCopiesOut(BaseModel):
    """Rows that are nearly the same as one, for a person to look at."""

    items: list[ItemOut]


class CloseRowOut(BaseModel):
    """A row close to another, the chance of its predicted class, and its copies."""

    item: ItemOut
    chance: ChanceOut | None
    copies: int


class CloseRowsOut(BaseModel):
    """Rows close to one, for a person to look at and to label together.

    What is predicted of all of them is left out where people answer blind.
    """

    label: str | None
    own: CloseRowOut | None
    """The row itself, where it has no label either."""
    rows: list[CloseRowOut]


class PairOut(BaseModel):
    """How far two people agree."""

    one: str
    other: str
    rows: int
    kappa: float | None


class AgreementOut(BaseModel):
    """How far people agree."""

    pairs: list[PairOut]
    alpha: float | None
    rows: int


class OpinionOut(BaseModel):
    """What somebody said."""

    who: str
    label: str


class ConflictOut(BaseModel):
    """A row of which people said different things."""

    item: ItemOut
    opinions: list[OpinionOut]
    comments: list[CommentOut]
    settled: str | None


class ConflictsOut(BaseModel):
    """All such rows."""

    rows: list[ConflictOut]
