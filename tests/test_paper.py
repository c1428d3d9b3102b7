"""The table of docs/paper.md and the Paper: lines of the code hold each other up."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ["theory", "gp", "acquisition"]
MATHS = ["numerics.linalg"] + [
    f"{package}.{path.stem}"
    for package in PACKAGES
    for path in sorted((ROOT / "src/possibal" / package).glob("*.py"))
    if path.stem not in {"__init__", "prediction", "scoring", "strategy", "registry", "coverage"}
    and path.stem not in {"lookahead", "label_update"}
]
TEXT = (ROOT / "docs/paper.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith(("| paper |", "| no. |"))
]


def public_members(module):
    """Functions, classes and their methods that the module itself defines."""
    for name, member in inspect.getmembers(module):
        if name.startswith("_") or getattr(member, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(member) or inspect.isclass(member):
            yield name, member
        if inspect.isclass(member):
            for inner, method in vars(member).items():
                if not inner.startswith("_") and (
                    inspect.isfunction(method) or isinstance(method, property)
                ):
                    yield f"{name}.{inner}", method


# Not formulas: what is carried from one formula to the next, and how parts of it are taken.
CARRIERS = {
    "SoftmaxAverages",
    "Rule",
    "Factor",
    "LikelihoodDerivatives",
    "Observations",
    "NewtonState",
    "NewtonStep",
    "KernelColumn",
}
CARRIERS |= {
    "CrossCovariance",
    "RBFCrossCovariance",
    "KernelCrossCovariance",
    "Kernel",
    "ScaledInputs",
    "TrainingData",
    "Hyperprior",
    "InferenceProblem",
}
HANDLES = {
    "part",
    "apart",
    "with_part",
    "name",
    "settings",
    "jitter",
    "leading",
    "finite",
    "single",
}
HANDLES |= {"largest", "problems", "thetas", "n"}
PLUMBING = {
    "gp.hyperparameters.problem",
    "gp.hyperparameters.InferenceProblem.part",
}
PLUMBING |= {
    "gp.kernels.Kernel.theta",
    "gp.kernels.Kernel.bounds",
    "gp.kernels.Kernel.hyperparameters",
}
PLUMBING |= {"gp.kernels.Kernel.clone_with_theta", "gp.kernels.Kernel.diag"}
PLUMBING |= {
    "gp.posterior.TrainingData.observations",
    "gp.posterior.TrainingData.followed_by",
    "gp.posterior.TrainingData.stacked",
}


@pytest.mark.parametrize("name", MATHS)
def test_every_mathematical_function_names_its_source(name):
    module = importlib.import_module(f"possibal.{name}")
    without = [
        f"{name}.{member}"
        for member, value in public_members(module)
        if "Paper:" not in (inspect.getdoc(value) or "")
        and member not in CARRIERS
        and member.rsplit(".", 1)[-1] not in HANDLES
    ]
    assert set(without) <= PLUMBING


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}, {row[1]}"[:60])
def test_a_row_of_the_table_points_to_something(row):
    *_, function, test = row
    if not row[0].isdigit():  # errata have a decision in that place
        module, path = re.fullmatch(r"`([a-z_.]+)\.([\w.]+?)`", function).groups()
        value = importlib.import_module(f"possibal.{module}")
        for part in path.split("."):
            value = (
                value.__dict__[part] if part in vars(value) else value.__dataclass_fields__[part]
            )
    file, name = re.fullmatch(r"`((?:\w+/)*test_\w+\.py)::(test_\w+)`", test).groups()
    assert f"def {name}(" in (ROOT / "tests" / file).read_text()


def test_the_errata_are_numbered_without_gaps():
    numbers = [int(row[0]) for row in ROWS if row[0].isdigit()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_tests_named_in_running_text_exist():
    for file, name in re.findall(r"`((?:\w+/)*test_\w+\.py)::(test_\w+)`", TEXT):
        assert f"def {name}(" in (ROOT / "tests" / file).read_text()
