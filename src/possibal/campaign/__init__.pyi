from .answer import Answer
from .beliefs import RowBeliefs
from .campaign import Campaign
from .interface import CampaignInterface
from .snapshot import Snapshot
from .stopping import Advice, AdviceState, advise

__all__ = [
    "Advice",
    "AdviceState",
    "Answer",
    "Campaign",
    "CampaignInterface",
    "RowBeliefs",
    "Snapshot",
    "advise",
]
