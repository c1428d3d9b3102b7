"""Active learning that tells what is not known from what is random.

Names are loaded when they are first asked for: SciPy and scikit-learn take seconds to import.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
