"""Explanation of a question: why a row is asked about, in words for whoever answers."""

from dataclasses import dataclass
from enum import StrEnum

from possibal.campaign.chance import CredibleChance, chance_sentence
from possibal.campaign.stopping import CERTAIN
from possibal.labelling.storage.journal import MERGE, TO, Event, Kind, named_places

FAR, NEAR = 0.7, 0.35
"""Shares of the usual distance beyond which rows are not similar, and below which they are."""

GUESS = 0.2
"""Necessity below which a predicted label is as good as nothing."""


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
BEGINNINGS = {
    QuestionSource.CHOSEN: "You picked it. ",
    QuestionSource.AGAIN: "You saw it before. ",
}
"""What is said first of a row that the model did not ask about."""
ACTIONS = {
    Kind.SKIP: "skipped for now",
    Kind.UNSURE: "somebody else will be asked",
    Kind.BAD: "row dropped",
    Kind.CLASS: "class “{label}” added",
    Kind.REMOVE: "class “{label}” removed",
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


def sentence(  # noqa: PLR0913, PLR0917 - each is a part of the sentence
    source: QuestionSource,
    predicted_label: str | None,
    necessity: float,
    nearest: NearestLabel | None,
    others: int = 0,
    chance: CredibleChance | None = None,
) -> str:
    """Why a row is asked about.

    Args:
        source: of the question.
        predicted_label: the label that the model holds likeliest; None if it holds none.
        necessity: of that label.
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
    told = _chance(predicted_label, necessity, chance)
    predicted = _predicted(predicted_label, necessity)
    return f"{BEGINNINGS.get(source, '')}{predicted} {told}{stands}{similar}"


def blind_sentence(source: QuestionSource) -> str:
    """Why a row is asked about, without what others and the model say of it."""
    if source is QuestionSource.CHECK:
        return DRAWN
    return f"{BEGINNINGS.get(source, '')}{BLIND}"


def certainty(necessity: float) -> str:
    """How sure the model is of a label, in one or two words."""
    if necessity >= CERTAIN:
        return "sure"
    return "a guess" if necessity < GUESS else "not sure"


def _predicted(label: str | None, necessity: float) -> str:
    """What the model predicts, and how surely."""
    if label is None:
        return "Too little is known for a guess."
    if necessity < GUESS:
        return f"The model leans to {label}, but it could well be something else."
    if necessity < CERTAIN:
        return f"The model thinks it is {label}, but is not sure."
    return f"The model is sure that it is {label}."


def _chance(label: str | None, necessity: float, chance: CredibleChance | None) -> str:
    """Whether what the model is not sure of is open or random."""
    if label is None or chance is None or necessity >= CERTAIN:
        return ""
    told = chance_sentence(label, chance)
    return f"{told} " if told else ""


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
