"""The state file: all that is derived from a vault, and the dense index that follows it."""

from vault_memory.index.state.file import State
from vault_memory.index.state.mirror import DenseMirror, GenerationMovedError
from vault_memory.index.state.snapshot import FragmentDetail, KnownRecord, Snapshot
from vault_memory.index.state.writer import IndexedFragment, IndexedRecord, StateWriter

__all__ = [
    "DenseMirror",
    "FragmentDetail",
    "GenerationMovedError",
    "IndexedFragment",
    "IndexedRecord",
    "KnownRecord",
    "Snapshot",
    "State",
    "StateWriter",
]
