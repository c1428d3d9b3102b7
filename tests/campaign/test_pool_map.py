import numpy as np
import pandas as pd
import pytest
from support.passengers import labelled, passengers

from possibal import Campaign, open_campaign
from possibal.campaign import pool_map
from possibal.campaign.cluster_map import fit_cluster_map
from possibal.numerics.principal_axes import unit_plane


def test_every_row_of_a_small_pool_is_a_point_with_what_is_known_of_it():
    frame, survived = passengers()
    campaign = Campaign.start(frame, classes=[0, 1])
    assert {(one.label, one.predicted, one.chance) for one in campaign.map()} == {(None,) * 3}
    labelled(campaign, survived, 10)
    points = {one.row: one for one in campaign.map()}
    assert set(points) == set(campaign.rows)
    assert {row: one.label for row, one in points.items() if one.label is not None} == (
        campaign.labels
    )
    frame_order = [points[row] for row in frame.index]
    np.testing.assert_array_equal([one.predicted for one in frame_order], campaign.predict(frame))
    chances = campaign.predict_proba(frame).max(axis=1)
    known = campaign.snapshot.calibration.chances(chances)
    np.testing.assert_allclose([one.chance for one in frame_order], known)
    np.testing.assert_allclose(
        [(one.x, one.y) for one in frame_order], unit_plane(campaign.snapshot.pool.X)
    )


def test_rows_stay_where_they_are_and_a_sample_stands_for_many(monkeypatch):
    monkeypatch.setattr(pool_map, "MAPPED", 20)
    frame, survived = passengers()
    campaign = Campaign.start(frame, classes=[0, 1])
    before = {one.row: (one.x, one.y) for one in campaign.map()}
    assert len(before) == 20
    labelled(campaign, survived, 10)
    after = {one.row: (one.x, one.y) for one in campaign.map()}
    assert set(after) == {*before, *campaign.labels}
    assert {row: after[row] for row in before} == before


def test_texts_lie_by_the_clusters_that_the_model_tells():
    words = ["rain", "bread", "tax"]
    frame = pd.DataFrame(
        {"id": range(70), "text": [f"much {words[at % 3]} number {at}" for at in range(70)]}
    )
    campaign = Campaign.start(frame, ids="id", text="text", by="words", classes=words)
    snapshot = campaign.snapshot
    assert snapshot.model.diffusion
    expected = fit_cluster_map(snapshot.pool.X, snapshot.model.diffusion).places(snapshot.pool.X)
    np.testing.assert_allclose([(one.x, one.y) for one in campaign.map()], expected)


def test_a_stored_campaign_has_the_map_of_its_page(tmp_path):
    frame, survived = passengers()
    with open_campaign(tmp_path / "a.db", frame, classes=[0, 1]) as campaign:
        labelled(campaign, survived, 10)
        points = {one.row: one for one in campaign.map()}
        assert set(points) == set(campaign.rows)
        told = {row: one.label for row, one in points.items() if one.label is not None}
        assert told == campaign.labels
        assert {type(one.predicted) for one in points.values()} == {int}
        memory = labelled(Campaign.start(frame, classes=[0, 1]), survived, 10).map()
        for one in memory:
            assert (points[one.row].x, points[one.row].y) == pytest.approx((one.x, one.y))


def test_where_people_answer_blind_the_map_shows_nobody_what_others_said(tmp_path):
    frame, survived = passengers()
    with open_campaign(tmp_path / "a.db", frame, classes=[0, 1], people=2, who="ann") as campaign:
        labelled(campaign, survived, 6)
    with open_campaign(tmp_path / "a.db", frame, classes=[0, 1], people=2, who="bob") as campaign:
        campaign.tell(campaign.ask()[0], 1)
        points = campaign.map()
        assert {one.predicted for one in points} == {one.chance for one in points} == {None}
        assert sum(one.label is not None for one in points) == 1
