"""Rules of which records may answer."""

from __future__ import annotations

from typing import Any

import pytest

from vault_memory.errors import QueryError
from vault_memory.model import Target
from vault_memory.retrieve.filters import Envelope, matching_targets
from vault_memory.retrieve.query import Query

RECORDS: list[Envelope] = [
    (Target("", "Leek"), "note", ("plant/leek", "Garden"), {"year": 2021, "beds": ["north", "south"]}),
    (Target("", "Mast"), "note", ("boat",), {"year": 2022}),
    (Target("m", "Fact"), "fact", (), {"year": "2021"}),
]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"tags": ("plant",)}, {"Leek"}),
        ({"tags": ("PLANT/leek",)}, {"Leek"}),
        ({"tags": ("plan",)}, set()),
        ({"tags": ("garden", "plant")}, {"Leek"}),
        ({"tags": ("garden", "boat")}, set()),
        ({"kind": "fact"}, {"Fact"}),
        ({"where": {"year": "2021"}}, {"Leek", "Fact"}),
        ({"where": {"year": 2022}}, {"Mast"}),
        ({"where": {"beds": "north"}}, {"Leek"}),
        ({"where": {"beds": "west"}}, set()),
    ],
)
def test_filters_keep_just_the_records_asked_for(asked: dict[str, Any], found: set[str]) -> None:
    """Tags nest and ignore case, all of them must be there; a property holds a value as written or in its list."""
    assert {target.id for target in matching_targets(RECORDS, Query("x", **asked))} == found


def test_an_unknown_property_is_an_error_with_near_names() -> None:
    """Asking for a property that no record has is a mistake in the name, not an empty answer."""
    with pytest.raises(QueryError, match="'yaer'; near ones: year"):
        matching_targets(RECORDS, Query("x", where={"yaer": 2021}))
