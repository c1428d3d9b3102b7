import csv
from argparse import Namespace
from types import SimpleNamespace
from zipfile import ZipFile

import features
import numpy as np
import pytest
from features import (
    BY_CHANCE,
    CHANCE,
    HERDED,
    MARGIN,
    ON_EMBEDDINGS,
    OURS,
    PLAIN,
    TERMS,
    Known,
    contents,
    least_margin,
    linear_svm,
    most_covering,
    peer_runs,
    planned,
    questions_needed,
    read_sets,
    sizes,
    table,
    verdict,
)
from PIL import Image
from sklearn.linear_model import LogisticRegression

from possibal.embedding.embedder import Modality
from possibal.experiments.compare import FEWEST
from possibal.experiments.results import Results
from possibal.experiments.spec import ENVELOPE, HELD_OUT, Experiment, Sizes

WORDS = {"fruit": ("apple", "pear", "plum"), "metal": ("iron", "zinc", "tin")}


def made_up(name, **levels):
    """Results of contenders whose accuracy grows by a hundredth with every answer."""
    answers = np.arange(51) / 100
    named = dict.fromkeys(ON_EMBEDDINGS, 0.15) | {OURS: 0.4, PLAIN: 0.2, BY_CHANCE: 0.3}
    named |= {CHANCE: 0.2, MARGIN: 0.25, HERDED: 0.3, TERMS: 0.1} | levels
    noise = 0.001 * np.random.default_rng(0).normal(size=(FEWEST, 1))
    accuracy = {k: np.round(v + answers + noise, 6) for k, v in named.items()}
    experiment = Experiment(name, HELD_OUT, ENVELOPE, Sizes(FEWEST, 50, 120, 80), seed=3)
    return Results(experiment, 2, accuracy)


