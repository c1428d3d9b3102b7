"""Inter-annotator agreement: Cohen's kappa for two people, Krippendorff's alpha for more."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

Said = Mapping[str, str]
"""What each person said of one row."""


def cohen(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of two people: 1 is perfect agreement, 0 is chance; None if undefined.

    (p - e) / (1 - e), p the share of rows on which they agree and e that expected if each kept
    their habits and drew at random.

    Paper: none; Cohen 1960.

    Args:
        pairs: what one and the other said of each row.
    """
    if not pairs:
        return None
    n = len(pairs)
    agreed = sum(one == other for one, other in pairs) / n
    ones, others = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    chance = sum(ones[label] * others[label] for label in ones) / (n * n)
    return None if chance == 1.0 else (agreed - chance) / (1.0 - chance)


def krippendorff(rows: Iterable[Said]) -> float | None:
    """Agreement of any number of people beyond chance, for classes; None if undefined.

    1 - (n - 1) sum_u d_u / (m_u - 1) / sum_{c != k} n_c n_k, over rows u with m_u >= 2 answers,
    d_u their ordered pairs that differ, n_c how often a class was named and n all answers.

    Paper: none; Krippendorff 2004, nominal data.

    Args:
        rows: what people said of each row.
    """
    units = [Counter(said.values()) for said in rows if len(said) > 1]
    named = sum(units, Counter[str]())
    n = named.total()
    expected = n * n - sum(count * count for count in named.values())
    if not expected:
        return None
    observed = sum(
        (unit.total() ** 2 - sum(count * count for count in unit.values())) / (unit.total() - 1)
        for unit in units
    )
    return 1.0 - (n - 1) * observed / expected


def of_class(
    rows: Iterable[Said], name: str, members: Callable[[str], Sequence[str]]
) -> list[Said]:
    """What people said of one class of rows that may have several: that it is there, or is not.

    Args:
        rows: what people said of each row.
        name: of the class.
        members: the classes that a label names.
    """
    return [
        {who: "yes" if name in members(label) else "no" for who, label in said.items()}
        for said in rows
    ]


def mean_known(values: Iterable[float | None]) -> float | None:
    """The mean of those that are defined; None if none is."""
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None


def pairs(rows: Iterable[Said]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """What each two people said of the rows that both answered."""
    found = dict[tuple[str, str], list[tuple[str, str]]]()
    for said in rows:
        for one, other in combinations(sorted(said), 2):
            found.setdefault((one, other), []).append((said[one], said[other]))
    return found
