import os

import pytest
from support.models import words, write_json
from tokenizers import Tokenizer, models

from possibal.embedding import tokens
from possibal.embedding.model_files import MOST_JSON, ModelFiles
from possibal.errors import MissingPackageError

SENTENCE = r"^model must [^\n]*; got [^\n]*\. [^\n]*\.$"


def saved(folder, tokenizer=None, **documents):
    """The files of a folder with a tokenizer."""
    (tokenizer or words()).save(str(folder / tokens.FILE))
    for name, document in documents.items():
        write_json(folder / f"{name}.json", document)
    return ModelFiles.found(folder)


def test_texts_become_the_numbers_of_their_tokens(tmp_path):
    plain = words()
    found = tokens.open_tokenizer(saved(tmp_path), 512)
    texts = ["the cat sat", "", "Dogs"]
    assert found.encode(texts) == [one.ids for one in plain.encode_batch(texts)]
    assert found.encode(["the cat"], special=False) == [plain.encode("the cat").ids[1:-1]]


def test_padding_and_truncation_of_the_file_do_not_count(tmp_path):
    fixed = words()
    fixed.enable_truncation(4)
    fixed.enable_padding(length=64, pad_id=3)
    found = tokens.open_tokenizer(saved(tmp_path, fixed), 6)
    assert found.encode(["cat", "dogs bark at night and bark"]) == [
        words().encode("cat").ids,
        [*words().encode("dogs bark at night").ids[:5], words().token_to_id("[SEP]")],
    ]
    assert found.pad == 3


def test_a_text_of_megabytes_takes_no_longer_than_a_long_one(tmp_path):
    found = tokens.open_tokenizer(saved(tmp_path), 8)
    (line,) = found.encode(["cat " * 1_000_000])
    assert len(line) == 8


def test_letters_that_are_none_stand_for_themselves_alone(tmp_path):
    found = tokens.open_tokenizer(saved(tmp_path), 8)
    assert found.encode(["cat \ud800"]) == found.encode(["cat ?"])
    assert found.encode(["cat\0"]) == found.encode(["cat"])


def test_tokens_are_filled_up_at_the_end(tmp_path):
    found = tokens.open_tokenizer(saved(tmp_path, tokenizer_config={"pad_token": "[UNK]"}), 8)
    assert found.padded([[7], [5, 6, 7], []], 3).tolist() == [[7, 1, 1], [5, 6, 7], [1, 1, 1]]


@pytest.mark.parametrize(
    ("named", "number"), [({"content": "[SEP]"}, 3), ("[SEP]", 3), ("none", 0), (None, 0)]
)
def test_the_token_that_fills_up_is_the_one_that_is_named(tmp_path, named, number):
    files = saved(tmp_path, tokenizer_config={"pad_token": named})
    assert tokens.open_tokenizer(files, 8).pad == number


@pytest.mark.parametrize(
    ("documents", "length"),
    [
        ({}, 512),
        ({"sentence_bert_config": {"max_seq_length": 256}}, 256),
        ({"tokenizer_config": {"model_max_length": 128}}, 128),
        (
            {
                "sentence_bert_config": {"max_seq_length": 256},
                "tokenizer_config": {"model_max_length": 128},
            },
            256,
        ),
        ({"tokenizer_config": {"model_max_length": 10**30}}, 512),
        ({"config": {"max_position_embeddings": 514}}, 512),
        ({"sentence_bert_config": {"max_seq_length": None}, "config": {}}, 512),
        ({"sentence_bert_config": {"max_seq_length": -1}}, 512),
    ],
)
def test_as_many_tokens_count_as_the_model_says(tmp_path, documents, length):
    assert tokens.stated_length(saved(tmp_path, **documents)) == length


def test_a_prompt_and_lower_case_are_heeded(tmp_path):
    cased = words()
    cased.normalizer = None
    prompts = {"default_prompt_name": "query", "prompts": {"query": "CAT: ", "document": ""}}
    documents = {tokens.PROMPTS[:-5]: prompts, "sentence_bert_config": {"do_lower_case": True}}
    found = tokens.open_tokenizer(saved(tmp_path, cased, **documents), 512)
    assert found.encode(["SAT"]) == [words().encode("cat: sat").ids]


@pytest.mark.parametrize(
    "prompts", [{}, {"default_prompt_name": None, "prompts": {}}, {"default_prompt_name": "a"}]
)
def test_without_a_prompt_texts_stay_as_they_are(tmp_path, prompts):
    found = tokens.open_tokenizer(saved(tmp_path, **{tokens.PROMPTS[:-5]: prompts}), 512)
    assert found.prompt == ""


def test_the_token_of_unknown_words_is_known(tmp_path):
    assert tokens.unknown(tokens.open_tokenizer(saved(tmp_path), 8)) == 1


# ---------------------------------------------------------------- what is refused
def test_a_model_without_a_tokenizer_is_refused(tmp_path):
    write_json(tmp_path / "config.json", {})
    with pytest.raises(ValueError, match=SENTENCE):
        tokens.open_tokenizer(ModelFiles.found(tmp_path), 8)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"model": 7}', b"\xff"])
def test_a_broken_tokenizer_is_refused(tmp_path, content):
    (tmp_path / tokens.FILE).write_bytes(content)
    with pytest.raises(ValueError, match=r"^model must have a tokenizer in tokenizer.json; got "):
        tokens.open_tokenizer(ModelFiles.found(tmp_path), 8)


def test_a_tokenizer_of_an_absurd_size_is_refused(tmp_path):
    with (tmp_path / tokens.FILE).open("wb") as file:
        os.truncate(file.fileno(), MOST_JSON + 1)
    with pytest.raises(ValueError, match="it is too large"):
        tokens.open_tokenizer(ModelFiles.found(tmp_path), 8)


def test_what_is_not_installed_is_said(tmp_path, monkeypatch):
    files = saved(tmp_path)
    monkeypatch.setattr(tokens, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'possibal\[models\]'\.$"):
        tokens.open_tokenizer(files, 8)


def test_a_tokenizer_that_fails_on_a_text_is_refused_in_one_sentence(tmp_path):
    found = tokens.open_tokenizer(saved(tmp_path, Tokenizer(models.WordLevel({"the": 0}))), 512)
    assert found.encode(["the"]) == [[0]]
    with pytest.raises(ValueError, match=SENTENCE) as e:
        found.encode(["cat"])
    assert "a token for unknown words" in str(e.value)
