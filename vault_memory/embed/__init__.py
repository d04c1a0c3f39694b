"""Text to vectors: the embedder's seam, the default embedder, and the check and the cache round any other."""

from pathlib import Path

from vault_memory.embed.cache import CachedEmbedder, EmbeddingCache
from vault_memory.embed.checked import CheckedEmbedder
from vault_memory.embed.protocol import Embedder, KnowsVocabulary
from vault_memory.embed.registry import load_embedder, register_embedder
from vault_memory.embed.static import StaticEmbedder

VaultEmbedder = CheckedEmbedder | CachedEmbedder
"""An embedder as a vault uses it: its vectors are checked, and perhaps kept."""

__all__ = [
    "CachedEmbedder",
    "CheckedEmbedder",
    "Embedder",
    "EmbeddingCache",
    "KnowsVocabulary",
    "StaticEmbedder",
    "VaultEmbedder",
    "keep_vectors",
    "load_embedder",
    "register_embedder",
]


def keep_vectors(embedder: Embedder, folder: Path) -> VaultEmbedder:
    """Return an embedder whose vectors are checked, and kept for every vault unless they cost next to nothing.

    Args:
        embedder: Any embedder.
        folder: Where vectors are kept.
    """
    if type(embedder) is StaticEmbedder:
        return CheckedEmbedder(embedder)
    return CachedEmbedder(embedder, folder / "embeddings.sqlite")
