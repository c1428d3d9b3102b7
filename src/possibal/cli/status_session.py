"""Work of `possibal status`: what the page says of a campaign, without ranking anything.

    found = status(db)        sentences(found)        lines(found)

It loads neither the rows as numbers nor what learns from them.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from possibal.labelling.evaluation import MemberScores
from possibal.labelling.explanation import UNRANKED, mistakes_sentence
from possibal.labelling.kept_ranking import KeptRanking
from possibal.labelling.overview import CampaignProgress, Overview
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage import database
from possibal.labelling.storage.store import Store

Status: TypeAlias = dict[str, Any]
"""What is known of a campaign, as JSON can hold it."""
ADVICE = {"go on": "Go on.", "may stop": "You may stop.", "stop": "Stop."}
"""The states of advice, in the page's words."""
SHOWN = {
    "balance": "labels by class",
    "people": "rows named by each",
    "conflicts": "conflicts that wait",
    "agreement": "agreement (Krippendorff's alpha)",
    "answers_per_row": "people per row",
    "kind": "kind of rows",
    "strategy": "strategy",
    "db": "kept in",
    "schema": "schema",
}
"""What is listed for people, and what it is called."""


def status(db: str) -> Status:
    """How far a campaign is, and what its model said last."""
    with Store.open(db, writes=False) as store:
        read_model = ReadModel(store)
        ranked = KeptRanking(read_model)
        view, setup = Overview(read_model, ranked), read_model.setup
        progress, right = view.progress(), view.confusion().accuracy
        sets = view.label_sets()
        return {
            "name": setup.name,
            "rows": progress.rows,
            "answered": progress.answered,
            "copies": progress.copies,
            "left": progress.left,
            "unsure": progress.unsure,
            "bad": progress.bad,
            "advice": _advice(progress, ranked),
            "balance": progress.balance,
            "people": progress.people,
            "conflicts": progress.conflicts,
            "agreement": view.agreement().alpha,
            "classes": list(read_model.classes),
            "kind": setup.kind,
            "strategy": setup.strategy,
            "sought": progress.sought,
            "recall": progress.recall and progress.recall.report(progress.sought),
            "answers_per_row": setup.people,
            "check": {"answered": progress.checked, "size": progress.check},
            "right": {"rows": right.rows, "right": right.right, "interval": right.interval}
            if right.rows
            else None,
            "multi": setup.multi,
            "by_class": {one.label: _scores(one) for one in sets.members} if sets else None,
            "db": database.shown(store.url),
            "schema": store.version,
        }


def _scores(found: MemberScores) -> Status:
    """How well one class is told of check rows that may have several."""
    recall, precision = found.recall.value, found.precision.value
    return {"recall": recall, "precision": precision, "f1": found.f1}


def _advice(progress: CampaignProgress, ranked: KeptRanking) -> Status:
    """Whether to go on, and by how many answers the model could tell."""
    if progress.advice is None or ranked.ranking is None:
        return {"state": "go on", "reason": UNRANKED, "gain": None, "learnt": 0, "now": 0}
    mistakes = None if progress.sought else progress.mistakes
    gain = mistakes_sentence(mistakes) if mistakes else None
    state, reason = progress.advice.state.value, progress.advice.reason
    learnt, now = ranked.ranking.answers, ranked.answers
    return {"state": state, "reason": reason, "gain": gain, "learnt": learnt, "now": now}


# ---------------------------------------------------------------- for people
def sentences(found: Status) -> Iterator[str]:
    """How far it is, whether to go on, and how often the model is right."""
    facts = {"labels so far": found["answered"], "rows left": found["left"]}
    facts |= {"not sure": found["unsure"], "dropped": found["bad"]}
    told = [f"{n:,} {what}" for place, (what, n) in enumerate(facts.items()) if n or place < 2]  # noqa: PLR2004 - the first two are always told
    copies = f", {found['copies']:,} of the labels on copies" if found["copies"] else ""
    yield f"{found['name']}: {', '.join(told)}; {found['rows']:,} rows in all{copies}."
    advice = found["advice"]
    said = [ADVICE[advice["state"]], advice["gain"], advice["reason"]]
    if advice["learnt"] != advice["now"]:
        said.append(f"That was after {advice['learnt']:,} labels; now it has {advice['now']:,}.")
    yield " ".join(filter(None, said))
    yield from _measured(found)


def _measured(found: Status) -> Iterator[str]:
    """What the check rows say, if there are any."""
    check, right = found["check"], found["right"]
    if check["size"]:
        yield f"Check rows: {check['answered']:,} of {check['size']:,} have a label."
    if right:
        low, high = (f"{100 * end:.0f}" for end in right["interval"])
        share = f"{100 * right['right'] / right['rows']:.0f} %"
        what = "all classes of " if found["multi"] else ""
        about = f"{what}{share} of those {right['rows']:,} ({low} to {high} %)"
        yield f"The model is right about {about}."
    each = {name: one["f1"] for name, one in (found["by_class"] or {}).items()}
    known = [f"{name} {f1:.2f}" for name, f1 in each.items() if f1 is not None]
    if known:
        yield f"F1 of each class: {', '.join(known)}."


def lines(found: Status) -> list[list[str]]:
    """The other figures, as lines of a table."""
    alone = {"conflicts", "agreement"} if found["answers_per_row"] == 1 else set[str]()
    if found["conflicts"] or found["agreement"] is not None:
        alone = set[str]()
    return [[words, _shown(found[name])] for name, words in SHOWN.items() if name not in alone]


def _shown(value: object) -> str:
    """A figure as people read it."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {count}" for name, count in value.items()) or "none"
    if value is None:
        return "not known: too few rows have two answers"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
