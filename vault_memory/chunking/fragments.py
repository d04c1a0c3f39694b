"""Sections of a body, and the fragments that they make."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from vault_memory.chunking.cuts import choose_cuts, reach
from vault_memory.chunking.places import find_places
from vault_memory.config import ChunkSettings
from vault_memory.markdown.blocks import Block, parse_blocks
from vault_memory.markdown.packed import find_packed_spans
from vault_memory.model import Fragment, FragmentLocator

DEFAULT_SETTINGS = ChunkSettings()
_FIRST_LINE = re.compile(r"[^\r\n]+")


class _Section(NamedTuple):
    """Headings without content between them, and the content under the last one."""

    start: int
    end: int
    headings: Sequence[Block]
    blocks: Sequence[Block]


def chunk_markdown(body: str, settings: ChunkSettings = DEFAULT_SETTINGS) -> list[Fragment]:
    """Cut a body into fragments.

    A fragment is whole blocks of one section, about `target_chars` of them. A block longer than `max_chars` is divided:
    at items, rows or blank lines, then lines and sentences, then words, then between grapheme clusters. A heading
    without content of its own goes with the text that follows it.

    Laws:
        - `body[start:end] == text`; starts rise; fragments do not overlap; none is longer than `max_chars`.
        - A fragment begins and ends with a line that is not blank, and keeps the first line's indentation.
        - Every character that is not blank is in a fragment, but for packed data (`find_packed_spans`).
        - No fragment reaches from one section into another, and sections that are not edited keep their fragments.
        - An edit inside a long section keeps the fragments that are not near it; see `vault_memory.chunking.cuts`.

    Args:
        body: A record's body, line ends as stored.
        settings: The sizes, in characters.

    Returns:
        The fragments in order. Each has the heading path of the last heading that it begins with, or stands under.
    """
    packed = find_packed_spans(body)
    fragments: list[Fragment] = []
    for section in _sections(body, parse_blocks(body)):
        for stretch in _outside(packed, section.start, section.end):
            for start, end in _pieces(body, section, stretch, settings):
                path, head = _heading_path(section, end), _table_head(body, section.blocks, start)
                fragments.append(Fragment(FragmentLocator(start, end), body[start:end], path, head))
    return fragments


def _sections(body: str, blocks: Sequence[Block]) -> Iterator[_Section]:
    """Yield the sections, which together cover the whole body."""
    start = first = 0
    headings: list[Block] = []
    has_content = False
    for index, block in enumerate(blocks):
        kind = block.kind
        if kind == "heading":
            if has_content:
                yield _Section(start, block.start, headings, blocks[first:index])
                start, first, headings, has_content = block.start, index, [], False
            headings.append(block)
        elif kind != "thematic_break":
            has_content = True
    yield _Section(start, len(body), headings, blocks[first:])


def _outside(packed: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a span that hold no packed data."""
    index = max(bisect_right(packed, (start, start)) - 1, 0)
    while index < len(packed) and packed[index][0] < end:
        if packed[index][0] > start:
            yield start, packed[index][0]
        start = max(start, packed[index][1])
        index += 1
    if start < end:
        yield start, end


def _pieces(body: str, section: _Section, stretch: tuple[int, int], settings: ChunkSettings) -> list[tuple[int, int]]:
    """Return the spans of the fragments of a stretch of a section."""
    start, end = _trimmed(body, *stretch)
    if end - start <= reach(settings):
        return [(start, end)] if start < end else []
    places = find_places(body, _blocks_between(section.blocks, start, end), (start, end), settings)
    pieces = [_trimmed(body, left, right) for left, right in pairwise(choose_cuts(places, start, end, settings))]
    return [piece for piece in pieces if piece[0] < piece[1]]


def _blocks_between(blocks: Sequence[Block], start: int, end: int) -> list[Block]:
    """Return the blocks that reach into a stretch, as far as they do; text outside of all blocks counts as prose."""
    first = max(bisect_right(blocks, start, key=_start_of) - 1, 0)
    found = blocks[first : bisect_left(blocks, end, key=_start_of)]
    inside = [
        block if start <= block.start and block.end <= end else _clipped(block, start, end)
        for block in found
        if block.end > start
    ]
    return inside or [Block("paragraph", start, end)]


def _clipped(block: Block, start: int, end: int) -> Block:
    breaks = tuple(place for place in block.breaks if start < place < end)
    return block._replace(start=max(block.start, start), end=min(block.end, end), breaks=breaks)


def _start_of(block: Block) -> int:
    return block.start


def _trimmed(body: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the blanks at its end, and without those at its start but for indentation.

    Nothing but blanks gives an empty span.
    """
    text = body[start:end]
    end = start + len(text.rstrip())
    first = start + len(text) - len(text.lstrip())
    if first == start or first >= end:
        return start, end
    from_line_end = max(start - 1, 0)
    line = max(body.rfind("\n", from_line_end, first), body.rfind("\r", from_line_end, first)) + 1
    return (line if line >= start else first), end


def _table_head(body: str, blocks: Sequence[Block], start: int) -> FragmentLocator | None:
    """Return the head row of the table that an offset lies in, behind its first line."""
    index = bisect_left(blocks, start, key=_start_of) - 1
    if index < 0 or blocks[index].kind != "table" or start >= blocks[index].end:
        return None
    row = _FIRST_LINE.match(body, blocks[index].start)
    return FragmentLocator(*row.span()) if row is not None and row.end() < start else None


def _heading_path(section: _Section, end: int) -> tuple[str, ...]:
    """Return the path of the last heading of a section that begins before an offset."""
    count = bisect_left(section.headings, end, key=_start_of)
    return section.headings[count - 1].heading_path if count else ()
