import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.reference_possibility import share, tables

from possibal.theory.axiom_settings import FiniteThetas, Latents, Stretches
from possibal.theory.finite import FinitePossibility
from possibal.theory.gaussian import GaussianPossibility

SETTINGS = [
    FiniteThetas(),
    FiniteThetas(labels=3, steps=3),
    FiniteThetas(ties=True),
    Stretches(),
    Latents(),
    Latents(labels=3),
    Latents(ties=True),
]
each_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)
GRID = np.linspace(0.0, 1.0, 101)


def units(size):
    return tables(size, elements=st.integers(0, 10).map(lambda k: k / 10))


def possibilities(known, at=GRID):
    """The possibility function at some points, as numbers."""
    if isinstance(known, tuple):
        mean, variance = (np.ravel(part) for part in known)
        points = np.linspace(-4.0, 4.0, 41)[:, None] * np.ones(mean.size)
        return np.exp(-0.5 * ((points - mean) ** 2 / variance).sum(axis=1))
    f = known.possibility
    if isinstance(f, FinitePossibility):
        return f.values
    return f(at)


@share(0.3)
@given(st.data())
@each_setting
def test_a_vaguer_function_is_nowhere_smaller(setting, data):
    u, v = data.draw(units(setting.size)), data.draw(units(setting.size))
    known, vaguer = setting.some(u), setting.vaguer(u, v)
    if known is not None and vaguer is not None:
        assert (possibilities(vaguer) >= possibilities(known) - 1e-12).all()


@share(0.3)
@given(st.data(), st.sampled_from([0.1, 0.5, 1.0]))
@pytest.mark.parametrize("setting", SETTINGS[:4], ids=str)
def test_a_mixed_function_meets_the_premise_of_a3(setting, data, alpha):
    u, v = data.draw(units(setting.size)), data.draw(units(setting.size))
    known, mixed = setting.some(u), setting.mixed(u, alpha, v)
    assert (known is None) == (mixed is None)
    if known is None:
        return
    if isinstance(known.possibility, GaussianPossibility):
        f, moved = known.possibility, mixed.possibility
        ends = (1 - alpha) * v[0] + alpha * np.array([f.lower, f.mean, f.upper])
        np.testing.assert_allclose([moved.lower, moved.mean, moved.upper], ends, atol=1e-12)
        return
    centre = np.array(setting.thetas[int(v.argmax())])
    for theta, value in zip(known.possibility.points, known.possibility.values, strict=True):
        law = np.exp(known.family.log_probability(theta))
        image = tuple((alpha * np.array(theta) + (1 - alpha) * centre).tolist())
        assert mixed.possibility(image) == pytest.approx(value)
        np.testing.assert_allclose(
            np.exp(mixed.family.log_probability(image)), alpha * law + (1 - alpha) * centre
        )


@share(0.3)
@given(st.data())
@each_setting
def test_a_shifted_function_has_the_same_values_elsewhere(setting, data):
    u, v = data.draw(units(setting.size)), data.draw(units(setting.size))
    known, shifted = setting.some(u), setting.shifted(u, v)
    if known is None or shifted is None:
        return
    if isinstance(known, tuple):
        np.testing.assert_allclose(known[1], shifted[1])
    elif isinstance(known.possibility, FinitePossibility):
        np.testing.assert_allclose(
            np.sort(known.possibility.values), np.sort(shifted.possibility.values)
        )
        support = [p for p in shifted.possibility.points if shifted.possibility(p) > 0]
        assert np.min(support) >= -1e-12
    else:
        before, after = known.possibility, shifted.possibility
        np.testing.assert_allclose(after.upper - after.lower, before.upper - before.lower)
        assert float(after.upper[0]) <= 1 + 1e-12
        np.testing.assert_allclose(after.precision, before.precision)


@given(units(5))
def test_without_ties_one_label_leads_at_every_mode(u):
    known = FiniteThetas().some(u)
    if known is not None:
        leaders = {theta[0] > 0.5 for theta in known.possibility.mode}
        assert len(leaders) == 1
        assert (0.5, 0.5) not in known.possibility.mode


@pytest.mark.parametrize("setting", [Latents(), Latents(labels=3)], ids=str)
def test_latents_whose_labels_are_alike_are_left_out(setting):
    middle = np.full(setting.size, 0.5)
    assert setting.some(middle) is None
    assert setting.point(middle) is None
    assert setting.shifted(np.linspace(0.1, 0.9, setting.size), middle) is None
    assert setting.vaguer(middle, middle) is None
    assert Latents(setting.labels, ties=True).some(middle) is not None


@each_setting
def test_nothing_is_known_where_nothing_is_said(setting):
    assert possibilities(setting.nothing()).min() == pytest.approx(1.0, abs=1e-9)


@each_setting
def test_at_a_point_one_value_alone_is_possible(setting):
    known = setting.point(np.linspace(0.3, 0.9, setting.size))
    assert (possibilities(known) > 1e-9).sum() <= 1


def test_settings_say_where_they_have_no_premise():
    ends = np.array([0.0, 1.0, 0.5, 0.0])
    assert Stretches().shifted(ends, np.ones(4)) is None  # it fills [0, 1]
    assert Stretches().vaguer(ends, np.ones(4)) is None
    assert Stretches().vaguer(np.array([0.3, 0.3, 0.5, 1.0]), np.array([1, 0, 0, 0.0])) is None
    assert FiniteThetas().some(np.zeros(5)) is None
    assert FiniteThetas().vaguer(np.zeros(5), np.ones(5)) is None
    assert FiniteThetas().mixed(np.zeros(5), 0.5, np.ones(5)) is None
    assert Latents().mixed(np.ones(2), 0.5, np.ones(2)) is None
    assert Latents().vaguer(np.ones(2), np.zeros(2)) is None
