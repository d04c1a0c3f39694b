"""Where a section may be cut: between its blocks, and inside a block that is longer than a fragment may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from vault_memory.chunking.cuts import Place
from vault_memory.config import ChunkSettings
from vault_memory.markdown.blocks import Block
from vault_memory.markdown.graphemes import cluster_cut, is_cluster_boundary

# A place is hashed with the text that follows it: enough to tell the rows of a table apart, little enough that an
# edit changes only the hashes of the few places just before it.
HASHED_CHARS = 64

# The ladder of places inside a block; each pattern ends where the next piece begins. A lone block id is never parted
# from the lines above it.
_BLOCK_ID = r"\^[A-Za-z0-9-]{1,64}+[^\S\r\n]*+(?:[\r\n]|\Z)"
_NEXT_LINE = rf"(?=[^\S\r\n]*+\S)(?![^\S\r\n]*+{_BLOCK_ID})"
_AFTER_BLANK_LINES = re.compile(rf"(?>\r\n|\n|\r)(?:[^\S\r\n]*+(?>\r\n|\n|\r))++{_NEXT_LINE}")
_LINE = re.compile(rf"(?>\r\n|\n|\r){_NEXT_LINE}")
# A sentence ends at a full stop of its script with what closes after it. Scripts that part words with spaces need one
# there, and no small letter behind it, so that abbreviations and numbers do not count.
_SENTENCE = re.compile(
    r"""(?:[.!?…؟۔।॥։][\])}"'”’»*_]*+\s++(?![a-z])|[。！？｡።។။][」』”’）】》〉"']*+\s*+)(?=\S)""",
)
_WORD = re.compile(r"(?:[，、；：]|\s)\s*+(?=\S)")
_PROSE = (_SENTENCE, _LINE)
_LAID_OUT = (_AFTER_BLANK_LINES, _LINE, _SENTENCE)

_LONE_BLOCK_ID = re.compile(rf"[^\S\r\n]*+{_BLOCK_ID}")
_WHOLE_IF_IT_FITS = ("fence", "math")


class _Unit(NamedTuple):
    """A block with what must not be parted from it: the heading above, the block id below."""

    start: int
    end: int
    main: Block


def find_places(body: str, blocks: Sequence[Block], stretch: tuple[int, int], settings: ChunkSettings) -> list[Place]:
    """Return where a stretch of a section may be cut.

    Args:
        body: The record's body.
        blocks: The blocks of the stretch, in order.
        stretch: Where it begins and ends.
        settings: The sizes.

    Returns:
        Places inside the stretch, rising, each offset once. Cut at all of them, no piece is longer than the maximum.
    """
    start, end = stretch
    found: dict[int, int] = {}
    for unit in _units(body, blocks, stretch, settings.max_chars):
        found[unit.start] = 1 if unit.main.kind == "heading" else 0
        if unit.end - unit.start > settings.max_chars:
            for rank, position in _Division.of(body, unit, settings).places():
                found.setdefault(position, rank)
    return [
        (position, rank << 32 | _hash(body[position : min(position + HASHED_CHARS, end)]))
        for position, rank in found.items()
        if start < position < end
    ]


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _units(body: str, blocks: Sequence[Block], stretch: tuple[int, int], longest: int) -> list[_Unit]:
    """Join headings to the block below them and lone block ids to the block above; the units cover the stretch."""
    start, end = stretch
    units: list[_Unit] = []
    for block in blocks:
        last = units[-1] if units else None
        if last is not None and _is_owned(body, block, last, longest):
            units[-1] = last._replace(end=block.end)
        elif last is not None and _is_headed(block, last, longest):
            units[-1] = _Unit(last.start, block.end, block)
        else:
            units.append(_Unit(block.start if units else start, block.end, block))
    ends = [*(unit.start for unit in units[1:]), end]
    return [unit._replace(end=until) for unit, until in zip(units, ends, strict=True)]


def _is_owned(body: str, block: Block, last: _Unit, longest: int) -> bool:
    """Tell whether a block is the lone block id of the unit above it."""
    return (
        block.kind == "paragraph"
        and last.main.kind != "heading"
        and block.end - last.end <= longest // 4
        and _may_join(last.main, block.end - last.start, longest)
        and _LONE_BLOCK_ID.fullmatch(body, block.start, block.end) is not None
    )


def _is_headed(block: Block, last: _Unit, longest: int) -> bool:
    """Tell whether the unit above a block is its heading, and may stay with it."""
    return (
        last.main.kind == "heading"
        and block.kind != "heading"
        and block.start - last.start <= longest // 2
        and _may_join(block, block.end - last.start, longest)
    )


def _may_join(main: Block, joined: int, longest: int) -> bool:
    """Tell whether a block may take a neighbour in: code and formulas only if they still fit into one fragment."""
    return joined <= longest or main.kind not in _WHOLE_IF_IT_FITS


@dataclass(frozen=True, slots=True)
class _Division:
    """The places inside one unit that is too long, the most natural ones first.

    Attributes:
        body: The record's body.
        unit: What is divided.
        ladder: Patterns to try in turn on what is still too long.
        longest: Length above which a piece is divided further.
        step: Least distance of places between words, and distance of places in a run that offers none: a small part
            of the target, so that a long text without sentences does not have more places than it needs. They are
            counted from the beginning of the sentence or run; an edit inside moves those behind it up to its end.
    """

    body: str
    unit: _Unit
    ladder: tuple[re.Pattern[str], ...]
    longest: int
    step: int

    @classmethod
    def of(cls, body: str, unit: _Unit, settings: ChunkSettings) -> _Division:
        ladder = _PROSE if unit.main.kind in {"paragraph", "heading"} else _LAID_OUT
        return cls(body, unit, ladder, settings.max_chars, max(settings.target_chars // 16, 1))

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield `(rank, offset)`, rising in the offset; ranks start at 2."""
        yield from self._divide(self.unit.start, self.unit.end, self.unit.main.breaks, 0)

    def _divide(self, start: int, end: int, positions: Sequence[int], level: int) -> Iterator[tuple[int, int]]:
        for left, right in pairwise((start, *positions, end)):
            if left != start:
                yield level + 2, left
            if right - left > self.longest and len(self.body[left:right].rstrip()) > self.longest:
                yield from self._divide(left, right, self._positions(left, right, level), level + 1)

    def _positions(self, start: int, end: int, level: int) -> list[int]:
        """Return the places of one rung of the ladder inside a piece."""
        if level > len(self.ladder):
            return self._run_positions(start, end)
        first, last = max(start, self.unit.main.start), min(end, self.unit.main.end)
        if level == len(self.ladder):
            return self._word_positions(first, last)
        matches = self.ladder[level].finditer(self.body, first, last)
        return [match.end() for match in matches if is_cluster_boundary(self.body, match.end())]

    def _word_positions(self, start: int, end: int) -> list[int]:
        """Return beginnings of words."""
        positions: list[int] = []
        position = start
        while match := _WORD.search(self.body, position, end):
            if is_cluster_boundary(self.body, match.end()):
                positions.append(match.end())
            position = match.end() + self.step - 1
        return positions

    def _run_positions(self, start: int, end: int) -> list[int]:
        """Return places in a run that offers none, moved so that no grapheme cluster is cut."""
        positions: list[int] = []
        position = start
        while end - position > self.step:
            latest = min(position + self.longest, end)
            position = cluster_cut(self.body, position, position + self.step, latest)
            positions.append(position)
        return positions
