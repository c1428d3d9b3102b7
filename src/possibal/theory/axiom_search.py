"""A search for counterexamples to the axioms A0-A4 of epistemic uncertainty, for any measure of it.

axioms(OuterMeasure.uncertainty_outcome)                     finitely many thetas
axioms(possibal.acquisition.bald, Latents(labels=3))         a score of Gaussian latents
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from possibal.arguments import whole
from possibal.arrays import Vector
from possibal.theory.axiom_settings import AxiomSetting, FiniteThetas, Known, Measure
from possibal.theory.finite import FinitePossibility
from possibal.theory.gaussian import GaussianPossibility
from possibal.theory.outer_measure import OuterMeasure

TOLERANCE = 1e-6
"""How far, relatively or absolutely, numbers may be apart that an axiom wants alike."""
_TENTHS = 10
"""Numbers are drawn as tenths, so that a counterexample can be read."""
_SIMPLE = (0.0, 1.0, 0.5)
"""Numbers that a counterexample is made of where it can be."""


@dataclass(frozen=True, eq=False)
class Counterexample:
    """Possibility functions for which a measure breaks an axiom.

    Paper: Sec. 4, A0 to A4.

    Attributes:
        axiom: which.
        known: f, with the law of Y.
        other: the function that the axiom compares f with; None for A0 and A1.
        value: the measure of f.
        other_value: the measure of the other one.
        bound: what the axiom holds against the last value it reads.
        rule: what should hold, in words.
        setting: where it was found.
    """

    axiom: str
    known: Known
    other: Known | None
    value: float
    other_value: float | None
    bound: float
    rule: str
    setting: AxiomSetting

    def recompute(self, measure: Measure) -> tuple[float, float | None]:
        """The measure of both functions again.

        Paper: Sec. 4, EU(f) and EU(f').
        """
        other = None if self.other is None else self.setting.value(measure, self.other)
        return self.setting.value(measure, self.known), other

    def __str__(self) -> str:
        """The functions and what the measure says of them, in a line."""
        known = f"EU = {self.value:.4g} for {_written(self.known)}"
        if self.other is None or self.other_value is None:
            return f"{known}, but {self.rule}"
        return f"{known}, and {self.other_value:.4g} for {_written(self.other)}, but {self.rule}"


@dataclass(frozen=True)
class Verdict:
    """What a search found about one axiom.

    Paper: Sec. 4, A0 to A4.

    Attributes:
        axiom: which.
        tries: how many premises were met; with none, the setting has nothing to say.
        counterexample: the simplest one found; None where there is none.
    """

    axiom: str
    tries: int
    counterexample: Counterexample | None

    @property
    def holds(self) -> bool | None:
        """Whether the axiom holds as far as was searched; None where nothing could be searched.

        Paper: Sec. 4, A0 to A4.
        """
        return self.counterexample is None if self.tries else None

    def __str__(self) -> str:
        """The verdict in a line."""
        if self.counterexample is not None:
            return f"{self.axiom}: fails; {self.counterexample}"
        if self.tries:
            return f"{self.axiom}: no counterexample in {self.tries} tries"
        return f"{self.axiom}: no premise in this setting"


@dataclass(frozen=True)
class AxiomReport:
    """What a search found about every axiom.

    Paper: Sec. 4, A0 to A4; App. D, A3'.

    Attributes:
        verdicts: in the order of the axioms.
    """

    verdicts: tuple[Verdict, ...]

    def __getitem__(self, axiom: str) -> Verdict:
        """The verdict about one axiom, by its name in :data:`AXIOMS`."""
        return next(verdict for verdict in self.verdicts if verdict.axiom == axiom)

    def __str__(self) -> str:
        """A line for each axiom."""
        return "\n".join(map(str, self.verdicts))


@dataclass(frozen=True, eq=False)
class _Case:
    """What a premise is made of: numbers in [0, 1].

    Attributes:
        u: of the possibility function.
        v: of what it is compared with.
        alpha: the weight of A3, above zero.
    """

    u: Vector
    v: Vector
    alpha: float


_Pair: TypeAlias = tuple[Known | None, Known | None]


@dataclass(frozen=True)
class _Axiom:
    """How an axiom is searched.

    Attributes:
        premise: the functions that it compares; None where a case makes none.
        bound: what the last value is held against, from the first value and alpha.
        is_broken: tells whether the last value and the bound break it.
        rule: what should hold, in words.
    """

    premise: Callable[[AxiomSetting, _Case], _Pair]
    bound: Callable[[float, float], float]
    is_broken: Callable[[float, float], bool]
    rule: str


def _far(value: float, bound: float) -> bool:
    return not (value == bound or abs(value - bound) <= TOLERANCE * max(1.0, abs(bound)))


def _below(value: float, bound: float) -> bool:
    return value < bound and _far(value, bound)


def _above(value: float, bound: float) -> bool:
    return value > bound and _far(value, bound)


def _not_above(value: float, bound: float) -> bool:
    return not value > bound


def _vaguer(setting: AxiomSetting, case: _Case) -> _Pair:
    return setting.some(case.u), setting.vaguer(case.u, case.v)


_SEARCHES: dict[str, _Axiom] = {
    "A0": _Axiom(
        lambda s, c: (s.some(c.u), None), lambda _, __: 0.0, _below, "it should not be negative"
    ),
    "A1": _Axiom(
        lambda s, c: (s.point(c.u), None), lambda _, __: 0.0, _far, "it should vanish at a point"
    ),
    "A2": _Axiom(
        lambda s, c: (s.nothing(), s.some(c.u)),
        lambda value, _: value,
        _above,
        "the first should be the largest",
    ),
    "A3": _Axiom(
        lambda s, c: (s.some(c.u), s.mixed(c.u, c.alpha, c.v)),
        lambda value, alpha: alpha * value,
        _far,
        "the second should be {alpha:.4g} times the first",
    ),
    "A3'": _Axiom(
        lambda s, c: (s.some(c.u), s.shifted(c.u, c.v)),
        lambda value, _: value,
        _far,
        "both should be the same",
    ),
    "A4 weak": _Axiom(_vaguer, lambda value, _: value, _below, "the second should not be smaller"),
    "A4 strict": _Axiom(_vaguer, lambda value, _: value, _not_above, "the second should be larger"),
}
AXIOMS = tuple(_SEARCHES)
"""The names of the axioms, in order; A4 twice, for its weak and its strict version."""


def axioms(
    measure: Measure, setting: AxiomSetting | None = None, *, tries: int = 200, seed: int = 0
) -> AxiomReport:
    """Search counterexamples to A0-A4 and A3' for a measure of epistemic uncertainty.

    Cases are drawn at random and shrunk to the simplest that still break the axiom. No
    counterexample is no proof.

    Paper: Sec. 4, A0 to A4 (after Wimmer et al. 2023); App. D, A3'. A3 is read with T a bijection
    onto its image, and "less informative" as nowhere smaller; see docs/paper.md.

    Args:
        measure: takes an OuterMeasure and returns a number, or an Estimate of one; for
            :class:`Latents` it is a score, measure(mean, variance).
        setting: what may be known; None means :class:`FiniteThetas` of two labels.
        tries: cases drawn for each axiom.
        seed: of the draws.
    """
    where: AxiomSetting = FiniteThetas() if setting is None else setting
    whole("tries", tries, 1)
    return AxiomReport(tuple(_search(name, measure, where, (seed, tries)) for name in AXIOMS))


def _search(name: str, measure: Measure, setting: AxiomSetting, draws: tuple[int, int]) -> Verdict:
    """Draw cases until one breaks the axiom, and shrink that; draws are a seed and how many."""
    seed, tries = draws
    rng, met = np.random.default_rng([seed, *name.encode()]), 0

    def broken(case: _Case) -> Counterexample | None:
        nonlocal met
        found, counted = _broken(name, measure, setting, case)
        met += counted
        return found

    for _ in range(tries):
        case = _drawn(setting.size, rng)
        found = broken(case)
        if found is not None:
            drawn = met
            return Verdict(name, drawn, _shrunk(broken, case, found))
    return Verdict(name, met, None)


def _drawn(size: int, rng: np.random.Generator) -> _Case:
    """A case of tenths; in every other one, half of the numbers are zero."""
    numbers = rng.integers(0, _TENTHS + 1, (2, size)) / _TENTHS
    if rng.random() < 0.5:  # noqa: PLR2004 - every other one
        numbers *= rng.integers(0, 2, numbers.shape)
    return _Case(*numbers, alpha=rng.integers(1, _TENTHS + 1) / _TENTHS)


def _broken(
    name: str, measure: Measure, setting: AxiomSetting, case: _Case
) -> tuple[Counterexample | None, bool]:
    """The counterexample that a case is, if it is one, and whether it meets the premise."""
    axiom = _SEARCHES[name]
    pair = axiom.premise(setting, case)
    alone = name in {"A0", "A1"}
    if pair[0] is None or (pair[1] is None and not alone):
        return None, False
    value = setting.value(measure, pair[0])
    other = None if alone else setting.value(measure, pair[1])
    bound = axiom.bound(value, case.alpha)
    if not axiom.is_broken(value if other is None else other, bound):
        return None, True
    rule = axiom.rule.format(alpha=case.alpha)
    found = Counterexample(name, pair[0], pair[1], value, other, bound, rule, setting)
    return found, True


def _shrunk(
    broken: Callable[[_Case], Counterexample | None], case: _Case, found: Counterexample
) -> Counterexample:
    """The simplest counterexample that single steps lead to."""
    while True:
        for simpler in _simpler(case):
            again = broken(simpler)
            if again is not None:
                case, found = simpler, again
                break
        else:
            return found


def _simpler(case: _Case) -> Iterator[_Case]:
    """Cases with one number simpler than it was."""
    for place, number in enumerate(case.u):
        for other in _SIMPLE[: _SIMPLE.index(number) if number in _SIMPLE else None]:
            yield _Case(_with(case.u, place, other), case.v, case.alpha)
    for place, number in enumerate(case.v):
        for other in _SIMPLE[: _SIMPLE.index(number) if number in _SIMPLE else None]:
            yield _Case(case.u, _with(case.v, place, other), case.alpha)
    if case.alpha != 0.5:  # noqa: PLR2004 - a half is simplest
        yield _Case(case.u, case.v, 0.5)


def _with(numbers: Vector, place: int, other: float) -> Vector:
    changed = numbers.copy()
    changed[place] = other
    return changed


def _written(known: Known) -> str:
    """What is known, in a few words."""
    if not isinstance(known, OuterMeasure):
        mean, variance = (", ".join(f"{number:.4g}" for number in np.ravel(part)) for part in known)
        return f"latents of mean ({mean}) and variance ({variance})"
    f = known.possibility
    if isinstance(f, FinitePossibility):
        if f.values.min() == 1.0 and f.values.size > 1:
            return "f = 1 everywhere"
        believed = zip(f.points, f.values.flat, strict=True)
        named = [f"{_point(p)}: {value:.4g}" for p, value in believed if value > 0]
        return "f = {" + ", ".join(named) + "}"
    return _stretch(f)


def _point(theta: tuple[float, ...]) -> str:
    return "(" + ", ".join(f"{part:.4g}" for part in theta) + ")"


def _stretch(f: GaussianPossibility) -> str:
    low, high = float(f.lower[0]), float(f.upper[0])
    where = f"[{low:.4g}, {high:.4g}]"
    if low == high:
        return f"the point {low:.4g}"
    precision = float(f.precision[0, 0])
    if not precision:
        return f"f = 1 on {where}"
    return f"a Gaussian of mean {float(f.mean[0]):.4g} and precision {precision:.4g} on {where}"
