"""Rows join a campaign while people label it."""

import time
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from PIL import Image
from support.served import visited

from possibal.data import ingest
from possibal.data.ingest import FirstRows, ingest_file, read_file_rows
from possibal.data.source import SourceSpec
from possibal.embedding.embedder import Modality
from possibal.labelling.background_intake import BackgroundIntake
from possibal.labelling.create import Options, create_campaign, feature_recipe
from possibal.labelling.growth import compare, pool_spec
from possibal.labelling.overview import Overview
from possibal.labelling.ranker_process import RankerProcess
from possibal.labelling.read_model import ReadModel
from possibal.labelling.scheduler import RankingScheduler
from possibal.labelling.service import LabellingService
from possibal.labelling.session import open_campaign
from possibal.labelling.storage.journal import Event, Kind
from possibal.labelling.storage.store import INCOMPLETE, Store
from possibal.labelling.web.serializers import Serializer

pytest_plugins = ["support.postgres"]
ROWS, BEGUN = 120, 10
PATIENCE = 120.0


def silent(_words, _share):
    """Nothing is told."""


@pytest.fixture(name="wanted")
def _wanted(tmp_path, monkeypatch):
    """A file of texts, of which a campaign begins with a few."""
    monkeypatch.setattr(ingest, "FIRST", {Modality.TEXT: BEGUN, Modality.IMAGE: BEGUN})
    verbs, things = ["lost", "found", "sold", "broke"], ["card", "dog", "house", "train", "key"]
    days = ["Sunday", "Monday", "Tuesday", "Friday", "Saturday", "holiday"]
    texts = [
        f"I {verbs[i % 4]} my {things[i % 5]} on a {days[i % 6]} "
        f"{'again ' * (i // 60)}because of number {i} of all the {things[i % 3]}s"
        for i in range(ROWS)
    ]
    labels = ["lost" if i % 4 == 0 and i % 3 == 0 else None for i in range(ROWS)]
    frame = pd.DataFrame({"doc_id": [f"d{i}" for i in range(ROWS)], "text": texts, "label": labels})
    frame.to_csv(tmp_path / "texts.csv", index=False)
    return SourceSpec(
        tmp_path / "texts.csv", classes=("lost", "other"), cache=tmp_path / "kept.embeddings"
    )


def begun(wanted: SourceSpec, check: int = 0) -> Store:
    intake = ingest_file(wanted, silent, FirstRows(least=2 * check))
    return create_campaign(str(wanted.source.parent / "a.db"), intake, Options(check=check))


def awaited(intake: BackgroundIntake) -> None:
    until = time.monotonic() + PATIENCE
    while intake.progress is not None and intake.progress.trouble is None:
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_campaign_of_many_texts_begins_with_a_random_sample_and_says_that_it_is_not_whole(wanted):
    with begun(wanted, check=3) as store:
        setup, places = store.setup(), store.places()
        assert (setup.rows, setup.begun, setup.latest_digest) == (BEGUN, BEGUN, INCOMPLETE)
        assert not setup.is_complete
        assert list(places) != [f"d{i}" for i in range(BEGUN)]
        assert set(ReadModel(store).check_rows) <= set(range(BEGUN))


def test_a_check_that_needs_more_rows_gets_them(wanted):
    with begun(wanted, check=12) as store:
        assert store.setup().rows == 24


def test_few_rows_are_taken_in_at_once(wanted):
    whole = ingest_file(wanted, silent)
    assert (len(whole.ids), whole.whole) == (ROWS, None)
    some = read_file_rows(wanted, silent).part(range(2 * BEGUN))
    assert FirstRows().places(len(some.ids), [Modality.TEXT]) is None


def test_without_a_place_for_vectors_all_rows_are_taken_in_at_once(wanted):
    intake = ingest_file(replace(wanted, cache=None), silent, FirstRows())
    assert (len(intake.ids), intake.whole) == (ROWS, None)


@pytest.mark.long
def test_the_other_rows_join_while_people_answer_and_labels_stay_on_their_rows(wanted):
    with begun(wanted) as store:
        read_model = ReadModel(store)
        setup = read_model.setup
        spec = pool_spec(setup, wanted)
        with RankerProcess(read_model.X, setup.strategy, setup.seed, setup.geometry) as ranker:
            scheduler = RankingScheduler(read_model, ranker)
            first = read_model.ids[0]
            read_model.apply(store.append([Event("k", Kind.LABEL, "ann", 1, 0, "other")]))
            intake = BackgroundIntake(read_model, ranker, read_file_rows(spec, silent), spec)
            awaited(intake)
            assert (intake.progress, intake.notes) == (None, ())
            assert (len(read_model.ids), len(read_model.X)) == (ROWS, ROWS)
            assert sorted(read_model.ids) == sorted(f"d{i}" for i in range(ROWS))
            labels = {read_model.ids[row]: label for row, label in read_model.state.labels.items()}
            given = {f"d{i}": "lost" for i in range(0, ROWS, 12)}
            assert labels == given | {first: given.get(first, "other")}
            assert max(scheduler.rank().order) >= BEGUN
            intake.close()
            scheduler.close()
        assert store.setup().is_complete
        assert compare(store, read_file_rows(spec, silent), spec).new == ()


