"""The oldest versions that `make lowest` installs."""

import tomllib

import lowest

PROJECT = tomllib.loads((lowest.ROOT / "pyproject.toml").read_text())["project"]


def test_every_lower_bound_becomes_a_version():
    found = lowest.constraints(PROJECT)
    assert {"numpy==2.0", "typer==0.16"} <= set(found)
    named = {line.partition("==")[0] for line in found}
    assert {one.partition(">=")[0] for one in PROJECT["dependencies"]} <= named
    assert {"skops", "psycopg", "pandas"} <= named
    assert not {"pytest", "hypothesis", "possibal"} & named


def test_versions_are_bounded_from_below_alone():
    bounds = [*PROJECT["dependencies"]]
    bounds += [one for them in PROJECT["optional-dependencies"].values() for one in them]
    for one in bounds:
        assert lowest.BOUND.match(one) or one.startswith("possibal["), one
