import pickle
from dataclasses import replace

import numpy as np
import pytest
from support.services import rows, truth

from possibal.acquisition.pointwise import necessity
from possibal.acquisition.registry import STRATEGIES
from possibal.belief import leading_labels
from possibal.campaign.calibration import SELF_CHECKED
from possibal.campaign.snapshot import Answer, Snapshot
from possibal.campaign.stopping import AdviceState
from possibal.estimators.classifier import PossibilisticGPClassifier
from possibal.gp.leave_one_out import self_check
from possibal.labelling import evaluation
from possibal.labelling.ranker import InProcessRanker
from possibal.labelling.ranking import UNKNOWN, RankingTask


def told(X, places, labels=None) -> tuple[Answer, ...]:
    """Truthful answers about some rows."""
    return tuple(Answer(row, (labels or truth(X))[row]) for row in places)


def three(X) -> list[str]:
    """Labels of three classes that follow the first column."""
    return np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])].tolist()


# ---------------------------------------------------------------- as a campaign
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_ranking_begins_as_the_campaign_itself_asks(strategy):
    X = rows(20)
    task = RankingTask(told(X, range(6)), ("no", "yes"), frozenset([7, 8]), first=3)
    campaign = Snapshot.start(X, classes=["no", "yes"], strategy=strategy, seed=5)
    campaign = campaign.without([7, 8]).replay(task.answers)
    order = InProcessRanker(X, strategy, 5).rank(task).order.tolist()
    assert tuple(order[:3]) == campaign.ask(3)
    assert sorted(order) == [row for row in range(6, 20) if row not in {7, 8}]


@pytest.mark.parametrize("labels", [truth, three], ids=["two classes", "three classes"])
@pytest.mark.parametrize("named", [True, False])
def test_what_it_thinks_is_what_the_classifier_believes(labels, named):
    X = rows(25)
    classes = tuple(sorted(set(labels(X)))) if named else ()
    task = RankingTask(told(X, range(9), labels(X)), classes)
    ranking = InProcessRanker(X, "necessity", 0).rank(task)
    campaign = Snapshot.start(X, classes=list(classes) or None).replay(task.answers)
    belief = campaign.classifier.belief(X)
    np.testing.assert_array_equal(ranking.necessity, necessity(belief))
    np.testing.assert_array_equal(ranking.predicted, leading_labels(belief))
    assert ranking.classes == tuple(sorted(set(labels(X))))
    assert [ranking.predicted_label(row) for row in range(25)] == [
        ranking.classes[place] for place in leading_labels(belief)
    ]
    chances = np.take_along_axis(
        campaign.classifier.predict_proba(X), ranking.predicted[:, None], axis=1
    )
    np.testing.assert_allclose(ranking.chance, chances[:, 0], rtol=1e-12)
    left_out, is_right = self_check(campaign.classifier.posterior_, SELF_CHECKED)
    np.testing.assert_array_equal(ranking.left_out.chances, left_out)
    np.testing.assert_array_equal(ranking.left_out.is_right, is_right)
    assert ranking.advice == campaign.advice
    assert (ranking.answers, ranking.is_cold) == (9, False)
    split = campaign.classifier.split(X, 0.9)
    assert set(ranking.chances) == set(ranking.order.tolist())
    for row, chance in ranking.chances.items():
        assert (chance.lower, chance.upper) == pytest.approx((split.lower[row], split.upper[row]))
        assert chance.labels == len(ranking.classes)


def test_a_ranker_can_be_used_again_and_remembers_nothing():
    X = rows(20)
    ranker, later = InProcessRanker(X, "necessity", 0), RankingTask(told(X, range(8)))
    first = ranker.rank(later)
    ranker.rank(RankingTask(told(X, range(12)), ("no", "other", "yes"), frozenset([15])))
    again = ranker.rank(later)
    np.testing.assert_array_equal(again.order, first.order)
    np.testing.assert_array_equal(again.necessity, first.necessity)


def test_classes_that_nobody_named_yet_may_lead():
    X = rows(20)
    ranking = InProcessRanker(X, "necessity", 0).rank(
        RankingTask(told(X, range(6)), ("maybe", "no", "yes"))
    )
    assert ranking.classes == ("maybe", "no", "yes")
    assert {ranking.predicted_label(row) for row in range(20)} <= set(ranking.classes)


