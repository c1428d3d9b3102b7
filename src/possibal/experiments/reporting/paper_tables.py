"""Results as tables beside those of the paper, and what the paper claims put to the test."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO

import numpy as np
from scipy.stats import rankdata

from possibal.experiments.compare import FEWEST, FEWEST_SETS
from possibal.experiments.reporting.paper_results import TABLE_1, TABLE_2, Quartiles, published
from possibal.experiments.reporting.rank_tests import PLACES, RankTest, names, ranks, run_ranks
from possibal.experiments.results import Results
from possibal.experiments.spec import BINARY, MULTICLASS, TABLE_3, strategies

STEPS: Mapping[str, str] = {"final": "final step", "area": "area under the curve"}
"""What the paper calls our measures."""
SYNTHETIC = ("block-center", "block-corner")
REAL = tuple(name for name in BINARY if name not in SYNTHETIC)
"""The sets with two labels that the paper calls real."""
NEAR = 1.0
"""Medians at most so many points apart count as near each other."""
BEST, SECOND = 1, 2


# ---------------------------------------------------------------- values
@dataclass(frozen=True)
class Cell:
    """One entry of a table.

    Attributes:
        text: what a reader sees.
        place: 1 for the best of its group, 2 for the second best, more or 0 for no mark.
        numbers: what the text says, unrounded, for a file; none if the text says all.
        within: whether it agrees with the paper.
    """

    text: str = ""
    place: int = 0
    numbers: tuple[float, ...] = ()
    within: bool = False


@dataclass(frozen=True)
class TableColumn:
    """What a column holds.

    Attributes:
        title: its head.
        parts: the heads of the columns that a file splits it into; none if it stays one.
        figures: whether it holds numbers.
    """

    title: str
    parts: tuple[str, ...] = ()
    figures: bool = False


@dataclass(frozen=True)
class TextTable:
    """A table to read or to write to a file.

    Attributes:
        title: what it shows.
        columns: its heads.
        rows: its entries, one per column.
        heads: how many columns name what the others tell of; rows that agree in the first of
            several belong together.
        note: what a reader should know besides.
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    heads: int = 1
    note: str = ""

    def markdown(self) -> str:
        """The table as Markdown: the best in bold, the second best in italics."""
        head = [column.title for column in self.columns]
        line = ["---:" if column.figures else "---" for column in self.columns]
        body = [[_marked(cell) for cell in row] for row in self.rows]
        lines = [f"| {' | '.join(cells)} |" for cells in (head, line, *body)]
        note = ["", _plain(self.note)] if self.note else []
        return "\n".join([f"**{_plain(self.title)}**", "", *lines, *note, ""])

    def csv(self) -> str:
        """The table as comma-separated values, its numbers in full and in columns of their own."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([part for column in self.columns for part in _heads(column)])
        for row in self.rows:
            pairs = zip(self.columns, row, strict=True)
            writer.writerow([part for column, cell in pairs for part in _entries(column, cell)])
        return text.getvalue()


def _marked(cell: Cell) -> str:
    """The text of a cell in Markdown."""
    mark = {BEST: "**", SECOND: "*"}.get(cell.place, "")
    return f"{mark}{_plain(cell.text)}{mark}"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\|*`<])", r"\\\1", " ".join(text.split()))


def _heads(column: TableColumn) -> tuple[str, ...]:
    """The heads of a column in a file."""
    return column.parts or (column.title,)


def _entries(column: TableColumn, cell: Cell) -> tuple[str, ...]:
    """The entries of a cell in a file, empty where it says nothing."""
    if not column.parts:
        return (cell.text,)
    return tuple(f"{number:.6g}" for number in cell.numbers) or ("",) * len(column.parts)


# ---------------------------------------------------------------- Table 1
def table1(results: Sequence[Results]) -> TextTable:
    """Accuracy after the last answer, ours beside the paper's.

    Paper: Sec. 6, Table 1.
    """
    columns = (
        TableColumn("set"),
        TableColumn("strategy"),
        TableColumn("runs", figures=True),
        TableColumn("ours, median [Q1, Q3]", ("median", "Q1", "Q3"), figures=True),
        TableColumn(
            "paper, median [Q1, Q3]", ("paper median", "paper Q1", "paper Q3"), figures=True
        ),
        TableColumn("within the paper's quartiles"),
    )
    rows = tuple(
        row
        for name, result in zip(names(results), results, strict=True)
        for row in _set_rows(name, result)
    )
    note = "The best median of a set is marked, and the second best." + _other_sizes(results)
    return TextTable("Table 1. Accuracy after the last answer", columns, rows, 2, note)


def _set_rows(name: str, result: Results) -> Iterable[tuple[Cell, ...]]:
    """The rows of one set."""
    dataset, final = result.experiment.dataset, result.final
    ours = {s: Quartiles.of(final[s]) for s in _ordered(final, dataset)}
    theirs = TABLE_1.get(dataset, {})
    our_places, their_places = _median_places(ours), _median_places(theirs)
    for strategy, quartiles in ours.items():
        paper = published(dataset, strategy)
        within = paper is not None and paper.contains(quartiles.median)
        yield (
            Cell(name),
            Cell(strategy),
            Cell(str(len(final[strategy]))),
            replace(_quartile_cell(quartiles, our_places[strategy]), within=within),
            _quartile_cell(paper, their_places[strategy]) if paper else Cell(),
            Cell(("yes" if within else "no") if paper else ""),
        )


def _quartile_cell(quartiles: Quartiles, place: int) -> Cell:
    """The quartiles as the paper prints them."""
    numbers = (quartiles.median, quartiles.low, quartiles.high)
    median, low, high = (f"{number + 1e-9:.3f}" for number in numbers)  # halves go up, as there
    return Cell(f"{median} [{low}, {high}]", place, numbers)


def _ordered(known: Iterable[str], dataset: str) -> list[str]:
    """Strategies in the paper's order, those it does not have last."""
    given, paper = list(known), list(strategies(dataset))
    return [s for s in paper if s in given] + [s for s in given if s not in paper]


