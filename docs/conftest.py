"""Guides are run with their commands, in a folder of their own: tests/system/test_guides.py."""

collect_ignore_glob = ["start/*", "tutorials/*", "conf.py"]
