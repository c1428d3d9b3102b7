from possibal.embedding.embedder import EmbedderIdentity


def test_an_embedder_is_the_same_by_its_weights_wherever_it_lies():
    one = EmbedderIdentity("minilm", "", "0" * 64, path="/models/minilm")
    assert one.is_same(EmbedderIdentity("renamed", "", "0" * 64, path="/elsewhere"))
    assert not one.is_same(EmbedderIdentity("minilm", "", "1" * 64, path="/models/minilm"))


def test_an_identity_survives_json():
    one = EmbedderIdentity("use", "0.2.1", "ab" * 32)
    assert EmbedderIdentity(**one.document()) == one