def _median_places(quartiles: Mapping[str, Quartiles]) -> dict[str, int]:
    """The place of each strategy by its median."""
    return _places({s: -q.median for s, q in quartiles.items()})


def _places(values: Mapping[str, float]) -> dict[str, int]:
    """The place of each, the lowest first; all that tie get the best, as in the paper."""
    found = rankdata(np.round(list(values.values()), PLACES), method="min")
    return {name: int(place) for name, place in zip(values, found, strict=True)}


def _other_sizes(results: Sequence[Results]) -> str:
    """Which sets were not run to the paper's last question."""
    other = [
        f"{name} {result.experiment.sizes.queries}"
        for name, result in zip(names(results), results, strict=True)
        if result.experiment.dataset in TABLE_3
        and result.experiment.sizes.queries != TABLE_3[result.experiment.dataset].queries
    ]
    return f" Questions other than the paper's: {', '.join(other)}." if other else ""


# ---------------------------------------------------------------- Table 2
def table2(results: Sequence[Results]) -> TextTable:
    """Average ranks over the sets with two labels, ours beside the paper's.

    Paper: Sec. 6, Table 2.
    """
    binary = _binary(results)
    columns = (
        TableColumn("measure"),
        TableColumn("strategy"),
        TableColumn("paper", ("paper",), figures=True),
        TableColumn("ours, ties get the best rank", ("ties min",), figures=True),
        TableColumn("ours, ties share ranks", ("ties average",), figures=True),
        TableColumn("ours, ranked within each run", ("within runs",), figures=True),
    )
    rows = tuple(row for measure in STEPS for row in _measure_rows(binary, measure))
    title = f"Table 2. Average rank, 1 is best: {len(binary)} sets with two labels"
    return TextTable(title, columns, rows, 2, _rank_note(binary))


def _binary(results: Sequence[Results]) -> list[Results]:
    """Those of the sets with two labels, the ones that the paper ranks on."""
    return [result for result in results if result.experiment.dataset not in MULTICLASS]


