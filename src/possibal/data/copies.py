"""Copies: rows of a pool that say the same, which are asked once, and rows that nearly do.

    groups = find_copies(contents)        groups.others(row)        nearly_same_texts(one, other)

Texts say the same if they do once case, forms of letters, blanks and the digits of numbers are set
aside; pictures if their bytes do, or if they look the same but for what saving them anew does. All
else that is learnt from must be equal. A table of numbers and categories has no copies: two rows
with the same few cells may well be two things, and their labels may differ.
"""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b, file_digest
from pathlib import Path

import numpy as np

from possibal.arrays import Array, Mask, Places, Vector
from possibal.data import images
from possibal.data.encoders import Cells, is_missing
from possibal.embedding.embedder import ImageInput

SIDE, CELLS = 16, 4
"""Pixels along the side of the thumbnails that are compared, and of the coarser ones that find
pairs to compare."""
SAME_LOOK, NEAR_LOOK = 0.05, 0.15
"""Distances of thumbnails, as shares of their contrast, up to which pictures look the same, as when
one was saved again, and nearly so. Of 1837 photographs, one that was saved again at quality 75 or
50 was mostly 0.01 to 0.05 away from itself, and no two others were nearer than 0.18."""
SAME_WORDS = 0.75
"""Share of all words of two texts that both have, from which on they say nearly the same."""
FEWEST_WORDS = 3
"""Words that they share at least."""
FEWEST_LEFT = 0.1
"""Share of the texts that must still differ once digits are set aside: otherwise the digits are
what the texts say, as in a pool of measurements, and tell them apart."""
SAME = "the same as another"
TEXTS_ASIDE, DIGITS_COUNT, PICTURES_ASIDE = "case and digits", "case", "how they were saved"
"""What rows that say the same may differ by, in words."""
ROUNDING = 1e-6
"""Of distances of thumbnails, in shades."""
NUMBERS = re.compile(r"\d+")
WORDS = re.compile(r"\w+")
LETTERS = re.compile(r"[^\W\d_]+")


