"""Embeddings: texts and pictures as vectors of pretrained models, found without a network."""
