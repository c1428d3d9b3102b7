"""Print the tests of a change: of the modules that changed, and of those that import them.

    PYTHONPATH=tests python tools/changed_tests.py    # since the branch left main, and uncommitted

What checks the whole tree in seconds is always among them. Where nothing changed, or something that
every test rests on, it is a quick selection. `make test` runs everything.
"""
# ruff: noqa: INP001 - a script, not a package

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grimp
from support.slow import is_slow

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = Path("src/possibal"), Path("tests")
ALWAYS = [TESTS / f"test_{name}.py" for name in ("docs", "house", "paper")] + [Path("README.md")]
QUICK = [TESTS / name for name in ("numerics", "theory", "acquisition", "campaign")]
GUIDES = [Path("docs") / name for name in ("start", "tutorials")]
"""Pages that are run from top to bottom."""
MANY = 15
"""More importers than these are left to `make test`, as are slow tests of any importer."""


def main() -> None:
    """Print paths for pytest, one a line."""
    os.chdir(ROOT)
    found = sorted({test for file in changed() for test in tests_of(file)})
    for path in [*ALWAYS, *([test for test in found if test not in ALWAYS] or QUICK)]:
        print(path)  # noqa: T201 - its job


def changed() -> list[Path]:
    """The files that differ from where the branch left main."""
    base = _git("merge-base", "HEAD", "main") or _git("merge-base", "HEAD", "origin/main")
    names = _git("diff", "--name-only", *(base or ["HEAD"]))
    return [Path(name) for name in [*names, *_git("ls-files", "--others", "--exclude-standard")]]


def tests_of(file: Path) -> Iterator[Path]:
    """The tests of a file that changed."""
    if file.is_relative_to(TESTS / "support"):
        using = re.compile(rf"support(\.| import .*\b){file.stem}\b")
        found = [path for path in TESTS.rglob("test_*.py") if using.search(path.read_text())]
        yield from filter(_quick, found)
    elif file.is_relative_to(TESTS) and file.name.startswith("test_"):
        yield from _existing(file)
    elif file.parent in GUIDES:
        yield from _existing(TESTS / "system/test_guides.py")
    elif file.is_relative_to(SOURCE):
        module = file.relative_to(SOURCE)
        yield from _existing(_mirror(module) if file.suffix == ".py" else _folder(module))
        if file.suffix == ".py":
            yield from _importers(module)


def _importers(module: Path) -> Iterator[Path]:
    """The quick tests of the modules that import one directly, where they are not many."""
    graph = grimp.build_graph("possibal", cache_dir=None)
    name = ".".join(["possibal", *module.with_suffix("").parts])
    using = graph.find_modules_that_directly_import(name) if name in graph.modules else set[str]()
    if len(using) <= MANY:
        for one in sorted(using):
            test = _mirror(Path(*one.split(".")[1:]).with_suffix(".py"))
            yield from (path for path in _existing(test) if _quick(path))


def _mirror(module: Path) -> Path:
    """Where the tests of a module are."""
    return TESTS / module.with_name(f"test_{module.name}")


def _folder(file: Path) -> Path:
    """The tests of the package that a file without code belongs to."""
    return next(TESTS / path for path in file.parents if (TESTS / path).is_dir())


def _existing(test: Path) -> Iterator[Path]:
    """The path, if it is there: a face and a file that was deleted have no tests."""
    if test.exists():
        yield test


def _quick(test: Path) -> bool:
    """Whether a test file takes seconds."""
    return not is_slow(test.resolve())


def _git(*arguments: str) -> list[str]:
    """The lines that git prints; none where it fails."""
    command = ["git", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


if __name__ == "__main__":
    main()
