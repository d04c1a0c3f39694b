"""Numbers that count, as callers give them."""

from __future__ import annotations

import operator

from vault_memory.errors import QueryError

MOST = 2**31 - 1
"""A count above this means "all": no index holds more, and arrays and databases could not count so far."""


def whole_number(value: object, name: str) -> int:
    """Return `value` as an integer.

    Raises:
        QueryError: It is a truth value, not an integer, or below 1.
    """
    number = as_integer(value)
    if number is None or number < 1:
        raise QueryError(f"{name} is {value!r}; give a whole number of at least 1")
    return min(number, MOST)


def as_integer(value: object) -> int | None:
    """Return `value` as an integer, or `None` if it is none; a truth value is none."""
    if type(value) is int:
        return value
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type] # Whether it is an integer is what this call finds out.
    except TypeError:
        return None
