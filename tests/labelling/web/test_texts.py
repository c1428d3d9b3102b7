"""The texts of the page: each language has those that the page uses, and no module has its own."""

import re

import pytest

from possibal.labelling.web.routes import STATIC

ENTRY = re.compile(r"  (\w+): (\(([\w, ]*)\) => )?([\"`(\[\w].*),")
COMMENT = re.compile(r"^\s*//.*|/\*.*?\*/|\s//\s.*", re.DOTALL | re.MULTILINE)
STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"")
TEMPLATE, VALUE = re.compile(r"`([^`$]*)`"), re.compile(r"\$\{[^{}`$]*\}")
WORDS = re.compile(r"[A-Za-z]{2,}[.,:;]? [A-Za-z]{2,}|[A-Z][a-z]+$")
NO_WORDS = {
    *("Content-Type", "Bearer ", "not known"),  # what is sent, and an error that nobody sees
    *("Backspace", "End", "Enter", "Esc", "Escape", "Home"),  # keys
    *("English", "Deutsch", "Français"),  # each by its own name
    *("go on", "left out", "may stop"),  # what the server calls things
    *("button.class, button.other", "input, select, button", "textarea, button", ".card, dialog"),
    "input:not([type=checkbox]), select, textarea, [contenteditable]",
    *("(prefers-color-scheme: dark)", "bold 11px system-ui", "curve-title curve-desc"),
    "translate(px, px) scale()",
}
"""What looks like words and is none for people."""
TEXTS = sorted((STATIC / "texts").glob("*.js"))
MODULES = sorted(STATIC.glob("*.js"))
CHOICE = re.findall(r"LANGUAGES = {(.*)}", (STATIC / "language.js").read_text("utf-8"))[0]
LANGUAGES = set(re.findall(r"(\w+): \"", CHOICE))


def parsed(path):
    """The entries of a language: what each takes and its words."""
    body = path.read_text("utf-8").partition("export const texts = {\n")[2]
    lines = body.removesuffix("};\n").splitlines()
    found = [ENTRY.fullmatch(line) for line in lines if not line.startswith("  // ")]
    assert all(found), [line for line in lines if not ENTRY.fullmatch(line)]
    entries = [(one[1], one[3], one[4]) for one in found if one]
    assert len({name for name, *_ in entries}) == len(entries)
    return {name: (takes, words) for name, takes, words in entries}


def wanted():
    """The names of all texts that the page uses."""
    scripts = (path.read_text("utf-8") for path in MODULES)
    pages = (path.read_text("utf-8") for path in STATIC.glob("*.html"))
    return {
        *(name for text in scripts for name in re.findall(r"\bt\.(\w+)", text)),
        *(name for text in pages for name in re.findall(r"data-(?:label-)?text=\"(\w+)\"", text)),
    }


def test_each_language_that_can_be_chosen_has_a_file():
    assert {path.stem for path in TEXTS} == LANGUAGES
    assert {"en", "de", "fr"} <= LANGUAGES


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_language_has_the_texts_that_the_page_uses_and_no_others(path):
    found, used = set(parsed(path)), wanted()
    assert sorted(used - found) == []
    assert sorted(found - used) == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_text_takes_and_says_the_same_in_each_language(path):
    english = parsed(STATIC / "texts" / "en.js")
    for name, (takes, words) in parsed(path).items():
        assert takes == english[name][0], name
        for one in re.findall(r"\w+", takes or ""):
            assert re.search(rf"\b{one}\b", words), (name, one)  # nothing is left unsaid


def literals(code):
    """The literals of a module, without the values in them."""
    code = COMMENT.sub("", code)
    found = STRING.findall(code)
    code, before = STRING.sub("0", code), ""
    while code != before:  # from the innermost template outwards
        before, code = code, VALUE.sub("", code)
        found += TEMPLATE.findall(code)
        code = TEMPLATE.sub("0", code)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_has_no_words_of_its_own(path):
    said = literals(path.read_text("utf-8"))
    assert [one for one in said if WORDS.search(one) and one not in NO_WORDS] == []


def test_words_in_a_module_are_found():
    code = 'el("p", "All is well"); tell(`Row ${id}${x ? `, now in ${y} rows` : "Gone"}.`);'
    said = {one for one in literals(code) if WORDS.search(one)}
    assert said == {"All is well", ", now in  rows", "Gone"}
