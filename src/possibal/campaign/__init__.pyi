from .answer import Answer
from .campaign import Campaign
from .stopping import Advice, State, advise

__all__ = [
    "Advice",
    "Answer",
    "Campaign",
    "State",
    "advise",
]
