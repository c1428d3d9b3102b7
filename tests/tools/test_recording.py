import recording
from PIL import Image


def test_pictures_become_one_that_moves(tmp_path):
    pictures = [Image.new("RGB", (8, 6), colour) for colour in ("red", "green", "blue", "white")]
    recording.write(pictures, tmp_path / "recording.webp")
    with Image.open(tmp_path / "recording.webp") as found:
        assert (found.n_frames, found.size) == (4, (8, 6))
        lasting = []
        for frame in range(4):
            found.seek(frame)
            found.load()
            lasting.append(found.info["duration"])
    assert lasting == [recording.MILLISECONDS] * 2 + [recording.LAST] * 2


def test_the_recording_is_small():
    assert recording.RECORDING.stat().st_size < 1_000_000
