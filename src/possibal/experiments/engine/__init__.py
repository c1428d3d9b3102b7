"""Algorithm 1 for many runs at once, and where its rows are kept."""