# ---------------------------------------------------------------- values
@dataclass(frozen=True, eq=False)
class CopyGroups:
    """A partition of a pool into rows that say the same.

    Attributes:
        leaders: (m,), for each row the place of the one that is asked in its stead: the first that
            says the same, itself where no other does.
        disagreeing: how many rows stay apart though they say the same, for their labels differ.
        aside: what rows of a group may differ by, in words.
    """

    leaders: Places
    disagreeing: int = 0
    aside: str = TEXTS_ASIDE

    @classmethod
    def apart(cls, rows: int) -> "CopyGroups":
        """No row of so many is a copy."""
        return cls(np.arange(rows))

    @functools.cached_property
    def copies(self) -> frozenset[int]:
        """The rows that another one is asked for."""
        return frozenset(np.flatnonzero(self.leaders != np.arange(len(self.leaders))).tolist())

    @functools.cached_property
    def _groups(self) -> dict[int, tuple[int, ...]]:
        """The rows of each group of several, by the one that is asked."""
        found = dict[int, list[int]]()
        for row in sorted(self.copies | {self.leader(row) for row in self.copies}):
            found.setdefault(self.leader(row), []).append(row)
        return {leader: tuple(rows) for leader, rows in found.items()}

    @property
    def grouped(self) -> list[int]:
        """The rows of all groups of several, in order."""
        return sorted(row for rows in self._groups.values() for row in rows)

    def leader(self, row: int) -> int:
        """The row that is asked in the stead of a row."""
        return int(self.leaders[row])

    def others(self, row: int) -> tuple[int, ...]:
        """The other rows that say the same as a row."""
        return tuple(other for other in self._groups.get(self.leader(row), ()) if other != row)

    def with_copies(self, rows: Iterable[int]) -> tuple[int, ...]:
        """Rows, and after them the copies of those that are asked; a copy by itself stays alone."""
        named = tuple(rows)
        copies = (c for row in named if row not in self.copies for c in self.others(row))
        return tuple(dict.fromkeys((*named, *copies)))

    def whole_groups(self, rows: Iterable[int]) -> set[int]:
        """Rows, and all others that say the same as one of them."""
        return {other for row in rows for other in (row, *self.others(row))}

    def agreeing(self, labels: Sequence[Hashable | None]) -> "CopyGroups":
        """The same groups, but for those whose labels differ, which fall apart.

        Args:
            labels: of the rows; None where one has none.
        """
        leaders, disagreeing = self.leaders.copy(), 0
        for rows in self._groups.values():
            if len({labels[row] for row in rows} - {None}) > 1:
                leaders[list(rows)] = rows
                disagreeing += len(rows)
        found = replace(self, leaders=leaders, disagreeing=self.disagreeing + disagreeing)
        return found if disagreeing else self

    def grown(
        self,
        same: "CopyGroups",
        joining: Collection[int],
        lost: Collection[int],
        labels: Mapping[int, Hashable],
    ) -> "CopyGroups":
        """The groups of a pool that grew; rows that were there stay together, or apart.

        Args:
            same: which rows of the grown pool say the same now.
            joining: rows that are new or say something else than before.
            lost: rows that are not asked about any more, so that another of the group is.
            labels: of the rows that have one; a row does not join those that have another, nor
                rows that say the same and are apart.
        """
        leaders = np.arange(len(same.leaders))
        for rows in self._groups.values():
            staying = [row for row in rows if row not in joining]
            asked = [row for row in staying if row not in lost]
            leaders[staying] = (asked or staying)[:1]
        known = dict[int, set[int]]()
        for row in range(len(leaders)):
            if row not in joining:
                known.setdefault(same.leader(row), set()).add(int(leaders[row]))
        for row in sorted(joining):
            others = known.setdefault(same.leader(row), {row})
            first = min(others)
            if len(others) == 1 and len({labels.get(first), labels.get(row)} - {None}) < 2:  # noqa: PLR2004 - they agree
                leaders[row] = first
            others.add(int(leaders[row]))
        return CopyGroups(leaders, self.disagreeing, same.aside)

    def split(self, keys: Sequence[Hashable]) -> "CopyGroups":
        """The same groups, each split into rows whose keys are equal."""
        leaders, first = self.leaders.copy(), dict[Hashable, int]()
        for rows in self._groups.values():
            for row in rows:
                leaders[row] = first.setdefault((self.leader(row), keys[row]), row)
        return replace(self, leaders=leaders)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the groups, in plain sentences."""
        apart = (
            f"{self.disagreeing} rows say the same as one another and have different labels: "
            "they stay apart."
        )
        return (*_note(len(self.copies), self.aside), *([apart] if self.disagreeing else []))


def _note(copies: int, aside: str) -> tuple[str, ...]:
    """What is to be said of so many copies, and what was set aside."""
    if not copies:
        return ()
    rows, are = ("1 row says", "is") if copies == 1 else (f"{copies} rows say", "are")
    return (f"{rows} {SAME} ({aside} aside) and {are} labelled with it.",)


def is_copy_note(note: str) -> bool:
    """Whether a sentence says how many copies there are."""
    return f" {SAME} (" in note


@dataclass(frozen=True, eq=False)
class PoolContents:
    """What rows say, as far as it is learnt from.

    Attributes:
        rows: how many there are.
        texts: one for each row, None where there is none; empty where rows have no texts.
        folder: of the pictures.
        pictures: their paths from the folder; empty where rows have no pictures.
        cells: other columns, which must be equal.
    """

    rows: int
    texts: Sequence[str | None] = ()
    folder: Path = Path()
    pictures: Sequence[str] = ()
    cells: Sequence[Cells] = ()


# ---------------------------------------------------------------- the same
def find_copies(contents: PoolContents) -> CopyGroups:
    """The rows that say the same; none where they have neither texts nor pictures."""
    keys, aside = list[list[Hashable]](), PICTURES_ASIDE
    if contents.texts:
        of_texts, aside = _text_keys(contents.texts, is_all=not contents.pictures)
        keys.append(of_texts)
    if contents.pictures:
        keys.append(_same_pictures(contents.folder, contents.pictures).tolist())
    if not keys:
        return CopyGroups.apart(contents.rows)
    found = CopyGroups(_first_places(list(zip(*keys, strict=True))), aside=aside)
    for cells in contents.cells if found.copies else ():
        found = found.split([None if is_missing(cell) else repr(cell) for cell in cells])
    return found


def folded_text(text: str) -> str:
    """A text without what its copies may differ by: case, forms of letters, blanks, and digits.

    The digits of a number become a nought where there are two other words at least: a code or a
    number by itself is what it is.
    """
    return _without_digits(_folded(text))


def _folded(text: str) -> str:
    """A text without case, forms of letters, and blanks but one between words."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(plain.casefold().split())


def _without_digits(folded: str) -> str:
    """A folded text with a nought for each number, if there are words beside them."""
    has_words = NUMBERS.search(folded) and len(LETTERS.findall(folded)) > 1
    return NUMBERS.sub("0", folded) if has_words else folded


def _text_keys(texts: Sequence[str | None], *, is_all: bool) -> tuple[list[Hashable], str]:
    """What rows with the same text have in common, and what they may differ by, in words.

    Args:
        texts: one for each row; a row without one says nothing.
        is_all: whether rows have nothing else, so that those without a text are no copies.
    """
    whole, plain = list[Hashable](), list[Hashable]()
    for row, text in enumerate(texts):
        words = _folded(text or "")
        says_something = bool(words) or not is_all
        whole.append(_key(words) if says_something else row)
        folded = _without_digits(words)
        plain.append(whole[-1] if folded == words else _key(folded))
    digits = len(set(plain)) < FEWEST_LEFT * len(set(whole))
    return (whole, DIGITS_COUNT) if digits else (plain, TEXTS_ASIDE)


