"""The seam where a stranger's embedder plugs in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from vault_memory.model import Fingerprint, Vector


@runtime_checkable
class Embedder(Protocol):
    """Text to vectors. Any object with these members is one."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Name, revision, dimensions and normalisation of the vectors."""
        ...

    @property
    def max_input_chars(self) -> int | None:
        """Longest text, in characters, that is embedded whole; `None` for no bound."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """Return one row per text: shape `(len(texts), dimensions)`, float32. A zero row means "nothing to say"."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question: shape `(dimensions,)`, float32."""
        ...


@runtime_checkable
class KnowsVocabulary(Protocol):
    """An embedder that can tell how much of a text it knows, so that fusion can lean on keywords where it does not."""

    def known_share(self, text: str) -> float:
        """Return the share of the text's tokens that are real words of the vocabulary, in [0, 1]."""
        ...