def test_rows_that_join_have_the_features_that_the_recipe_gives_them(wanted):
    whole = read_file_rows(wanted, silent)
    with begun(wanted) as store:
        read_model = ReadModel(store)
        with RankerProcess(read_model.X, "herding", 0) as ranker:
            intake = BackgroundIntake(read_model, ranker, whole, wanted)
            awaited(intake)
            intake.close()
        found = ingest.source_features(feature_recipe(store), whole, wanted).X
        order = [read_model.ids.index(str(name)) for name in whole.ids]
        np.testing.assert_allclose(read_model.X[order], found, atol=1e-12)


@pytest.mark.long
def test_a_stop_in_between_loses_nothing_and_the_next_start_goes_on(wanted):
    with begun(wanted) as store:
        read_model = ReadModel(store)
        with RankerProcess(read_model.X, "herding", 0) as ranker:
            intake = BackgroundIntake(read_model, ranker, read_file_rows(wanted, silent), wanted)
            intake.close()
            held = store.setup().rows
            assert not store.setup().is_complete or held == ROWS
            again = BackgroundIntake(read_model, ranker, read_file_rows(wanted, silent), wanted)
            awaited(again)
            again.close()
        assert (store.setup().rows, store.setup().is_complete) == (ROWS, True)


def test_where_what_had_to_join_has_left_the_file_the_campaign_is_whole(wanted):
    with begun(wanted) as store:
        frame = pd.read_csv(wanted.source)
        frame[frame.doc_id.isin(list(store.places()))].to_csv(wanted.source, index=False)
        read_model = ReadModel(store)
        with RankerProcess(read_model.X, "herding", 0) as ranker:
            intake = BackgroundIntake(read_model, ranker, read_file_rows(wanted, silent), wanted)
            awaited(intake)
            intake.close()
        assert (store.setup().rows, store.setup().is_complete) == (BEGUN, True)


def test_pictures_that_cannot_be_read_are_left_out_of_those_that_join_and_said(wanted, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for i in range(3 * BEGUN):
        Image.new("RGB", (8, 8), (8 * i, 255 - 8 * i, 40)).save(folder / f"{i:02d}.png")
    spec = replace(wanted, source=folder, cache=tmp_path / "pictures.embeddings")
    with begun(spec) as store:
        broken = next(one for one in sorted(folder.iterdir()) if one.name not in store.places())
        broken.write_bytes(b"no picture")
        read_model = ReadModel(store)
        with RankerProcess(read_model.X, "herding", 0) as ranker:
            rows = read_file_rows(spec, silent)
            intake = BackgroundIntake(read_model, ranker, rows, spec)
            awaited(intake)
            intake.close()
        assert store.setup().rows == 3 * BEGUN - 1
        (said,) = intake.notes
        assert broken.name in said
        scheduler = RankingScheduler(read_model, ranker, background=False)
        service = LabellingService(read_model, scheduler)
        service.intake = intake
        progress = Serializer(service, Overview(read_model, scheduler)).progress()
        assert (progress.left_out, progress.arriving) == ([said], None)


def test_what_fails_is_said_and_people_go_on_with_what_there_is(wanted):
    with begun(wanted) as store:
        read_model = ReadModel(store)
        with RankerProcess(read_model.X, "herding", 0) as ranker:
            rows = read_file_rows(wanted, silent)
            lost = replace(wanted, encoder=Path("nowhere"))
            intake = BackgroundIntake(read_model, ranker, rows, lost)
            awaited(intake)
            intake.close()
            progress = intake.progress
        assert progress is not None
        assert (progress.arrived, progress.total) == (BEGUN, ROWS)
        assert "nowhere" in (progress.trouble or "")
        assert not store.setup().is_complete


def test_python_hears_of_rows_that_have_still_to_join_and_takes_them_in_with_the_pool(wanted):
    begun(wanted).close()
    db = str(wanted.source.parent / "a.db")
    with (
        pytest.warns(UserWarning, match=f"has {BEGUN} rows so far; others have still to join"),
        open_campaign(db) as campaign,
    ):
        assert len(campaign.rows) == BEGUN
    with open_campaign(db, wanted.source) as campaign:
        assert len(campaign.rows) == ROWS


def test_where_several_servers_may_work_all_rows_are_there_from_the_start(wanted, postgresql):
    def status(base):
        return httpx.get(base).status_code

    named = [str(wanted.source), "--classes", "lost,other", "--db"]
    assert visited(status, *named, postgresql) == (0, 200)
    with Store.open(postgresql, writes=False) as store:
        assert (store.setup().rows, store.setup().is_complete) == (ROWS, True)
    beside = str(wanted.source.parent / "b.db")
    assert visited(status, *named, beside) == (0, 200)
    with Store.open(beside, writes=False) as store:
        assert store.setup().begun == BEGUN
