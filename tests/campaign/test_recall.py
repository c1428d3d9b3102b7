import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import poisson
from support.services import rows

from possibal.campaign import pool, snapshot
from possibal.campaign.calibration import Outcomes
from possibal.campaign.campaign import Campaign
from possibal.campaign.recall import (
    LEFT_OUT,
    MANY,
    SHARPNESS,
    SHIFT,
    RecallEstimate,
    RowCount,
    fit_class_calibration,
)
from possibal.campaign.stopping import AdviceState

CHANCES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30)
CHECKS = st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), max_size=20)
NOTHING = Outcomes()


def outcomes(told) -> Outcomes:
    return Outcomes([chance for chance, _ in told], [is_so for _, is_so in told])


def reference(checked, left_out, chances):
    """The mean number of rows and its quantiles, by loops over a grid, from the definition."""
    points, means = [], []
    for a in np.linspace(-3.5, 3.5, 29):
        for log_b in np.linspace(-3.5, 3.5, 15):
            value = np.exp(-0.5 * (a * a + log_b * log_b))

            def chance(p, a=a, log_b=log_b):
                odds = np.exp(SHIFT * a) * (p / (1 - p)) ** np.exp(SHARPNESS * log_b)
                return odds / (1 + odds)

            for told, power in ((checked, 1.0), (left_out, LEFT_OUT)):
                for p, is_so in told:
                    value *= (chance(p) if is_so else 1 - chance(p)) ** power
            points.append(value)
            means.append(sum(map(chance, chances)))
    weight, means = np.array(points) / sum(points), np.array(means)

    def quantile(share):
        """The least number at which the mixture of Poisson distributions comes to a share."""
        return next(k for k in range(10_000) if weight @ poisson.cdf(k, means) >= share)

    return weight @ means, quantile(0.025), quantile(0.975)


@pytest.mark.parametrize("left_out", [[], [(0.9, True), (0.2, False), (0.1, False), (0.6, True)]])
@pytest.mark.parametrize("checked", [[], [(0.3, False), (0.1, True)]])
def test_how_many_are_left_is_a_mixture_over_what_is_credible(checked, left_out):
    chances = [0.5, 0.2, 0.2, 0.05, 0.01, 0.8]
    known = fit_class_calibration(outcomes(checked), outcomes(left_out))
    mean, low, high = reference(checked, left_out, chances)
    found = known.unfound(chances)
    assert found.mean == pytest.approx(mean, rel=0.01)
    assert (found.low, found.high) == (low, min(high, len(chances)))


def test_of_many_rows_the_count_is_taken_for_a_normal_one():
    chances = np.full(400, 0.3)
    known = fit_class_calibration(
        outcomes([(0.3, place % 10 < 3) for place in range(300)]), NOTHING
    )
    means = 400 / (1 + np.exp(-known.shift - known.sharpness * np.log(0.3 / 0.7)))
    assert means.min() > MANY
    exact = [
        brentq(lambda k, at=share: known.weight @ poisson.cdf(k, means) - at, 0, 400)
        for share in (0.025, 0.975)
    ]
    found = known.unfound(chances)
    assert found.mean == pytest.approx(known.weight @ means, rel=0.01)
    assert (found.low, found.high) == pytest.approx(exact, abs=2)


def test_rows_that_were_not_of_the_class_make_the_others_less_likely_of_it():
    before = fit_class_calibration(NOTHING, NOTHING).unfound([0.2] * 50)
    barren = [(0.2, False)] * 20
    left_out = fit_class_calibration(NOTHING, outcomes(barren)).unfound([0.2] * 50)
    checked = fit_class_calibration(outcomes(barren), NOTHING).unfound([0.2] * 50)
    assert checked.mean < left_out.mean < before.mean
    assert checked.high < left_out.high < before.high
    many = fit_class_calibration(outcomes([(0.2, True)] * 20), NOTHING).unfound([0.2] * 50)
    assert many.mean > before.mean


@settings(max_examples=30)
@given(chances=CHANCES, checks=CHECKS)
def test_a_count_lies_in_its_range_and_among_the_rows(chances, checks):
    known = fit_class_calibration(outcomes(checks), NOTHING)
    found = known.unfound(chances)
    assert 0 <= found.low <= found.high <= len(chances)
    assert 0 <= found.mean <= len(chances) + 1e-9
    assert known.weight.sum() == pytest.approx(1.0)


