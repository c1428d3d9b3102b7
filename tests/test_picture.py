import sys
from dataclasses import replace

import outcomes
import pytest
from outcomes import SMALL, play

from possibal import demo, picture
from possibal.errors import MissingPackageError

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module", name="usual")
def _usual() -> demo.Outcome:
    return outcomes.usual()


@pytest.mark.parametrize("data", demo.DATA)
def test_the_picture_is_a_png(data):
    image = picture.picture(play(replace(SMALL, data=data)))
    width = int.from_bytes(image[16:20], "big")
    assert image.startswith(PNG)
    assert width == (1600 if data == "moons" else 900)


def test_a_single_question_can_be_drawn():
    assert picture.picture(play(replace(SMALL, questions=1))).startswith(PNG)


def test_the_same_outcome_gives_the_same_picture(usual):
    assert picture.picture(usual) == picture.picture(usual)


def test_checking_leaves_no_file(tmp_path):
    picture.check_picture(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_a_picture_without_matplotlib_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[plot\]'"):
        picture.check_picture(tmp_path / "a.png")
