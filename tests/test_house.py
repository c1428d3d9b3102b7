"""Rules of the house that a machine can check."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(p for p in (ROOT / "src/possibal").rglob("*.py") if not p.name.startswith("__"))
LONGEST = 400


@pytest.mark.parametrize("module", MODULES, ids=lambda p: p.stem)
def test_a_module_has_its_tests(module):
    assert (ROOT / "tests" / f"test_{module.name}").exists()


@pytest.mark.parametrize("module", MODULES, ids=lambda p: p.stem)
def test_a_module_holds_one_noun(module):
    assert len(module.read_text().splitlines()) <= LONGEST


def test_lower_layers_do_not_import_higher_ones():
    tool = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert tool is not None
    done = subprocess.run([tool], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own tool
    assert done.returncode == 0, done.stdout
