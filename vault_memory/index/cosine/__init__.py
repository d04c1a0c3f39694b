"""The in-memory cosine index: exact, capped, filtered, and cheap to change."""

from vault_memory.index.cosine.index import InMemoryFragmentCosineIndex
from vault_memory.index.cosine.rebuild import Casualty, RebuildError, RebuildReport

__all__ = ["Casualty", "InMemoryFragmentCosineIndex", "RebuildError", "RebuildReport"]