def _measure_rows(results: Sequence[Results], measure: str) -> Iterable[tuple[Cell, ...]]:
    """The ranks of each strategy by one measure."""
    rankings = (
        ranks(results, measure, "min"),
        ranks(results, measure, "average"),
        run_ranks(results, measure),
    )
    averages = [TABLE_2[measure], *(_averages(ranking) for ranking in rankings)]
    places = [_places(average) for average in averages]
    for strategy in _ordered(averages[1], BINARY[0]):
        cells = (
            _rank_cell(average.get(strategy), place.get(strategy, 0), digits)
            for average, place, digits in zip(averages, places, (2, 3, 3, 3), strict=True)
        )
        yield Cell(STEPS[measure]), Cell(strategy), *cells


def _rank_cell(average: float | None, place: int, digits: int) -> Cell:
    """An average rank; three digits show eighths in full, of which the paper prints two."""
    return Cell() if average is None else Cell(f"{average:.{digits}f}", place, (average,))


def _averages(ranking: RankTest) -> dict[str, float]:
    """The average rank of each strategy."""
    return dict(zip(ranking.strategies, ranking.average, strict=True))


def _rank_note(results: Sequence[Results]) -> str:
    """How many runs the ranks rest on, and who is left out."""
    runs = ", ".join(
        f"{name} {min((len(lines) for lines in result.accuracy.values()), default=0)}"
        for name, result in zip(names(results), results, strict=True)
    )
    seen = dict.fromkeys(s for result in results for s in result.accuracy)
    left = [s for s in seen if any(s not in result.accuracy for result in results)]
    note = f"Runs: {runs or 'none'}."
    own = [s for s in seen if s not in TABLE_2["final"] and s not in left]
    if own:
        note += f" Ours are ranks among {', '.join(own)} too, the paper's are not."
    return note + (f" Not ranked, as not all sets have them: {', '.join(left)}." if left else "")


# ---------------------------------------------------------------- Table 3
def table3() -> TextTable:
    """The sizes of the paper's experiments.

    Paper: App. E.1, Table 3.
    """
    titles = ("runs", "questions", "pool", "test rows")
    columns = (TableColumn("set"), *(TableColumn(title, figures=True) for title in titles))
    rows = tuple(
        tuple(Cell(str(entry)) for entry in (name, s.runs, s.queries, s.pool, s.test))
        for name, s in TABLE_3.items()
    )
    return TextTable("Table 3. Sizes of the paper's experiments", columns, rows)


# ---------------------------------------------------------------- claims
def summary(results: Sequence[Results]) -> list[str]:
    """Whether what the paper claims holds here too, one sentence for each claim that can be put."""
    results = [_papers_own(result) for result in results]
    binary = _binary(results)
    claims = [_all_within(results)]
    for strategy in ("necessity", "uncertainty"):
        claims += [_often_leading(results, strategy)]
    for measure in STEPS:
        claims += [_ranked(binary, measure, "necessity", BEST)]
        claims += [_ranked(binary, measure, "uncertainty", SECOND)]
    claims += [_bald_near_random(results)]
    few = too_few(results)
    said = [one.sentence(is_enough=not few) for one in claims if one]
    return [few, *said] if few and said else said


@dataclass(frozen=True)
class Claim:
    """What is claimed, whether it holds, and the numbers that decide."""

    claim: str
    holds: bool
    evidence: str

    def sentence(self, *, is_enough: bool) -> str:
        """The claim with its verdict, which needs enough sets and runs."""
        if is_enough:
            return claimed(self.claim, self.holds, self.evidence)
        return f"{self.claim}: too little to tell ({self.evidence})."


def too_few(results: Sequence[Results]) -> str:
    """A sentence on why sets or runs are too few to say what holds; empty where they are not."""
    sets = len(results)
    runs = min((result.experiment.sizes.runs for result in results), default=0)
    if sets >= FEWEST_SETS and runs >= FEWEST:
        return ""
    return (
        f"Whether something holds takes at least {FEWEST_SETS} sets of {FEWEST} runs each; "
        f"{_counted(sets, 'set')} of {_counted(runs, 'run')} are too few."
    )


