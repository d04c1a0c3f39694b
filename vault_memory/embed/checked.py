"""The check round every embedder: what it returns is right, or it is an `EmbeddingError`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import numpy as np

from vault_memory.embed.protocol import Embedder, KnowsVocabulary
from vault_memory.errors import ConfigError, EmbeddingError
from vault_memory.model import Fingerprint, Vector

logger = logging.getLogger(__name__)

BATCH_TEXTS = 256

# Float16 models and int8 tables come this near to length 1; what is farther off was never normalised.
UNIT_TOLERANCE = 1e-3

# A message names so many targets, and the number of the rest.
NAMED_TARGETS = 5


class CheckedEmbedder:
    """Any embedder, with its output checked: count, width, finite values; float32 rows of length 1 or 0.

    Args:
        embedder: Whose vectors are checked.
        batch_size: It is given at most so many texts at once.

    Attributes:
        embedder: The one that was given.
        fingerprint: The embedder's, read once.
        max_input_chars: The embedder's, read once.
        embedded: How many texts of documents were embedded so far.
        clipped: How many texts so far were longer than `max_input_chars`. They are passed on whole, for the embedder
            to cut; the first one is logged.

    Raises:
        EmbeddingError: The embedder cannot say its fingerprint, or says one that cannot be.
        ConfigError: `batch_size` is below 1.
    """

    def __init__(self, embedder: Embedder, *, batch_size: int = BATCH_TEXTS) -> None:
        self.embedder = embedder
        self.batch_size = batch_size
        self.embedded = 0
        self.clipped = 0
        try:
            own = embedder.fingerprint
            self.fingerprint = Fingerprint(own.name, own.revision, own.dimensions, own.normalized)
            self.max_input_chars = embedder.max_input_chars
        except Exception as error:
            raise EmbeddingError(f"{type(embedder).__name__} has no readable fingerprint: {error}") from error
        if not isinstance(own.dimensions, int) or own.dimensions < 1:
            raise EmbeddingError(f"embedder {self.fingerprint}: its dimensions must be a whole number of at least 1")
        if batch_size < 1:
            raise ConfigError(f"batch_size is {batch_size}; it must be at least 1")

    def embed_documents(self, texts: Sequence[str], targets: Sequence[object] | None = None) -> Vector:
        """Return one row per text: shape `(len(texts), dimensions)`, float32, of length 1 or 0.

        Args:
            texts: What to embed.
            targets: Whose texts they are, one per text, to be named by an error.

        Raises:
            EmbeddingError: The embedder failed, or returned a wrong count, width or value. The message names its
                fingerprint and the targets, never the texts, which may be private.
        """
        vectors = np.zeros((len(texts), self.fingerprint.dimensions), np.float32)
        for start in range(0, len(texts), self.batch_size):
            batch = texts[start : start + self.batch_size]
            names = [str(target) for target in targets[start : start + len(batch)]] if targets is not None else None
            names = names or [f"text {start + position}" for position in range(len(batch))]
            self._count_clipped(batch)
            vectors[start : start + len(batch)] = self._checked(self.embedder.embed_documents, batch, names)
            self.embedded += len(batch)
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question: shape `(dimensions,)`, float32, of length 1 or 0.

        Raises:
            EmbeddingError: As for documents.
        """
        self._count_clipped([text])
        rows = self._checked(lambda texts: [self.embedder.embed_query(texts[0])], [text], ["the query"])
        vector: Vector = rows[0]
        return vector

    def known_share(self, text: str) -> float:
        """Return the share of the text that the embedder knows; 1 for an embedder that cannot tell."""
        return self.embedder.known_share(text) if isinstance(self.embedder, KnowsVocabulary) else 1.0

    def _checked(self, embed: Callable[[Sequence[str]], object], texts: Sequence[str], names: Sequence[str]) -> Vector:
        """Call the embedder and return its rows, checked and normalised; any failure names the texts by `names`."""
        try:
            raw = np.asarray(embed(texts))
        except Exception as error:
            raise self._error(f"failed with {type(error).__name__}", names) from error
        if raw.dtype.kind not in "fiu":
            raise self._error(f"returned values of type {raw.dtype}, not numbers,", names)
        expected = (len(texts), self.fingerprint.dimensions)
        if raw.shape != expected:
            raise self._error(f"returned an array of shape {raw.shape}, not {expected},", names)
        with np.errstate(over="ignore"):
            vectors = raw.astype(np.float32)
        wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist()
        if wrong:
            raise self._error("returned values that are not finite", [names[row] for row in wrong])
        self._normalise(vectors)
        return vectors

    def _normalise(self, vectors: Vector) -> None:
        """Bring rows to length 1 in place; zero rows, and rows of a normalising embedder that are near, stay."""
        # In float64, where the square of no float32 is too large or too small.
        lengths = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
        tolerance = UNIT_TOLERANCE if self.fingerprint.normalized else 0.0
        off = (np.abs(lengths - 1.0) > tolerance) & (lengths > 0.0)
        vectors[off] = vectors[off] / lengths[off, np.newaxis]

    def _count_clipped(self, texts: Sequence[str]) -> None:
        bound = self.max_input_chars
        clipped = sum(len(text) > bound for text in texts) if bound is not None else 0
        if clipped and not self.clipped:
            logger.warning("%s reads only %d characters of a text; longer ones are cut short", self.fingerprint, bound)
        self.clipped += clipped

    def _error(self, fault: str, names: Sequence[str]) -> EmbeddingError:
        distinct = list(dict.fromkeys(names))
        more = len(distinct) - NAMED_TARGETS
        listed = ", ".join(distinct[:NAMED_TARGETS]) + (f" and {more} more" if more > 0 else "")
        return EmbeddingError(f"embedder {self.fingerprint} {fault} for {listed}")
