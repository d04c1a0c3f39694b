"""Which records may answer, decided before anything is scored."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from vault_memory.errors import QueryError
from vault_memory.model import Metadata, Target
from vault_memory.retrieve.query import Query

Envelope = tuple[Target, str, tuple[str, ...], Metadata]


def matching_targets(envelopes: Iterable[Envelope], query: Query) -> set[Target]:
    """Return the records whose kind, tags and metadata a query asks for.

    Raises:
        QueryError: `where` names a property that no record has.
    """
    matching: set[Target] = set()
    fields: set[str] = set()
    for target, kind, tags, metadata in envelopes:
        fields.update(metadata)
        if (
            (query.kind is None or kind == query.kind)
            and all(_has_tag(tags, tag) for tag in query.tags)
            and _has_values(metadata, query.where or {})
        ):
            matching.add(target)
    for name in query.where or {}:
        if name not in fields:
            near = difflib.get_close_matches(name, fields, n=3)
            hint = f"; near ones: {', '.join(near)}" if near else ""
            raise QueryError(f"no record has the property {name!r}{hint}")
    return matching


def _has_tag(tags: Iterable[str], wanted: str) -> bool:
    wanted = wanted.casefold()
    return any(tag.casefold() == wanted or tag.casefold().startswith(f"{wanted}/") for tag in tags)


def _has_values(metadata: Metadata, where: Mapping[str, Any]) -> bool:
    return all(name in metadata and _holds(metadata[name], value) for name, value in where.items())


def _holds(held: Any, wanted: Any) -> bool:
    if held == wanted:
        return True
    items = held if isinstance(held, list) else [held]
    return _written(wanted) in [_written(item) for item in items]


def _written(value: Any) -> str:
    """Return a value as a person writes it: who asks for `year=2021` means the number as well as the text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
