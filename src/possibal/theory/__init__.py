"""Possibility functions and outer measures: Sections 3 to 5.1 of the paper."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
