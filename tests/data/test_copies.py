import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from possibal.data import copies
from possibal.data.copies import (
    NEAR_LOOK,
    SAME_LOOK,
    SIDE,
    CopyGroups,
    PoolContents,
    find_copies,
    folded_text,
    look_distance,
    nearly_same_pictures,
    nearly_same_texts,
)

WORDS = st.sampled_from(["pay", "Pay", "5", "17", "euros", "EUROS", "now", "\uff4eow", " ", "\n"])
TEXTS = st.lists(WORDS, max_size=5).map(" ".join) | st.none()
LOOKS = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).integers(0, 256, (4, SIDE * SIDE * 3)).astype(float)
)


def of_texts(*texts, **more) -> CopyGroups:
    """The copies among texts."""
    return find_copies(PoolContents(len(texts), texts, **more))


def scene(seed=0, size=96) -> Image.Image:
    """A picture with something to see in it."""
    rng = np.random.default_rng(seed)
    coarse = Image.fromarray(rng.integers(0, 255, (6, 6, 3), dtype=np.uint8))
    return coarse.resize((size, size), Image.Resampling.BICUBIC)


def of_pictures(folder, *names, **more) -> CopyGroups:
    """The copies among pictures of a folder."""
    return find_copies(PoolContents(len(names), folder=folder, pictures=names, **more))


# ---------------------------------------------------------------- texts
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pay 5 euros", "pay 7 EUROS"),
        ("pay 5 euros", "pay 1234 euros"),
        ("  pay\tme \n", "pay me"),
        ("Straße am See", "STRASSE AM SEE"),
        ("\ufb01ne \uff44ay", "fine day"),
        ("on \u0661\u0662 May at noon", "on 3 may at noon"),
    ],
)
def test_texts_that_differ_by_case_digits_and_forms_alone_say_the_same(one, other):
    assert folded_text(one) == folded_text(other)
    assert of_texts(one, "something else", other).leaders.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pay 5 euros", "pay 5.50 euros"),
        ("it works", "it works!"),
        ("A1", "A2"),
        ("12", "13"),
        ("gate 4", "gate 5"),
        ("ACGT", "ACGA"),
        ("good", "not good"),
    ],
)
def test_texts_that_differ_by_more_say_different_things(one, other):
    assert of_texts(one, other).copies == frozenset()


def test_digits_tell_texts_apart_where_they_are_what_the_texts_say():
    readings = [f"wind {n} from {n % 7} degrees" for n in range(40)]
    groups = of_texts(*readings, readings[3].upper())
    assert groups.copies == {40}
    assert groups.notes == ("1 row says the same as another (case aside) and is labelled with it.",)
    assert copies.is_copy_note(groups.notes[0])
    assert not copies.is_copy_note("1 row has no text in column text.")


def test_rows_without_a_text_say_nothing_and_not_the_same():
    assert of_texts(None, "", "  ", None, "a b", "A B").leaders.tolist() == [0, 1, 2, 3, 4, 4]


def test_other_cells_that_are_learnt_from_must_be_equal_too():
    cells = [["x", "x", None, "x", float("nan")], [1.0, 1.0, 1.0, 2.0, 1.0]]
    groups = of_texts("a b", "A b", "a B", "a b", "a b", cells=cells)
    assert groups.leaders.tolist() == [0, 0, 2, 3, 2]


def test_rows_of_numbers_and_categories_have_no_copies():
    groups = find_copies(PoolContents(3, cells=[["x", "x", "x"], [1.0, 1.0, 1.0]]))
    assert groups.leaders.tolist() == [0, 1, 2]


@given(st.lists(TEXTS, min_size=1, max_size=12))
def test_copies_are_those_whose_folded_texts_are_equal(texts):
    groups, folded = of_texts(*texts), [folded_text(text or "") for text in texts]
    for row, words in enumerate(folded):
        first = folded.index(words) if words else row
        assert groups.leader(row) == first
        same = [other for other, one in enumerate(folded) if one == words and words]
        assert groups.others(row) == tuple(other for other in same if other != row)
    assert groups.copies == {row for row in range(len(texts)) if groups.leader(row) != row}


@given(st.text())
def test_a_folded_text_is_folded(text):
    assert folded_text(folded_text(text)) == folded_text(text)


