"""How Sphinx makes the site of README, docs and docstrings: `make docs`.

The source folder is the repository itself, so that links between Markdown files, which work on code
hosts, work here too. Nothing is fetched, neither when the site is made nor when it is read.
"""
# ruff: noqa: INP001 - a script, not a package

import re
from pathlib import Path

from pygments.lexers import TextLexer
from sphinx.application import Sphinx

import possibal

ROOT = Path(__file__).parents[1]
NAVIGATION = {
    "Start": ["start/file", "start/python", "start/research"],
    "Tutorials": [
        "tutorials/texts",
        "tutorials/pictures",
        "tutorials/mixed-tables",
        "tutorials/team",
        "tutorials/million-rows",
        "tutorials/paper-table",
        "tutorials/own-strategy",
        "tutorials/own-model",
    ],
    "Ideas": [
        "ideas/unknown-and-random",
        "ideas/possibility",
        "ideas/necessity",
        "ideas/process",
        "ideas/questions",
    ],
    "Choose": ["choosing", "comparison"],
    "Label": ["labelling", "inputs", "teams", "deploy", "recall", "calibration", "embeddings"],
    "Python": [
        "models",
        "own-models",
        "notebooks",
        "adapters",
        "works-with",
        "plugins",
        "installing",
        "scale",
        "api/campaigns",
        "api/models",
        "api/acquisition",
        "api/pools",
        "api/theory",
        "api/experiments",
    ],
    "Research": [
        "paper",
        "reproduction",
        "label-efficiency",
        "hyperparameters",
        "similarity",
        "possibilistic-gp",
        "axioms",
        "notation",
        "glossary",
    ],
    "Project": [
        "../README",
        "design",
        "performance",
        "reliability",
        "security",
        "../SECURITY",
        "../CONTRIBUTING",
        "../CODE_OF_CONDUCT",
        "../CHANGELOG",
    ],
}
"""The order of the pages, from this folder; a page that is nowhere here fails the build."""

# ---------------------------------------------------------------- what is read
project = "possibal"
author = "The possibal developers"
version = release = possibal.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = ["docs/**", "*.md"]
exclude_patterns = [".*", "bench", "build", "dist", "src", "tests", "tools"]
myst_heading_anchors = 4  # as on code hosts: a heading's words, with hyphens
suppress_warnings = ["myst.header", "ref.python"]  # several classes have `labels`
default_role = "code"
highlight_language = "text"

# ---------------------------------------------------------------- the API reference
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "inherited-members": True, "show-inheritance": False}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = (
    True  # attributes of a class are a list, and their properties are described once
)
python_maximum_signature_line_length = 88

# ---------------------------------------------------------------- what is written
html_theme = "furo"
html_title = f"possibal {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "../src/possibal/labelling/web/static/icon.svg"
html_extra_path = ["_root"]  # the first address leads to the home page
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
copybutton_exclude = ".linenos, .gp, .go"  # prompts and output are not copied


def contents() -> str:
    """The tables of contents of the home page, of pages that are there."""
    blocks = []
    for caption, names in NAVIGATION.items():
        pages = [name for name in names if (ROOT / "docs" / f"{name}.md").exists()]
        lines = "\n".join(f"/{_document(name)}" for name in pages)
        blocks.append(f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n")
    return "\n".join(blocks)


def _document(name: str) -> str:
    """What Sphinx calls a page of the navigation."""
    return re.sub(r"^docs/\.\./", "", f"docs/{name}")


def _with_contents(_: Sphinx, document: str, source: list[str]) -> None:
    """The home page, with the contents that code hosts would show as code."""
    if document == root_doc:
        source[0] += f"\n{contents()}"


def _is_not_ours(
    _app: Sphinx,
    _what: str,
    name: str,
    found: object,
    skip: bool,  # noqa: FBT001 - as autodoc calls it
    _options: object,
) -> bool:
    """Whether a member is left to the documentation of the library that it is inherited from."""
    home = getattr(getattr(found, "fget", found), "__module__", None) or ""
    return skip or not home.startswith("possibal") or name.endswith("_request")


def _with_bars(
    _app: Sphinx, _what: str, _name: str, _found: object, _options: object, lines: list[str]
) -> None:
    """A docstring whose bars are bars: absolute values, not names to be replaced."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


ARRAY_LIKE = re.compile(
    r"~?[\w.]*_Buffer \| ~?[\w.]*_SupportsArray.*? \| "
    r"~?[\w.]*_NestedSequence\[complex \| bytes \| str\]"
)
"""What NumPy's ArrayLike is unrolled to."""


def _with_short_types(
    _app: Sphinx,
    _what: str,
    _name: str,
    _found: object,
    _options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """A signature in which what may be made an array is called so."""
    return signature and ARRAY_LIKE.sub("ArrayLike", signature), returned


def setup(app: Sphinx) -> None:
    """Have Sphinx read the pages as above."""
    app.connect("source-read", _with_contents)
    app.connect("autodoc-skip-member", _is_not_ours)
    app.connect("autodoc-process-docstring", _with_bars)
    app.connect("autodoc-process-signature", _with_short_types)
    app.add_lexer("csv", TextLexer)
