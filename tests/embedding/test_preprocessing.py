import numpy as np
import pytest
from PIL import Image
from support.models import PREPROCESSOR, write_json

from possibal.embedding.embedder import ImageInput
from possibal.embedding.model_files import ModelFiles
from possibal.embedding.preprocessing import Preprocessing, read_preprocessing

SENTENCE = r"^model must [^\n]*; got [^\n]*\. [^\n]*\.$"
TIMM = {
    "input_size": [3, 176, 176],
    "interpolation": "bicubic",
    "crop_pct": 0.875,
    "crop_mode": "center",
    "mean": [0.485, 0.456, 0.406],
    "std": [0.229, 0.224, 0.225],
}


def read(folder, document, name="preprocessor_config.json"):
    """The preprocessing of a document."""
    write_json(folder / name, document)
    return read_preprocessing(ModelFiles.found(folder))


def changed(**changes):
    """The usual document with some changes; None takes a key out."""
    return {name: v for name, v in {**PREPROCESSOR, **changes}.items() if v is not None}


def test_pixels_are_rescaled_and_normalised(tmp_path):
    found = read(tmp_path, PREPROCESSOR)
    assert found.image_input == ImageInput(8)
    pixels = found.pixels([Image.new("RGB", (8, 8), (0, 255, 51))] * 2)
    assert pixels.shape == (2, 8, 8, 3)
    np.testing.assert_allclose(pixels[0, 0, 0], [-2, 1, -0.3], atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ImageInput(8)),
        ({"resample": 3}, ImageInput(8, bicubic=True)),
        ({"size": 8}, ImageInput(8)),
        ({"size": {"shortest_edge": 8}}, ImageInput(8, 1.0)),
        (
            {
                "size": {"shortest_edge": 256},
                "do_center_crop": True,
                "crop_size": {"height": 224, "width": 224},
            },
            ImageInput(224, 0.875),
        ),
        ({"size": 256, "do_center_crop": True, "crop_size": 224}, ImageInput(224, 0.875)),
        ({"size": 224, "do_center_crop": True}, ImageInput(224, 1.0)),
        ({"size": 8, "do_center_crop": True, "crop_size": 16}, ImageInput(16, 1.0)),
        (
            {"size": 8, "do_center_crop": True, "crop_size": 16, "do_resize": False},
            ImageInput(16, 1.0),
        ),
        ({"size": {"shortest_edge": 224}, "crop_pct": 0.875}, ImageInput(224, 0.875)),
    ],
)
def test_what_of_a_picture_is_seen_is_as_the_file_says(tmp_path, changes, expected):
    assert read(tmp_path, changed(**changes)).image_input == expected


@pytest.mark.parametrize(
    ("changes", "mean", "scale"),
    [
        ({}, 127.5, 63.75),
        ({"do_rescale": False, "image_mean": 127.0, "image_std": 128.0}, 127, 128),
        ({"do_normalize": False, "image_mean": None, "image_std": None}, 0, 255),
        (
            {"rescale_factor": 1 / 127.5, "rescale_offset": True, "do_normalize": False},
            127.5,
            127.5,
        ),
        ({"do_rescale": None}, 127.5, 63.75),
    ],
)
def test_scales_are_those_of_the_file(tmp_path, changes, mean, scale):
    found = read(tmp_path, changed(**changes))
    np.testing.assert_allclose([found.mean[0], found.scale[0]], [mean, scale])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ImageInput(176, 0.875, bicubic=True)),
        ({"crop_mode": "squash", "interpolation": "bilinear"}, ImageInput(176)),
        ({"crop_pct": None}, ImageInput(176, 1.0, bicubic=True)),
    ],
)
def test_the_file_of_timm_is_read_too(tmp_path, changes, expected):
    document = {"architecture": "resnet10t", "pretrained_cfg": {**TIMM, **changes}}
    found = read(tmp_path, document, "config.json")
    assert found.image_input == expected
    np.testing.assert_allclose(found.mean, 255 * np.array(TIMM["mean"]))
    np.testing.assert_allclose(found.scale, 255 * np.array(TIMM["std"]))


def test_where_no_file_says_anything_there_is_none(tmp_path):
    assert read(tmp_path, {"model_type": "vit"}, "config.json") is None


@pytest.mark.parametrize(
    "changes",
    [
        {"do_flip_channel_order": True},
        {"size": {"height": 8, "width": 9}},
        {"size": {"longest_edge": 9}},
        {"size": None},
        {"size": 0},
        {"size": 10**9},
        {"size": "large"},
        {"image_mean": None},
        {"image_mean": [0.5]},
        {"image_mean": ["a", "b", "c"]},
        {"image_std": [0.0, 1, 1]},
        {"image_std": [float("nan"), 1, 1]},
        {"rescale_factor": 0},
        {"crop_pct": 2.0},
        {"size": 0, "do_center_crop": True, "crop_size": 8},
    ],
)
def test_a_file_that_cannot_be_followed_is_refused(tmp_path, changes):
    with pytest.raises(ValueError, match=SENTENCE) as e:
        read(tmp_path, changed(**changes))
    assert "preprocessor_config.json that can be followed" in str(e.value)


@pytest.mark.parametrize(
    "changes", [{"input_size": [1, 8, 8]}, {"input_size": [3, 8, 9]}, {"mean": None}]
)
def test_a_file_of_timm_that_cannot_be_followed_is_refused(tmp_path, changes):
    with pytest.raises(ValueError, match=r"config.json that can be followed"):
        read(tmp_path, {"pretrained_cfg": {**TIMM, **changes}}, "config.json")


def test_one_value_of_pixels_is_taken_as_it_is():
    plain = Preprocessing(ImageInput(), (0.0,) * 3, (1.0,) * 3)
    assert plain.pixels([Image.new("RGB", (1, 1), (1, 2, 3))]).tolist() == [[[[1, 2, 3]]]]
