import csv
from argparse import Namespace

import pytest

pytest.importorskip("skactiveml", reason="peers are of the benchmark's dependencies")

import ablation
import label_efficiency
import public_sets
from efficiency import LENT, OWN, REFEREE
from label_efficiency import (
    MEANING,
    OF_OURS,
    PAPERS,
    PUBLIC,
    STRONGEST,
    BenchmarkSet,
    StartedSet,
    benchmark_sets,
    contents,
    groups,
    planned,
    sizes,
)

from possibal.experiments.compare import RANDOM
from possibal.experiments.datasets import load
from possibal.experiments.engine.runner import begin
from possibal.experiments.spec import TABLE_3, Sizes


def execute(function, calls):
    """The calls, one after the other."""
    return (function(*call) for call in calls)


@pytest.fixture(name="settings")
def _settings(tmp_path):
    """Two runs of ours and of two peers."""
    peers, ours = ["core_set", "margin_logistic"], [RANDOM, "herding"]
    shared = {"default": "herding", "runs": 2, "seed": 1, "data": None, "out": tmp_path}
    return Namespace(strategies=ours, peers=peers, sets=["iris", "wine"], **shared)


@pytest.fixture(name="found")
def _found(settings, tmp_path):
    """What was measured on iris."""
    one = BenchmarkSet(PAPERS, load("iris"), Sizes(2, 4, 60, 50))
    started = StartedSet.of(one.group, begin(planned(one, settings), tmp_path, execute))
    seen = []
    measured = started.measured(execute, lambda progress: seen.append(progress.runs))
    assert sum(seen) == started.run_count
    again = StartedSet.of(one.group, begin(planned(one, settings), tmp_path, execute))
    assert not any(job.missing for job in (*again.asking, *again.judged, *again.own))
    return measured


def test_peers_are_judged_in_three_ways_and_ours_in_two(found):
    names = {RANDOM, "herding", "core_set", "margin_logistic"}
    for results in (found.possibal, found.referee, found.own):
        assert set(results.accuracy) == names
    for name in names:
        is_peer = name in STRONGEST
        same = found.own.accuracy[name] == found.possibal.accuracy[name]
        assert same.all() != is_peer
    every = {name for one in ablation.CONTRASTS for name in (one.given, one.without)}
    assert every <= set(found.parts.accuracy)


def test_what_is_written_is_a_report_of_all_ways_to_judge(found, settings, monkeypatch):
    monkeypatch.setattr(label_efficiency, "QUESTIONS", 4)
    files = contents([found], settings)
    for by in (OWN, LENT, REFEREE):
        assert f"**Accuracy, {by}**".encode() in files["report.md"]
    heads, row = csv.reader(files["sets-own.csv"].decode().splitlines())
    assert set(heads) == {"set", *found.own.accuracy}
    assert row[0] == "iris"
    assert {"ablation.csv", "ablation-sets.csv", "groups.csv", "curves.svg"} <= set(files)
    assert files["report.md"].count(b": holds (") + files["report.md"].count(b": missed (") == 10


def test_groups_are_of_tables_and_of_texts_and_pictures():
    found = [Namespace(group=group) for group in (PUBLIC, MEANING, PUBLIC, PAPERS)]
    assert groups(found, [1, 2, 3, 4]) == {
        "all": [1, 2, 3, 4],
        "tables": [1, 3, 4],
        PUBLIC: [1, 3],
        PAPERS: [4],
        MEANING: [2],
    }
    assert list(groups(found[1:2], [2])) == ["all", MEANING]


def test_sets_of_the_paper_have_its_sizes_and_others_two_thirds(settings):
    found = {one.data.name: one for one in benchmark_sets(settings)}
    assert list(found) == ["wine", "iris"]
    assert found["wine"].sizes == Sizes(2, 50, TABLE_3["wine"].pool, TABLE_3["wine"].test)
    assert sizes(load("iris"), 7) == Sizes(7, 50, 100, 50)
    assert sizes(load("block-center"), 7) == Sizes(7, 50, 400, 500)


def asked(monkeypatch, *given):
    """The settings, given words on the command line."""
    monkeypatch.setattr("sys.argv", ["label_efficiency.py", *map(str, given)])
    return label_efficiency.asked()


def test_all_sets_are_run_if_none_are_named(monkeypatch, tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "words.csv").write_text("text,kind\na,b\n")
    settings = asked(monkeypatch, "--data", tmp_path, "--out", tmp_path / "out")
    assert settings.sets == [*public_sets.CITATIONS, "words", *TABLE_3]
    assert settings.strategies == list(OF_OURS)
    some = asked(monkeypatch, "--sets", "iris,pima", "--out", tmp_path, "--strategies", "bald")
    assert some.sets == ["iris", "pima"]
    assert some.strategies == [RANDOM, "herding", "bald"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--sets", "words"], "sets must be one of"),
        (["--peers", "nobody"], "peers must be one of"),
        (["--strategies", "guess"], "strategies must be one of"),
        (["--data", "nowhere"], "data must be a folder"),
    ],
)
def test_what_is_not_known_is_refused_in_a_sentence(given, said, monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit):
        asked(monkeypatch, "--out", tmp_path, *given)
    assert said in capsys.readouterr().err


def test_a_file_may_not_have_the_name_of_another_set(monkeypatch, tmp_path, capsys):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "wine.csv").write_text("text,kind\na,b\n")
    with pytest.raises(SystemExit):
        asked(monkeypatch, "--data", tmp_path, "--out", tmp_path)
    assert "data must have names of its own" in capsys.readouterr().err
