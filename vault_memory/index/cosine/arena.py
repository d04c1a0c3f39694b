"""One write's work on the blocks: places new records, marks old ones, moves the living out of wasteful blocks."""

from __future__ import annotations

from collections.abc import Mapping

from vault_memory.index.cosine.blocks import SPARE_SHARE, Block, Run


class Arena:
    """The blocks as one write changes them; nothing is seen outside until the caller takes them over.

    Attributes:
        blocks: By number; numbers rise in the order of the mapping.
        open: Number of the block that takes the next records, if there is one.
        homes: Block number of each record, by record number, where this write changed it.
    """

    def __init__(self, blocks: Mapping[int, Block], open_block: int | None, block_rows: int) -> None:
        self.blocks = dict(blocks)
        self.open = open_block
        self.homes: dict[int, int] = {}
        self._block_rows = block_rows

    def place(self, run: Run) -> None:
        """Append whole records, to the open block as long as they fit."""
        ends = run.counts.cumsum()
        done = first = 0
        while done < len(run.counts):
            number = self._block_for(int(run.counts[done]), run.rows.vectors.shape[1])
            block = self.blocks[number]
            last = int(ends.searchsorted(first + block.room, side="right"))
            part = Run(run.rows[first : int(ends[last - 1])], run.owners[done:last], run.counts[done:last])
            self.blocks[number] = block.appended(part)
            self.homes.update(dict.fromkeys(part.owners.tolist(), number))
            done, first = last, int(ends[last - 1])

    def drop(self, owner: int, home: int) -> int:
        """Mark a record as dead and return how many rows it had; `home` is its block when the write began."""
        number = self.homes.pop(owner, home)
        before = self.blocks[number]
        block = before.without(owner)
        self.blocks[number] = block
        if block.wasteful:
            self._dissolve(number)
        return block.dead - before.dead

    def _dissolve(self, number: int) -> None:
        block = self.blocks.pop(number)
        if number == self.open:
            self.open = None
        if block.dead < block.used:
            self.place(block.living())

    def _block_for(self, count: int, dimensions: int) -> int:
        """Return the number of a block with room for a record of `count` rows."""
        if self.open is not None and self.blocks[self.open].room >= count:
            return self.open
        number = next(reversed(self.blocks), -1) + 1
        if count > SPARE_SHARE * self._block_rows:
            self.blocks[number] = Block.empty(count, dimensions)
        else:
            self.blocks[number] = Block.empty(self._block_rows, dimensions)
            self.open = number
        return number
