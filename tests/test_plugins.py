"""Plug-ins of other distributions; those of docs/plugins.md, with what the page says of them."""

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from support.distributions import install_distribution
from support.served import HERE, Server

from possibal import Campaign, PossibilisticGPClassifier, acquisition, open_campaign, rank
from possibal.acquisition import registry
from possibal.cli.main import main
from possibal.data import readers
from possibal.embedding import embedders
from possibal.embedding.embedder import Modality
from possibal.errors import PluginError
from possibal.plugins import Plugin, PluginGroup, find_plugin, installed_plugins

PAGE = (Path(__file__).parents[1] / "docs/plugins.md").read_text()
PROJECT = tomllib.loads(re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0])
MODULE = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)).round(3)
ROWS = ["a|b|side", *(f"{a}|{b}|{'left' if a < 0 else 'right'}" for a, b in X)]


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """The distribution of the page, installed and on the path; the folder we are in is empty."""
    folder = tmp_path / "site"
    project = PROJECT["project"]
    install_distribution(
        folder, project["name"], project["entry-points"], {"possibal_toys": MODULE}
    )
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(folder)
    yield folder
    registry._plugin.cache_clear()  # noqa: SLF001 - of strategies that are gone
    registry._PLUGGED.clear()  # noqa: SLF001 - the same
    for name in ("possibal_toys", "broken_toys", "other_toys"):
        sys.modules.pop(name, None)


@pytest.fixture
def spoilt(toys):
    """The same beside one that cannot be imported, and has names that are taken."""
    points = {
        "possibal.strategies": {"herding": "os:getcwd", "nowhere": "broken_toys:nothing"},
        "possibal.encoders": {"flag": "os:sep"},
        "possibal.readers": {"CSV": "os:getcwd", ".zip": "os:getcwd", "toy2": "os:getcwd"},
    }
    install_distribution(toys, "broken-toys", points, {"broken_toys": "import no_such_module\n"})
    return toys


def toy(name, lines=ROWS):
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def reviews():
    """Texts that letters tell apart, each once."""
    words = "abcdefghijklmnopqrst"
    lines = [
        f"{n}|{words[n % 20] * 3} {words[n // 20] * 4} and {words[n % 7] * 5}" for n in range(40)
    ]
    return toy("reviews.toy", ["doc|review", *lines])


# ---------------------------------------------------------------- strategies
@pytest.mark.usefixtures("toys")
def test_a_strategy_is_taken_by_name_in_python():
    campaign = Campaign.start(X, classes=[0, 1], strategy="closest")
    for _ in range(12):
        (row,) = campaign.ask()
        campaign = campaign.tell(row, int(X[row, 0] > 0))
    assert "closest" in repr(campaign)
    model = PossibilisticGPClassifier().fit(X[:20], X[:20, 0] > 0)
    found = rank(model, X, "closest", top=60)
    mean, variance = model.latent_mean_and_variance(X)
    np.testing.assert_allclose(found.utilities, np.sort(-abs(mean) / variance**0.5)[::-1])


