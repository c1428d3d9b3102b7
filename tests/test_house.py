"""Rules of the house that a machine can check."""

import ast
import importlib
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/possibal"
MODULES = sorted(
    path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.name.startswith("__")
)
PUBLIC = [
    "possibal.Answer",
    "possibal.Belief",
    "possibal.Campaign",
    "possibal.Density",
    "possibal.DiscreteFamily",
    "possibal.FinitePossibility",
    "possibal.FlatScoresWarning",
    "possibal.GaussianNoise",
    "possibal.GaussianPossibility",
    "possibal.Interval",
    "possibal.OuterMeasure",
    "possibal.PossibilisticGP",
    "possibal.PossibilisticGPClassifier",
    "possibal.PossibilisticGPRegressor",
    "possibal.PossibilisticPipeline",
    "possibal.ScaleWarning",
    "possibal.SystematicError",
    "possibal.acquisition.JointPosterior",
    "possibal.acquisition.MarginalPosterior",
    "possibal.acquisition.STRATEGIES",
    "possibal.acquisition.View",
    "possibal.acquisition.bald",
    "possibal.acquisition.bald_houlsby",
    "possibal.acquisition.bemps",
    "possibal.acquisition.doubt",
    "possibal.acquisition.entropy",
    "possibal.acquisition.epig",
    "possibal.acquisition.herding",
    "possibal.acquisition.latent_entropy",
    "possibal.acquisition.least_confidence",
    "possibal.acquisition.look_ahead",
    "possibal.acquisition.margin",
    "possibal.acquisition.mocu",
    "possibal.acquisition.necessity",
    "possibal.acquisition.predictive_variance",
    "possibal.acquisition.random",
    "possibal.acquisition.uncertainty",
    "possibal.acquisition.uncertainty_outcome",
    "possibal.acquisition.uncertainty_parameter",
    "possibal.adapters.gpytorch.latent_posterior",
    "possibal.as_possibilistic",
    "possibal.batch",
    "possibal.campaign.Advice",
    "possibal.campaign.Answer",
    "possibal.campaign.Campaign",
    "possibal.campaign.Snapshot",
    "possibal.errors.FlatScoresWarning",
    "possibal.errors.MissingPackageError",
    "possibal.errors.PossibalError",
    "possibal.errors.ScaleWarning",
    "possibal.estimators.PossibilisticGPClassifier",
    "possibal.estimators.PossibilisticGPRegressor",
    "possibal.estimators.PossibilisticPipeline",
    "possibal.experiments.datasets.load",
    "possibal.gp.LatentPosterior",
    "possibal.gp.Posterior",
    "possibal.gp.condition",
    "possibal.load_model",
    "possibal.moment_match",
    "possibal.open_campaign",
    "possibal.pool.best",
    "possibal.pool.rank",
    "possibal.rank",
    "possibal.simulate",
    "possibal.skops_types",
    "possibal.theory.GaussianPossibility",
    "possibal.theory.axioms",
]
"""What users import: these paths stay, wherever the code lives."""


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_has_its_tests_at_the_same_path(module):
    assert (ROOT / "tests" / module.with_name(f"test_{module.name}")).exists()


@pytest.mark.parametrize("path", PUBLIC)
def test_a_public_path_leads_somewhere(path):
    module, _, name = path.rpartition(".")
    found = getattr(importlib.import_module(module), name)
    assert found.__doc__ or isinstance(found, dict)


@pytest.mark.parametrize(
    "package", ["", "acquisition", "campaign", "estimators", "gp", "pool", "theory"]
)
def test_a_face_lists_what_it_gives(package):
    face = importlib.import_module(f"possibal.{package}".rstrip("."))
    assert set(face.__all__) <= set(dir(face))
    for name in face.__all__:
        assert getattr(face, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        face.nothing  # noqa: B018 - it is looked up


def test_a_class_name_means_one_thing():
    homes = defaultdict(list)
    for module in MODULES:
        for node in ast.walk(ast.parse((SOURCE / module).read_text())):
            if isinstance(node, ast.ClassDef):
                homes[node.name.lstrip("_")].append(str(module))
    assert "Campaign" in homes
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_lower_layers_do_not_import_higher_ones():
    tool = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert tool is not None
    done = subprocess.run([tool], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own tool
    assert done.returncode == 0, done.stdout
