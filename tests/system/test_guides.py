"""Whoever follows the guides and tutorials gets what they show."""

import sys
from pathlib import Path

import pytest
from support.guides import blocks, follow

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = sorted([*DOCS.glob("start/*.md"), *DOCS.glob("tutorials/*.md")])
LONG = {"million-rows"}
PARAMETERS = [
    pytest.param(page, id=page.stem, marks=[pytest.mark.long] if page.stem in LONG else [])
    for page in GUIDES
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The present folder, which is empty, and whose modules are forgotten in the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", PARAMETERS)
def test_a_guide_does_what_it_shows(page):
    assert follow(page) == ""


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_every_block_of_a_guide_is_run(page):
    found = blocks(page)
    assert found
    for block in found:
        is_session = block.language == "python" and block.text.startswith(">>> ")
        is_terminal = block.language == "console" and block.text.startswith("$ ")
        assert is_session or is_terminal or block.file, (page.name, block.line)


def test_what_differs_is_told(folder):
    page = folder / "page.md"
    page.write_text(
        "```csv a.csv\nx\n1\n```\n\n```console\n$ possibal --version\npossibal 0\n```\n\n"
        "```python\n>>> from pathlib import Path\n>>> Path('a.csv').read_text()\n'x\\n2\\n'\n```\n"
    )
    said = follow(page)
    assert said.count("Expected:") == 2
    assert "'x\\n1\\n'" in said
