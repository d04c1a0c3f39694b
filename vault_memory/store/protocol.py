"""The seams where a stranger plugs in: how entities are addressed, and what follows a write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from vault_memory.model import Record, Target

WriteHook = Callable[[Target, Record | None], None]
"""Called after a record was written (with it) or deleted (with `None`); what it raises is reported, never undone."""


@runtime_checkable
class IdentityCodec(Protocol):
    """The caller's own keys to targets and back, one codec per kind; pure, without a look at the disk.

    Laws: `decode(encode(entity_id)) == entity_id`, and `encode(decode(target)) == target` for its own targets.
    """

    def encode(self, entity_id: str) -> Target:
        """Return where the entity is stored."""
        ...

    def decode(self, target: Target) -> str:
        """Return which entity is stored there."""
        ...
