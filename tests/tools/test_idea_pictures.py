import idea_pictures
import numpy as np
import pytest


@pytest.mark.parametrize(("heads", "throws"), idea_pictures.FLIPS)
def test_a_share_is_as_possible_as_it_explains_the_throws(heads, throws):
    curve = idea_pictures.coin(heads, throws)
    assert curve.max() == pytest.approx(1)
    assert idea_pictures.THETA[curve.argmax()] == pytest.approx(heads / throws)


def test_more_throws_leave_less_possible():
    few, many = (idea_pictures.coin(*flips) for flips in idea_pictures.FLIPS)
    assert np.all(many <= few + 1e-12)


def test_every_picture_is_drawn_and_shown(tmp_path):
    idea_pictures.draw(tmp_path)
    for name in idea_pictures.PICTURES:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f"]({name}.png)" in (idea_pictures.FOLDER / f"{name}.md").read_text()