@pytest.fixture
def data(tmp_path):
    """A folder with a set of texts and one of pictures."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "pictures").mkdir()
    rows = [(f"{w} number {n}", kind) for kind, some in WORDS.items() for w in some for n in "abcd"]
    with (tmp_path / "texts" / "words.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("text", "kind"), *rows])
    with ZipFile(tmp_path / "pictures" / "shades.zip", "w") as packed:
        names = [f"{place}.png" for place in range(8)]
        for place, name in enumerate(names):
            shade = Image.new("RGB", (40, 40), (20 * place + 10,) * 3)
            shade.putpixel((place, place), (255, 0, 0))
            shade.save(tmp_path / name)
            packed.write(tmp_path / name, name)
        lines = "".join(f"{name},{'dark' if i < 4 else 'light'}\n" for i, name in enumerate(names))
        packed.writestr("labels.csv", f"file,label\n{lines}")
    return tmp_path


def test_sets_have_columns_that_are_fitted_to_a_pool(data, tmp_path):
    words, shades = read_sets(data, tmp_path / "out")
    assert (words.modality, shades.modality) == (Modality.TEXT, Modality.IMAGE)
    assert words.plain.labels == ("fruit", "metal")
    assert shades.plain.labels == ("dark", "light")
    assert shades.terms is None
    pool = np.arange(12)
    for made, rows, some in ((words.plain, 24, pool), (shades.plain, 8, pool[:4])):
        assert made.fitted_to(some).shape[0] == rows
    terms = words.terms.fitted_to(pool)
    np.testing.assert_allclose(np.linalg.norm(terms, axis=1).max(), 1.0)
    assert terms.shape[1] < words.terms.fitted_to(np.arange(24)).shape[1]


def test_a_set_that_changed_is_another(data, tmp_path):
    first = read_sets(data, tmp_path / "out")[0].plain.X
    path = data / "texts" / "words.csv"
    path.write_text(path.read_text().replace("apple number a", "apple number z"))
    second = read_sets(data, tmp_path / "out")[0].plain.X
    assert (first != second).sum() == 1


def test_what_is_planned_has_random_on_embeddings_alone(data, tmp_path, monkeypatch):
    monkeypatch.setattr(features, "QUESTIONS", 3)
    words, shades = read_sets(data, tmp_path / "out")
    settings = Namespace(runs=2, seed=1)
    asked = {(job.data.name, tuple(job.strategies)) for job in planned(words, settings)}
    assert asked == {
        ("words-embedded", ("random", "herding")),
        *(("words-embedded", (peer,)) for peer in ON_EMBEDDINGS),
        ("words-plain", ("herding",)),
        ("words-terms", (TERMS,)),
    }
    names = [job.data.name for job in planned(shades, settings)]
    assert sorted(set(names)) == ["shades-embedded", "shades-plain"]


@pytest.mark.parametrize("question", [one for one, _ in ON_EMBEDDINGS.values()])
def test_a_peer_asks_every_row_once_and_learns(data, tmp_path, monkeypatch, question):
    if question is most_covering:
        pytest.importorskip("skactiveml", reason="peers are of the benchmark's dependencies")
    monkeypatch.setattr(features, "QUESTIONS", 14)
    words = read_sets(data, tmp_path / "out")[0].terms
    experiment = features.experiment(words, Namespace(runs=2, seed=1))
    (run,) = peer_runs(experiment, words, question, linear_svm(), [("one", 1)])
    assert len(set(run.rows)) == 14
    assert run.accuracy.shape == (15,)
    assert run.accuracy[-1] > 0.6
    (again,) = peer_runs(experiment, words, question, linear_svm(), [("one", 1)])
    np.testing.assert_array_equal(again.rows, run.rows)


def test_two_thirds_of_the_rows_are_the_pool():
    few, many = SimpleNamespace(y=range(300)), SimpleNamespace(y=range(9000))
    assert sizes(few, 10) == Sizes(10, 50, 200, 100)
    assert sizes(many, 10) == Sizes(10, 50, 1000, 1000)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("model", [linear_svm(), LogisticRegression()])
def test_the_least_margin_is_where_two_classes_are_closest(labels, model):
    X, y = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 9.0]])[:labels], np.arange(labels)
    left = np.array([[-1.5, 0.0], [0.05, 0.0], [1.0, 0.0]])
    known = Known(model.fit(X, y), X, y, left, np.random.default_rng(0))
    assert least_margin(known) == 1


def test_a_row_that_stands_for_many_covers_most():
    pytest.importorskip("skactiveml", reason="peers are of the benchmark's dependencies")
    left = np.array([[0.1, 5.0], [5.0, 0.1], [5.0, 0.2], [5.0, 0.0]])
    known = Known(None, np.array([[0.0, 1.0]]), np.zeros(1), left, np.random.default_rng(0))
    assert most_covering(known) in {1, 2, 3}


def test_questions_are_counted_until_a_run_has_what_random_ends_with():
    results = made_up("wine")
    np.testing.assert_array_equal(questions_needed(results, OURS), 40)
    np.testing.assert_array_equal(questions_needed(results, BY_CHANCE), 50)
    np.testing.assert_array_equal(questions_needed(results, PLAIN), 51)


def test_the_table_has_the_best_first_and_leads_with_intervals():
    rows = table(made_up("wine")).rows
    assert rows[0][0].text == OURS
    assert rows[0][2].text == ""
    assert rows[-1][0].text == TERMS
    assert rows[-1][2].text == "+30.0 [+30.0, +30.0]"
    assert [cell.text for cell in rows[0][3:]] == ["50.0", "60.0", "70.0", "90.0", "40"]


def test_each_goal_is_a_sentence_that_says_whether_it_is_met():
    good = made_up("wine", **{OURS: 0.65})
    bad = made_up("iris", **{OURS: 0.25, PLAIN: 0.2})
    said = verdict({Modality.TEXT: [good], Modality.IMAGE: [bad]})
    assert [": holds" in one for one in said] == [True, False] * 3
    assert said[0].endswith("text: holds (+45.0 [+45.0, +45.0]).")
    assert said[3].endswith(f"iris: does not hold (-5.0 [-5.0, -5.0] against {HERDED}).")
    assert said[5].endswith("iris: does not hold (with 51).")


def test_what_is_written_is_a_report_tables_and_curves():
    files = contents({Modality.TEXT: [made_up("wine")]})
    assert set(files) == {"report.md", "wine.csv", "curves.png"}
    assert b"**Verdict**" in files["report.md"]


@pytest.mark.parametrize("given", [[], ["--data", "nowhere"]])
def test_a_folder_must_be_given(given, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["features.py", *given])
    with pytest.raises(SystemExit):
        features.asked()
    assert "data must be a folder" in capsys.readouterr().err