def _key(words: str) -> bytes:
    """A short key of a text."""
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _first_places(keys: Sequence[Hashable]) -> Places:
    """For each key the place of the first that is equal."""
    first = dict[Hashable, int]()
    return np.array([first.setdefault(key, row) for row, key in enumerate(keys)], dtype=np.intp)


# ---------------------------------------------------------------- pictures
def _same_pictures(folder: Path, names: Sequence[str]) -> Places:
    """For each picture the place of the first that has the same bytes or looks the same."""
    leaders = _first_places([_bytes_key(folder, name, at) for at, name in enumerate(names)])
    rows = np.flatnonzero(leaders == np.arange(len(names)))
    looks = thumbnails(folder, [names[row] for row in rows.tolist()])
    leaders[rows] = rows[same_looks(looks)]
    return leaders[leaders]


def _bytes_key(folder: Path, name: str, place: int) -> Hashable:
    """What pictures with the same bytes have in common; one that cannot be read is like none."""
    try:
        with (folder / name).open("rb") as file:
            return file_digest(file, "sha256").digest()
    except OSError:
        return place


def thumbnails(folder: Path, names: Sequence[str]) -> Array:
    """(pictures, SIDE * SIDE * 3): pictures in little, from 0 to 255; NaN where one is broken."""
    looks = np.full((len(names), SIDE * SIDE * 3), np.nan)
    for place, picture in enumerate(images.decoded(folder, names, ImageInput(SIDE))):
        if not isinstance(picture, ValueError):
            looks[place] = np.asarray(picture, dtype=float).ravel()
    return looks


def look_distance(one: Array, other: Array) -> Vector:
    """Root mean square difference of thumbnails, as a share of the smaller contrast of the two.

    Without any contrast it is infinite, unless nothing differs at all: then it is zero.

    Paper: none; a thumbnail of 16 x 16 pixels as perceptual signature.

    Args:
        one: (n, SIDE * SIDE * 3) thumbnails.
        other: those that they are compared with, one for each or one for all.
    """
    differ = np.sqrt(np.mean((one - other) ** 2, axis=-1))
    contrast = np.minimum(_contrast(one), _contrast(other))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(differ == 0, 0.0, differ / contrast)


def _contrast(looks: Array) -> Vector:
    """Standard deviation of the pixels of thumbnails, the mean of the three colours."""
    return looks.reshape(*looks.shape[:-1], SIDE * SIDE, 3).std(axis=-2).mean(axis=-1)


def same_looks(looks: Array) -> Places:
    """For each thumbnail the place of the first that looks the same and is itself like none before.

    Means of cells, scaled by the root of how many values each has, are coordinates of an
    orthogonal projection: thumbnails are at least as far from each other as these. So a k-d tree
    of these finds all that are near enough without comparing all with all.
    """
    from scipy.spatial import KDTree

    leaders, side = np.arange(len(looks)), SIDE // CELLS
    sound = np.flatnonzero(~np.isnan(looks).any(axis=1))
    cells = looks[sound].reshape(-1, CELLS, side, CELLS, side * 3).mean(axis=(2, 4))
    coarse = cells.reshape(len(sound), CELLS * CELLS) * np.sqrt(side * side * 3)
    radii = SAME_LOOK * _contrast(looks[sound]) * np.sqrt(looks.shape[1])
    tree = KDTree(coarse) if len(sound) else None
    for place, row in enumerate(sound.tolist()):
        if tree is None or leaders[row] != row:
            continue
        near = sound[tree.query_ball_point(coarse[place], radii[place] + ROUNDING)]
        later = near[(near > row) & (leaders[near] == near)]
        leaders[later[look_distance(looks[later], looks[row]) <= SAME_LOOK]] = row
    return leaders


# ---------------------------------------------------------------- nearly the same
def nearly_same_texts(text: str, others: Sequence[str]) -> Mask:
    """Whether texts share most of their words with a text.

    Args:
        text: that is compared.
        others: with which it is compared.
    """
    words = _words(text)
    shared = ((len(words & other), len(words | other)) for other in map(_words, others))
    return np.array(
        [both >= FEWEST_WORDS and both >= SAME_WORDS * all_ for both, all_ in shared], dtype=bool
    )


def _words(text: str) -> set[tuple[str, int]]:
    """The words of a text, each as often as it has it."""
    seen = Counter[str]()
    found = set[tuple[str, int]]()
    for word in WORDS.findall(folded_text(text)):
        seen[word] += 1
        found.add((word, seen[word]))
    return found


def nearly_same_pictures(folder: Path, name: str, others: Sequence[str]) -> Mask:
    """Whether pictures look nearly the same as one; one that cannot be read does not.

    Args:
        folder: where the pictures are.
        name: of the one.
        others: names of those that it is compared with.
    """
    looks = thumbnails(folder, [name, *others])
    return look_distance(looks[1:], looks[0]) <= NEAR_LOOK
