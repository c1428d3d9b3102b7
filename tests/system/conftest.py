"""What tests of the whole share."""

import pytest
from support.browser import launched


@pytest.fixture(scope="module")
def browser():
    """A browser for all tests of a file that need one."""
    with launched() as browser:
        yield browser
