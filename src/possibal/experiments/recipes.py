"""Recipes: what the paper leaves open about its models and scores, as values.

The paper prints neither the hyperparameters of its binary experiments nor its code. Under the
recipe ``ours`` they are what evidence says and scores are exact; ``published`` is what its figures
say was done. See docs/reproduction.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from possibal.arguments import choice

AFTER, BEFORE = "after-last-answer", "before-last-answer"
TESTED: Mapping[str, str] = MappingProxyType(
    {
        AFTER: "the model learns from the last answer before it is tested",
        BEFORE: "the model that asked the last question is tested, as in the paper's Algorithm 1",
    }
)
CONSTANT, REGRESSION = "constant", "regression"
MEANS: Mapping[str, str] = MappingProxyType(
    {
        CONSTANT: "the same number for every set",
        REGRESSION: "in proportion to the mean that regression on labels 0 and 1 learns",
    }
)
"""Rules for a prior mean, towards the label coded 1."""


@dataclass(frozen=True)
class FixedKernel:
    """An RBF kernel and a constant mean that stay as they are whatever is answered.

    Attributes:
        amplitude: prior variance of a latent.
        share: length-scale, as a share of the median distance between two rows of the set.
        mean: factor of the prior mean; 0 is none.
        rule: one of `MEANS`.
    """

    amplitude: float
    share: float
    mean: float = 0.0
    rule: str = CONSTANT

    def __post_init__(self) -> None:
        """Refuse what is no kernel."""
        choice("rule", self.rule, MEANS)
        for name in ("amplitude", "share"):
            if not getattr(self, name) > 0:
                raise ValueError(
                    f"{name} must be positive; got {getattr(self, name)}. Give a larger one."
                )


@dataclass(frozen=True)
class Recipe:
    """How models and scores of an experiment are made.

    Attributes:
        name: what the command line calls it.
        about: what it does, in a few words.
        binary: kernel of sets with two labels; None as the hyperparameters of the experiment say.
        multiclass: kernel of sets with more labels; None the same.
        bald_draws: draws of a latent, in single precision, that BALD is estimated from; 0 is exact.
        label_draws: draws of the latents that make the probabilities of three labels or more, of
            predictions and of scores that read them; 0 is exact.
        tested: when a model is tested, one of `TESTED`.
    """

    name: str
    about: str
    binary: FixedKernel | None = None
    multiclass: FixedKernel | None = None
    bald_draws: int = 0
    label_draws: int = 0
    tested: str = AFTER

    def kernel(self, labels: int) -> FixedKernel | None:
        """The kernel of a set with so many labels, if it is fixed."""
        return self.binary if labels == 2 else self.multiclass  # noqa: PLR2004 - two


OURS = Recipe("ours", "hyperparameters of largest evidence, exact scores and averages")
PUBLISHED = Recipe(
    "published",
    "a narrow fixed kernel, a constant mean, BALD by draws whose NaN wins, and what else the "
    "paper's figures say was done",
    binary=FixedKernel(15.0, 0.36, 2.0, REGRESSION),
    multiclass=FixedKernel(16.0, 1.0),
    bald_draws=60,
    label_draws=10,
    tested=BEFORE,
)
RECIPES: Mapping[str, Recipe] = MappingProxyType({one.name: one for one in (OURS, PUBLISHED)})
