"""The in-memory index, kept equal to the state by following its generation.

Whoever committed a change, this process or another, the next query catches up with it in the same way. A query that
runs sees one generation: the one of its snapshot.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from itertools import islice

import numpy as np

from vault_memory.index.cosine import InMemoryFragmentCosineIndex
from vault_memory.index.state.snapshot import PackedRecord, Snapshot, unpack_places
from vault_memory.model import FragmentHit, Target, Vector

# Records joined into one load: large enough that the cost of a call vanishes, small enough that memory stays flat.
LOAD_RECORDS = 256


class GenerationMovedError(Exception):
    """The index is already further than the snapshot; take a new snapshot and ask again."""


class DenseMirror:
    """A cosine index over the vectors of a state."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._lock = threading.Lock()
        self._index = InMemoryFragmentCosineIndex(dimensions)
        self._state_id = ""
        self._generation = -1

    def query(
        self,
        snapshot: Snapshot,
        vector: Vector,
        top_k: int,
        max_per_record: int | None = None,
        *,
        scope: str | None = None,
        targets: Collection[Target] | None = None,
    ) -> list[FragmentHit]:
        """Return the best fragments as of the snapshot.

        Raises:
            GenerationMovedError: Another thread has taken the index past the snapshot.
        """
        # One query at a time: the scan uses every core that it can, so queries side by side would gain nothing.
        with self._lock:
            self._follow(snapshot)
            return self._index.query(vector, top_k, max_per_record, scope=scope, targets=targets)

    def _follow(self, snapshot: Snapshot) -> None:
        is_other = snapshot.state_id != self._state_id
        if snapshot.generation < self._generation and not is_other:
            raise GenerationMovedError
        if is_other or self._generation < snapshot.floor:
            fresh = InMemoryFragmentCosineIndex(self._dimensions)
            self._load(fresh, snapshot, -1)
            self._index, self._state_id = fresh, snapshot.state_id
        elif self._generation < snapshot.generation:
            for target in snapshot.removed_since(self._generation):
                self._index.remove(target)
            self._load(self._index, snapshot, self._generation)
        self._generation = snapshot.generation

    def _load(self, index: InMemoryFragmentCosineIndex, snapshot: Snapshot, since: int) -> None:
        rows = snapshot.packed_since(since)
        while batch := list(islice(rows, LOAD_RECORDS)):
            self._load_batch(index, batch)

    def _load_batch(self, index: InMemoryFragmentCosineIndex, batch: list[PackedRecord]) -> None:
        embedded = [packed for packed in batch if packed.matrix]
        for packed in batch:
            # Vectors of a text that is no longer there must not answer, so a record without new ones has none.
            if not packed.matrix:
                index.remove(packed.target)
        if not embedded:
            return
        places = [unpack_places(packed.places) for packed in embedded]
        matrix = np.frombuffer(b"".join(packed.matrix for packed in embedded), np.float32)
        index.load(
            [packed.target for packed in embedded],
            np.array([place.shape[1] for place in places], np.int64),
            np.concatenate([place[0] for place in places]),
            np.concatenate([place[1] for place in places]),
            matrix.reshape(-1, self._dimensions),
        )
