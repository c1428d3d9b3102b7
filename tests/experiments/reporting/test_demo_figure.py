import sys
from dataclasses import replace

import pytest
from support import outcomes
from support.outcomes import SMALL, played

from possibal.errors import MissingPackageError
from possibal.experiments import demo
from possibal.experiments.compare import LabelSaving
from possibal.experiments.reporting import demo_figure

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module", name="usual")
def _usual() -> demo.Demonstration:
    return outcomes.usual()


@pytest.mark.parametrize("data", demo.DATA)
def test_the_picture_is_a_png(data):
    image = demo_figure.picture(played(replace(SMALL, data=data)))
    width = int.from_bytes(image[16:20], "big")
    assert image.startswith(PNG)
    assert width == (1600 if data == "moons" else 900)


def test_a_single_question_can_be_drawn():
    assert demo_figure.picture(played(replace(SMALL, questions=1))).startswith(PNG)


def test_labels_saved_are_drawn_by_the_rule_of_every_comparison(usual, monkeypatch):
    saved = demo_figure.picture(usual)
    monkeypatch.setattr(demo_figure, "saving", lambda *_: LabelSaving(5, 3, (-1.0, 4.0)))
    assert demo_figure.picture(usual) != saved


def test_the_same_outcome_gives_the_same_picture(usual):
    assert demo_figure.picture(usual) == demo_figure.picture(usual)


def test_checking_leaves_no_file(tmp_path):
    demo_figure.check_picture(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_a_picture_without_matplotlib_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[plot\]'"):
        demo_figure.check_picture(tmp_path / "a.png")
