"""Thumbnails: small, upright, white where they were clear, and without what their files say."""

import io

import numpy as np
import pytest
from PIL import Image
from PIL.ExifTags import Base

from possibal.data import images
from possibal.data.thumbnails import BROKEN, SIDE, TINY, make_thumbnail


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    points = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(points)


def opened(path) -> Image.Image:
    """The thumbnail of a picture, as a browser would show it."""
    made = make_thumbnail(path)
    picture = Image.open(io.BytesIO(made.content))
    assert picture.get_format_mimetype() == made.media_type
    assert not picture.getexif()
    return picture.convert("RGB")


@pytest.mark.parametrize("ending", list(images.TYPES))
def test_large_pictures_of_every_kind_become_small(tmp_path, ending):
    noise(900, 600).save(tmp_path / f"a{ending}")
    assert opened(tmp_path / f"a{ending}").size == (SIDE, 2 * SIDE // 3)


def test_tiny_pictures_stay_as_they_are_point_by_point(tmp_path):
    tiny = noise(TINY, 8)
    tiny.save(tmp_path / "a.png")
    assert opened(tmp_path / "a.png").tobytes() == tiny.tobytes()


def test_a_thumbnail_stands_upright(tmp_path):
    picture, exif = Image.new("RGB", (400, 200), "red"), Image.Exif()
    picture.paste("blue", (0, 0, 400, 100))
    exif[Base.Orientation] = 6  # turned by a quarter: what is on top is on the right
    picture.save(tmp_path / "a.jpg", exif=exif)
    small = opened(tmp_path / "a.jpg")
    assert small.size == (SIDE // 2, SIDE)
    red, _, blue = small.getpixel((SIDE // 2 - 5, SIDE // 2))
    assert blue > 200
    assert red < 60


@pytest.mark.filterwarnings("ignore:.*EXIF")
def test_broken_exif_spoils_no_thumbnail(tmp_path):
    noise(300, 200).save(tmp_path / "a.jpg", exif=b"Exif\0\0II*\0" + b"\xff" * 40)
    assert opened(tmp_path / "a.jpg").size == (SIDE, 2 * SIDE // 3)


@pytest.mark.parametrize(
    "picture",
    [
        Image.new("RGBA", (300, 300), (0, 0, 0, 0)),
        Image.new("LA", (300, 300), (0, 0)),
        Image.new("RGBA", (20, 20), (0, 0, 0, 0)),
    ],
)
def test_what_is_transparent_is_white(tmp_path, picture):
    picture.save(tmp_path / "a.png")
    assert opened(tmp_path / "a.png").getpixel((5, 5)) == (255, 255, 255)


def test_sixteen_bits_of_grey_are_not_cut_off(tmp_path):
    Image.fromarray(np.full((20, 20), 32896, dtype=np.uint16)).save(tmp_path / "a.png")
    assert opened(tmp_path / "a.png").getpixel((5, 5)) == (128, 128, 128)


@pytest.mark.parametrize("content", [b"", b"nothing", b"<svg onload='alert(1)'/>"])
def test_what_is_no_picture_is_refused_without_its_name(tmp_path, content):
    path = tmp_path / "cats.png"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^{BROKEN}$"):
        make_thumbnail(path)


def test_half_a_picture_is_refused(tmp_path):
    noise(300, 300).save(tmp_path / "a.png")
    whole = (tmp_path / "a.png").read_bytes()
    (tmp_path / "a.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=BROKEN):
        make_thumbnail(tmp_path / "a.png")


def test_too_many_bytes_are_refused(tmp_path, monkeypatch):
    noise(30, 30).save(tmp_path / "a.png")
    monkeypatch.setattr(images, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match=BROKEN):
        make_thumbnail(tmp_path / "a.png")


def test_the_longer_side_is_as_long_as_wanted(tmp_path):
    noise(900, 600).save(tmp_path / "a.png")
    picture = Image.open(io.BytesIO(make_thumbnail(tmp_path / "a.png", 300).content))
    assert picture.size == (300, 200)
