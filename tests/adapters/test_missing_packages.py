"""What is said where a library that possibal works inside is not installed."""

import importlib
import sys

import pytest

from possibal.adapters import gpytorch
from possibal.errors import MissingPackageError


def test_without_torch_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackageError, match=r"run pip install 'possibal\[botorch\]'\.$"):
        gpytorch.latent_posterior(None)


def test_without_botorch_too(monkeypatch):
    for name in ("torch", "botorch", "botorch.acquisition"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "possibal.adapters.botorch", raising=False)
    with pytest.raises(MissingPackageError, match=r"run pip install 'possibal\[botorch\]'\.$"):
        importlib.import_module("possibal.adapters.botorch")
