"""Where the rows live: blocks of a fixed capacity that only ever grow at their end.

A block is a frozen view. Appending fills rows behind the end of the view and makes a longer view of the same memory;
removing marks segments in a copy of the small `owners` array. So whoever holds an older view reads what it held, while
the writer goes on. A record is one contiguous run in one block, cut into segments of at most 64 rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from vault_memory.model import Vector

if TYPE_CHECKING:
    import numpy.typing as npt

    Small = npt.NDArray[np.int32]
    Whole = npt.NDArray[np.int64]
    Numbers = npt.NDArray[np.intp]
else:
    Small = Whole = Numbers = np.ndarray


# 8 MB of rows at 256 dimensions: few enough blocks that their fixed cost vanishes in the scan of a million rows, small
# enough that a compaction takes a few milliseconds.
BLOCK_ROWS = 8_192
SEGMENT_ROWS = 64
# A block is compacted when more than this share of it is dead, and a record larger than this share of a block gets one
# of its own size, so that neither marks nor unused ends ever hold much memory.
SPARE_SHARE = 0.25
NO_OWNER = -1


@dataclass(frozen=True, slots=True)
class Rows:
    """Fragments as arrays: unit or zero `vectors` (n, d) in float32, `starts` and `ends` (n,) of their locators."""

    vectors: Vector
    starts: Whole
    ends: Whole

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, part: slice | Numbers) -> Rows:
        return Rows(self.vectors[part], self.starts[part], self.ends[part])

    def write(self, first: int, rows: Rows) -> None:
        """Copy `rows` over these from number `first` on."""
        part = slice(first, first + len(rows))
        self.vectors[part], self.starts[part], self.ends[part] = rows.vectors, rows.starts, rows.ends


@dataclass(frozen=True, slots=True)
class Run:
    """Whole records, one after the other: their `rows`, and each one's number (`owners`) and number of rows."""

    rows: Rows
    owners: Small
    counts: Whole

    def segments(self) -> tuple[Small, Whole]:
        """Return owner and length of each segment: a record's are all full but its last."""
        if self.counts.max() <= SEGMENT_ROWS:
            return self.owners, self.counts
        pieces = -(-self.counts // SEGMENT_ROWS)
        lengths = np.full(pieces.sum(), SEGMENT_ROWS, dtype=np.int64)
        lengths[pieces.cumsum() - 1] = self.counts - SEGMENT_ROWS * (pieces - 1)
        return self.owners.repeat(pieces), lengths


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A view of the used rows of a piece of memory.

    Attributes:
        memory: As many rows as the block can ever hold.
        used: Number of rows in the view, dead ones included.
        dead: Number of those whose record is gone.
        bounds: First row of each segment, and `used`; segments follow each other without a gap.
        owners: The record number of each segment, `NO_OWNER` once it is dead.
    """

    memory: Rows
    used: int
    dead: int
    bounds: Numbers
    owners: Small

    @classmethod
    def empty(cls, capacity: int, dimensions: int) -> Block:
        """Return a block without rows; the system provides its memory only when it is first written."""
        vectors = np.empty((capacity, dimensions), dtype=np.float32)
        memory = Rows(vectors, np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64))
        return cls(memory, 0, 0, np.zeros(1, dtype=np.intp), np.empty(0, dtype=np.int32))

    @property
    def rows(self) -> Rows:
        """The rows of the view."""
        return self.memory[: self.used]

    @property
    def lengths(self) -> Numbers:
        """Number of rows of each segment."""
        return self.bounds[1:] - self.bounds[:-1]

    @property
    def room(self) -> int:
        """Number of rows that can still be appended."""
        return len(self.memory) - self.used

    @property
    def wasteful(self) -> bool:
        """Whether so many rows are dead that the living should move out."""
        return self.dead == self.used or self.dead > SPARE_SHARE * len(self.memory)

    def appended(self, run: Run) -> Block:
        """Return the view with whole records at its end; there must be room for them."""
        self.memory.write(self.used, run.rows)
        owners, lengths = run.segments()
        bounds = lengths.cumsum(dtype=np.intp) + self.used
        return Block(
            self.memory,
            self.used + len(run.rows),
            self.dead,
            np.concatenate((self.bounds, bounds)),
            np.concatenate((self.owners, owners)),
        )

    def without(self, owner: int) -> Block:
        """Return the view with a record's segments marked as dead."""
        gone = self.owners == owner
        owners = np.where(gone, np.int32(NO_OWNER), self.owners)
        return replace(self, dead=self.dead + int(self.lengths[gone].sum()), owners=owners)

    def living(self) -> Run:
        """Return the records that are not dead."""
        segments = np.flatnonzero(self.owners != NO_OWNER)
        owners = self.owners[segments]
        begins = run_begins(owners)
        counts = np.add.reduceat(self.lengths[segments], begins, dtype=np.int64)
        return Run(self.rows_of(segments), owners[begins], counts)

    def rows_of(self, segments: Numbers) -> Rows:
        """Return the rows of some segments, rising and at least one; a view where they lie side by side."""
        if segments[-1] - segments[0] + 1 == len(segments):
            return self.memory[self.bounds[segments[0]] : self.bounds[segments[-1] + 1]]
        lengths = self.lengths[segments]
        ends = lengths.cumsum()
        numbers = (self.bounds[segments] - ends + lengths).repeat(lengths) + np.arange(ends[-1])
        return self.memory[numbers]


def run_begins(values: npt.NDArray[np.integer]) -> Numbers:
    """Return where each run of equal values begins; `values` holds at least one."""
    return np.concatenate((np.zeros(1, dtype=np.intp), np.flatnonzero(values[1:] != values[:-1]) + 1))
