"""How likely a label is, as far as that is known: what is open and what is random, in words."""

from dataclasses import dataclass

from possibal.campaign.stopping import CERTAIN

LEVEL = CERTAIN
"""Necessity of the range: of two labels, one that needs no question is likelier throughout."""
OPEN = 0.2
"""A range wider than this says that it is not known how likely the label is."""
VACUOUS = 0.95
"""A range wider than this says nothing."""
NEAR_HALF = 0.1
"""How far the middle of a narrow range may be from one half for a toss of a coin."""
DECIDED = 0.7
"""A label that is likelier than this is no matter of chance."""


@dataclass(frozen=True)
class CredibleChance:
    """Range of the probability of a label over what is credible.

    Attributes:
        lower: the least.
        upper: the largest.
        labels: how many labels there are.
    """

    lower: float
    upper: float
    labels: int = 2


def chance_sentence(label: str, chance: CredibleChance) -> str:
    """Whether it is open or random what the label is, in a sentence; empty where it is neither."""
    low, high = chance.lower, chance.upper
    if high - low > VACUOUS:
        return f"How likely it is to be {label} is not known yet."
    if high - low > OPEN:
        return f"Between {low:.0%} and {high:.0%} likely to be {label}: not known yet."
    middle = 0.5 * (low + high)
    if chance.labels == 2 and abs(middle - 0.5) <= NEAR_HALF:  # noqa: PLR2004 - two sides of a coin
        return "Close to a toss of a coin whatever is labelled."
    if high < DECIDED:
        return f"About {middle:.0%} likely to be {label} whatever is labelled."
    return ""
