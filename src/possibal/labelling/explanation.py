"""Why a row is asked about, in words for whoever answers."""

from dataclasses import dataclass
from enum import StrEnum

from possibal.campaign.stopping import CERTAIN

FAR, NEAR = 0.7, 0.35
"""Shares of the usual distance between rows beyond which nothing is alike, and below which much."""


class QuestionSource(StrEnum):
    """Where a question came from; the value is what the page is told."""

    MODEL = "model"
    DIVERSE = "diverse"
    CHECK = "check"
    CHOSEN = "chosen"
    AGAIN = "again"


@dataclass(frozen=True)
class NearestLabel:
    """The labelled row that is most like a row.

    Attributes:
        distance: to it, as a share of the usual distance between rows.
        label: that it has.
    """

    distance: float
    label: str


def sentence(
    source: QuestionSource,
    leaning: str | None,
    sure: float,
    nearby: NearestLabel | None,
    others: int = 0,
) -> str:
    """Why a row is asked about.

    Args:
        source: of the question.
        leaning: the label that the model holds likeliest; None if it holds none.
        sure: how necessary that label is.
        nearby: the labelled row most like it; None before the first.
        others: rows like it that have no label, and of which the model is not sure either.
    """
    if source is QuestionSource.CHECK:
        return "It was drawn at random, to measure how well the model does."
    alike = _alike(nearby)
    if source is QuestionSource.DIVERSE:
        return f"Too little is known for a guess, and this row stands for many others. {alike}"
    begun = {QuestionSource.CHOSEN: "You picked it. ", QuestionSource.AGAIN: "You saw it before. "}
    stands = _stands(others) if source is QuestionSource.MODEL else ""
    return f"{begun.get(source, '')}{_thought(leaning, sure)} {stands}{alike}"


def _thought(leaning: str | None, sure: float) -> str:
    """What the model thinks."""
    if leaning is None:
        return "Too little is known for a guess."
    if sure < 0.2:  # noqa: PLR2004 - as good as nothing
        return f"The model leans to {leaning}, but it could well be something else."
    if sure < CERTAIN:
        return f"The model thinks it is {leaning}, but is not sure."
    return f"The model is sure that it is {leaning}."


def _stands(others: int) -> str:
    """For how many others an answer would tell something."""
    if others < 2:  # noqa: PLR2004 - one other is no reason
        return ""
    return f"It stands for {others} similar rows that the model is not sure about. "


def _alike(nearby: NearestLabel | None) -> str:
    """Whether anything like it has been labelled."""
    if nearby is None or nearby.distance > FAR:
        return "Nothing like it has been labelled yet."
    if nearby.distance > NEAR:
        return f"The most similar labelled row is {nearby.label}, but not very similar."
    return f"A similar row was labelled {nearby.label}."