# ---------------------------------------------------------------- pictures
def test_pictures_of_the_same_bytes_or_look_are_copies(tmp_path):
    scene().save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes())
    scene().save(tmp_path / "c.jpg", quality=80)
    scene().resize((48, 48), Image.Resampling.LANCZOS).save(tmp_path / "d.png")
    scene(1).save(tmp_path / "e.png")
    scene().transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(tmp_path / "f.png")
    groups = of_pictures(tmp_path, "e.png", "a.png", "b.png", "c.jpg", "d.png", "f.png")
    assert groups.leaders.tolist() == [0, 1, 1, 1, 1, 5]
    assert groups.notes == (
        "3 rows say the same as another (how they were saved aside) and are labelled with it.",
    )


def test_plain_pictures_are_copies_only_if_nothing_differs(tmp_path):
    for name, shade in (("a", 41), ("b", 42), ("c", 41)):
        Image.new("RGB", (16, 16), (shade, shade, 1)).save(tmp_path / f"{name}.png")
    Image.new("RGB", (32, 32), (41, 41, 1)).save(tmp_path / "d.png")
    groups = of_pictures(tmp_path, "a.png", "b.png", "c.png", "d.png")
    assert groups.leaders.tolist() == [0, 1, 0, 0]


def test_a_picture_that_cannot_be_read_is_like_no_other_but_its_bytes(tmp_path):
    scene().save(tmp_path / "a.png")
    for name in ("b.png", "c.png"):
        (tmp_path / name).write_bytes(b"no picture")
    groups = of_pictures(tmp_path, "a.png", "b.png", "gone.png", "c.png", "lost.png")
    assert groups.leaders.tolist() == [0, 1, 2, 1, 4]
    assert of_pictures(tmp_path, "b.png").leaders.tolist() == [0]


def test_pictures_with_texts_are_copies_if_both_say_the_same(tmp_path):
    scene().save(tmp_path / "a.png")
    scene(1).save(tmp_path / "b.png")
    names, texts = (
        ["a.png", "a.png", "a.png", "b.png", "a.png", "a.png"],
        ["x y", "X y", "z", "x y"],
    )
    groups = of_pictures(tmp_path, *names, texts=[*texts, None, None])
    assert groups.leaders.tolist() == [0, 0, 2, 3, 4, 4]


def test_a_row_of_near_pictures_is_no_chain():
    steps = np.linspace(0, 4 * SAME_LOOK, 9)
    rng = np.random.default_rng(0)
    first, noise = rng.normal(size=(2, SIDE * SIDE * 3))
    contrast = np.sqrt(np.mean(first**2))
    looks = 128 + 40 * (first[None] + steps[:, None] * contrast * noise / np.std(noise))
    leaders = copies.same_looks(looks)
    for row, leader in enumerate(leaders.tolist()):
        assert look_distance(looks[row], looks[leader]) <= SAME_LOOK
        assert leaders[leader] == leader
    assert 1 < len(set(leaders.tolist())) < len(leaders)


@given(LOOKS, st.floats(0.5, 2.0))
def test_the_distance_of_looks_is_symmetric_and_free_of_scale(looks, scale):
    one, other = looks[:2], looks[2:]
    found = look_distance(one, other)
    assert (found >= 0).all()
    np.testing.assert_allclose(found, look_distance(other, one))
    np.testing.assert_allclose(found, look_distance(scale * one, scale * other), rtol=1e-6)
    np.testing.assert_array_equal(look_distance(one, one), 0.0)


@given(LOOKS)
def test_the_tree_finds_what_comparing_all_with_all_finds(looks):
    looks = np.vstack([looks, looks[:1], looks[1:2] + 1.0])
    leaders = list(range(len(looks)))
    for row in range(len(looks)):
        for later in range(row + 1, len(looks)):
            is_near = look_distance(looks[row], looks[later]) <= SAME_LOOK
            if leaders[row] == row and leaders[later] == later and is_near:
                leaders[later] = row
    assert copies.same_looks(looks).tolist() == leaders


# ---------------------------------------------------------------- groups
def test_groups_know_who_is_asked_and_who_goes_with_it():
    groups = CopyGroups(np.array([0, 1, 0, 1, 4, 0]))
    assert groups.copies == {2, 3, 5}
    assert groups.grouped == [0, 1, 2, 3, 5]
    assert (groups.others(0), groups.others(2), groups.others(4)) == ((2, 5), (0, 5), ())
    assert groups.with_copies([1, 4]) == (1, 4, 3)
    assert groups.with_copies([2, 0]) == (2, 0, 5)
    assert groups.with_copies([3]) == (3,)
    assert groups.whole_groups([3, 4]) == {1, 3, 4}
    assert CopyGroups.apart(3).copies == frozenset()


