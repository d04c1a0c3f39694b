"""Semantic retrieval of fragments from any embedder and any fragment index."""

from __future__ import annotations

from collections.abc import Collection

from vault_memory.embed.protocol import Embedder
from vault_memory.errors import EmbeddingError, FragmentIndexError, IndexUnavailableError, VaultMemoryError
from vault_memory.index.protocol import FragmentIndex
from vault_memory.model import FragmentHit, Target, Vector
from vault_memory.retrieve.protocol import Capabilities
from vault_memory.retrieve.query import checked_text


class FragmentSemanticRetriever:
    """Embeds a question and asks a fragment index; gives raw hits, so the caller reads just those spans.

    Example:
        >>> from vault_memory import EmbeddedFragment, FragmentLocator, Target
        >>> from vault_memory import FragmentSemanticRetriever, InMemoryFragmentCosineIndex
        >>> from vault_memory.embed import load_embedder
        >>> embedder, index = load_embedder("default"), InMemoryFragmentCosineIndex()
        >>> vectors = embedder.embed_documents(["water the seedlings", "varnish the mast"])
        >>> for name, vector in zip(("garden", "boat"), vectors):
        ...     _ = index.add_fragments(Target("", name), [EmbeddedFragment(FragmentLocator(0, 19), vector)])
        >>> retriever = FragmentSemanticRetriever(index, embedder)
        >>> retriever.retrieve("irrigating young plants", top_k=1)[0].target.id
        'garden'
    """

    def __init__(self, index: FragmentIndex | None = None, embedder: Embedder | None = None) -> None:
        self._index = index
        self._embedder = embedder

    @property
    def capabilities(self) -> Capabilities:
        """Semantic search of fragments, if both an index and an embedder are wired."""
        return Capabilities(fragment_semantic=self._index is not None and self._embedder is not None)

    def retrieve(
        self,
        query: str,
        top_k: int = 10,
        max_per_record: int | None = None,
        *,
        scope: str | None = None,
        targets: Collection[Target] | None = None,
    ) -> list[FragmentHit]:
        """Return the fragments nearest to a question, best first.

        Raises:
            IndexUnavailableError: No index or no embedder is wired.
            QueryError: The question is empty, or a number is below 1.
            EmbeddingError: The embedder failed.
            FragmentIndexError: The index failed.
        """
        if self._index is None or self._embedder is None:
            missing = "index" if self._index is None else "embedder"
            raise IndexUnavailableError(
                f"semantic search of fragments is not available: no {missing} is wired;"
                f" pass {missing}=... to FragmentSemanticRetriever"
            )
        vector = self._embed(self._embedder, checked_text(query))
        try:
            return self._index.query(vector, top_k, max_per_record, scope=scope, targets=targets)
        except VaultMemoryError:
            raise
        except Exception as error:
            raise FragmentIndexError(f"the fragment index failed: {error}") from error

    def _embed(self, embedder: Embedder, query: str) -> Vector:
        try:
            return embedder.embed_query(query)
        except VaultMemoryError:
            raise
        except Exception as error:
            raise EmbeddingError(f"the embedder {embedder.fingerprint} failed on the question: {error}") from error
