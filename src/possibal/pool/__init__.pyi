from .ranking import Shortlist, best, rank

__all__ = [
    "Shortlist",
    "best",
    "rank",
]
