"""Guides are run with their commands, in a folder of their own: tests/system/test_guides.py."""
# ruff: noqa: INP001 - no package

collect_ignore_glob = ["start/*", "tutorials/*", "conf.py"]
