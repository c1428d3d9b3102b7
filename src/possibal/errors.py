"""Exception hierarchy: what possibal raises when a caller may want to catch it.

    PossibalError
    ├── AlreadyAnsweredError(ValueError)      a row was told a second time
    ├── ConvergenceError(ArithmeticError)     a numerical search did not settle
    ├── ForbiddenError(RefusedError)          a person may not do this
    ├── MissingPackageError(ImportError)      an optional package is not installed
    ├── MistakeError                          a value on the command line was refused
    ├── PluginError(ValueError)               another distribution's plug-in cannot be had
    ├── RefusedError(ValueError)              a person's action makes no sense
    ├── StrategyError(ValueError)             a user's own strategy failed
    ├── UnavailableError(OSError)             a database is away, or did not answer in time
    └── UnsavedError(OSError)                 a database did not take what it was given

    FlatScoresWarning(UserWarning)            scores tell few rows apart
    ManyClassesWarning(UserWarning)           a fit takes long, for there are very many classes
    ScaleWarning(UserWarning)                 some columns outweigh others by their unit alone

A bad argument raises a plain ``ValueError`` or ``TypeError`` whose one sentence reads
``<argument> must <rule>; got <what>. <What to do>.``
"""

import re

LONGEST = 120
"""Characters of a summary: some libraries explain at length."""
INSTALL = "run pip install 'possibal[experiments]'."
"""What to do where a reader or writer of data frames is missing."""


class PossibalError(Exception):
    """Root of the errors that possibal defines."""


class AlreadyAnsweredError(PossibalError, ValueError):
    """A row that has its answer was answered again."""


class ConvergenceError(PossibalError, ArithmeticError):
    """A numerical search did not settle on an answer."""


class MissingPackageError(PossibalError, ImportError):
    """An optional package is not installed."""


class MistakeError(PossibalError):
    """A value on the command line that the library refused."""


class PluginError(PossibalError, ValueError):
    """A plug-in of another distribution cannot be imported, or has a name that is taken."""


class RefusedError(PossibalError, ValueError):
    """An action of a person that makes no sense; nothing was changed."""


class ForbiddenError(RefusedError):
    """An action that is for others to do; nothing was changed."""


class StrategyError(PossibalError, ValueError):
    """A user's own strategy failed, or gave what cannot be ranked."""


class UnavailableError(PossibalError, OSError):
    """A database is away, did not answer in time, or cannot be read."""


class UnsavedError(PossibalError, OSError):
    """A database did not take what it was given.

    Nothing of it was written, unless it was the commit itself that failed: then all of it may be.
    """


class FlatScoresWarning(UserWarning):
    """Scores tell few rows apart, so that the question asked is almost arbitrary."""


class ManyClassesWarning(UserWarning):
    """There are so many classes that a fit may take minutes."""


class ScaleWarning(UserWarning):
    """Columns are on very different scales, so that some outweigh others by their unit alone."""


def summary(error: BaseException | None) -> str:
    """The message of a foreign exception, cut to its first sentence."""
    inner = getattr(error, "reason", error)
    message = str(getattr(inner, "strerror", None) or inner).strip()
    return re.split(r"\.\s|\n", message)[0].rstrip(".")[:LONGEST] or type(error).__name__
