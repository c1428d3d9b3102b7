from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image
from support.models import write_json

from possibal.embedding import torch_models
from possibal.embedding.embedder import EmbedderIdentity, ImageInput, Modality
from possibal.embedding.model_files import ModelFiles
from possibal.embedding.torch_models import SentenceTransformerEmbedder, read_torch_model
from possibal.errors import MissingPackageError

SENTENCE = r"^model must [^\n]*; got [^\n]*\. [^\n]*\.$"
PACKAGES = {
    "sentence-transformers": (Modality.TEXT, "modules.json", []),
    "timm": (Modality.IMAGE, "config.json", {"architecture": "resnet10t"}),
}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_not_installed_is_said(tmp_path, monkeypatch, package):
    modality, name, document = PACKAGES[package]
    write_json(tmp_path / name, document)
    monkeypatch.setattr(torch_models, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=f"run pip install {package}, or export"):
        read_torch_model(ModelFiles.found(tmp_path), modality)


@pytest.mark.parametrize("modality", Modality)
def test_a_folder_that_nothing_reads_is_refused_with_what_is_in_it(tmp_path, modality):
    for place in range(7):
        (tmp_path / f"{place}.txt").touch()
    with pytest.raises(ValueError, match=SENTENCE) as e:
        read_torch_model(ModelFiles.found(tmp_path), modality)
    assert "a folder with 0.txt, 1.txt, 2.txt, 3.txt, 4.txt, ..." in str(e.value)
    with pytest.raises(ValueError, match="a file of another kind"):
        read_torch_model(ModelFiles.found(tmp_path / "0.txt"), modality)


def test_a_plain_transformer_is_for_texts_alone(tmp_path, monkeypatch):
    write_json(tmp_path / "config.json", {"architectures": ["BertModel"]})
    monkeypatch.setattr(torch_models, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError):
        read_torch_model(ModelFiles.found(tmp_path), Modality.TEXT)
    with pytest.raises(ValueError, match=r"a folder with config\.json"):
        read_torch_model(ModelFiles.found(tmp_path), Modality.IMAGE)


def test_a_package_that_fails_is_quoted(tmp_path, monkeypatch):
    write_json(tmp_path / "modules.json", [])
    monkeypatch.setattr(torch_models, "find_spec", lambda _: True)

    def fails(_files, _modality):
        raise OSError("no weights")

    monkeypatch.setattr(torch_models, "_read_sentences", fails)
    with pytest.raises(ValueError, match=r"that sentence-transformers reads; .*\(no weights\)"):
        read_torch_model(ModelFiles.found(tmp_path), Modality.TEXT)


class Encoder:
    """What sentence-transformers has, in as much as it is used."""

    def encode(self, rows, batch_size, *, show_progress_bar):
        assert batch_size
        assert not show_progress_bar
        return [[float(len(row))] for row in rows]


def test_vectors_of_an_encoder_are_checked_and_given():
    identity = EmbedderIdentity("a", "", "0" * 64)
    embedder = SentenceTransformerEmbedder(identity, Encoder(), Modality.TEXT, None)
    found = embedder.embed(["a", "bcd"])
    assert found.tolist() == [[1], [3]]
    assert found.dtype == np.float32


# ---------------------------------------------------------------- where torch is there
@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs torch")
def test_a_folder_of_sentence_transformers_is_read(tmp_path):  # pragma: no cover
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import StaticEmbedding
    from support.models import words

    tokenizer = words()
    weights = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 5))
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights)])
    model.save(str(tmp_path / "m"))
    found = read_torch_model(ModelFiles.found(tmp_path / "m"), Modality.TEXT)
    np.testing.assert_allclose(found.embed(["the cat"]), model.encode(["the cat"]), atol=1e-6)


@pytest.mark.skipif(find_spec("timm") is None, reason="needs torch")
def test_a_folder_of_timm_is_read(tmp_path):  # pragma: no cover
    import timm
    from timm.models import save_for_hf

    model = timm.create_model("resnet10t", pretrained=False, num_classes=2)
    save_for_hf(model, str(tmp_path))
    found = read_torch_model(ModelFiles.found(tmp_path), Modality.IMAGE)
    assert found.image_input == ImageInput(176, 0.875, bicubic=True)
    assert found.embed([Image.new("RGB", (176, 176))] * 3).shape == (3, 512)