def _counted(count: int, what: str) -> str:
    """So many of something."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _papers_own(result: Results) -> Results:
    """The strategies that the paper has on a set: its claims are about those alone."""
    known = strategies(result.experiment.dataset)
    kept = {name: lines for name, lines in result.accuracy.items() if name in known}
    return replace(result, accuracy=kept)


def claimed(claim: str, holds: bool, evidence: str) -> str:  # noqa: FBT001 - what it is about
    """The claim, whether it holds, and the numbers that decide."""
    return f"{claim}: {'holds' if holds else 'does not hold'} ({evidence})."


def _all_within(results: Sequence[Results]) -> Claim | None:
    """Do our medians lie within the paper's quartiles?"""
    found = [row[-1].text for row in table1(results).rows if row[-1].text]
    yes = found.count("yes")
    claim = "Every median of ours lies within the paper's quartiles"
    return Claim(claim, yes == len(found), f"{yes} of {len(found)} do") if found else None


def _often_leading(results: Sequence[Results], strategy: str) -> Claim | None:
    """Is the strategy best or second best on most sets?"""
    places = [_median_places(_final(r))[strategy] for r in results if strategy in r.accuracy]
    if not places:
        return None
    best, leading = places.count(BEST), sum(place <= SECOND for place in places)
    claim = f"{strategy} has the best or second-best median on most sets"
    evidence = f"best on {best}, second best on {leading - best} of {len(places)} sets"
    return Claim(claim, 2 * leading > len(places), evidence)


def _final(result: Results) -> dict[str, Quartiles]:
    """The quartiles of each strategy after the last answer."""
    return {strategy: Quartiles.of(values) for strategy, values in result.final.items()}


def _ranked(results: Sequence[Results], measure: str, strategy: str, place: int) -> Claim | None:
    """Does the strategy come in that place by average rank?"""
    ranking = ranks(results, measure)
    averages = _averages(ranking)
    if strategy not in averages or len(averages) < place + 1:
        return None
    claim = f"{strategy} has the {'best' if place == BEST else 'second-best'} average rank"
    shown = list(averages.items())[: max(3, list(averages).index(strategy) + 1)]
    evidence = ", ".join(f"{name} {average:.2f}" for name, average in shown)
    gap = ranking.critical_difference
    doubt = f"; those less than {gap:.2f} apart may differ by chance" if gap else ""
    holds = _places(averages)[strategy] == place
    where = f"({STEPS[measure]}, {len(results)} sets with two labels)"
    return Claim(f"{claim} {where}", holds, evidence + doubt)


def _bald_near_random(results: Sequence[Results]) -> Claim | None:
    """Does BALD do about as well as random questions on the real sets?"""
    pairs = {
        name: (result.final["bald"], result.final["random"])
        for name, result in zip(names(results), results, strict=True)
        if result.experiment.dataset in REAL and {"bald", "random"} <= set(result.accuracy)
    }
    if not pairs:
        return None
    points = {n: 100 * float(np.median(a) - np.median(b)) for n, (a, b) in pairs.items()}
    near = sum(round(abs(gap), PLACES) <= NEAR for gap in points.values())
    gaps = ", ".join(f"{name} {gap:+.1f}" for name, gap in points.items())
    signs = [np.sign(a[: len(b)] - b[: len(a)]) for a, b in pairs.values()]
    ahead, behind = (100 * float(np.mean([np.mean(s == way) for s in signs])) for way in (1, -1))
    claim = f"bald is near random on most real sets, their medians at most {NEAR:g} point apart"
    evidence = f"on {near} of {len(pairs)}; bald minus random in points: {gaps}"
    often = f"bald is ahead in {ahead:.0f} % and behind in {behind:.0f} % of runs"
    return Claim(claim, 2 * near > len(pairs), f"{evidence}; {often}")
