"""Which tools and formats possibal works with, as tests saw it: the table of docs/works-with.md.

A test says what it shows by `@pytest.mark.works_with(tool, what, package)`. `make works-with` runs
all that do, and writes the table from what passed. As a plugin this module adds outcomes to a file
of JSON lines, so that tools that cannot be installed side by side are run one after the other; as
a script it makes the table of them.
"""

import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/works-with.md"
HEAD = "| tool or format | what works | seen with | test |\n|---|---|---|---|"
MARK = "works_with"
OUTCOMES = "POSSIBAL_WORKS_WITH"
"""The variable that names the file that outcomes are added to."""
ON_WORKER = "PYTEST_XDIST_WORKER"
KEPT = pytest.StashKey[list["Line"]]()
"""What the tests of this run can show."""


@dataclass(frozen=True, order=True)
class Line:
    """A line of the table.

    Attributes:
        tool: what users call it.
        what: what works with it.
        package: the distribution that was tested, if it is one.
        test: the file of the test.
    """

    tool: str
    what: str
    package: str
    test: str

    def documented(self, version: str) -> str:
        """The line, with the version that was seen."""
        seen = f"{self.package} {version}".strip()
        return f"| {self.tool} | {self.what} | {seen} | `{self.test}` |"


def lines_of(item: pytest.Item) -> Iterator[Line]:
    """What a test shows."""
    test = item.path.relative_to(item.config.rootpath).as_posix()
    for mark in item.iter_markers(MARK):
        tool, what, *package = mark.args
        yield Line(tool, what, *package or [""], test)


def version_of(package: str) -> str:
    """That of a distribution, if it is installed, here or in the environment of Label Studio."""
    path = [*sys.path, *map(str, ROOT.glob(".label-studio/lib/python*/site-packages"))]
    found = metadata.distributions(name=package, path=path) if package else ()
    return next((one.version for one in found), "")


# ---------------------------------------------------------------- the plugin
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before any test is left out: what all of them show."""
    config.stash[KEPT] = [line for item in items for line in lines_of(item)]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What a test shows goes with its report, also from another process."""
    shown = [
        [line.tool, line.what, line.package, line.test, version_of(line.package)]
        for line in lines_of(item)
    ]
    item.user_properties.append((MARK, shown))


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Outcomes are written by the process that hears of all of them."""
    path = os.environ.get(OUTCOMES)
    if path is None or ON_WORKER in os.environ or (report.when != "call" and report.passed):
        return
    with Path(path).open("a", encoding="utf-8") as file:
        for shown in dict(report.user_properties).get(MARK, ()):
            json.dump([*shown, report.outcome], file)
            file.write("\n")


def pytest_configure(config: pytest.Config) -> None:
    """The mark is known."""
    config.addinivalue_line("markers", f"{MARK}(tool, what, package): a line of the table of tools")


# ---------------------------------------------------------------- the table
def read(paths: Iterable[Path]) -> dict[Line, tuple[str, set[str]]]:
    """Versions and outcomes by line; tests of one line in several files count for the first."""
    seen: dict[Line, tuple[str, set[str]]] = {}
    outcomes: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for path in paths:
        for text in path.read_text(encoding="utf-8").splitlines():
            *names, version, outcome = json.loads(text)
            line = Line(*names)
            outcomes[line.tool, line.what].add(outcome)
            seen[line] = version, outcomes[line.tool, line.what]
    return seen


def table(seen: dict[Line, tuple[str, set[str]]]) -> str:
    """The table; SystemExit if anything did not pass."""
    failed = {
        f"{line.tool}: {line.what}"
        for line, (_, outcomes) in seen.items()
        if "failed" in outcomes or "passed" not in outcomes
    }
    if failed:
        sys.exit("\n".join(["These failed, or were left out:", *sorted(failed)]))
    first: dict[tuple[str, str], str] = {}
    for line in sorted(seen, key=lambda line: (line.tool.casefold(), line.what.casefold())):
        first.setdefault((line.tool, line.what), line.documented(seen[line][0]))
    return "\n".join([HEAD, *first.values()])


def documented(page: str) -> list[Line]:
    """The lines of the page's table, whatever version they were seen with."""
    cells = re.findall(r"^\| (.+?) \| (.+?) \| (.*?) ?\| `(.+?)` \|$", page, flags=re.MULTILINE)
    return [Line(tool, what, seen.rpartition(" ")[0], test) for tool, what, seen, test in cells]


def put(page: str, lines: str) -> str:
    """The page with another table."""
    begin = page.index(HEAD)
    rest = page[begin:].partition("\n\n")[2]
    return f"{page[:begin]}{lines}\n\n{rest}".rstrip("\n") + "\n"


def main(arguments: list[str]) -> None:
    """Write the table of files of outcomes into the page."""
    lines = table(read(map(Path, arguments)))
    PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
