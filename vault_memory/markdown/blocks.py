"""Body to blocks, with exact spans over the original text.

The structure is that of the CommonMark specification 0.31.2 with the tables of GitHub Flavored Markdown, and Obsidian's
callouts, comments and math. A link reference definition is a paragraph here: its words belong to the note.

Most of a note is passed over by patterns that match many lines at once; only lists and quotes are read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from vault_memory.markdown.containers import read_container
from vault_memory.markdown.headings import Heading, find_atx, find_underlined
from vault_memory.markdown.lines import last_line, line_stop, plain_stop, skip_blanks, with_plain_line_ends
from vault_memory.markdown.openings import MARKER, RULE, starts_block
from vault_memory.markdown.tables import is_table_head, table_end
from vault_memory.markdown.verbatim import find_verbatim
from vault_memory.model import BlockKind


class Block(NamedTuple):
    """A top-level block of a body.

    Attributes:
        kind: What it is.
        start: Offset of the first character of its first line, indentation included.
        end: Offset behind the last character of its last line, the line end excluded.
        heading_path: Texts of the headings that it is under, outermost first; a heading is under itself.
        level: 1 to 6 for a heading, else 0.
        text: The heading's text without marks, else empty.
        text_start: Offset of that text in the body (where the heading is empty, of the place for it), else `start`.
        breaks: Offsets of lines inside a list, quote or callout at which an item or a child block begins, rising and
            without `start`: the places where a block that is too long is cut first.
    """

    kind: BlockKind
    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    level: int = 0
    text: str = ""
    text_start: int = 0
    breaks: tuple[int, ...] = ()


_INDENTED_LINE = r"(?: {4}| {0,3}+\t)[ \t]*+[^ \t\n].*+"
_INDENTED_CODE = re.compile(_INDENTED_LINE + r"(?:\n(?:[ \t]*+\n)*+" + _INDENTED_LINE + ")*+")
_NEXT_LINE = re.compile(r"\n( {0,3}+)([ \t]*+)(?=[^ \t\n])")
_LITTLE_INDENT = re.compile(r" {0,3}+(?![ \t])")
_CALLOUT = re.compile(r">[ \t]*+\[![^\]\n]++\]")


def parse_blocks(body: str) -> list[Block]:
    r"""Return the top-level blocks of a body in order of their starts; they do not overlap.

    Every character that is not blank lies in a block, and a block is whole lines without the last line end.

    Args:
        body: The text behind a record's header, with line ends of any of the three kinds.

    Returns:
        The blocks, with offsets in `body`.

    Example:
        >>> [(block.kind, block.start, block.end) for block in parse_blocks("# Peas\n\n- sow\n- water\n")]
        [('heading', 0, 6), ('list', 8, 21)]
    """
    text = with_plain_line_ends(body)
    blocks: list[Block] = []
    outline = _Outline()
    position, size = 0, len(text)
    while position < size:
        mark = text[position]
        if mark == "\n":
            position += 1
            continue
        if mark in " \t":
            block = _indented(text, position, outline)
            if block is None:
                position = skip_blanks(text, position)
                continue
        else:
            block = _read(text, position, position, outline)
        blocks.append(block)
        position = block.end
    return blocks if text is body else [_without_return(block, body) for block in blocks]


def _without_return(block: Block, body: str) -> Block:
    return block._replace(end=block.end - 1) if body[block.end - 1] == "\r" else block


class _Outline:
    """The headings above a place."""

    def __init__(self) -> None:
        self.path: tuple[str, ...] = ()
        self._levels: list[int] = []

    def enter(self, level: int, title: str) -> None:
        """Go below a heading, and out of all those that are not above it."""
        while self._levels and self._levels[-1] >= level:
            self._levels.pop()
        self.path = (*self.path[: len(self._levels)], title)
        self._levels.append(level)


def _indented(text: str, start: int, outline: _Outline) -> Block | None:
    """Read the block on a line that starts with blanks, or return `None` where there is nothing else on it."""
    code = _INDENTED_CODE.match(text, start)
    if code:
        return Block("indented_code", start, code.end(), outline.path, 0, "", start)
    at = skip_blanks(text, start)
    if at == len(text) or text[at] == "\n":
        return None
    return _read(text, start, at, outline)


def _read(text: str, start: int, at: int, outline: _Outline) -> Block:
    reader = _READERS.get(text[at])
    block = reader(text, start, at, outline) if reader else None
    return block or _paragraph(text, start, at, outline)


def _atx(text: str, start: int, at: int, outline: _Outline) -> Block | None:
    heading = find_atx(text, at)
    return _heading(start, heading, outline) if heading else None


def _heading(start: int, heading: Heading, outline: _Outline) -> Block:
    level, title, title_start, end = heading
    outline.enter(level, title)
    return Block("heading", start, end, outline.path, level, title, title_start)


def _verbatim(text: str, start: int, at: int, outline: _Outline) -> Block | None:
    verbatim = find_verbatim(text, at)
    return Block(verbatim.kind, start, verbatim.end_in(text), outline.path, 0, "", start) if verbatim else None


def _quote(text: str, start: int, at: int, outline: _Outline) -> Block:
    end, breaks = read_container(text, start, ">")
    kind: BlockKind = "callout" if _CALLOUT.match(text, at) else "quote"
    return Block(kind, start, end, outline.path, 0, "", start, breaks)


def _rule_or_list(text: str, start: int, at: int, outline: _Outline) -> Block | None:
    rule = RULE.match(text, at)
    if rule:
        return Block("thematic_break", start, rule.end(), outline.path, 0, "", start)
    marker = MARKER.match(text, at)
    if not marker:
        return None
    end, breaks = read_container(text, start, text[marker.end() - 1])
    return Block("list", start, end, outline.path, 0, "", start, breaks)


def _paragraph(text: str, start: int, at: int, outline: _Outline) -> Block:
    """Read a paragraph, or what its later lines make of it: a heading by its underline, a table by its second row."""
    run, stop = start, plain_stop(text, at)
    while line := _NEXT_LINE.match(text, stop):
        following = line.end()
        # A line that is indented by four columns or more goes on with the paragraph, whatever it looks like.
        if not line[2]:
            header = _table_header(text, run, stop, following)
            if header == start:
                return Block("table", start, table_end(text, line_stop(text, following)), outline.path, 0, "", start)
            if header is not None:
                stop = header - 1
                break
            heading = find_underlined(text, at, stop, following)
            if heading:
                return _heading(start, heading, outline)
            if starts_block(text, following, in_paragraph=True):
                break
        run, stop = line.start(1), plain_stop(text, following)
    return Block("paragraph", start, stop, outline.path, 0, "", start)


def _table_header(text: str, run: int, stop: int, following: int) -> int | None:
    """Return the start of the last line of `text[run:stop]` if a table starts there, given the next line's text."""
    if text[following] not in "|-:":
        return None
    start = last_line(text, run, stop)
    indent = _LITTLE_INDENT.match(text, start)
    return start if indent and is_table_head(text, indent.end(), stop, following) else None


_Reader = Callable[[str, int, int, _Outline], Block | None]
_READERS: dict[str, _Reader] = {
    "#": _atx,
    ">": _quote,
    **dict.fromkeys("`~<%$", _verbatim),
    **dict.fromkeys("-+*_0123456789", _rule_or_list),
}
