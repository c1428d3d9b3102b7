"""What somebody said about a row: the one thing that campaigns, journals and experiments share."""

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """What somebody said about a row.

    Attributes:
        row: its id.
        label: its class.
    """

    row: Hashable
    label: Hashable
