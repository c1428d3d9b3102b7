"""The paper's experiments: its data sets by name, without a network."""
