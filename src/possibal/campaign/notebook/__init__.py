"""Labelling in a notebook: a widget of anywidget over any campaign."""
