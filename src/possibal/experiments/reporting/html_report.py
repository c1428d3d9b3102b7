"""Results as one page of HTML that needs nothing else: no script, no network, no other file."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from types import MappingProxyType

from possibal.arguments import choice
from possibal.experiments.reporting.paper_tables import BEST, SECOND, Cell, TableColumn, TextTable
from possibal.experiments.reporting.rank_tests import RankTest

TITLE = "Possibilistic active learning: the paper's experiments, run again"
TABLES: Mapping[str, str] = MappingProxyType(
    {
        "table1": "Accuracy after the last answer",
        "table2": "Average ranks",
        "cost": "What scores cost",
        "table3": "Sizes of the experiments",
    }
)
"""The tables a page may have, with the headings they stand under."""
FIGURES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "critical_difference": (
            "Which ranks differ",
            "Average ranks over the sets. A bar joins those the test cannot tell apart at 5 %.",
        ),
        "curves": (
            "Learning curves",
            "Median accuracy over runs against labels, in a band from first to third quartile.",
        ),
    }
)
"""The figures a page may have, with the headings they stand under and their captions."""
CURVES = "Accuracy against labels for every set and strategy; Table 1 has the last step in numbers"

STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5b6169; --line: #d9dce1; --page: #fff;
  --band: #f4f5f7; --good: #0b6b3a; --bad: #a3320b; --within: #dff1e6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e9ec; --soft: #a3a9b2; --line: #3a3f47;
  --page: #16181b; --band: #1f2226; --good: #6fd39b; --bad: #f2a07b; --within: #173d29; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: clamp(1.5rem, 5vw, 2.1rem); line-height: 1.2; margin: 0 0 1.5rem;
  text-wrap: balance; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 3rem 0 .75rem; }
p, li, dd { max-width: 46rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr; gap: .3rem 1.25rem;
  margin: 0; }
dt { color: var(--soft); overflow-wrap: anywhere; }
dd { margin: 0; }
ul { padding-left: 1.2rem; }
li { margin: .4rem 0; }
nav ol { columns: 2; padding-left: 1.4rem; max-width: 46rem; }
nav li { margin: 0 0 .4rem; break-inside: avoid; }
a { color: inherit; }
.holds { color: var(--good); }
.fails { color: var(--bad); }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; }
.scroll:focus-visible { outline: 3px solid #3b82d6; outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .6rem .75rem; font-weight: 600; }
th, td { padding: .35rem .75rem; text-align: left; vertical-align: top; white-space: nowrap; }
thead th { white-space: normal; min-width: 4rem; vertical-align: bottom; background: var(--band);
  border-bottom: 1px solid var(--line); font-weight: 600; }
tbody th { font-weight: 400; }
tbody th[scope=rowgroup] { font-weight: 600; }
tbody + tbody { border-top: 1px solid var(--line); }
.number { text-align: right; }
td em { font-style: normal; text-decoration: underline; text-decoration-thickness: 1px;
  text-underline-offset: .2em; }
td.within { background: var(--within); }
.note, figcaption { color: var(--soft); font-size: .92rem; }
figure { margin: 1.5rem 0; }
figure .scroll { background: #fff; padding: .5rem; }
figure svg { display: block; width: 100%; height: auto; margin: 0 auto; }
#curves { min-width: 56rem; }
#critical_difference { min-width: 34rem; max-width: 60rem; }
figcaption { margin-top: .5rem; max-width: 46rem; }
@media print { .scroll { overflow: visible; border: 0; } h2 { break-after: avoid; } }
"""


