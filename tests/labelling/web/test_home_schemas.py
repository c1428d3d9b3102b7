"""What the home page may send."""

import pytest
from pydantic import ValidationError

from possibal.data.schema import ColumnKind
from possibal.labelling.web import home_schemas as schemas

KEY = "a" * 32


def test_kinds_of_columns_are_those_that_there_are():
    for kind in ColumnKind:
        schemas.ChangesIn(key=KEY, changes={"a": str(kind)})
    assert [*ColumnKind] == schemas.KINDS


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        (schemas.ChangesIn, {"key": KEY, "changes": {"a": "words"}}),
        (schemas.ChangesIn, {"key": "../a", "changes": {}}),
        (schemas.NewCampaignIn, {"key": KEY, "people": 0}),
        (schemas.NewCampaignIn, {"key": KEY, "check": -1}),
        (schemas.NewCampaignIn, {"key": KEY, "classes": [" a"]}),
        (schemas.NewCampaignIn, {"key": KEY, "classes": [str(n) for n in range(51)]}),
        (schemas.NewCampaignIn, {"key": KEY, "strategy": "os:system"}),
        (schemas.NewUploadIn, {"name": ""}),
        (schemas.EntranceIn, {"file": "a.db", "session": "short"}),
    ],
)
def test_anything_else_is_refused(schema, given):
    with pytest.raises(ValidationError):
        schema.model_validate(given)
