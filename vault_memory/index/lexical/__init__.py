"""The lexical index: BM25 over the same fragments, on SQLite's full-text search."""

from vault_memory.index.lexical.index import LexicalAnswer, LexicalFragment, LexicalIndex
from vault_memory.index.lexical.words import RULES_REVISION

__all__ = ["RULES_REVISION", "LexicalAnswer", "LexicalFragment", "LexicalIndex"]
