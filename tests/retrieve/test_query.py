"""Rules of what can be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vault_memory.errors import QueryError
from vault_memory.retrieve.query import Query, checked_query


@pytest.mark.parametrize("text", ["", "  ", "\n\t", None, 7])
def test_an_empty_question_is_refused(text: Any) -> None:
    """A question without words is wrong use, not an empty answer."""
    with pytest.raises(QueryError):
        checked_query(Query(text))


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "3", float("nan")])
@pytest.mark.parametrize("name", ["top_k", "max_per_record"])
def test_counts_are_whole_numbers_of_at_least_one(name: str, number: Any) -> None:
    """Both counts refuse what is not a whole number of at least 1, and the message names them."""
    with pytest.raises(QueryError, match=name):
        checked_query(Query("x", **{name: number}))


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), "0.5", True])
def test_a_threshold_is_a_finite_number(threshold: Any) -> None:
    """A threshold that no score can be compared with is refused."""
    with pytest.raises(QueryError, match="threshold"):
        checked_query(Query("x", threshold=threshold))


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    """The message for an unknown mode names the modes."""
    mode: Any = "fuzzy"
    with pytest.raises(QueryError, match="hybrid, semantic, lexical"):
        checked_query(Query("x", mode=mode))


def test_the_normal_form_of_a_query() -> None:
    """Numbers of numpy count as numbers, scopes lose their outer slashes, tags their mark."""
    query = checked_query(Query("x", top_k=np.int64(3), scope="/Garden/", tags=("#plant/",)))
    assert (query.top_k, query.scope, query.tags) == (3, "Garden", ("plant",))
