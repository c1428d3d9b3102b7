"""Labelling campaigns of several people: journal, service, page."""
