"""Explanation of a question: why a row is asked about, in words for whoever answers."""

from dataclasses import dataclass
from enum import StrEnum

from possibal.campaign.calibration import StatedChance
from possibal.campaign.chance import OPEN, CredibleChance, chance_sentence
from possibal.campaign.stopping import CERTAIN
from possibal.labelling.ranking import ExpectedMistakes, Prediction
from possibal.labelling.storage.journal import MERGE, TO, Event, Kind, named_places

FAR, NEAR = 0.7, 0.35
"""Shares of the usual distance beyond which rows are not similar, and below which they are."""

GUESS = 0.2
"""Necessity below which what was labelled so far hardly speaks for a label."""
LIKELY, PROBABLE, EVEN = 0.95, 0.75, 0.5
"""Chances from which on a label is very likely, probable, and more likely than all others."""


class QuestionSource(StrEnum):
    """Where a question came from; the value is what the page is told."""

    MODEL = "model"
    DIVERSE = "diverse"
    UNRANKED = "unranked"
    CHECK = "check"
    CHOSEN = "chosen"
    AGAIN = "again"


DRAWN = "It was drawn at random, to measure how well the model does."
BLIND = (
    "Everybody answers by themselves: what others said, and what the model thinks, is not shown."
)
UNRANKED = "The model has not looked at the rows yet."
BEGINNINGS = {
    QuestionSource.CHOSEN: "You picked it. ",
    QuestionSource.AGAIN: "You saw it before. ",
}
"""What is said first of a row that the model did not ask about."""
ACTIONS = {
    Kind.SKIP: "skipped for now",
    Kind.UNSURE: "not sure",
    Kind.BAD: "row dropped",
    Kind.CLASS: "class “{label}” added",
    Kind.REMOVE: "class “{label}” removed",
    Kind.GUIDELINES: "guidelines changed",
    Kind.COMMENT: "comment",
    Kind.DESCRIBE: "class “{label}” described",
}
"""What was done, in words, where that is not just the label."""


def action(event: Event) -> str:
    """What somebody did, in words such as those that the page says when it is done."""
    label, detail = event.label or "", event.detail or {}
    if event.kind is Kind.RENAME:
        done = "merged with" if MERGE in detail else "renamed to"
        return f"class “{label}” {done} “{detail.get(TO)}”"
    if event.kind is Kind.CHECK:
        rows = len(named_places(event))
        return "1 more check row" if rows == 1 else f"{rows} more check rows"
    others = len(event.rows) - 1
    more = "" if others < 1 else f", and {others} other row{'s' * (others > 1)}"
    return ACTIONS.get(event.kind, "{label}").format(label=label) + more


@dataclass(frozen=True)
class NearestLabel:
    """The nearest labelled neighbour of a row.

    Attributes:
        label: that it has.
        distance: to it, as a share of the usual distance between rows; None before the first
            ranking, which knows the usual distance.
    """

    label: str
    distance: float | None


@dataclass(frozen=True)
class Remainder:
    """What is still open where a person has nothing left to answer; all of it in rows.

    Attributes:
        held: that others are at.
        unsure: that the person is not sure of.
        waiting: that the person answered, and somebody else is to answer too.
        is_alone: whether nobody else answers.
    """

    held: int
    unsure: int
    waiting: int
    is_alone: bool

    @property
    def is_complete(self) -> bool:
        """Whether nothing is open."""
        return not (self.held or self.unsure or self.waiting)


def remainder_sentence(left: Remainder) -> str:
    """Why there is no question, in words."""
    if left.is_complete:
        return "Every row has an answer: nothing is left to ask."
    ask = "" if left.is_alone else " Others may know more."
    said = {
        f"Others are at work on {_rows(left.held)}.": left.held,
        f"{_rows(left.waiting)} {_verb(left.waiting)} for another person's answer.": left.waiting,
        f"You were not sure about {_rows(left.unsure)}; see History.{ask}": left.unsure,
    }
    return " ".join(["You have answered all that there is for you.", *filter(said.get, said)])


def _rows(count: int) -> str:
    """So many rows."""
    return "1 row" if count == 1 else f"{count:,} rows"


def _verb(count: int) -> str:
    """What so many rows do."""
    return "waits" if count == 1 else "wait"


