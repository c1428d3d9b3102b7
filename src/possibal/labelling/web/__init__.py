"""The labelling page: what the desk offers, over HTTP."""
