"""Arrays that everybody computes with: batched values, linear algebra, distances."""
