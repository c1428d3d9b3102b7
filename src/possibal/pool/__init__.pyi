from .ranking import Pool, Shortlist, best, rank

__all__ = [
    "Pool",
    "Shortlist",
    "best",
    "rank",
]