def sentence(
    source: QuestionSource,
    prediction: Prediction | None,
    nearest: NearestLabel | None,
    others: int = 0,
    chance: CredibleChance | None = None,
) -> str:
    """Why a row is asked about.

    Args:
        source: of the question.
        prediction: what the model makes of the row; None if nothing.
        nearest: labelled neighbour; None before the first.
        others: rows near it that have no label, and of which the model is not sure either.
        chance: range of that label's probability; None where it is not known.
    """
    if source is QuestionSource.CHECK:
        return DRAWN
    similar = _similar(nearest)
    if source is QuestionSource.UNRANKED:
        return f"The model has not looked at the rows yet. {similar}"
    if source is QuestionSource.DIVERSE:
        return f"Too little is known for a guess, and this row stands for many others. {similar}"
    stands = _stands(others) if source is QuestionSource.MODEL else ""
    predicted = _predicted(prediction, chance)
    return f"{BEGINNINGS.get(source, '')}{predicted} {stands}{similar}"


def sought_sentence(label: str, chance: StatedChance | None, nearest: NearestLabel | None) -> str:
    """Why a row is asked about where the rows of one class are sought.

    Args:
        label: the class.
        chance: that the row is of it; None where it is not known.
        nearest: labelled neighbour; None before the first.
    """
    return f"{_sought(label, chance)} {_similar(nearest)}"


def _sought(label: str, chance: StatedChance | None) -> str:
    """How likely a row is of the sought class, in words."""
    if chance is None:
        return f"It is among the rows left that are likeliest to be {label}."
    if chance.value >= LIKELY:
        return f"Very likely {label}."
    if chance.value >= PROBABLE:
        return f"Likely {label}."
    if chance.value >= EVEN:
        return f"Perhaps {label}."
    share = f"{chance.value:.0%}" if chance.value >= 0.01 else "less than 1%"  # noqa: PLR2004 - as it says
    return f"Of the rows left it is among the likeliest to be {label} ({share})."


def blind_sentence(source: QuestionSource) -> str:
    """Why a row is asked about, without what others and the model say of it."""
    if source is QuestionSource.CHECK:
        return DRAWN
    return f"{BEGINNINGS.get(source, '')}{BLIND}"


def _predicted(prediction: Prediction | None, chance: CredibleChance | None) -> str:
    """What the model predicts, how likely that is, and what is open or random about it."""
    if prediction is None:
        return "Too little is known for a guess."
    said = _likely(prediction), _evidence(prediction, chance)
    return " ".join(one for one in said if one)


def _likely(prediction: Prediction) -> str:
    """How likely the predicted label is, in words."""
    label, chance = prediction.label, prediction.chance.value
    if chance >= LIKELY:
        return f"It is very likely {label}."
    if chance >= PROBABLE:
        return f"It is probably {label}."
    if chance >= EVEN:
        return f"It is perhaps {label}."
    return f"It may be {label}, but that is a guess."


def _evidence(prediction: Prediction, chance: CredibleChance | None) -> str:
    """What the prediction rests on: what labels may yet tell, and what they never will."""
    if prediction.necessity >= CERTAIN:
        return "The labels so far leave hardly any other choice."
    if chance is not None and chance.upper - chance.lower <= OPEN:
        return chance_sentence(prediction.label, chance)
    if prediction.necessity >= GUESS:
        return "More labels may still change that."
    return "Few labels so far say anything about rows like it."


def mistakes_sentence(expected: ExpectedMistakes) -> str:
    """What is left to gain, in words."""
    rows = f"the {expected.rows:,} rows" if expected.rows > 1 else "the row"
    many, few = round(expected.high), round(expected.low)
    if many < 1:
        return f"Left to itself, the model would get hardly any of {rows} without a label wrong."
    return (
        f"Left to itself, the model would get about {round(expected.count):,} of {rows} without a "
        f"label wrong ({few:,} to {many:,})."
    )


def _stands(others: int) -> str:
    """For how many others an answer would tell something."""
    if others < 2:  # noqa: PLR2004 - one other is no reason
        return ""
    return f"It stands for {others} similar rows that the model is not sure about. "


def _similar(nearest: NearestLabel | None) -> str:
    """Whether anything like it has been labelled."""
    if nearest is None:
        return "Nothing like it has been labelled yet."
    if nearest.distance is None:
        return f"The most similar labelled row is {nearest.label}."
    if nearest.distance > FAR:
        return "Nothing like it has been labelled yet."
    if nearest.distance > NEAR:
        return f"The most similar labelled row is {nearest.label}, but not very similar."
    return f"A similar row was labelled {nearest.label}."