@pytest.mark.usefixtures("toys")
def test_a_strategy_stands_among_ours(capsys):
    assert main(["strategies"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert all(name in shown for name in acquisition.STRATEGIES)
    assert "closest Asks where two classes are closest to each other. (possibal-toys 1.0)" in shown


@pytest.mark.usefixtures("toys")
def test_an_unknown_strategy_is_offered_those_of_plug_ins_too():
    with pytest.raises(ValueError, match=r"'closest'.*got 'closets'. Did you mean 'closest'\?$"):
        Campaign.start(X, classes=[0, 1], strategy="closets")


@pytest.mark.usefixtures("toys")
def test_files_of_a_plug_in_are_ranked_by_one(capsys):
    pool, labels = toy("pool.toy"), toy("labels.toy", ROWS[:21])
    command = ["rank", pool, "--labels", labels, "--label", "side", "--columns", "a,b"]
    assert main([*command, "--strategy", "closest", "--top", "3"]) == 0
    listed = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert len(listed) == 3
    assert abs(X[int(listed[0]["row"]), 0]) < np.median(abs(X[:, 0]))


@pytest.mark.usefixtures("toys")
def test_a_comparison_keeps_a_strategy_of_a_plug_in_apart(capsys):
    data, folder = toy("pool.toy"), Path("results")
    size = ["--runs", "2", "--questions", "3"]
    command = ["compare", data, "--label", "side", *size, "--to", str(folder), "--jobs", "1"]
    assert main([*command, "--strategy", "closest"]) == 0, capsys.readouterr().err
    assert "closest" in capsys.readouterr().out
    assert list(folder.rglob("*closest*"))


# ---------------------------------------------------------------- encoders and readers
@pytest.mark.usefixtures("toys")
@pytest.mark.works_with("entry points", "strategies, encoders and readers of other packages")
def test_a_campaign_remembers_its_plug_ins():
    pool = reviews()
    with open_campaign(
        "a.db", pool, text="review", classes=["x", "y"], strategy="closest", encoder="letters"
    ) as campaign:
        assert any("letters of possibal-toys 1.0" in note for note in campaign.notes)
        for _ in range(4):
            (row,) = campaign.ask()
            campaign.tell(row, "xy"[int(row) % 2])
        asked = campaign.ask(3)
    with open_campaign("a.db", pool, text="review", classes=["x", "y"]) as campaign:
        assert sorted(campaign.ask(3)) == sorted(asked)  # those that were asked before come first
    assert main(["model", "a.db", "--to", "model"]) == 0
    assert main(["predict", "model", pool, "--to", "said.csv"]) == 0
    assert len(pd.read_csv("said.csv")) == 40


@pytest.mark.usefixtures("toys")
def test_an_encoder_that_is_gone_or_another_is_refused():
    made = embedders.own_embedder("letters", Modality.TEXT)
    known = embedders.Embedders().known(made.identity, Modality.TEXT)
    assert known.identity == made.identity
    assert known.identity.plugin == "letters"
    other = {**made.identity.document(), "digest": "0" * 64}
    with pytest.raises(ValueError, match=r"letters of possibal-toys 1\.0 .* in that version\.$"):
        embedders.Embedders().known(type(made.identity)(**other), Modality.TEXT)
    gone = type(made.identity)(**{**other, "plugin": "gone"})
    with pytest.raises(ValueError, match=r"got none\. Install the distribution that has it"):
        embedders.Embedders().known(gone, Modality.TEXT)
    assert "plugin" not in type(made.identity)("a", "", "0").document()


@pytest.mark.usefixtures("toys")
def test_a_file_or_folder_goes_before_an_encoder_of_its_name():
    assert embedders.named_plugin("letters") is not None
    Path("letters").mkdir()
    assert embedders.named_plugin("letters") is None


@pytest.mark.usefixtures("toys")
def test_an_encoder_says_what_it_reads_where_rows_have_both():
    with pytest.raises(ValueError, match=r"say what it reads .* got a str\."):
        embedders.chosen("letters", [Modality.TEXT, Modality.IMAGE])
    both = embedders.chosen({"text": "letters"}, [Modality.TEXT, Modality.IMAGE])
    assert both == {Modality.TEXT: "letters"}


@pytest.mark.usefixtures("toys")
def test_a_table_of_a_plug_in_is_read_as_any_file(monkeypatch):
    table = readers.read_table(Path(toy("POOL.TOY"))).table
    assert table.names == ("a", "b", "side")
    np.testing.assert_array_equal(np.transpose(table.columns[:2]).astype(float), X)
    assert readers.ending(Path("a.toy")) == ".toy"
    assert readers.ending(Path("a.csv")) == ".csv"
    assert readers.ending(Path("a.npy")) is None
    with pytest.raises(ValueError, match=r"end in \.csv.*\.toy; got 'a\.nothing'"):
        readers.read_table(Path("a.nothing"))
    with pytest.raises(ValueError, match=r"^file must exist; got 'gone\.toy'"):
        readers.read_table(Path("gone.toy"))
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "y"])
    monkeypatch.setattr("possibal_toys.read_toy", lambda _: frame)
    assert readers.read_table(Path("POOL.TOY")).table.names == ("__index_level_0__", "a")
    monkeypatch.setattr("possibal_toys.read_toy", lambda _: 1 / 0)
    with pytest.raises(ValueError, match=r"plug-in possibal-toys 1\.0 reads; got .*Zero.*POOL"):
        readers.read_table(Path("POOL.TOY"))


