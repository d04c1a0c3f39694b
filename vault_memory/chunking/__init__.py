"""Body to fragments: sections, the places where they may be cut, and the choice among those places."""

from vault_memory.chunking.fragments import chunk_markdown

# Stored with an index: raise it when the same body and settings make other fragments than before.
CHUNKER_VERSION = 2

__all__ = ["CHUNKER_VERSION", "chunk_markdown"]
