import re
from html.parser import HTMLParser

import numpy as np
import pytest

from possibal.experiments.reporting.figures import as_bytes, critical_difference, curves
from possibal.experiments.reporting.html_report import report
from possibal.experiments.reporting.paper_tables import (
    Cell,
    TableColumn,
    TextTable,
    summary,
    table1,
    table2,
    table3,
)
from possibal.experiments.reporting.rank_tests import RankTest, ranks
from possibal.experiments.results import Results
from possibal.experiments.spec import BINARY, experiment, strategies

ODD = "<script>alert(\"1\")</script> & 'x'"
VOID = {"meta"}
NONE = RankTest((), (), None, None, ())


def drawn(dataset):
    """Results with five runs of four questions, one strategy among them with an odd name."""
    rng = np.random.default_rng(len(dataset))
    names = [*strategies(dataset), ODD]
    return Results(experiment(dataset), 2, {s: rng.uniform(size=(5, 5)) for s in names})


class Page(HTMLParser):
    """The elements and text of a page; complains if an element is closed that is not open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module", name="text")
def _text():
    results = [drawn(name) for name in BINARY]
    ranking = ranks(results, "final")
    tables = {"table1": table1(results), "table2": table2(results), "table3": table3()}
    figures = {"curves": curves(results), "critical_difference": critical_difference(ranking)}
    svg = {name: as_bytes(figure, "svg") for name, figure in figures.items()}
    about = {"protocol": "paper", ODD: ODD}
    return report(ranking, tables, svg, about, [*summary(results), ODD])


@pytest.fixture(scope="module", name="page")
def _page(text):
    return Page(text)


# ---------------------------------------------------------------- the whole page
def test_every_element_is_closed(page):
    assert page.open == []


def test_parts_stand_in_the_order_a_reader_needs_them(text):
    assert re.findall(r"<h(\d)[^>]*>(.*?)</h", text) == [
        ("1", "Possibilistic active learning: the paper&#x27;s experiments, run again"),
        ("2", "What was run"),
        ("2", "The paper's claims"),
        ("2", "Accuracy after the last answer"),
        ("2", "Average ranks"),
        ("2", "Which ranks differ"),
        ("2", "Learning curves"),
        ("2", "Sizes of the experiments"),
    ]


def test_the_page_asks_for_nothing_from_outside(text, page):
    assert page.all("script") == page.all("link") == page.all("img") == []
    policy = page.all("meta")[2]
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"
    for _, attributes in page.elements:
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")
    assert not re.search(r"@import|url\((?!#)", text)


def test_what_users_write_is_shown_and_never_run(text, page):
    assert "<script" not in text
    assert page.words.count(ODD) >= 4  # about, summary, tables, figures


def test_the_page_has_a_language_and_fits_a_telephone(text, page):
    assert page.all("html") == [{"lang": "en-GB"}]
    assert page.all("meta")[1]["content"] == "width=device-width, initial-scale=1"
    assert "prefers-color-scheme: dark" in text
    scrolls = [a for a in page.all("div") if a.get("class") == "scroll"]
    assert len(scrolls) == 5
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in scrolls)


def test_a_page_of_nothing_is_a_title():
    text = report(NONE, {}, {}, {}, [])
    assert "<h1>" in text
    assert "<h2>" not in text
    assert Page(text).open == []


# ---------------------------------------------------------------- text
def test_verdicts_are_set_off():
    text = report(NONE, {}, {}, {}, ["A: holds (1).", "B: does not hold (2).", "C holds"])
    assert '<li>A: <strong class="holds">holds</strong> (1).</li>' in text
    assert '<li>B: <strong class="fails">does not hold</strong> (2).</li>' in text
    assert "<li>C holds</li>" in text


@pytest.mark.parametrize(("p", "words"), [(0.01234, "p = 0.012"), (1e-9, "p &lt; 0.0001")])
def test_the_test_is_told_in_words(p, words):
    text = report(RankTest(("a", "b", "c"), (1, 2, 3), 1.5, p, tuple("xyz")), {}, {}, {}, [])
    assert f"Friedman's test on 3 sets: {words}. " in text
    assert "at least 1.50 apart" in text


def test_a_ranking_without_a_test_says_so():
    text = report(RankTest(("a",), (1,), None, None, ("sonar",)), {}, {}, {}, [])
    assert "too few sets or strategies to test" in text


# ---------------------------------------------------------------- tables
def test_every_head_of_a_table_says_what_it_heads(page):
    heads = [a["scope"] for a in page.all("th")]
    assert len(page.all("caption")) == 3
    assert heads.count("col") == 6 + 6 + 5
    assert heads.count("rowgroup") == 8 + 2
    assert heads.count("row") == 8 * 7 + 2 * 7 + 11


def test_rows_of_a_set_stand_together(page):
    spans = [int(a["rowspan"]) for a in page.all("th") if a["scope"] == "rowgroup"]
    assert spans == [7] * 10
    assert len(page.all("tbody")) == 8 + 2 + 1


def test_marks_and_agreement_with_the_paper_are_shown():
    levels = {"random": 0.79, "bald": 0.9, "uncertainty": 0.1, "necessity": 0.7}
    result = Results(experiment("sonar"), 2, {s: np.full((2, 2), x) for s, x in levels.items()})
    text = report(NONE, {"table1": table1([result])}, {}, {}, [])
    assert '<td class="number within"><em>0.790 [0.790, 0.790]</em></td>' in text
    assert '<td class="number"><strong>0.900 [0.900, 0.900]</strong></td>' in text
    assert '<td class="number">0.100 [0.100, 0.100]</td>' in text
    assert text.count("within</") == 0
    assert "<td>yes</td>" in text


def test_costs_are_shown_before_the_sizes():
    cost = TextTable(
        "Costs", (TableColumn("score"), TableColumn("ns")), ((Cell("necessity"), Cell("15")),)
    )
    text = report(NONE, {"table3": table3(), "cost": cost}, {}, {}, [])
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", text) == [
        "What scores cost",
        "Sizes of the experiments",
    ]
    assert '<th scope="row">necessity</th><td>15</td>' in text


def test_a_table_or_figure_that_no_page_has_is_refused():
    with pytest.raises(ValueError, match=r"^tables must be one of 'table1', .*; got 'table4'"):
        report(NONE, {"table4": table3()}, {}, {}, [])
    with pytest.raises(ValueError, match=r"^figures_svg must be one of 'crit.*; got 'curve'"):
        report(NONE, {}, {"curve": b"<svg/>"}, {}, [])


# ---------------------------------------------------------------- figures
def test_figures_have_names_and_captions_and_no_id_twice(text, page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = re.findall(r'(?:url\(|href=")#([^)"]+)', text)
    assert set(targets) <= set(ids)
    assert all(a["role"] == "img" and a["aria-label"] for a in page.all("svg"))
    assert len(page.all("figcaption")) == len(page.all("figure")) == len(page.all("svg")) == 2


def test_the_diagram_of_the_ranks_is_told_in_words(page):
    words = page.all("svg")[0]["aria-label"]
    assert words.startswith("Average ranks: ")
    assert ODD in words


def test_the_style_of_a_figure_stays_in_it(text):
    assert ">*{" not in text
    assert ">#curves *{" in text


def test_a_figure_that_is_no_svg_is_refused():
    with pytest.raises(
        ValueError, match=r"^figures_svg\['curves'\] must be an SVG file; got b'\\x89PNG"
    ):
        report(NONE, {}, {"curves": b"\x89PNG"}, {}, [])
