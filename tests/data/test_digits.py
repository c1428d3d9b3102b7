from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from possibal.data import digits as builtin
from possibal.data.digits import CLASSES, MARGIN, NAME, WIDTH, digits, truth


def test_the_pictures_are_threes_and_eights_that_can_be_seen(tmp_path):
    made = digits(tmp_path)
    names = sorted(path.name for path in made.iterdir())
    assert made == tmp_path / NAME
    assert names == sorted(truth())
    data = load_digits()
    shown = Counter(str(digit) for digit in data.target if str(digit) in CLASSES)
    assert Counter(truth().values()) == shown
    originals = data.images[np.isin(data.target, [3, 8])]
    for name, original in list(zip(names, originals, strict=True))[::60]:
        with Image.open(made / name) as picture:
            assert picture.size == (WIDTH, WIDTH)
            small = picture.resize((8 + 2 * MARGIN,) * 2, Image.Resampling.BOX)
        ink, known = 255.0 - np.asarray(small, dtype=float), np.pad(original, MARGIN)
        assert np.corrcoef(ink.ravel(), known.ravel())[0, 1] > 0.97


def test_names_do_not_tell_what_pictures_show():
    shown = list(truth().values())
    assert list(truth()) == [f"picture-{n:03}.png" for n in range(1, len(shown) + 1)]
    assert sum(one != other for one, other in pairwise(shown)) > 50


def test_what_is_there_is_kept_and_what_is_missing_comes_back(tmp_path):
    made = digits(tmp_path)
    first, second, *_ = sorted(made.iterdir())
    content = first.read_bytes()
    first.unlink()
    second.write_bytes(b"mine")
    assert digits(tmp_path) == made
    assert first.read_bytes() == content
    assert second.read_bytes() == b"mine"
    assert len(list(made.iterdir())) == len(truth())


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / NAME).write_text("a file")
    with pytest.raises(ValueError, match=r"^folder must be a folder that can be written; got"):
        builtin.digits(tmp_path)


def test_pictures_that_are_all_there_are_not_made_again(tmp_path, monkeypatch):
    made = builtin.digits(tmp_path)
    monkeypatch.setattr(builtin, "_pictures", None)
    assert builtin.digits(tmp_path) == made
    assert len(list(made.iterdir())) == builtin.COUNT
