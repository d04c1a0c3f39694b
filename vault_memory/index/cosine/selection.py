"""From maxima to hits: which segments can still hold one under the cap, and which rows are the hits."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vault_memory.index.cosine.blocks import Numbers, Small, Whole, run_begins
from vault_memory.index.cosine.kernel import Scores
from vault_memory.model import FragmentHit, FragmentLocator, Target


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many hits are asked for, and how many of them one record may give; `cap` is at most `top_k`."""

    top_k: int
    cap: int


@dataclass(frozen=True, slots=True)
class Scored:
    """Rows with their exact scores: parallel arrays of shape (n,); `owners` are record numbers."""

    scores: Scores
    owners: Small
    starts: Whole
    ends: Whole

    @classmethod
    def joined(cls, pieces: Sequence[Scored]) -> Scored:
        """Return the rows of all pieces, one after the other; at least one piece."""
        return cls(
            np.concatenate([piece.scores for piece in pieces]),
            np.concatenate([piece.owners for piece in pieces]),
            np.concatenate([piece.starts for piece in pieces]),
            np.concatenate([piece.ends for piece in pieces]),
        )

    def __getitem__(self, part: Numbers) -> Scored:
        return Scored(self.scores[part], self.owners[part], self.starts[part], self.ends[part])


def promising(maxima: Scores, owners: Small, wanted: Wanted, error: float) -> tuple[Numbers, Scores]:
    """Return the numbers of the segments that can hold a hit, rising, and the least scan score of a hit in each.

    Every maximum is the score of some row. The best rows of the `top_k` best records may all be answers at once, and
    so may the `cap` best maxima of each record; the worst of such `top_k` rows is a score that no hit is below. And a
    record's hits are not below its own `cap`-th maximum. Both limits are lowered by what the scan may have missed on
    either side.

    Args:
        maxima: Scan score of each segment's best row; at least one.
        owners: The record of each segment; a record's segments follow each other.
        wanted: The numbers asked for.
        error: `scan_error` of the scan.
    """
    floor = _nth_largest(np.maximum.reduceat(maxima, run_begins(owners)), wanted.top_k)
    near = np.flatnonzero(maxima >= floor - 2.0 * error)
    near = near[np.lexsort((-maxima[near], owners[near]))]
    best = maxima[near]
    begins, lengths, ranks = _runs(owners[near])
    floor = _nth_largest(best[ranks < wanted.cap], wanted.top_k)
    own_floors = np.where(lengths >= wanted.cap, best[begins + np.minimum(lengths, wanted.cap) - 1], -np.inf)
    limits = np.maximum(floor, np.repeat(own_floors, lengths)) - 2.0 * error
    chosen = np.flatnonzero(best >= limits)
    chosen = chosen[near[chosen].argsort()]
    return near[chosen], limits[chosen]


def select(rows: Scored, wanted: Wanted, targets: Sequence[Target]) -> list[FragmentHit]:
    """Return the `top_k` best rows, at most `cap` of one record: by score, then target, then place."""
    rows = rows[np.lexsort((rows.ends, rows.starts, -rows.scores, rows.owners))]
    rows = rows[np.flatnonzero(_runs(rows.owners)[2] < wanted.cap)]
    rows = rows[np.flatnonzero(rows.scores >= _nth_largest(rows.scores, wanted.top_k))]
    answers = zip(
        (-rows.scores).tolist(),
        map(targets.__getitem__, rows.owners.tolist()),
        rows.starts.tolist(),
        rows.ends.tolist(),
        strict=True,
    )
    return [
        FragmentHit(target, FragmentLocator(start, end), -score)
        for score, target, start, end in heapq.nsmallest(wanted.top_k, answers)
    ]


def _runs(owners: Small) -> tuple[Numbers, Numbers, Numbers]:
    """Return where each run of equal owners begins, its length, and each item's rank inside its run."""
    begins = run_begins(owners)
    lengths = np.diff(begins, append=len(owners))
    return begins, lengths, np.arange(len(owners)) - np.repeat(begins, lengths)


def _nth_largest(values: Scores, number: int) -> float:
    """Return the `number`-th largest value, or minus infinity if there are fewer."""
    if len(values) < number:
        return -np.inf
    return float(np.partition(values, len(values) - number)[len(values) - number])
