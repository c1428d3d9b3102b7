"""Outcomes of the demonstration: short plays, and ones with the accuracies a test asks for."""

from functools import cache

from possibal.experiments import demo

SMALL = demo.Settings(questions=3, runs=2)


def play(settings: demo.Settings, jobs: int = 1) -> demo.Outcome:
    plan = demo.load(settings)
    return demo.Outcome(plan, tuple(demo.play_all(plan, jobs)))


def outcome_of(chosen: list[list[float]], random: list[list[float]]) -> demo.Outcome:
    """An outcome with the given accuracies, one list per run."""

    def trace(accuracy: list[float]) -> demo.Trace:
        first, *rest = accuracy
        asked = (demo.Question(0, "upper", 0.0, 0.0, "upper", value) for value in rest)
        return demo.Trace((0, 1), first, tuple(asked))

    settings = demo.Settings(questions=len(chosen[0]) - 1, runs=len(chosen))
    pairs = zip(chosen, random, strict=True)
    runs = tuple(demo.Run(trace(ours), trace(theirs)) for ours, theirs in pairs)
    return demo.Outcome(demo.load(settings), runs)


@cache  # eight runs are dear to play and cheap to keep
def usual() -> demo.Outcome:
    """A play long enough for necessity to win."""
    return play(demo.Settings(questions=20, runs=8))