@settings(max_examples=30)
@given(chances=CHANCES, checks=CHECKS)
def test_a_likelier_row_stays_likelier_and_has_its_chance_within_its_range(chances, checks):
    known = fit_class_calibration(outcomes(checks), NOTHING)
    values = known.chances(sorted(chances))
    assert np.all(np.diff(values) >= -1e-12)
    for one in known.stated(chances):
        assert 0 <= one.low <= one.value <= one.high <= 1


@settings(max_examples=20)
@given(chances=CHANCES, times=st.integers(1, 5))
def test_a_row_that_stands_for_several_counts_as_they_do(chances, times):
    known = fit_class_calibration(NOTHING, NOTHING)
    assert known.unfound(chances, times).mean == pytest.approx(known.unfound(chances * times).mean)


def test_of_no_rows_none_is_left():
    known = fit_class_calibration(NOTHING, NOTHING)
    assert known.unfound([]) == RowCount(0.0, 0.0, 0.0)
    assert known.stated([]) == []


# ---------------------------------------------------------------- recall, and what to do


def found(is_found, mean, low, high) -> RecallEstimate:
    return RecallEstimate.of(is_found, RowCount(mean, low, high))


def test_recall_is_what_was_found_of_all_there_is():
    one = found([True] * 90 + [False] * 5, 10.0, 5.0, 20.0)
    assert (one.found, one.answers, one.fruitless) == (90, 95, 5)
    assert (one.value, one.low, one.high) == (0.9, 90 / 110, 90 / 95)
    assert one.sentence("spam") == "About 90 % of spam found (82 to 95)."
    assert one.report("spam")["sentence"] == one.sentence("spam")
    assert one.report("spam")["most_left"] == 20.0


def test_a_mean_beyond_its_range_counts_as_its_end():
    assert found([True] * 10, 8.0, 0.0, 3.0).value == 10 / 13


def test_where_nothing_was_found_recall_is_not_known():
    one = found([False] * 20, 1.0, 0.0, 4.0)
    assert (one.value, one.low, one.high, one.fruitless) == (0.0, 0.0, 0.0, 20)
    assert one.sentence("spam") == "No spam was found so far."
    assert one.state is AdviceState.GO_ON


@pytest.mark.parametrize(
    ("answers", "mean", "high", "state"),
    [
        (100, 2.0, 5.0, AdviceState.DONE),
        (100, 2.0, 9.0, AdviceState.SETTLED),
        (100, 9.0, 20.0, AdviceState.GO_ON),
        (9, 0.0, 0.0, AdviceState.GO_ON),
    ],
)
def test_one_should_stop_where_the_whole_range_is_at_the_target(answers, mean, high, state):
    one = found([True] * answers, mean, 0.0, high)
    assert one.state is state
    advice = one.advice("spam")
    assert advice.state is state
    assert advice.reason.startswith(one.sentence("spam"))
    assert ("rely on" in advice.reason) == (state is AdviceState.SETTLED)


def test_all_is_found_only_where_nothing_can_be_left():
    assert "100 % of spam found (99 to 100)" in found([True] * 999, 0.0, 0.0, 1.0).sentence("spam")
    almost = found([True] * 999, 1.0, 1.0, 1.0)
    assert almost.sentence("spam") == "About 99 % of spam found (99 to 99)."
    whole = found([True] * 20, 0.01, 0.0, 0.0)
    assert whole.sentence("spam") == "All of spam found, as far as can be told."
    assert whole.reason("spam") == "None of the rows without a label is likely to be spam."
    little = found([True], 999.0, 500.0, 2000.0)
    assert little.sentence("spam") == "About 1 % of spam found (1 to 1)."
    assert "hardly any may be spam" in found([True] * 20, 0.2, 0.0, 1.0).reason("spam")


# ---------------------------------------------------------------- a campaign that finds


def rare(n=100):
    """Rows of which every thirteenth is far out on one side, and their names."""
    X = rows(n, 3)
    is_rare = np.arange(n) % 13 == 0
    X[is_rare, 0] += 6.0
    return X, np.where(is_rare, "spam", "ham")


