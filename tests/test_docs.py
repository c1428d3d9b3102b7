"""What the documentation says is what the code has."""

import ast
import importlib
import inspect
import re
import tomllib
from dataclasses import is_dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest
from support import works_with

import possibal
from possibal import acquisition, errors
from possibal.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/possibal"
README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_readme_lists_the_registry_as_it_is():
    table = re.findall(r"^\| `(\w+)` \| (Asks .*) \|$", README, flags=re.MULTILINE)
    registry = acquisition.STRATEGIES.items()
    assert table == [(name, inspect.getdoc(s).splitlines()[0]) for name, s in registry]


def test_every_score_is_in_the_readme():
    assert "doubt" in acquisition.__all__
    for name in acquisition.__all__:
        if name != "STRATEGIES":
            assert f"`{name}`" in README or f"`acquisition.{name}`" in README, name


def test_every_command_is_documented():
    text = README + (ROOT / "CHANGELOG.md").read_text()
    for name in COMMANDS:
        assert f"possibal {name}" in text


def test_versions_agree():
    assert PROJECT["project"]["version"] == possibal.__version__
    assert f"version: {possibal.__version__}" in (ROOT / "CITATION.cff").read_text()
    least = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f"Python {least} or newer" in README


def test_the_readme_gives_the_two_commands_and_the_makefile_has_them():
    makefile = (ROOT / "Makefile").read_text()
    for task in re.findall(r"\bmake (\w+)\b", README + (ROOT / "CONTRIBUTING.md").read_text()):
        assert re.search(rf"^{task}:", makefile, flags=re.MULTILINE), task


def test_the_source_distribution_has_what_tests_and_pages_read():
    build = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]
    named = [pattern.removeprefix("/") for pattern in build["include"]]
    always = ["pyproject.toml", "LICENSE", ".gitignore"]  # hatchling adds them by itself
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    read = set(re.findall(r'(?:ROOT|parents\[\d\]) / "([\w.-]+)', tests))
    read |= {path.name for path in ROOT.iterdir() if path.is_file() and path.suffix == ".md"}
    read |= {target for page in PAGES for target in _targets(page)}
    read = {name for name in read if (ROOT / name).exists()} - {".git"}  # others are deeper
    assert {"Makefile", "Dockerfile", ".dockerignore", "docs", "SECURITY.md"} <= read
    for name in sorted(read):
        assert any(fnmatch(name, pattern) for pattern in [*named, *always]), name


def _targets(page):
    """What stands at the top and is linked to by a page."""
    for target in re.findall(r"\]\(([\w./-]+)", (ROOT / page).read_text()):
        place = (ROOT / page).parent.joinpath(target).resolve()
        if place.is_relative_to(ROOT):
            yield place.relative_to(ROOT).parts[0]


def test_an_index_shows_the_readme_without_links_that_lead_nowhere():
    text = README
    for rule in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert not re.findall(r"\]\((?!https?:|#)", text)
    assert "[docs/design.md]" not in text
    assert "docs/design.md" in text
    assert "](" in README


def test_every_capital_letter_is_in_the_notation():
    names = PROJECT["tool"]["ruff"]["lint"]["pep8-naming"]["ignore-names"]
    notation = (ROOT / "docs/notation.md").read_text()
    for name in names:
        assert re.search(rf"(?<![A-Za-z_]){name}(?![A-Za-z_])", notation), name


