"""A campaign with a process that ranks, and where it is kept."""

from multiprocessing import active_children
from pathlib import Path

import pytest
from support.served import service_of, table

from possibal.data.source import SourceSpec
from possibal.labelling import serving
from possibal.labelling.read_model import ReadModel
from possibal.labelling.storage.store import Store


def test_a_service_ranks_until_it_is_left(tmp_path):
    wanted = SourceSpec(table(tmp_path / "a.csv"), classes=("yes", "no"))
    with service_of(wanted, tmp_path / "a.db"):
        pass
    with Store.open(str(tmp_path / "a.db")) as store:
        before = {*active_children()}
        with serving.serving(ReadModel(store)) as service:
            service.scheduler.await_ranking()
            assert service.ask("Ann") is not None
            assert len({*active_children()} - before) == 1
        assert not {*active_children()} - before


def test_a_campaign_is_kept_beside_its_file():
    assert serving.beside(Path("x/a.csv")) == str(Path("x/a.csv.possibal.db"))


@pytest.mark.parametrize("here", [".", "", "x/.."])
def test_the_campaign_of_the_folder_we_are_in_is_kept_beside_it(here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x").mkdir()
    folder = Path.cwd()
    assert serving.beside(Path(here)) == str(folder.with_name(f"{folder.name}.possibal.db"))