# ---------------------------------------------------------------- the beginning
@pytest.mark.parametrize("classes", [(), ("yes",), ("no", "yes")], ids=["none", "one", "two"])
@pytest.mark.parametrize("answered", [0, 1])
def test_before_two_classes_were_seen_rows_differ_and_nothing_is_known(classes, answered):
    X = np.repeat(rows(6), 4, axis=0)
    answers = tuple(Answer(row, "yes") for row in range(answered))
    ranking = InProcessRanker(X, "necessity", 0).rank(RankingTask(answers, classes, first=5))
    assert ranking.is_cold
    assert ranking.answers == answered
    assert ranking.classes == ("yes",) * answered
    assert (ranking.predicted == UNKNOWN).all()
    assert not ranking.necessity.any()
    assert not ranking.relevance.any()
    assert ranking.predicted_label(3) is None
    assert ranking.advice.state is AdviceState.GO_ON
    assert len({row // 4 for row in ranking.order[:5]}) == 5
    assert sorted(ranking.order) == list(range(answered, 24))


@pytest.mark.parametrize("labels", [truth, three], ids=["two classes", "three classes"])
def test_a_ranking_of_some_labels_is_that_of_a_model_that_learns_from_so_many(labels):
    X = rows(80)
    answers = told(X, range(60), labels(X))
    task = RankingTask(answers, tuple(sorted(set(labels(X)))), frozenset([70]), most_labels=20)
    ranker = InProcessRanker(X, "necessity", 5)
    ranking = ranker.rank(task)
    model = PossibilisticGPClassifier(most_labels=20)
    alone = Snapshot.start(
        X, classes=list(task.classes), strategy="necessity", seed=5, classifier=model
    )
    alone = alone.without([70]).replay(answers)
    assert alone.classifier.left_out_ == 40
    assert tuple(ranking.order[:4]) == alone.ask(4)
    assert sorted(ranking.order.tolist()) == [row for row in range(60, 80) if row != 70]
    np.testing.assert_array_equal(ranking.necessity, necessity(alone.belief))
    assert ranking.answers == 60
    assert ranking.advice.state is AdviceState.GO_ON
    assert ranking.advice.reason == "The model has learnt from 20 of 60 labels so far."
    assert ranking.advice.least_necessity == ranking.necessity.min()
    whole = ranker.rank(replace(task, most_labels=0))
    assert whole.advice == alone_of_all(X, task, labels).advice


def alone_of_all(X, task, labels):
    campaign = Snapshot.start(X, classes=sorted(set(labels(X))), strategy="necessity", seed=5)
    return campaign.without(task.aside).replay(task.answers)


def test_nothing_is_asked_where_nothing_is_left():
    X = rows(6)
    ranking = InProcessRanker(X, "necessity", 0).rank(
        RankingTask(told(X, range(5)), aside=frozenset([5]))
    )
    assert ranking.order.tolist() == []
    assert ranking.advice.reason == "Every row has an answer."


def test_the_fewest_rows_that_can_be_wanted_first_is_one():
    X = rows(8)
    one, none = (
        InProcessRanker(X, "necessity", 0).rank(RankingTask(first=first)) for first in (1, 0)
    )
    np.testing.assert_array_equal(one.order, none.order)


def test_an_answer_about_a_row_put_aside_is_learnt_from():
    X = rows(12)
    task = RankingTask(told(X, range(6)), aside=frozenset([2]))
    ranking = InProcessRanker(X, "necessity", 0).rank(task)
    assert ranking.answers == 6
    assert sorted(ranking.order) == list(range(6, 12))


# ---------------------------------------------------------------- relevance
@pytest.mark.parametrize("labels", [truth, three], ids=["two classes", "three classes"])
def test_the_column_that_goes_with_the_labels_is_found(labels):
    X = rows(60, d=4)[:, [1, 0, 2, 3]]
    said = labels(X[:, [1]])
    ranking = InProcessRanker(X, "necessity", 0).rank(RankingTask(told(X, range(30), said)))
    assert ranking.relevance.argmax() == 1
    assert ranking.relevance[1] > 0.6
    assert ((ranking.relevance >= 0) & (ranking.relevance <= 1 + 1e-12)).all()


def test_the_relevance_of_a_column_is_a_correlation():
    X = rows(40, d=3)
    ranking = InProcessRanker(X, "necessity", 0).rank(RankingTask(told(X, range(20))))
    known = [abs(np.corrcoef(column, ranking.predicted)[0, 1]) for column in X.T]
    np.testing.assert_allclose(ranking.relevance, known, rtol=1e-10)


def test_constant_columns_are_of_no_relevance():
    X = np.column_stack([np.full(30, 0.1), rows(30), np.zeros(30)])
    said = truth(X[:, [1]])
    ranking = InProcessRanker(X, "necessity", 0).rank(RankingTask(told(X, range(10), said)))
    assert np.isfinite(ranking.relevance).all()
    assert ranking.relevance.argmax() == 1
    assert ranking.relevance[0] < 1e-6
    assert ranking.relevance[3] == 0.0


# ---------------------------------------------------------------- check rows
def test_predictions_are_what_the_ranking_thinks():
    X, mixed = rows(150, d=4), rows(150, seed=9)[:, 0]
    said = truth(X[:, [0]] + 0.5 * X[:, [1]] ** 2 + 0.3 * mixed[:, None])
    task, ranker = RankingTask(told(X, range(9), said)), InProcessRanker(X, "necessity", 0)
    ranking, places = ranker.rank(task), np.arange(149, -1, -1)
    predicted = [ranking.predicted_label(row) for row in places]
    assert ranker.predict(task, places) == predicted
    assert ranker.campaign(task).classifier.predict(X[places]).tolist() != predicted


def test_before_two_classes_were_seen_nothing_is_predicted():
    X = rows(50)
    ranker = InProcessRanker(X, "necessity", 0)
    for answers in ((), (Answer(0, "yes"),)):
        task = RankingTask(answers, ("no", "yes"), check=told(X, range(20, 50)))
        assert ranker.predict(task, np.arange(5)) is None


def test_what_random_rows_reach_is_measured_again_only_for_other_check_rows(monkeypatch):
    monkeypatch.setattr(evaluation, "DRAWS", 2)
    X = rows(60)
    few, many = told(X, range(38, 60)), told(X, range(30, 60))
    ranker = InProcessRanker(X, "necessity", 0)
    for check in (few, many, few):
        for size in (6, 20):
            task = RankingTask(told(X, range(size)), check=check)
            assert ranker.measure(task) == InProcessRanker(X, "necessity", 0).measure(task)


def test_too_few_check_rows_measure_nothing():
    X = rows(40)
    ranker = InProcessRanker(X, "necessity", 0)
    assert ranker.measure(RankingTask(told(X, range(10)), check=told(X, range(30, 40)))) is None
    assert ranker.measure(RankingTask(told(X, range(10)))) is None


# ---------------------------------------------------------------- values
def test_tasks_and_rankings_travel():
    X = rows(12)
    task = RankingTask(told(X, range(5)), ("no", "yes"), frozenset([7]), told(X, [9]), 2)
    assert pickle.loads(pickle.dumps(task)) == task  # noqa: S301 - our own
    ranking = InProcessRanker(X, "necessity", 0).rank(task)
    again = pickle.loads(pickle.dumps(ranking))  # noqa: S301 - our own
    assert again.advice == ranking.advice
    np.testing.assert_array_equal(again.order, ranking.order)


# ---------------------------------------------------------------- a sought class
def test_a_ranking_knows_the_chance_of_the_sought_class_and_asks_by_it():
    X = rows(25)
    ranker = InProcessRanker(X, "herding", 0)
    plain = RankingTask(told(X, range(9)), ("no", "yes"))
    task = replace(plain, find="no")
    ranking = ranker.rank(task)
    campaign = ranker.campaign(task)
    chance = campaign.classifier.posterior_.probability(X)[:, 0]
    np.testing.assert_allclose(ranking.sought, chance)
    left = np.arange(9, 25)
    assert ranking.order.tolist() == left[np.argsort(-chance[left], kind="stable")].tolist()
    assert ranking.sought_chances_of([24, -1]) == [pytest.approx(chance[24]), None]
    assert len(ranking.sought_left_out) == 9
    assert "no found" in ranking.advice.reason
    without = ranker.rank(plain)
    assert without.sought_chances_of([24]) == [None]
    assert len(without.sought_left_out) == 0


def test_before_the_sought_class_is_known_rows_are_asked_as_ever():
    X = rows(25)
    ranker = InProcessRanker(X, "herding", 0)
    for answers in (told(X, []), told(X, [0])):
        cold = ranker.rank(RankingTask(answers, ("no", "yes"), find="no"))
        assert cold.order[0] == ranker.rank(RankingTask(answers, ("no", "yes"))).order[0]
        assert len(cold.sought) == 0


def test_sets_of_classes_are_predicted_and_not_compared_with_chance():
    X = rows(20)
    answers = tuple(Answer(row, ("a|b", "a", "none")[row % 3]) for row in range(9))
    task, ranker = RankingTask(answers, ("a", "b"), multi=True), InProcessRanker(X, "herding", 0)
    found = ranker.predict(task, np.arange(20))
    assert set(found) <= {"none", "a", "b", "a|b"}
    assert len(found) == 20
    assert ranker.measure(task) is None
