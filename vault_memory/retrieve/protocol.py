"""The seam where a retriever plugs in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from vault_memory.model import FragmentHit


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The axes that a retriever serves; asking for another one is an error, never an empty answer."""

    fragment_semantic: bool = False


@runtime_checkable
class Retriever(Protocol):
    """Answers a question with places, best first."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can be asked for, as it is wired now."""
        ...

    def retrieve(self, query: str, top_k: int = 10, max_per_record: int | None = None) -> Sequence[FragmentHit]:
        """Return the `top_k` best places, at most `max_per_record` of one record."""
        ...