def test_rows_whose_labels_differ_fall_apart_and_the_note_says_so():
    groups = CopyGroups(np.array([0, 0, 0, 3, 3, 5, 5]))
    found = groups.agreeing([None, "x", "y", "x", None, "x", "x"])
    assert found.leaders.tolist() == [0, 1, 2, 3, 3, 5, 5]
    assert found.notes == (
        "2 rows say the same as another (case and digits aside) and are labelled with it.",
        "3 rows say the same as one another and have different labels: they stay apart.",
    )
    assert groups.agreeing([None] * 7) is groups


def test_groups_are_split_by_what_else_must_be_equal():
    groups = CopyGroups(np.array([0, 0, 0, 0, 4]))
    assert groups.split(["a", "b", "b", "a", "b"]).leaders.tolist() == [0, 1, 1, 0, 4]


def test_one_copy_is_told_in_the_singular_and_none_not_at_all():
    assert CopyGroups(np.array([0, 0])).notes == (
        "1 row says the same as another (case and digits aside) and is labelled with it.",
    )
    assert CopyGroups.apart(2).notes == ()


# ---------------------------------------------------------------- nearly the same
def test_texts_that_share_most_words_say_nearly_the_same():
    text = "Please pay 5 euros by Monday."
    others = [
        "please pay 70 euros by monday",
        "please pay 5 euros by Tuesday at noon",
        "pay 5 euros by Monday!",
        "Please do not pay at all.",
        "",
    ]
    assert nearly_same_texts(text, others).tolist() == [True, False, True, False, False]
    assert nearly_same_texts("a b", ["a b"]).tolist() == [False]
    assert nearly_same_texts("very very very good", ["very good"]).tolist() == [False]


def test_pictures_that_look_a_little_different_are_nearly_the_same(tmp_path):
    scene().save(tmp_path / "a.png")
    near = scene().copy()
    near.paste((255, 255, 255), (0, 0, 6, 6))
    near.save(tmp_path / "near.png")
    scene(1).save(tmp_path / "far.png")
    (tmp_path / "broken.png").write_bytes(b"")
    others = ["near.png", "far.png", "broken.png", "gone.png"]
    assert nearly_same_pictures(tmp_path, "a.png", others).tolist() == [True, False, False, False]
    looks = copies.thumbnails(tmp_path, ["a.png", "near.png"])
    assert SAME_LOOK < look_distance(looks[0], looks[1]) < NEAR_LOOK


# ---------------------------------------------------------------- growing
def grown(before, same, joining, lost=(), labels=None) -> list[int]:
    """Who is asked in the stead of each row of a pool that grew."""
    groups = CopyGroups(np.array(before))
    return groups.grown(CopyGroups(np.array(same)), joining, lost, labels or {}).leaders.tolist()


def test_new_rows_join_those_that_say_the_same_or_one_another():
    assert grown([0, 1, 0], [0, 1, 0, 1, 4, 4, 0], {3, 4, 5, 6}) == [0, 1, 0, 1, 4, 4, 0]


def test_a_row_that_changed_leaves_its_group_and_another_is_asked():
    assert grown([0, 0, 0], [0, 1, 1], {0}) == [0, 1, 1]
    assert grown([0, 0, 2], [0, 1, 0], {2}) == [0, 0, 0]
    assert grown([0, 0], [0, 1], {0, 1}) == [0, 1]


def test_where_the_row_that_is_asked_is_gone_the_next_one_is():
    assert grown([0, 0, 0], [0, 1, 1], (), {0}) == [1, 1, 1]
    assert grown([0, 0], [0, 1], (), {0, 1}) == [0, 0]
    assert grown([0, 0], [0, 1, 1], {2}, {0}) == [1, 1, 1]


def test_a_row_with_another_label_does_not_join():
    assert grown([0], [0, 0, 0], {1, 2}, labels={0: "x", 1: "y", 2: "x"}) == [0, 1, 2]
    assert grown([0], [0, 0, 0], {1, 2}, labels={0: "x", 2: "x"}) == [0, 0, 0]


def test_a_row_joins_none_of_those_that_are_apart():
    assert grown([0, 1], [0, 0, 0], {2}) == [0, 1, 2]
    assert grown([0, 1], [0, 0, 0, 3], {2, 3}) == [0, 1, 2, 3]
