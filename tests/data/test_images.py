import os
import re
import sys
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

from possibal.data import images
from possibal.embedding.embedder import ImageInput

SENTENCE = r"^image must [^\n]*; got [^\n]*\.$"


def silent(_share):
    """Nothing is told."""


def drawn(folder, name, points, **options):
    """The path of a new picture of the given points."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(points, dtype=np.uint8)).save(path, **options)
    return path


def noise(seed=0, shape=(40, 30, 3)):
    """Points at random."""
    return np.random.default_rng(seed).integers(0, 256, shape)


def described(folder, *names):
    """The numbers of pictures, if all of them can be read."""
    found, failures = images.describe(folder, names, silent)
    for sentence in failures.values():
        raise ValueError(sentence)
    return found


# ---------------------------------------------------------------- folders
def test_a_folder_lists_its_pictures_in_order_and_counts_the_rest(tmp_path):
    for name in ("b.PNG", "sub/a.jpg", "a.webp", ".hidden.png", ".git/c.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (tmp_path / "notes.txt").touch()
    found = images.list_images(tmp_path)
    assert found == images.ImageFolder(("a.webp", "b.PNG", "sub/a.jpg"), others=1, leaving=0)


def test_links_out_of_the_folder_are_left_out_and_links_inside_stay(tmp_path):
    folder = tmp_path / "in"
    drawn(tmp_path, "secret.png", noise())
    drawn(folder, "a.png", noise())
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "same.png").symlink_to(folder / "a.png")
    (folder / "circle.png").symlink_to(folder / "circle.png")
    (folder / "nowhere.png").symlink_to(folder / "none.png")
    assert images.list_images(folder) == images.ImageFolder(("a.png", "same.png"), 0, 3)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["ants/1.jpg", "bees/2.jpg", "ants/3.jpg"], ("ants", "bees", "ants")),
        ([f"{i}/a.jpg" for i in range(50)], tuple(map(str, range(50)))),
        ([f"{i}/a.jpg" for i in range(51)], None),
        (["ants/1.jpg", "ants/2.jpg"], None),
        (["ants/1.jpg", "bees/2.jpg", "3.jpg"], None),
        (["train/ants/1.jpg", "train/bees/2.jpg"], None),
        (["ants/1.jpg", "bees/small/2.jpg"], None),
        (["1.jpg"], None),
        ([], None),
    ],
)
def test_folders_that_hold_all_pictures_are_labels(names, labels):
    assert images.folder_labels(names) == labels


def test_labels_come_from_the_folders_that_are_listed(tmp_path):
    for name in ("bees/1.png", "ants/2.png", "ants/3.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert images.folder_labels(images.list_images(tmp_path).names) == ("ants", "ants", "bees")


def test_a_picture_in_the_folder_is_found(tmp_path):
    drawn(tmp_path, "sub/a.png", noise())
    assert images.resolve_image(tmp_path, "sub/../sub/a.png") == (tmp_path / "sub/a.png").resolve()


@pytest.mark.parametrize("name", ["../a.png", "sub/../../a.png", "/etc/passwd", "/a.png"])
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    drawn(tmp_path, "a.png", noise())
    with pytest.raises(ValueError, match=SENTENCE) as e:
        images.resolve_image(tmp_path / "in", name, "row 3")
    assert "must be a path inside the folder 'in'" in str(e.value)
    assert f"{name!r} in row 3" in str(e.value)


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path):
    drawn(tmp_path, "secret.png", noise())
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(ValueError, match=r"^image must be a path inside the folder"):
        images.resolve_image(tmp_path / "in", "a.png")


@pytest.mark.parametrize("name", ["none.png", "sub.png", "a\0.png", "x" * 5000 + ".png", ""])
def test_what_is_no_file_is_refused(tmp_path, name):
    (tmp_path / "sub.png").mkdir()
    with pytest.raises(ValueError, match=r"^image must be a file in the folder .*which is none"):
        images.resolve_image(tmp_path, name)


def test_links_in_circles_are_refused(tmp_path):
    (tmp_path / "a.png").symlink_to(tmp_path / "a.png")
    with pytest.raises(ValueError, match=r"which is none"):
        images.resolve_image(tmp_path, "a.png")


def test_a_file_that_is_no_picture_by_its_ending_is_refused_even_behind_a_link(tmp_path):
    (tmp_path / "a.svg").touch()
    (tmp_path / "b.png").symlink_to(tmp_path / "a.svg")
    for name in ("a.svg", "b.png"):
        with pytest.raises(ValueError, match=r"^image must be a file that ends in .png, .jpg"):
            images.resolve_image(tmp_path, name)


# ---------------------------------------------------------------- numbers
@pytest.mark.parametrize("ending", list(images.TYPES))
def test_pictures_of_every_kind_have_a_line_of_numbers_each(tmp_path, ending):
    drawn(tmp_path, f"a{ending}", noise(0))
    drawn(tmp_path, f"b{ending}", noise(1))
    shares = []
    names = [f"a{ending}", f"b{ending}", f"a{ending}"]
    found, failures = images.describe(tmp_path, names, shares.append)
    assert failures == {}
    assert found.shape == (3, sum(images.BLOCKS))
    assert np.isfinite(found).all()
    assert found[0].tolist() == found[2].tolist() != found[1].tolist()
    assert shares == [1 / 3, 2 / 3, 1]


def test_no_pictures_have_no_lines(tmp_path):
    assert described(tmp_path).shape == (0, sum(images.BLOCKS))


@pytest.mark.parametrize(
    ("mode", "shape"), [("L", (20, 20)), ("1", (20, 20)), ("P", (20, 20)), ("LA", (20, 20))]
)
def test_pictures_without_colours_are_read(tmp_path, mode, shape):
    grey = Image.fromarray(noise(0, shape).astype(np.uint8))
    grey.convert(mode).save(tmp_path / "a.png")
    assert np.isfinite(described(tmp_path, "a.png")).all()


def test_sixteen_bits_of_grey_are_the_same_picture_as_eight(tmp_path):
    grey = noise(0, (32, 32)).astype(np.uint16)
    Image.fromarray(grey * 257).save(tmp_path / "a.png")
    drawn(tmp_path, "b.png", grey)
    one, other = described(tmp_path, "a.png", "b.png")
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_what_is_see_through_is_white(tmp_path):
    points = np.zeros((16, 16, 4))
    drawn(tmp_path, "clear.png", points)
    drawn(tmp_path, "white.png", np.full((16, 16, 3), 255))
    one, other = described(tmp_path, "clear.png", "white.png")
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize("orientation", range(10))
def test_a_picture_is_turned_as_its_camera_says(tmp_path, orientation):
    taken = Image.fromarray(np.kron(noise(0, (4, 4, 3)), np.ones((32, 16, 1))).astype(np.uint8))
    exif = Image.Exif()
    exif[images.Base.Orientation] = orientation
    taken.save(tmp_path / "taken.png", exif=exif)
    with Image.open(tmp_path / "taken.png") as picture:
        ImageOps.exif_transpose(picture).save(tmp_path / "upright.png")
    one, other = described(tmp_path, "taken.png", "upright.png")
    np.testing.assert_allclose(one, other, atol=0.02)
    if orientation == 6:  # the camera was turned by a quarter
        taken.save(tmp_path / "lying.png")
        assert np.abs(described(tmp_path, "lying.png") - one).max() > 0.1


@pytest.mark.parametrize(
    "notes", [b"", b"junk", b"II*\0\xff\xff\xff\xff", b"MM\0*\0\0\0\x08\0\x09"]
)
def test_broken_notes_of_a_camera_spoil_no_picture(tmp_path, notes):
    drawn(tmp_path, "a.jpg", noise())
    drawn(tmp_path, "b.jpg", noise(), exif=b"Exif\0\0" + notes)
    one, other = described(tmp_path, "a.jpg", "b.jpg")
    assert one.tolist() == other.tolist()


def test_size_hardly_matters_even_where_fewer_points_are_unpacked(tmp_path):
    small = np.kron(noise(0, (4, 4, 3)), np.ones((32, 32, 1)))
    drawn(tmp_path, "small.png", small)
    drawn(tmp_path, "large.jpg", np.kron(small, np.ones((8, 8, 1))), quality=95)
    drawn(tmp_path, "other.png", np.kron(noise(1, (4, 4, 3)), np.ones((32, 32, 1))))
    small, large, other = described(tmp_path, "small.png", "large.jpg", "other.png")
    assert np.linalg.norm(small - large) < 0.5 * np.linalg.norm(small - other)


def test_light_colours_and_edges_are_each_told_apart(tmp_path):
    first, second, _ = images.BLOCKS
    black = np.zeros((64, 64, 3))
    upper, red, stripes = black.copy(), black + np.array([128, 0, 0]), black.copy()
    upper[:32] = 128
    stripes[:, ::8] = 255
    for name, points in {"black": black, "upper": upper, "red": red, "stripes": stripes}.items():
        drawn(tmp_path, f"{name}.png", points)
    drawn(tmp_path, "turned.png", stripes.transpose(1, 0, 2))
    names = ("black.png", "upper.png", "red.png", "stripes.png", "turned.png")
    light, colours, edges = np.split(described(tmp_path, *names), [first, first + second], axis=1)
    assert light[1].reshape(8, 8)[:4].min() > 0.2
    assert light[1].reshape(8, 8)[4:].max() == 0
    assert colours[0].argmax() != colours[2].argmax()
    assert colours.max() == images.WEIGHTS[1]
    assert np.abs(edges[0]).max() == 0
    assert (edges[3] @ edges[4]) < 0.2 * (edges[3] @ edges[3])


# ---------------------------------------------------------------- pictures for embedders
def pixels(folder, name, **wanted):
    """The points of a picture as an embedder wants it."""
    (found,) = images.decoded(folder, [name], ImageInput(**wanted))
    assert found.mode == "RGB"
    return np.asarray(found).astype(int)


def test_a_picture_stays_as_it_is_where_no_size_is_wanted(tmp_path):
    points = noise()
    drawn(tmp_path, "a.png", points)
    assert (pixels(tmp_path, "a.png") == points).all()
    assert (pixels(tmp_path, "a.png", crop=1.0) == points[5:35]).all()
    assert (pixels(tmp_path, "a.png", crop=0.4) == points[14:26, 9:21]).all()


def test_a_picture_is_squeezed_whole_or_cropped_in_the_middle(tmp_path):
    points = np.zeros((60, 20, 3))
    points[20:40] = 200
    drawn(tmp_path, "a.png", points)
    squeezed, cropped = (
        pixels(tmp_path, "a.png", size=30),
        pixels(tmp_path, "a.png", size=30, crop=1.0),
    )
    assert squeezed.shape == cropped.shape == (30, 30, 3)
    assert cropped[3:-3].min() == 200
    assert cropped.min() > 150  # points beyond the edge are blended in
    assert squeezed[:5].max() == squeezed[-5:].max() == 0
    assert squeezed[14:16].min() == 200


@pytest.mark.parametrize("crop", [None, 1.0, 0.5])
@pytest.mark.parametrize("size", [None, 20])
def test_a_picture_is_upright_whatever_is_wanted_of_it(tmp_path, crop, size):
    taken = Image.fromarray(np.kron(noise(0, (4, 4, 3)), np.ones((16, 8, 1))).astype(np.uint8))
    exif = Image.Exif()
    exif[images.Base.Orientation] = 6
    taken.save(tmp_path / "taken.png", exif=exif)
    taken.transpose(Image.Transpose.ROTATE_270).save(tmp_path / "upright.png")
    wanted = {"size": size, "crop": crop}
    one, other = pixels(tmp_path, "taken.png", **wanted), pixels(tmp_path, "upright.png", **wanted)
    assert one.shape == other.shape
    assert np.abs(one - other).max() <= 2


def test_a_large_jpeg_that_is_unpacked_in_part_looks_the_same(tmp_path):
    points = np.kron(noise(0, (4, 4, 3)), np.ones((16, 16, 1)))
    drawn(tmp_path, "small.png", points)
    drawn(tmp_path, "large.jpg", np.kron(points, np.ones((16, 16, 1))), quality=95)
    for crop in (None, 1.0, 0.5):
        small, large = (pixels(tmp_path, n, size=32, crop=crop) for n in ("small.png", "large.jpg"))
        assert np.abs(small - large).mean() < 6


@pytest.mark.parametrize("many", [3, images.BLOCK + 3])
def test_a_broken_picture_is_said_in_its_place_and_the_others_go_on(tmp_path, many):
    names = [f"{i}.png" for i in range(many)]
    for place, name in enumerate(names):
        drawn(tmp_path, name, np.full((4, 4, 3), place))
    (tmp_path / names[1]).write_bytes(b"no picture")
    (tmp_path / names[-1]).unlink()
    for found in (
        list(images.decoded(tmp_path, names, ImageInput(2))),
        list(images.decoded(tmp_path, names, ImageInput())),
        list(images.described(tmp_path, names)),
    ):
        assert [at for at, one in enumerate(found) if isinstance(one, ValueError)] == [1, many - 1]
        assert re.match(SENTENCE, str(found[1]))
        assert re.match(SENTENCE, str(found[-1]))
    lines, failures = images.describe(tmp_path, names, silent)
    assert list(failures) == [1, many - 1]
    assert lines.any(axis=1).tolist() == [place not in failures for place in range(many)]
    colours = [
        one.getpixel((0, 0))[0] for one in images.decoded(tmp_path, names[2:-1], ImageInput(2))
    ]
    assert colours == list(range(2, many - 1))


def test_a_broken_picture_is_described_by_zeros_and_a_sentence_in_its_place(tmp_path):
    for place, name in enumerate(("a.png", "c.png")):
        drawn(tmp_path, name, noise(place))
    (tmp_path / "b.png").write_bytes(b"no picture")
    found, failures = images.describe(tmp_path, ["a.png", "b.png", "c.png"], silent)
    assert list(failures) == [1]
    assert re.match(SENTENCE, failures[1])
    assert not found[1].any()
    assert (found[[0, 2]] == described(tmp_path, "a.png", "c.png")).all()


def test_a_picture_that_goes_while_it_is_read_is_named(tmp_path):
    with pytest.raises(
        ValueError, match=r"must be a picture that can be read; got 'a.png' \(No such"
    ):
        images.decode(tmp_path / "a.png", "a.png", ImageInput())


def test_warnings_of_decoders_stay_inside_and_those_of_others_are_heard(tmp_path):
    drawn(tmp_path, "a.jpg", noise(), exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x09")
    for _ in images.decoded(tmp_path, ["a.jpg"] * 3, ImageInput(8)):
        with pytest.warns(UserWarning, match="heard"):
            warnings.warn("heard", stacklevel=1)


# ---------------------------------------------------------------- files that are broken
def test_a_truncated_picture_is_named(tmp_path):
    for name in ("a.png", "a.jpg", "a.webp", "a.bmp", "a.gif"):
        path = drawn(tmp_path, name, noise())
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(ValueError, match=SENTENCE) as e:
            described(tmp_path, name)
        assert f"must be a picture that can be read; got {name!r}" in str(e.value)


@pytest.mark.parametrize("content", [b"", b"hello", b"%PDF-1.4", b"<svg></svg>"])
def test_what_is_no_picture_is_named(tmp_path, content):
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(ValueError, match=r"got 'a.png' \(it is no picture\)\. Replace it"):
        described(tmp_path, "a.png")


def test_a_picture_behind_a_wrong_ending_is_read_by_its_content(tmp_path):
    drawn(tmp_path, "a.jpg", noise()).rename(tmp_path / "a.png")
    assert np.isfinite(described(tmp_path, "a.png")).all()


def test_formats_that_no_browser_shows_are_refused(tmp_path):
    drawn(tmp_path, "a.tiff", noise()).rename(tmp_path / "a.png")
    with pytest.raises(ValueError, match="it is no picture"):
        described(tmp_path, "a.png")


@pytest.mark.parametrize("side", [6400, 12000, 15000])
def test_too_many_points_are_refused_before_they_are_unpacked(tmp_path, side):
    Image.new("1", (side, side)).save(tmp_path / "a.png")
    with pytest.raises(ValueError, match=r"at most 40 million points; got 'a.png' \((\d+ x|many)"):
        described(tmp_path, "a.png")


def test_too_many_bytes_are_refused(tmp_path):
    with (tmp_path / "a.png").open("wb") as file:
        os.truncate(file.fileno(), images.MOST_BYTES + 1)
    with pytest.raises(ValueError, match=r"of at most 50 MB; got 'a.png' \(50000001 bytes\)"):
        described(tmp_path, "a.png")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read all")
def test_a_picture_that_may_not_be_read_is_named(tmp_path):
    drawn(tmp_path, "a.png", noise()).chmod(0)
    with pytest.raises(ValueError, match=r"got 'a.png' \(.*[Pp]ermission"):
        described(tmp_path, "a.png")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    name=st.sampled_from(["a.png", "a.jpg", "a.gif", "a.webp", "a.bmp"]),
    damage=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=20),
    cut=st.floats(0.1, 1),
)
def test_a_damaged_picture_is_read_or_refused_in_one_sentence(tmp_path, name, damage, cut):
    path = drawn(tmp_path, name, noise())
    content = bytearray(path.read_bytes())
    for place, value in damage:
        content[int(place * len(content))] = value
    path.write_bytes(content[: int(cut * len(content))])
    try:
        said, found = "", described(tmp_path, name)
    except ValueError as error:
        said, found = str(error), np.zeros(1)
    assert not said or re.match(r"image must be a picture [^\n]*; got 'a\.[^\n]*\.$", said)
    assert np.isfinite(found).all()


# ---------------------------------------------------------------- small copies
def test_a_picture_is_shrunk_in_its_own_shape_and_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    path = drawn(tmp_path, "a.jpg", noise(shape=(300, 600, 3)), exif=exif)
    assert images.shrink(path, "a.jpg", 100).size == (50, 100)


def test_a_picture_that_is_small_is_not_enlarged(tmp_path):
    points = noise(shape=(8, 12, 3))
    path = drawn(tmp_path, "a.png", points)
    assert np.asarray(images.shrink(path, "a.png", 100)).tolist() == points.tolist()


def test_what_is_no_picture_is_not_shrunk(tmp_path):
    (tmp_path / "a.png").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=SENTENCE):
        images.shrink(tmp_path / "a.png", "a.png", 100)
