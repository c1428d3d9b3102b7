from .answer import Answer
from .campaign import Campaign
from .stopping import Advice, AdviceState, advise

__all__ = [
    "Advice",
    "AdviceState",
    "Answer",
    "Campaign",
    "advise",
]
