"""A query over one published state: scan, promising segments, exact scores, selection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from vault_memory.index.cosine.blocks import NO_OWNER, Block, Numbers, Small
from vault_memory.index.cosine.kernel import Scores, exact_scores, rows_read, scan, scan_error, segment_max
from vault_memory.index.cosine.roster import Mask
from vault_memory.index.cosine.selection import Scored, Wanted, promising, select
from vault_memory.model import FragmentHit, Target, Vector

# Below this many rows one thread is done before a second one has started.
ROWS_FOR_TWO_THREADS = 20_000
# Two threads read about as much memory in a second as a small machine can deliver.
CAN_USE_TWO_THREADS = (os.cpu_count() or 1) > 1


@dataclass(frozen=True, slots=True)
class State:
    """All that a query reads; a write publishes a new one and never changes an old one.

    Attributes:
        blocks: By number.
        open: Number of the block that takes the next records, if there is one.
        targets: The target of each record number.
        dimensions: Width of the vectors, once known.
        records: Number of records.
        fragments: Number of their fragments.
    """

    blocks: Mapping[int, Block] = field(default_factory=dict)
    open: int | None = None
    targets: list[Target] = field(default_factory=list)
    dimensions: int | None = None
    records: int = 0
    fragments: int = 0


@dataclass(frozen=True, slots=True)
class _Part:
    """A block with the numbers of the segments that may answer; `None` stands for all."""

    block: Block
    segments: Numbers | None

    @property
    def owners(self) -> Small:
        return self.block.owners if self.segments is None else self.block.owners[self.segments]

    def score(self, chosen: Numbers, limits: Scores, query: Scores) -> Scored:
        """Score the rows of some segments, given by their position among those of the part, that reach its limit."""
        segments = chosen if self.segments is None else self.segments[chosen]
        lengths = self.block.lengths[segments]
        rows = self.block.rows_of(segments)
        near = np.flatnonzero(scan(rows.vectors, query.astype(np.float32)) >= limits.repeat(lengths))
        rows = rows[near]
        owners = self.block.owners[segments].repeat(lengths)[near]
        return Scored(exact_scores(rows.vectors, query), owners, rows.starts, rows.ends)


def search(state: State, query: Scores, wanted: Wanted, kept: Mask | None) -> list[FragmentHit]:
    """Return the hits of a unit or zero query vector among the records that `kept` holds true (`None` for all)."""
    parts = [_Part(block, _answering(block, kept)) for block in state.blocks.values()]
    parts = [part for part in parts if part.segments is None or len(part.segments)]
    if not parts:
        return []
    maxima = _scan(parts, query.astype(np.float32))
    owners = np.concatenate([part.owners for part in parts])
    chosen, limits = promising(np.concatenate(maxima, dtype=np.float64), owners, wanted, scan_error(len(query)))
    begins = np.cumsum([0, *map(len, maxima)])
    cuts = np.searchsorted(chosen, begins)
    scored = [
        part.score(chosen[first:last] - begin, limits[first:last], query)
        for part, begin, (first, last) in zip(parts, begins, pairwise(cuts), strict=False)
        if first < last
    ]
    return select(Scored.joined(scored), wanted, state.targets)


def _answering(block: Block, kept: Mask | None) -> Numbers | None:
    if kept is not None:
        return np.flatnonzero(kept[block.owners])
    return np.flatnonzero(block.owners != NO_OWNER) if block.dead else None


def _scan(parts: list[_Part], query: Vector) -> list[Vector]:
    """Return the maxima of each part, with a second thread where there is enough to read."""
    maxima: list[Vector] = [query] * len(parts)
    # Both threads draw from one iterator, so that neither idles while a block waits; drawing is one step of the
    # interpreter, and a block scanned twice would do no harm.
    waiting = iter(list(enumerate(parts)))

    def work() -> None:
        for number, part in waiting:
            maxima[number] = segment_max(part.block, query, part.segments)

    if not CAN_USE_TWO_THREADS or sum(rows_read(part.block, part.segments) for part in parts) < ROWS_FOR_TWO_THREADS:
        work()
        return maxima
    # The thread lives for one query: starting it costs a twentieth of such a scan, and nothing has to be shut down.
    with ThreadPoolExecutor(1) as second:
        done = second.submit(work)
        work()
        done.result()
    return maxima
