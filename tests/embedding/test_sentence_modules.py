import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.models import write_json, write_safetensors

from possibal.embedding.model_files import ModelFiles
from possibal.embedding.sentence_modules import POOLINGS, mean_pooling, read_modules

SENTENCE = r"^model must [^\n]*; got [^\n]*\. [^\n]*\.$"
REFERENCES = {
    "mean": lambda own: own.mean(axis=0),
    "max": lambda own: own.max(axis=0),
    "cls": lambda own: own[0],
    "lasttoken": lambda own: own[-1],
}
TYPE = "sentence_transformers.models."


@given(
    name=st.sampled_from(sorted(POOLINGS)),
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_a_text_is_pooled_over_its_own_tokens(name, lengths, seed):
    tokens = np.random.default_rng(seed).normal(size=(len(lengths), 6, 3))
    mask = np.arange(6) < np.array(lengths)[:, None]
    expected = [REFERENCES[name](line[:n]) for line, n in zip(tokens, lengths, strict=True)]
    np.testing.assert_allclose(POOLINGS[name](tokens, mask), expected, atol=1e-12)


@pytest.mark.parametrize("name", POOLINGS)
def test_a_text_without_tokens_has_a_finite_vector(name):
    assert np.isfinite(POOLINGS[name](np.ones((1, 2, 3)), np.zeros((1, 2), bool))).all()


def folder(path, pooling=None, modules=()):
    """The files of a folder with modules."""
    write_json(path / "config.json", {})
    if pooling is not None:
        write_json(path / "1_Pooling/config.json", pooling)
    if modules:
        listed = [{"type": TYPE + kind, "path": f"{i}_{kind}"} for i, kind in enumerate(modules)]
        write_json(path / "modules.json", listed)
    return ModelFiles.found(path)


@pytest.mark.parametrize(
    ("pooling", "names"),
    [
        (None, ["mean"]),
        ({"word_embedding_dimension": 5}, ["mean"]),
        ({"pooling_mode": "cls", "embedding_dimension": 5}, ["cls"]),
        ({"pooling_mode": ["max", "mean"]}, ["max", "mean"]),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, ["cls"]),
        ({"pooling_mode_max_tokens": True, "pooling_mode_mean_tokens": True}, ["max", "mean"]),
        ({"pooling_mode_lasttoken": True}, ["lasttoken"]),
    ],
)
def test_the_pooling_is_the_one_that_the_file_names(tmp_path, pooling, names):
    found = read_modules(folder(tmp_path, pooling))
    assert found.poolings == tuple(POOLINGS[name] for name in names)
    assert len(found.paths) == (pooling is not None)


@pytest.mark.parametrize(
    "pooling",
    [
        {"pooling_mode": "weightedmean"},
        {"pooling_mode_weightedmean_tokens": True},
        {"pooling_mode_mean_sqrt_len_tokens": True, "pooling_mode_none": True},
    ],
)
def test_another_pooling_is_refused(tmp_path, pooling):
    with pytest.raises(ValueError, match=SENTENCE):
        read_modules(folder(tmp_path, pooling))


def dense(path, activation="torch.nn.modules.activation.Tanh", **arrays):
    """A dense layer from 3 numbers to 2."""
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    write_json(path / "config.json", {"activation_function": activation})
    write_safetensors(path / "model.safetensors", {"linear.weight": weight, **arrays})
    return weight


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("biased", [True, False])
def test_dense_layers_follow_the_pooling(tmp_path, bounded, biased):
    kind = "torch.nn.modules.activation.Tanh" if bounded else "torch.nn.modules.linear.Identity"
    bias = {"linear.bias": np.array([1, -1], np.float32)} if biased else {}
    weight = dense(tmp_path / "2_Dense", kind, **bias)
    found = read_modules(folder(tmp_path, None, ["Transformer", "Pooling", "Dense", "Normalize"]))
    tokens, mask = np.full((1, 2, 3), 0.1), np.ones((1, 2), bool)
    expected = mean_pooling(tokens, mask) @ weight.T + bias.get("linear.bias", 0)
    np.testing.assert_allclose(
        found.pool(tokens, mask), np.tanh(expected) if bounded else expected, rtol=1e-6
    )
    assert len(found.paths) == 3


def test_an_activation_that_is_not_followed_is_refused(tmp_path):
    dense(tmp_path / "0_Dense", "torch.nn.modules.activation.GELU")
    with pytest.raises(ValueError, match=SENTENCE):
        read_modules(folder(tmp_path, None, ["Dense"]))


def test_a_dense_layer_without_weights_is_refused(tmp_path):
    files = folder(tmp_path, None, ["Dense"])
    with pytest.raises(ValueError, match=SENTENCE):
        read_modules(files)
    dense(tmp_path / "0_Dense")
    write_safetensors(tmp_path / "0_Dense/model.safetensors", {"other": np.ones(2)})
    with pytest.raises(ValueError, match=SENTENCE):
        read_modules(files)


@pytest.mark.parametrize("modules", [{}, [1], [{"type": 7}], [{"type": "a.b.CNN", "path": ""}], 7])
def test_modules_that_cannot_be_followed_are_refused(tmp_path, modules):
    files = folder(tmp_path)
    write_json(tmp_path / "modules.json", modules or [{}])
    with pytest.raises(ValueError, match=SENTENCE):
        read_modules(files)
