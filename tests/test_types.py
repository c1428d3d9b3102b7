"""The library as a user's own type checker sees it: `make types` reads the same script."""

import math

from support.user_script import script


def test_a_typed_script_runs():
    assert math.isfinite(script())
