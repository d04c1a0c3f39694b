"""A question with all that narrows it, checked once."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from vault_memory.errors import QueryError
from vault_memory.index.counts import whole_number

Mode = Literal["hybrid", "semantic", "lexical"]


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked.

    Attributes:
        text: The question.
        top_k: Number of hits wanted.
        max_per_record: At most this many hits of one record; `None` for no cap.
        mode: Which lanes answer.
        scope: Only records of this folder and the folders below it.
        tags: Only records with all of these tags; `plant` finds `plant/tomato` too.
        kind: Only records of this kind.
        where: Only records whose metadata has these values; a list holds a value if one of its items is it.
        threshold: Only hits with at least this score.
    """

    text: str
    top_k: int = 10
    max_per_record: int | None = None
    mode: Mode = "hybrid"
    scope: str | None = None
    tags: tuple[str, ...] = ()
    kind: str | None = None
    where: Mapping[str, Any] | None = None
    threshold: float | None = None

    @property
    def narrows_by_metadata(self) -> bool:
        """Whether records have to be looked at before they are scored."""
        return bool(self.tags or self.kind is not None or self.where)


def checked_query(query: Query) -> Query:
    """Return the query in its normal form.

    Raises:
        QueryError: The text is empty, a number is not whole or below 1, the threshold is not finite, or the mode is
            unknown.
    """
    if query.mode not in get_args(Mode):
        raise QueryError(f"mode {query.mode!r} is unknown; use one of {', '.join(get_args(Mode))}")
    if query.threshold is not None and not _is_finite(query.threshold):
        raise QueryError(f"threshold must be a finite number, not {query.threshold!r}")
    return Query(
        text=checked_text(query.text),
        top_k=whole_number(query.top_k, "top_k"),
        max_per_record=None if query.max_per_record is None else whole_number(query.max_per_record, "max_per_record"),
        mode=query.mode,
        scope=None if query.scope is None else unicodedata.normalize("NFC", query.scope.strip("/")),
        tags=checked_tags(query.tags),
        kind=query.kind,
        where=query.where,
        threshold=query.threshold,
    )


def checked_text(text: str) -> str:
    """Return a question's text.

    Raises:
        QueryError: It is no text, or holds nothing but blanks.
    """
    if not isinstance(text, str):
        raise QueryError(f"the query must be a text, not {type(text).__name__}")
    if not text.strip():
        raise QueryError("the query is empty; give the words or the question to search for")
    return text


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags without `#`; one text is one tag."""
    given = (tags,) if isinstance(tags, str) else tuple(tags)
    return tuple(tag.removeprefix("#").strip("/") for tag in given)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value)