# ---------------------------------------------------------------- pages and links
FENCED = re.compile(r"^```.*?^```$", flags=re.MULTILINE | re.DOTALL)
FACES = [
    f"possibal.{name}" for name in ("acquisition", "campaign", "estimators", "gp", "pool", "theory")
]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def heading_anchors(page):
    """The anchors of a page's headings, as code hosts and the site make them."""
    heads = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text()), flags=re.MULTILINE)
    words = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head).lower() for head in heads]
    return {re.sub(r"[^\w\- ]", "", head).strip().replace(" ", "-") for head in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pictures_and_links_of_a_page_lead_somewhere(page):
    for target in LINK.findall(FENCED.sub("", page.read_text())):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            found = page.parent.joinpath(file) if file else page
            assert found.exists(), target
            assert not anchor or anchor in heading_anchors(found), target


def test_every_page_is_in_the_contents_of_the_site():
    tree = ast.parse((ROOT / "docs/conf.py").read_text())
    (found,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NAVIGATION"
    ]
    named = [name for names in ast.literal_eval(found).values() for name in names]
    assert len(named) == len(set(named))
    listed = {(ROOT / "docs" / f"{name}.md").resolve() for name in named}
    assert set(PAGES) - {ROOT / "docs/index.md"} <= listed


def test_every_public_name_is_in_the_reference():
    pages = "".join(page.read_text() for page in (ROOT / "docs/api").glob("*.md"))
    described = set(re.findall(r"^\.\. auto\w+:: \S*?(\w+)$", pages, flags=re.MULTILINE))
    faces = [possibal, *map(importlib.import_module, FACES)]
    named = {name for face in faces for name in face.__all__}
    assert named - described == {"STRATEGIES", "acquisition", "plotting", "pool"}


# ---------------------------------------------------------------- packages and terms
PACKAGES = {path.parent.relative_to(SOURCE) for path in SOURCE.rglob("__init__.py")} - {Path()}
GLOSSARY = re.findall(
    r"^\| (.+?) \| (.*?) ?\| `([\w.]+)` \| `([\w/]+\.py)` \|$",
    (ROOT / "docs/glossary.md").read_text(),
    flags=re.MULTILINE,
)


def test_the_readme_shows_every_package_and_where_to_begin():
    table = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| .* \| (.*) \|$", README, flags=re.MULTILINE)
    starts = [
        Path(package) / file
        for packages, files in table
        for package, file in zip(
            re.findall(r"`(\w+)`", packages), re.findall(r"`(\w+\.py)`", files), strict=False
        )
    ]
    assert {start.parent for start in starts} == {p for p in PACKAGES if len(p.parts) == 1}
    for start in starts:
        assert (SOURCE / start).exists(), start


def test_every_line_of_the_glossary_is_read():
    lines = (ROOT / "docs/glossary.md").read_text().splitlines()
    assert len(GLOSSARY) == sum(line.startswith("| ") and "`" in line for line in lines) > 0


@pytest.mark.parametrize("entry", GLOSSARY, ids=lambda entry: entry[2])
def test_a_term_of_the_glossary_is_where_it_says(entry):
    *_, identifier, file = entry
    package, names = _module_and_names(identifier)
    value = importlib.import_module(package)
    for name in names:
        value = (
            value.__dataclass_fields__[name]
            if is_dataclass(value) and name in value.__dataclass_fields__
            else getattr(value, name)
        )
    assert names[0] in _defined(SOURCE / file)
    module = file.removesuffix(".py").replace("/", ".")
    assert f"possibal.{module}".startswith(package)


def test_the_glossary_has_every_package():
    found = {Path(file).parent for *_, file in GLOSSARY} - {Path()}
    assert found | {parent for path in found for parent in path.parents} >= PACKAGES


def _module_and_names(identifier):
    """The module that an identifier begins with, and what is left of it."""
    parts = identifier.split(".")
    end = max(
        n
        for n in range(1, len(parts))
        if SOURCE.joinpath(*parts[:n]).is_dir()
        or SOURCE.joinpath(*parts[:n]).with_suffix(".py").exists()
    )
    return ".".join(["possibal", *parts[:end]]), parts[end:]


def _defined(file):
    """The names that a file defines at its top level."""
    names = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def test_public_names_are_what_they_promise():
    for name in possibal.__all__:
        assert getattr(possibal, name).__doc__
    assert issubclass(errors.MissingPackageError, ImportError)


def test_every_public_name_is_there_and_listed():
    assert set(possibal.__all__) <= set(dir(possibal))
    for name in possibal.__all__:
        assert getattr(possibal, name) is not None


# ---------------------------------------------------------------- tools and formats
def test_the_table_of_tools_has_what_tests_show_and_nothing_else(request):
    said = works_with.documented(works_with.PAGE.read_text(encoding="utf-8"))
    rows = {(line.tool, line.what): line for line in said}
    assert len(rows) == len(said) >= 40
    for line in request.config.stash[works_with.KEPT]:
        assert (line.tool, line.what) in rows, "make works-with writes the table anew"
    for line in said:
        text = (ROOT / line.test).read_text(encoding="utf-8")
        assert "works_with(" in text, line
