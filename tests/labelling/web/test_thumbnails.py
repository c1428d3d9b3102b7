"""Thumbnails: each made once while it stays as it is, and never more than memory can hold."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from possibal.data.thumbnails import BROKEN, make_thumbnail
from possibal.labelling.web import thumbnails
from possibal.labelling.web.thumbnails import ThumbnailCache


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    points = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(points)


@pytest.mark.parametrize("side", [6500, 10_000, 20_000])
def test_too_many_points_are_refused(tmp_path, side):
    Image.new("1", (side, side)).save(tmp_path / "a.png")
    with pytest.raises(ValueError, match=BROKEN):
        ThumbnailCache().thumbnail(tmp_path / "a.png")


def test_a_thumbnail_is_made_once_and_again_when_the_picture_changes(tmp_path, monkeypatch):
    made = list[str]()

    def counted(path):
        made.append(path.name)
        return make_thumbnail(path)

    monkeypatch.setattr(thumbnails, "make_thumbnail", counted)
    cache, path = ThumbnailCache(), tmp_path / "a.png"
    noise(50, 50).save(path)
    first = cache.thumbnail(path)
    assert cache.thumbnail(path) is first
    assert len(made) == 1
    noise(60, 60).save(path)
    other = cache.thumbnail(path)
    assert other.tag != first.tag
    assert len(made) == 2


def test_the_cache_keeps_what_was_asked_for_last_within_its_bytes(tmp_path):
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for number, path in enumerate(paths):
        noise(50, 50, number).save(path)
    sizes = [len(make_thumbnail(path).content) for path in paths]
    cache = ThumbnailCache(sum(sizes) - 1)
    first, second = cache.thumbnail(paths[0]), cache.thumbnail(paths[1])
    cache.thumbnail(paths[0])
    cache.thumbnail(paths[2])
    assert cache.thumbnail(paths[0]) is first
    assert cache.thumbnail(paths[1]) is not second


def test_a_picture_larger_than_the_cache_is_shown_all_the_same(tmp_path):
    noise(50, 50).save(tmp_path / "a.png")
    cache = ThumbnailCache(10)
    assert cache.thumbnail(tmp_path / "a.png") == cache.thumbnail(tmp_path / "a.png")


def test_many_may_ask_at_once(tmp_path):
    noise(500, 400).save(tmp_path / "a.jpg")
    cache = ThumbnailCache()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: cache.thumbnail(tmp_path / "a.jpg"), range(24)))
    assert len(set(found)) == 1
