"""Vectors that were made before, in one SQLite file that vaults and processes share.

A cache saves work and nothing else: whatever goes wrong with its file costs time, never an answer.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

import numpy as np

from vault_memory.embed.checked import BATCH_TEXTS, CheckedEmbedder
from vault_memory.embed.protocol import Embedder
from vault_memory.model import Fingerprint, Vector, content_digest

logger = logging.getLogger(__name__)

# At 384 dimensions and 1.6 KB an entry, some 320 MB.
MAX_ENTRIES = 200_000

BUSY_SECONDS = 5.0
STORED = np.dtype("<f4")

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

# `used` is a clock of our own: every call that reads or writes entries marks them with the next number.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    fingerprint TEXT NOT NULL,
    digest TEXT NOT NULL,
    vector BLOB NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, digest)
);
CREATE INDEX IF NOT EXISTS vectors_by_use ON vectors (used);
"""
_NEXT_USE = "(SELECT coalesce(max(used), 0) + 1 FROM vectors)"
_THESE = "fingerprint = ? AND digest IN (SELECT value FROM json_each(?))"

_Answer = TypeVar("_Answer")


class EmbeddingCache:
    """Vectors of one embedding space by the digest of their text, least recently used entries dropped first.

    A connection lives only as long as one call, so that objects may be shared by threads and survive a fork. A file
    that is no database is set aside as `NAME.corrupt` and made anew; a place that cannot be written turns the cache
    off, with one line in the log.

    Args:
        path: The file; missing folders are made. Caches of all spaces may share it.
        fingerprint: The space whose vectors this object reads and writes.
        max_entries: Bound for the whole file.
    """

    def __init__(self, path: Path, fingerprint: Fingerprint, *, max_entries: int = MAX_ENTRIES) -> None:
        self.path = path
        self.fingerprint = fingerprint
        self.max_entries = max_entries
        self._off = False

    def get_many(self, digests: Collection[str]) -> dict[str, Vector]:
        """Return the vectors that are there, each of shape `(dimensions,)`, float32, by digest."""
        these = (str(self.fingerprint), json.dumps(list(digests)))

        def read(connection: sqlite3.Connection) -> list[tuple[str, bytes]]:
            return connection.execute(f"SELECT digest, vector FROM vectors WHERE {_THESE}", these).fetchall()

        def mark_used(connection: sqlite3.Connection) -> None:
            connection.execute(f"UPDATE vectors SET used = {_NEXT_USE} WHERE {_THESE}", these)

        nothing: list[tuple[str, bytes]] = []
        entries = self._run(read, nothing)
        if entries:
            self._run(mark_used, None)
        whole = STORED.itemsize * self.fingerprint.dimensions
        found = {digest: np.frombuffer(stored, STORED) for digest, stored in entries if len(stored) == whole}
        return {digest: vector for digest, vector in found.items() if np.isfinite(vector).all()}

    def put_many(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by the digest of their text, and drop what was unused for longest if there are too many."""
        space = str(self.fingerprint)
        entries = [(space, digest, vector.astype(STORED).tobytes()) for digest, vector in vectors.items()]

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            now = connection.execute(f"SELECT {_NEXT_USE}").fetchone()
            connection.executemany("REPLACE INTO vectors VALUES (?, ?, ?, ?)", [entry + now for entry in entries])
            connection.execute(
                "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY used DESC LIMIT -1 OFFSET ?)",
                (self.max_entries,),
            )
            connection.execute("COMMIT")

        self._run(write, None)

    def _run(self, act: Callable[[sqlite3.Connection], _Answer], otherwise: _Answer) -> _Answer:
        """Return what `act` does with a connection, or `otherwise` if the file does not let it."""
        for _attempt in range(2):
            if self._off:
                break
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
                with closing(connection):
                    # The mode stays with the file. While another process makes the file, this one finds it locked,
                    # without a wait; any other fault comes back with the next statement.
                    with suppress(sqlite3.OperationalError):
                        connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = NORMAL")
                    connection.executescript(_SCHEMA)
                    return act(connection)
            except (sqlite3.Error, OSError) as error:
                if not self._repaired(error):
                    break
        return otherwise

    def _repaired(self, error: Exception) -> bool:
        """Set a broken file aside and tell that another attempt makes sense; turn off unless the file is just busy."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            return False
        if code in _BROKEN:
            try:
                self.path.replace(self.path.with_name(self.path.name + ".corrupt"))
                for companion in ("-wal", "-shm"):
                    self.path.with_name(self.path.name + companion).unlink(missing_ok=True)
            except OSError as refusal:
                error = refusal
            else:
                logger.warning("embedding cache %s was broken (%s); set aside and made anew", self.path, error)
                return True
        self._off = True
        logger.warning("embedding cache %s is off: %s", self.path, error)
        return False


class CachedEmbedder:
    """An embedder that embeds only texts which its cache lacks, equal texts once.

    Args:
        embedder: Makes the vectors that are missing; it is checked first, so that no wrong vector is kept.
        path: The file of the cache.
        max_entries: Bound for the whole file.
    """

    def __init__(self, embedder: Embedder, path: Path, *, max_entries: int = MAX_ENTRIES) -> None:
        self.embedder = embedder if isinstance(embedder, CheckedEmbedder) else CheckedEmbedder(embedder)
        self.fingerprint = self.embedder.fingerprint
        self.max_input_chars = self.embedder.max_input_chars
        self.cache = EmbeddingCache(path, self.fingerprint, max_entries=max_entries)

    @property
    def embedded(self) -> int:
        """How many texts the cache lacked so far."""
        return self.embedder.embedded

    def embed_documents(self, texts: Sequence[str], targets: Sequence[object] | None = None) -> Vector:
        """Return one row per text: shape `(len(texts), dimensions)`, float32.

        What is missing is embedded and kept in batches, so that a failure loses no more than one.

        Args:
            texts: What to embed.
            targets: Whose texts they are, one per text, to be named by an error.

        Raises:
            EmbeddingError: As `CheckedEmbedder`, for texts that the cache lacks.
        """
        digests = [content_digest(text) for text in texts]
        vectors = self.cache.get_many(set(digests))
        missing = {digest: place for place, digest in enumerate(digests) if digest not in vectors}
        for start in range(0, len(missing), BATCH_TEXTS):
            batch = dict(list(missing.items())[start : start + BATCH_TEXTS])
            whose = [targets[place] for place in batch.values()] if targets is not None else None
            made = self.embedder.embed_documents([texts[place] for place in batch.values()], whose)
            fresh = dict(zip(batch, made, strict=True))
            self.cache.put_many(fresh)
            vectors.update(fresh)
        rows = np.zeros((len(texts), self.fingerprint.dimensions), np.float32)
        for row, digest in zip(rows, digests, strict=True):
            row[:] = vectors[digest]
        return rows

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question: shape `(dimensions,)`, float32. Questions are not kept.

        Raises:
            EmbeddingError: As `CheckedEmbedder`.
        """
        return self.embedder.embed_query(text)

    def known_share(self, text: str) -> float:
        """Return the share of the text that the embedder knows; 1 for an embedder that cannot tell."""
        return self.embedder.known_share(text)
