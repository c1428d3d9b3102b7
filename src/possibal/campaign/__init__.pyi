from .answer import Answer
from .beliefs import LabelSetBeliefs, RowBeliefs
from .campaign import Campaign
from .interface import CampaignInterface
from .label_set_snapshot import LabelSetSnapshot
from .snapshot import Snapshot
from .stopping import Advice, AdviceState, advise

__all__ = [
    "Advice",
    "AdviceState",
    "Answer",
    "Campaign",
    "CampaignInterface",
    "LabelSetBeliefs",
    "LabelSetSnapshot",
    "RowBeliefs",
    "Snapshot",
    "advise",
]