def report(
    ranking: RankTest,
    tables: Mapping[str, TextTable],
    figures_svg: Mapping[str, bytes],
    about: Mapping[str, str],
    summary: Sequence[str],
) -> str:
    """The page; what is not given is left out.

    Args:
        ranking: what the critical-difference diagram shows.
        tables: any of `TABLES`.
        figures_svg: any of `FIGURES`, as SVG files.
        about: what was run: a heading and a text each.
        summary: what holds and what does not.
    """
    for name in tables:
        choice("tables", name, TABLES)
    for name in figures_svg:
        choice("figures_svg", name, FIGURES)
    shown = {name: table_part(TABLES[name], table) for name, table in tables.items()}
    labels = {"critical_difference": _ranks_in_words(ranking), "curves": CURVES}
    drawn = {
        name: figure_part(name, svg, labels[name], FIGURES[name])
        for name, svg in figures_svg.items()
    }
    parts = [about_part("What was run", about), _summary(summary)]
    parts += [shown.get("table1", ""), shown.get("table2", "")]
    parts += [_test(ranking), drawn.get("critical_difference", "")]
    parts += [drawn.get("curves", ""), shown.get("cost", ""), shown.get("table3", "")]
    return page(TITLE, parts)


def page(title: str, parts: Sequence[str]) -> str:
    """A whole document with its contents, which the browser lets load nothing.

    Args:
        title: of the page.
        parts: each under a heading; those that are empty are left out.
    """
    heading = f"<h1>{escape(title)}</h1>"
    main = _with_contents("\n".join([heading, *filter(None, parts)]))
    return f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
{main}
</main>
</body>
</html>
"""


# ---------------------------------------------------------------- text
def _with_contents(main: str) -> str:
    """The parts with their headings numbered, and a list of these below the title."""
    headings = re.findall(r"<h2>(.*?)</h2>", main)
    for number, heading in enumerate(headings, 1):
        main = main.replace("<h2>", f'<h2 id="part-{number}">', 1)
        headings[number - 1] = f'<li><a href="#part-{number}">{heading}</a></li>'
    listed = f'</h1>\n<nav aria-label="Contents"><ol>{"".join(headings)}</ol></nav>'
    return main.replace("</h1>", listed, 1) if headings else main


def about_part(heading: str, about: Mapping[str, str]) -> str:
    """Names and a text each under a heading, if there are any."""
    if not about:
        return ""
    lines = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in about.items())
    return f"<h2>{escape(heading)}</h2>\n<dl>{''.join(lines)}</dl>"


def _summary(summary: Sequence[str]) -> str:
    """What holds and what does not, the verdicts set off."""
    if not summary:
        return ""
    items = "\n".join(f"<li>{_verdict(sentence)}</li>" for sentence in summary)
    return f"<h2>The paper's claims</h2>\n<ul>\n{items}\n</ul>"


def _verdict(sentence: str) -> str:
    """The sentence with its verdict in bold."""
    found = re.search(r": (holds|does not hold) \(", sentence)
    if not found:
        return escape(sentence)
    before, word, after = sentence[: found.start(1)], found[1], sentence[found.end(1) :]
    side = "holds" if word == "holds" else "fails"
    return f'{escape(before)}<strong class="{side}">{word}</strong>{escape(after)}'


def _test(ranking: RankTest) -> str:
    """What the test says of the ranks, if there are any."""
    if not ranking.strategies:
        return ""
    if ranking.p_value is None or ranking.critical_difference is None:
        return "<p>There are too few sets or strategies to test the ranks.</p>"
    sets, p = len(ranking.sets), ranking.p_value
    chance = "p &lt; 0.0001" if p < 1e-4 else f"p = {p:.2g}"  # noqa: PLR2004 - smaller says no more
    return (
        f"<p>Friedman's test on {sets} sets: {chance}. By Nemenyi's test two strategies differ "
        f"at the 5 % level if their average ranks are at least {ranking.critical_difference:.2f} "
        "apart.</p>"
    )


def _ranks_in_words(ranking: RankTest) -> str:
    """What the diagram of the ranks shows."""
    pairs = zip(ranking.strategies, ranking.average, strict=True)
    return "Average ranks: " + ", ".join(f"{name} {average:.2f}" for name, average in pairs)


# ---------------------------------------------------------------- figures
def figure_part(name: str, svg: bytes, label: str, words: tuple[str, str]) -> str:
    """A figure under its heading, on light ground in any mode, with its caption."""
    heading, caption = (escape(text) for text in words)
    return (
        f"<h2>{heading}</h2>\n<figure>\n"
        f'<div class="scroll" tabindex="0" role="group" aria-label="{heading}">\n'
        f"{_inline(name, svg, label)}\n</div>\n"
        f"<figcaption>{caption}</figcaption>\n</figure>"
    )


def _inline(name: str, svg: bytes, label: str) -> str:
    """An SVG file as part of a page: its ids and its style are its own."""
    _, found, rest = svg.decode(errors="replace").partition("<svg")
    if not found:
        raise ValueError(
            f"figures_svg[{name!r}] must be an SVG file; got {svg[:20]!r}. "
            "Make it with as_bytes(figure, 'svg')."
        )
    drawing = re.sub(r"\s*<metadata>.*?</metadata>", "", rest, count=1, flags=re.DOTALL)
    drawing = re.sub(r"<[^>]+>", lambda tag: _own_ids(name, tag[0]), drawing)
    drawing = drawing.replace(">*{", f">#{name} *{{", 1)
    return f'<svg id="{name}" role="img" aria-label="{escape(label)}"{drawing.strip()}'


def _own_ids(name: str, tag: str) -> str:
    """A tag whose ids, and what points to them, begin with the name of the figure."""
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", tag)


# ---------------------------------------------------------------- tables
def table_part(heading: str, table: TextTable) -> str:
    """A table under its heading, in a frame that scrolls sideways."""
    heads = "".join(f'<th scope="col"{_side(c)}>{escape(c.title)}</th>' for c in table.columns)
    note = f'\n<p class="note">{escape(table.note)}</p>' if table.note else ""
    title = escape(table.title)
    return (
        f"<h2>{escape(heading)}</h2>\n"
        f'<div class="scroll" tabindex="0" role="group" aria-label="{title}">\n<table>\n'
        f"<caption>{title}</caption>\n<thead><tr>{heads}</tr></thead>\n"
        f"{''.join(_bodies(table))}</table>\n</div>{note}"
    )


def _bodies(table: TextTable) -> Iterable[str]:
    """The rows; those that share their first head stand together under it."""
    if table.heads == 1:
        yield _body([_row(table.columns, row, heads=1) for row in table.rows])
        return
    for first, group in groupby(table.rows, key=lambda row: row[0]):
        rows = [_row(table.columns[1:], row[1:], heads=table.heads - 1) for row in group]
        head = f'<th scope="rowgroup" rowspan="{len(rows)}">{escape(first.text)}</th>'
        yield _body([head + rows[0], *rows[1:]])


def _body(rows: Sequence[str]) -> str:
    """Rows that belong together."""
    return "<tbody>\n" + "".join(f"<tr>{row}</tr>\n" for row in rows) + "</tbody>\n"


def _row(columns: Sequence[TableColumn], cells: Sequence[Cell], heads: int) -> str:
    """The entries of a row, the first of them heads."""
    names = "".join(f'<th scope="row">{escape(cell.text)}</th>' for cell in cells[:heads])
    pairs = zip(columns[heads:], cells[heads:], strict=True)
    return names + "".join(f"<td{_side(c, cell)}>{_marked(cell)}</td>" for c, cell in pairs)


def _side(column: TableColumn, cell: Cell | None = None) -> str:
    """The classes of an entry: numbers stand right, what agrees with the paper is tinted."""
    words = ["number"] * column.figures + ["within"] * bool(cell and cell.within)
    return f' class="{" ".join(words)}"' if words else ""


def _marked(cell: Cell) -> str:
    """The text of a cell, the best in bold and the second best underlined."""
    tag = {BEST: "strong", SECOND: "em"}.get(cell.place, "")
    return f"<{tag}>{escape(cell.text)}</{tag}>" if tag else escape(cell.text)
