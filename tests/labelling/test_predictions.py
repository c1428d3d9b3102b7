from dataclasses import replace

import numpy as np
import pytest
from support.services import answer, event, new_service, rows, truth, walk

from possibal.campaign.calibration import Outcomes, fit_calibration
from possibal.campaign.recall import fit_class_calibration
from possibal.labelling import ranking as ranking_module
from possibal.labelling.predictions import RankingPredictions
from possibal.labelling.ranking import UNKNOWN
from possibal.labelling.storage.journal import Kind

BY_ROW = ("necessity", "chance", "predicted", "sought")


@pytest.fixture
def at(tmp_path):
    """A campaign with eight answers."""
    with new_service(tmp_path, rows(), check=8) as service:
        walk(service, "ann", 8)
        service.scheduler.rank()
        yield service


def predictions(at) -> RankingPredictions:
    found = at.scheduler.predictions
    assert found is not None
    return found


def test_a_row_has_its_likeliest_label_with_its_chance_and_necessity(at):
    found, ranking = predictions(at), at.scheduler.ranking
    for row, one in enumerate(found.of(range(30))):
        assert one == found.of_row(row)
        assert (one.label, one.necessity) == (
            ranking.predicted_label(row),
            ranking.necessity_of(row),
        )
        assert one.chance == found.calibration.stated(ranking.chances_of([row])[0])


def test_nothing_is_predicted_before_the_first_ranking_nor_of_rows_that_were_not_looked_at(at):
    assert predictions(at).of_row(29) is not None
    assert predictions(at).of([30, -1]) == [None, None]
    at.scheduler.ranking = replace(at.scheduler.ranking, predicted=np.full(30, UNKNOWN))
    assert predictions(at).of_row(29) is None
    assert predictions(at).mistakes([1, 2], 2) is None
    at.scheduler.ranking = None
    assert at.scheduler.predictions is None


def test_check_rows_say_how_far_a_chance_can_be_trusted(at):
    labels = truth(at.read_model.X)
    for row in at.read_model.check_rows:
        if row not in at.read_model.state.labels:
            answer(at, "ben", row, labels[row])
    at.scheduler.rank()
    known, ranking = predictions(at).calibration, at.scheduler.ranking
    check = at.read_model.check_rows
    is_right = [ranking.predicted_label(row) == labels[row] for row in check]
    checked = Outcomes(ranking.chances_of(check), is_right)
    assert known == fit_calibration(checked, ranking.left_out, 2)
    assert known.rows == 8


def test_a_class_has_its_present_name_and_one_that_is_gone_is_not_predicted(at):
    label = predictions(at).of_row(29).label
    at.rename_class(label, "other", "ann")
    assert predictions(at).of_row(29).label == "other"
    at.scheduler.ranking = replace(at.scheduler.ranking, classes=("gone", "gone"))
    assert predictions(at).of_row(29) is None


def test_they_are_made_anew_only_after_a_change(at):
    first = predictions(at)
    assert predictions(at) is first
    answer(at, "ann", 29)
    assert predictions(at) is not first


def test_mistakes_are_the_chances_to_be_wrong_scaled_to_all_rows(at):
    found = predictions(at)
    chances = [one.chance for one in found.of(range(10, 20))]
    expected = found.mistakes(range(10, 20), 1000)
    assert expected.rows == 1000
    assert expected.count == pytest.approx(100 * sum(1 - one.value for one in chances))
    assert expected.low == pytest.approx(100 * sum(1 - one.high for one in chances))
    assert expected.high == pytest.approx(100 * sum(1 - one.low for one in chances))


# ---------------------------------------------------------------- a sought class


@pytest.fixture
def finding(tmp_path):
    """A campaign with eight answers that seeks one class."""
    with new_service(tmp_path, rows(40), check=8, find="yes") as service:
        walk(service, "ann", 12)
        service.scheduler.rank()
        yield service


def test_recall_is_told_by_rows_that_were_found_and_by_chances_of_the_others(finding):
    known, ranking = predictions(finding), finding.scheduler.ranking
    labels, check = finding.read_model.state.labels, finding.read_model.check_rows
    said = [row for row in check if row in labels]
    assert said
    checked = Outcomes(ranking.sought[said], [labels[row] == "yes" for row in said])
    expected = fit_class_calibration(checked, ranking.sought_left_out)
    left = [row for row in range(40) if row not in labels]
    assert known.recall.unfound == expected.unfound(ranking.sought[left])
    assert known.recall.found == list(labels.values()).count("yes")
    assert known.recall.answers == 12
    finding.answer(event("ann", left[0], kind=Kind.BAD))
    again = predictions(finding).recall
    assert again.unfound == expected.unfound(ranking.sought[left[1:]])


def test_rows_are_ordered_by_the_chance_of_the_sought_class(finding):
    known, ranking = predictions(finding), finding.scheduler.ranking
    first = known.sought_first([*range(40), 77])
    order = [one.row for one in first]
    assert order[:-1] == np.argsort(-ranking.sought, kind="stable").tolist()
    assert (first[-1].row, first[-1].chance) == (77, None)
    for one in first[:-1]:
        assert 0 <= one.chance.low <= one.chance.value <= one.chance.high <= 1
    values = known.class_calibration.chances(ranking.sought[order[:-1]])
    told = [one.chance.value for one in first[:-1]]
    np.testing.assert_allclose(told, values, atol=0.02)


def test_where_no_class_is_sought_nothing_is_said_of_recall(at):
    known = predictions(at)
    assert known.recall is None
    assert known.class_calibration is None
    assert [(one.row, one.chance) for one in known.sought_first([3, 1])] == [(1, None), (3, None)]


def test_a_sought_class_that_was_renamed_is_sought_by_its_new_name(finding):
    before = predictions(finding).recall
    finding.rename_class("yes", "relevant", "ann")
    assert finding.read_model.sought == "relevant"
    assert predictions(finding).recall == before
    finding.scheduler.rank()
    assert "relevant found" in finding.scheduler.ranking.advice.reason


def test_in_a_large_pool_random_rows_stand_for_those_that_are_unlikely(finding, monkeypatch):
    known, ranking = predictions(finding), finding.scheduler.ranking
    whole = known.recall.unfound.mean
    monkeypatch.setattr(ranking_module, "OVERVIEW_SAMPLE", 24)
    drawn = ranking_module.overview_sample(40, finding.read_model.setup.seed).tolist()
    seen = np.array(sorted({*drawn, *ranking.order[:10].tolist()}))
    finding.scheduler.ranking = replace(
        ranking,
        order=ranking.order[:10],
        looked_at=seen,
        **{name: getattr(ranking, name)[seen] for name in BY_ROW},
    )
    part = predictions(finding).recall
    assert len(seen) < 40
    assert part.found == known.recall.found
    assert part.unfound.mean == pytest.approx(whole, rel=0.25)