def test_a_campaign_asks_about_the_likeliest_rows_and_says_how_much_it_found():
    X, names = rare(260)
    campaign = Campaign.start(X, classes=["ham", "spam"], find="spam")
    assert campaign.recall is None
    assert campaign.report()["recall"] is None
    campaign.tell(0, "spam").tell(1, "ham")
    for asked in range(40):
        for row in campaign.ask(5):
            campaign.tell(row, str(names[row]))
        if asked == 3:
            assert list(campaign.labels.values()).count("spam") == 20
            assert not campaign.should_stop
        if campaign.should_stop:
            break
    assert campaign.should_stop
    assert len(campaign) < 260
    assert campaign.advice.state is AdviceState.DONE
    recall = campaign.recall
    assert recall.found == 20
    assert recall.low >= 0.95
    assert recall.fruitless == len(campaign) - 20 - 1
    assert campaign.report()["recall"] == recall.report("spam")
    assert campaign.report()["sought"] == "spam"


def test_should_stop_waits_for_stop_where_a_class_is_sought():
    X, names = rare()
    campaign = Campaign.start(X, classes=["ham", "spam"], find="spam")
    plain = Campaign.start(X, classes=["ham", "spam"])
    for row in range(20):
        campaign.tell(row, str(names[row]))
        plain.tell(row, str(names[row]))
    may = found([True] * 20, 1.0, 0.0, 9.0).advice("spam")
    assert may.state is AdviceState.SETTLED
    vars(campaign.snapshot)["advice"] = vars(plain.snapshot)["advice"] = may
    assert not campaign.should_stop
    assert plain.should_stop
    assert plain.recall is None


def test_a_class_to_find_is_one_of_those_there_are():
    X, _ = rare()
    with pytest.raises(ValueError, match=r"find must be one of the classes, .*got 'spm'"):
        Campaign.start(X, classes=["ham", "spam"], find="spm")
    with pytest.raises(ValueError, match=r"find must be one of the classes"):
        Campaign.start(X, classes=["ham", "spam"], find=["spam"])
    learnt = Campaign.start(X, find="spam").tell(0, "ham").tell(1, "eggs")
    assert learnt.recall is None  # until there is one
    assert learnt.ask() == Campaign.start(X).tell(0, "ham").tell(1, "eggs").ask()
    assert learnt.tell(13, "spam").recall.found == 1


def test_a_sought_class_keeps_being_sought_by_its_new_name():
    X, _ = rare()
    campaign = (
        Campaign.start(X, classes=["ham", "spam"], find="spam").tell(0, "spam").tell(1, "ham")
    )
    asked = campaign.ask()
    campaign.rename_class("spam", "junk")
    assert campaign.ask() == asked
    assert "junk found" in campaign.advice.reason
    campaign.rename_class("ham", "good")
    assert campaign.snapshot.find == "junk"
    learnt = Campaign.start(X, find="spam").tell(0, "spam").rename_class("spam", "junk")
    assert learnt.snapshot.find == "junk"
    learnt.undo()
    learnt.undo()
    learnt.add_class("spam")
    with pytest.raises(ValueError, match="name must be a class that is not sought; got 'spam'"):
        learnt.remove_class("spam")


def test_of_several_classes_the_one_that_is_sought_is_asked_first():
    X, names = rare()
    X[50:60, 1] -= 8.0
    names = np.where((np.arange(100) >= 50) & (np.arange(100) < 60), "odd", names)
    campaign = Campaign.start(X, classes=["ham", "odd", "spam"], find="odd")
    for row in (0, 1, 2, 51):
        campaign.tell(row, str(names[row]))
    rows_asked = campaign.ask(5)
    assert {names[row] for row in rows_asked} == {"odd"}


def test_in_a_large_pool_a_sample_stands_for_unlikely_rows(monkeypatch):
    X, names = rare()
    told = [(row, str(names[row])) for row in range(0, 40, 3)]

    def recall():
        campaign = Campaign.start(X, classes=["ham", "spam"], find="spam")
        for row, name in told:
            campaign.tell(row, name)
        return campaign.recall, campaign.ask()

    whole, asked = recall()
    monkeypatch.setattr(pool, "LARGE_POOL", 50)
    monkeypatch.setattr(snapshot, "BATCH_CANDIDATES", 10)
    part, asked_of_many = recall()
    assert asked_of_many == asked
    assert part.unfound.mean == pytest.approx(whole.unfound.mean, rel=0.05)
    monkeypatch.setattr(snapshot, "ADVICE_SAMPLE", 30)
    drawn, _ = recall()
    assert drawn.unfound.mean == pytest.approx(whole.unfound.mean, rel=0.3)
