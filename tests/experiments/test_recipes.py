from dataclasses import asdict, replace

import pytest

from possibal.experiments.recipes import (
    AFTER,
    BEFORE,
    MEANS,
    OURS,
    PUBLISHED,
    RECIPES,
    TESTED,
    FixedKernel,
    Recipe,
)


def test_a_recipe_is_found_by_its_name():
    assert dict(RECIPES) == {"ours": OURS, "published": PUBLISHED}
    for name, recipe in RECIPES.items():
        assert recipe.name == name
        assert recipe.about


def test_ours_fixes_nothing_and_draws_nothing():
    assert OURS.kernel(2) is OURS.kernel(3) is None
    assert OURS.bald_draws == OURS.label_draws == 0
    assert OURS.tested == AFTER


def test_the_published_recipe_has_a_kernel_for_two_labels_and_one_for_more():
    assert PUBLISHED.kernel(2) is PUBLISHED.binary
    assert PUBLISHED.kernel(3) is PUBLISHED.kernel(7) is PUBLISHED.multiclass
    assert PUBLISHED.tested == BEFORE
    assert PUBLISHED.bald_draws > 0 < PUBLISHED.label_draws


def test_recipes_are_values_that_differ_in_any_part():
    for name, value in asdict(PUBLISHED).items():
        other = value + 1 if isinstance(value, int) else None
        assert replace(PUBLISHED, **{name: other}) != PUBLISHED
    assert hash(Recipe("one", "")) == hash(Recipe("one", ""))


@pytest.mark.parametrize("name", ["amplitude", "share"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_a_kernel_must_have_a_size(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be positive; got {value}"):
        FixedKernel(**{"amplitude": 1.0, "share": 1.0, name: value})


def test_a_rule_that_nobody_knows_is_refused():
    assert set(MEANS) == {"constant", "regression"}
    with pytest.raises(ValueError, match=r"^rule must be one of .*Did you mean 'constant'\?$"):
        FixedKernel(1.0, 1.0, rule="constants")


def test_there_are_two_times_to_test():
    assert list(TESTED) == [AFTER, BEFORE]
