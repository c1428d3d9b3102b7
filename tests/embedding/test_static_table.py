import numpy as np
import pytest
from support.models import TEXTS, static_folder, words, write_json, write_safetensors

from possibal.embedding.model_files import ModelFiles
from possibal.embedding.static_table import read_static_table

SENTENCE = r"^model must [^\n]*; got [^\n]*\. [^\n]*\.$"


def expected(tokenizer, table, weights=None, texts=TEXTS):
    """The mean of the vectors of known tokens, one text at a time."""
    weights = np.ones(len(tokenizer.get_vocab())) if weights is None else weights
    found = np.zeros((len(texts), table.shape[1]))
    for line, text in zip(found, texts, strict=True):
        ids = [i for i in tokenizer.encode(text, add_special_tokens=False).ids if i != 1]
        if ids:
            line[:] = np.mean([weights[i] * table[i].astype(float) for i in ids], axis=0)
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
@pytest.mark.works_with("model2vec", "tables of token vectors", "tokenizers")
def test_a_text_is_the_mean_of_its_tokens(tmp_path, dtype):
    known = static_folder(tmp_path, dtype)
    embedder = read_static_table(ModelFiles.found(tmp_path))
    texts = [*TEXTS, "żółw cat", "żółw"]
    found = embedder.embed(texts)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected(*known, texts=texts), atol=1e-3)
    assert not found[-1].any()
    assert embedder.embed([]).shape == (0, 5)


def test_tokens_may_share_vectors_and_weigh_differently(tmp_path):
    tokenizer = words()
    rng, size = np.random.default_rng(1), tokenizer.get_vocab_size()
    mapping, weights = rng.integers(0, 4, size), rng.random(size).astype(np.float32)
    _, table = static_folder(tmp_path, mapping=mapping, weights=weights)
    found = read_static_table(ModelFiles.found(tmp_path)).embed(TEXTS)
    np.testing.assert_allclose(found, expected(tokenizer, table[mapping], weights), atol=1e-5)


@pytest.mark.parametrize("folder", [".", "0_StaticEmbedding"])
def test_a_table_of_sentence_transformers_counts_unknown_words(tmp_path, folder):
    _, table = static_folder(tmp_path / folder)
    write_safetensors(tmp_path / folder / "model.safetensors", {"embedding.weight": table})
    write_json(tmp_path / "modules.json", [])
    found = read_static_table(ModelFiles.found(tmp_path)).embed(["żółw"])
    np.testing.assert_allclose(found[0], table[1], atol=1e-6)


def test_the_file_itself_can_be_named(tmp_path):
    static_folder(tmp_path)
    found = read_static_table(ModelFiles.found(tmp_path / "model.safetensors"))
    assert found.embed(["cat"]).any()
    assert found.identity.name == "model.safetensors"
    same = read_static_table(ModelFiles.found(tmp_path))
    assert same.identity.is_same(found.identity)


def test_what_has_no_table_is_none(tmp_path):
    write_json(tmp_path / "config.json", {})
    assert read_static_table(ModelFiles.found(tmp_path)) is None
    assert read_static_table(ModelFiles.found(tmp_path / "config.json")) is None
    write_safetensors(tmp_path / "model.safetensors", {"bert.weight": np.ones(2)})
    assert read_static_table(ModelFiles.found(tmp_path)) is None


def test_a_text_of_a_megabyte_is_cut(tmp_path):
    static_folder(tmp_path)
    found = read_static_table(ModelFiles.found(tmp_path)).embed(["cat " * 250_000, "cat"])
    np.testing.assert_allclose(found[0], found[1], atol=0.01)


@pytest.mark.parametrize(
    "arrays",
    [
        {"embeddings": np.ones((3, 5), np.float32)},
        {"embeddings": np.ones(5, np.float32)},
        {"embeddings": np.ones((0, 5), np.float32)},
        {"weights": np.ones(3, np.float32)},
        {"weights": np.ones((99, 2), np.float32)},
        {"mapping": np.zeros(3, np.int64)},
        {"mapping": np.full(99, 10**6)},
        {"mapping": np.full(99, -1)},
    ],
)
def test_tables_that_do_not_fit_the_tokenizer_are_refused(tmp_path, arrays):
    static_folder(tmp_path, **arrays)
    with pytest.raises(ValueError, match=SENTENCE) as e:
        read_static_table(ModelFiles.found(tmp_path))
    assert "a vector for each of the" in str(e.value)


def test_a_table_with_numbers_that_are_none_is_refused(tmp_path):
    _, table = static_folder(tmp_path)
    table[0, 0] = np.nan
    write_safetensors(tmp_path / "model.safetensors", {"embeddings": table})
    with pytest.raises(ValueError, match=r"^encoder must return finite numbers"):
        read_static_table(ModelFiles.found(tmp_path))


def test_a_broken_file_is_refused(tmp_path):
    static_folder(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"hello")
    with pytest.raises(ValueError, match=SENTENCE):
        read_static_table(ModelFiles.found(tmp_path))
