"""The tables of docs/axioms.md: which measures of uncertainty satisfy which axioms, by search.

python tools/axiom_table.py           writes them
"""
# ruff: noqa: INP001 - a script, not a package

from pathlib import Path

from possibal import acquisition
from possibal.arrays import Array
from possibal.theory import FiniteThetas, Latents, OuterMeasure, Stretches, axioms
from possibal.theory.axiom_search import AXIOMS
from possibal.theory.axiom_settings import AxiomSetting, Measure
from possibal.theory.finite_measures import (
    doubt,
    mutual_information,
    outcome_entropy,
    probability_variance,
)

PAGE = Path(__file__).parents[1] / "docs/axioms.md"
BEGIN, END = "<!-- tables: begin -->\n", "<!-- tables: end -->\n"
U_THETA, U_Y = OuterMeasure.uncertainty_parameter, OuterMeasure.uncertainty_outcome


def latent_variance(_mean: Array, variance: Array) -> float:
    """The variances of the latents, summed."""
    return float(variance.sum())


FINITE: dict[str, Measure] = {
    "U^Theta, counted": U_THETA,
    "U^Y": U_Y,
    "1 - N": doubt,
    "BALD": mutual_information,
    "entropy": outcome_entropy,
    "variance": probability_variance,
}
SCORES: dict[str, Measure] = {
    "U^L": acquisition.uncertainty,
    "1 - N": acquisition.doubt,
    "BALD": acquisition.bald,
    "entropy": acquisition.entropy,
    "variance": latent_variance,
}
TABLES: dict[str, tuple[AxiomSetting, dict[str, Measure]]] = {
    "Finitely many thetas, any possibility function, two labels": (FiniteThetas(), FINITE),
    "Theta in [0, 1], a Gaussian or one on a stretch of it": (
        Stretches(),
        {"U^Theta": U_THETA, "U^Y": U_Y},
    ),
    "A Gaussian latent under a probit, two labels": (
        Latents(),
        {"U^Theta": acquisition.uncertainty_parameter, **SCORES},
    ),
    "Gaussian latents under a softmax, three labels": (Latents(labels=3), SCORES),
}


def tables(tries: int = 200) -> str:
    """All tables, each with the counterexamples it stands on."""
    return "\n".join(table(title, *content, tries) for title, content in TABLES.items())


def table(title: str, setting: AxiomSetting, measures: dict[str, Measure], tries: int) -> str:
    """One table: a line for each measure, a column for each axiom."""
    reports = {name: axioms(measure, setting, tries=tries) for name, measure in measures.items()}
    lines = [f"### {title}", "", "| measure | " + " | ".join(AXIOMS) + " |"]
    lines.append("|---" * (1 + len(AXIOMS)) + "|")
    for name, report in reports.items():
        marks = [{None: "-", True: "yes", False: "**no**"}[v.holds] for v in report.verdicts]
        lines.append(f"| {name} | " + " | ".join(marks) + " |")
    lines += ["", "<details><summary>counterexamples</summary>", ""]
    for name, report in reports.items():
        lines += [
            f"- {name}, {verdict.axiom}: {verdict.counterexample}."
            for verdict in report.verdicts
            if verdict.counterexample is not None
        ]
    return "\n".join([*lines, "", "</details>", ""])


def page(text: str) -> str:
    """The page with its tables made anew."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{tables()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
