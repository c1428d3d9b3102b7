import numpy as np
import process_picture


def test_the_truth_of_the_picture_lies_within_its_bands():
    before, after, y = process_picture.processes()
    assert len(y) == 6
    for process in (before, after):
        low, high = process.band(process_picture.X).T
        true = process_picture.truth(process_picture.X)
        assert ((low < true) & (true < high)).all()
    assert np.ptp(after.band(process_picture.SEEN), axis=1).max() < 2


def test_a_picture_is_drawn(tmp_path):
    process_picture.draw(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