# ---------------------------------------------------------------- what is refused
@pytest.mark.usefixtures("spoilt")
def test_all_plug_ins_are_listed_and_what_is_wrong_is_said(capsys):
    assert main(["plugins"]) == 2
    shown, said = capsys.readouterr()
    listed = " ".join(shown.replace("│", " ").split())
    assert "strategies closest possibal-toys 1.0 Asks where two" in listed
    assert "encoders letters possibal-toys 1.0 Counts the letters of each text." in listed
    assert "readers .toy possibal-toys 1.0 Reads tables" in listed
    assert "readers .toy2 broken-toys 1.0" in listed
    lines = said.splitlines()
    assert len(lines) == 5
    taken = "must have a name of its own where it is a plug-in; got"
    end = "Update that distribution, or uninstall it."
    for name, argument in (("herding", "strategy"), (".csv", "file"), (".zip", "file")):
        told = f"possibal: {argument} {taken} '{name}' of the distribution broken-toys 1.0. {end}"
        assert told in lines
    broken = "strategy must be importable where it is a plug-in; got 'nowhere' of the distribution"
    error = "ModuleNotFoundError: No module named 'no_such_module'"
    assert f"possibal: {broken} broken-toys 1.0 ({error}). {end}" in lines
    flag = "encoder must be a function where it is a plug-in; got 'flag' of the distribution"
    assert f"possibal: {flag} broken-toys 1.0 (str). {end}" in lines
    assert main(["strategies"]) == 2
    assert "closest" in capsys.readouterr().out


@pytest.mark.usefixtures("spoilt")
def test_a_broken_plug_in_hinders_nothing_else(capsys):
    assert Campaign.start(X, classes=[0, 1], strategy="closest").ask()
    assert acquisition.STRATEGIES["herding"] is registry.find_strategy("herding")
    with pytest.raises(PluginError, match=r"^strategy must be importable .* 'nowhere' of the dis"):
        Campaign.start(X, classes=[0, 1], strategy="nowhere")
    assert main(["rank", "a.csv", "--labels", "a.csv", "--strategy", "nowhere"]) == 2
    assert capsys.readouterr().err.startswith("possibal: strategy must be importable")


def test_two_plug_ins_of_one_name_are_refused(toys, capsys):
    points = {"possibal.strategies": {"closest": "os:getcwd"}}
    install_distribution(toys, "other-toys", points, {}, version="2.0")
    with pytest.raises(PluginError, match=r"'closest' of .*toys \d\.0, as .*-toys \d\.0 has it\."):
        find_plugin(PluginGroup.STRATEGIES, "closest")
    assert len(installed_plugins(PluginGroup.STRATEGIES)) == 2
    assert main(["strategies"]) == 2
    assert "│ closest" not in capsys.readouterr().out


def test_without_plug_ins_there_is_a_word_on_them(capsys):
    (found,) = (find_plugin(PluginGroup.READERS, "nothing") for _ in range(1))
    assert found is None
    assert main(["plugins"]) == 0
    assert capsys.readouterr().out.startswith("No plug-in is installed; docs/plugins.md says how")


@pytest.mark.usefixtures("toys")
def test_a_plug_in_of_nobody_says_so():
    (entry,) = (one.entry for one in installed_plugins(PluginGroup.STRATEGIES))
    vars(entry)["dist"] = None
    plugin = Plugin.of(PluginGroup.STRATEGIES, entry)
    assert (plugin.distribution, plugin.version) == ("an unknown distribution", "")


# ---------------------------------------------------------------- processes of their own
def test_names_of_ours_look_up_nothing(toys):
    program = (
        "import importlib.metadata, sys\n"
        "usual = importlib.metadata.entry_points\n"
        "def others(*, group):\n"
        "    assert not group.startswith('possibal'), group\n"
        "    return usual(group=group)\n"
        "importlib.metadata.entry_points = others\n"
        "from possibal.cli.main import main\n"
        "from possibal import Campaign\n"
        "import numpy as np\n"
        "assert main(['--help']) == 0\n"
        "Campaign.start(np.eye(9), classes=[0, 1], strategy='necessity').ask()\n"
        "assert 'possibal_toys' not in sys.modules\n"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program],
        env=beside(toys),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_page_asks_by_plug_ins_and_is_refused_without_them(toys):
    env, arguments = beside(toys), (reviews(), "--text", "review", "--classes", "x,y")
    with Server(
        *arguments, "--strategy", "closest", "--model", "letters", folder=Path.cwd(), env=env
    ) as server:
        assert httpx.get(f"{server.base}/api/session").status_code == 200
    database = next(Path.cwd().glob("*.possibal.db"))
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "possibal", "label", *arguments, "--no-browser"],
        env=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    said = "strategy must be installed, as when the campaign began; got 'closest'. Install the"
    assert done.stderr.startswith(f"possibal: {said} distribution that has it")
    exported = ["export", str(database), "--to", "labels.jsonl"]
    assert main(exported) == 0
    assert [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()] == []


def beside(folder):
    """The environment of a process that finds distributions of a folder too."""
    return {**HERE, "PYTHONPATH": os.pathsep.join([str(folder), HERE["PYTHONPATH"]])}
