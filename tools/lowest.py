"""Print the oldest versions that pyproject.toml allows, as constraints for pip or uv.

    python tools/lowest.py > lowest.txt && pip install --editable '.[test]' --constraint lowest.txt

Those of the library and of what users may add; tools that only tests need stay as new as they are.
"""
# ruff: noqa: INP001 - a script, not a package

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BOUND = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)$")


def main() -> None:
    """Print them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    print("\n".join(constraints(project)))  # noqa: T201 - its job


def constraints(project: Mapping[str, Any]) -> list[str]:
    """A line `name==version` for each lower bound of a [project] table."""
    extras = project["optional-dependencies"].items()
    wanted = [
        *project["dependencies"],
        *(one for name, them in extras if name != "test" for one in them),
    ]
    found = filter(None, map(BOUND.match, wanted))
    return sorted({f"{name}=={version}" for name, version in (one.groups() for one in found)})


if __name__ == "__main__":
    main()
