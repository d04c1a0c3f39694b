"""Lists and quotes: where one that starts at the top level ends, and where its items and child blocks begin."""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import Enum, auto

from vault_memory.markdown.headings import find_atx, is_underline
from vault_memory.markdown.lines import BLANK_LINE, PLAIN, PLAIN_LINES, column_behind, last_line, skip_blanks
from vault_memory.markdown.nesting import Nesting
from vault_memory.markdown.openings import MARKER, RuleFinder, starts_block
from vault_memory.markdown.tables import is_table_head
from vault_memory.markdown.verbatim import Verbatim, find_verbatim

# An item whose text is a paragraph, with all lines of it, and the blank lines behind.
_PLAIN_ITEM = re.compile(
    r"([ \t]*+)(?:[-+*]|[0-9]{1,9}+[.)])( {1,4}+)(" + PLAIN + PLAIN_LINES + r")(?:\n|\Z)((?:[ \t]*+\n)*+)"
)
# Lines of a paragraph that is all there is in a quote.
_PLAIN_QUOTED = re.compile(r"(?: {0,3}+> {0,4}+" + PLAIN + r".*+(?:\n|\Z))++")
_QUOTE_MARK = re.compile(r" {0,3}+> {0,4}+")
_MAY_GO_ON_WITH_A_LIST = " \t\n-+*0123456789"


class _Leaf(Enum):
    """What the innermost open block is."""

    NONE = auto()
    PARAGRAPH = auto()
    CODE = auto()
    TABLE = auto()
    VERBATIM = auto()


def read_container(text: str, start: int, root: str) -> tuple[int, tuple[int, ...]]:
    """Read the list or quote whose first line starts at `start`.

    Args:
        text: The whole text.
        start: Offset of the line, indentation included.
        root: `>` for a quote, else the last character of the first item's marker.

    Returns:
        The offset behind the text of its last line, and the starts of the lines, but for the first, on which an item or
        a child block begins.
    """
    container = _Container(text, root)
    position = start
    while position < len(text):
        position = container.take_plain_lines(position)
        if position >= len(text) or not container.take_line(position):
            break
        position = container.nesting.stop + 1
    return container.end, tuple(container.breaks[1:])


class _Container:
    """A list or quote of the top level, as far as its lines have been read.

    Attributes:
        nesting: Its open items and quotes, and the place in the line that is being read.
        leaf: The innermost open block.
        verbatim: That block, where it is verbatim.
        empty_item: Whether the innermost item has no text yet.
        header: Start of the last line, or lines, of an open paragraph and of their text, if a table may begin there.
        rules: Finds thematic breaks.
        breaks: Starts of the lines that open a block, the first one included.
        end: Offset behind the text of the last line that belongs to the container.
    """

    def __init__(self, text: str, root: str) -> None:
        self.text = text
        self.root = root
        self.nesting = Nesting(text)
        self.leaf = _Leaf.NONE
        self.verbatim: Verbatim | None = None
        self.empty_item = False
        self.header: tuple[int, int] | None = None
        self.rules = RuleFinder(text)
        self.breaks: list[int] = []
        self.end = 0

    def take_plain_lines(self, position: int) -> int:
        """Read lines of the most usual kind, many at once; return the start of the first line of another kind."""
        edges = self.nesting.edges
        if self.leaf is _Leaf.VERBATIM:
            return position
        if self.root != ">":
            return self._take_plain_items(position) if len(edges) == 1 else position
        return self._take_plain_quoted(position) if edges == [[], []] and self.leaf is not _Leaf.TABLE else position

    def _take_plain_items(self, position: int) -> int:
        text, edges, leaf = self.text, self.nesting.edges[0], self.leaf
        while item := _PLAIN_ITEM.match(text, position):
            (_, following), (_, indented), (marked, _), (words, stop), (blanks, blanks_stop) = item.regs
            column = column_behind(item[1], 0) if indented > position else 0
            held = bisect_right(edges, column)
            mark = text[marked - 1]
            if column - (edges[held - 1] if held else 0) > 3 or (not held and mark != self.root):
                break
            # Within the item's own paragraph, only the number 1 begins another item.
            if held == len(edges) and leaf is _Leaf.PARAGRAPH and mark in ".)":
                break
            edges[held:] = [column + words - indented]
            self.breaks.append(position)
            leaf = _Leaf.NONE if blanks < blanks_stop else _Leaf.PARAGRAPH
            self.header, self.end, self.empty_item = (position, words), stop, False
            position = following
        self.leaf = leaf
        return position

    def _take_plain_quoted(self, position: int) -> int:
        lines = _PLAIN_QUOTED.match(self.text, position)
        if not lines:
            return position
        if self.leaf is not _Leaf.PARAGRAPH:
            self.breaks.append(position)
        self.leaf = _Leaf.PARAGRAPH
        self.end = lines.end() - self.text.endswith("\n", position, lines.end())
        line = last_line(self.text, position, self.end)
        mark = _QUOTE_MARK.match(self.text, line)
        self.header = (line, mark.end()) if mark else None
        return lines.end()

    def take_line(self, start: int) -> bool:
        """Read one line, unless it does not belong to the container; tell whether it does."""
        if self._surely_ends(start):
            return False
        whole = self.nesting.enter_line(start)
        if self.nesting.blank:
            return self._take_blank(whole)
        if whole and self.leaf is _Leaf.VERBATIM:
            self._take_verbatim(self.nesting.at)
        elif not self._continues(start, whole):
            inside = self.nesting.quotes or self.nesting.items or not self.breaks
            if not inside and not self._is_sibling():
                return False
            self._open(start)
        self.end = self.nesting.stop
        return True

    def _surely_ends(self, start: int) -> bool:
        """Tell whether a line ends a list at first sight, as nearly all do that end one: no blank, no marker."""
        return self.root != ">" and self.leaf is not _Leaf.PARAGRAPH and self.text[start] not in _MAY_GO_ON_WITH_A_LIST

    def _take_blank(self, whole: bool) -> bool:
        if self.root == ">" and not self.nesting.quotes:
            return False
        if not whole:
            self.nesting.close_others()
        elif self.empty_item:
            self.nesting.edges[-1].pop()
        self.empty_item = False
        in_verbatim = self.leaf is _Leaf.VERBATIM and self.verbatim and self.verbatim.closer is not BLANK_LINE
        if not whole or not (in_verbatim or self.leaf is _Leaf.CODE):
            self.leaf = _Leaf.NONE
        if self.nesting.quotes:
            self.end = self.nesting.stop
        return True

    def _take_verbatim(self, at: int) -> None:
        verbatim, nesting = self.verbatim, self.nesting
        if verbatim and not (verbatim.fence and nesting.indent > 3) and verbatim.closes_on(self.text, at, nesting.stop):
            self.leaf = _Leaf.NONE

    def _continues(self, start: int, whole: bool) -> bool:
        """Tell whether the line goes on with the innermost open block, be it lazily."""
        far = self.nesting.indent > 3
        if self.leaf is _Leaf.PARAGRAPH:
            return self._continues_paragraph(start, whole, far)
        if self.leaf is _Leaf.TABLE:
            return whole and not far and not starts_block(self.text, self.nesting.at, in_paragraph=False)
        return self.leaf is _Leaf.CODE and whole and far

    def _continues_paragraph(self, start: int, whole: bool, far: bool) -> bool:
        at = self.nesting.at
        if whole and not far:
            if self._is_table_head():
                self.leaf = _Leaf.TABLE
                return True
            if is_underline(self.text, at):
                self.leaf = _Leaf.NONE
                return True
        if not far and starts_block(self.text, at, in_paragraph=whole):
            return False
        self.header = (start, at) if whole and not far else None
        return True

    def _is_table_head(self) -> bool:
        at = self.nesting.at
        if self.header is None or self.text[at] not in "|-:":
            return False
        start, words = self.header
        line = last_line(self.text, words, self.end)
        if line > words:
            start, words = line, skip_blanks(self.text, line)
            if not 0 <= column_behind(self.text[line:words], 0) - self.nesting.edges[0][-1] <= 3:
                return False
        if not is_table_head(self.text, words, self.end, at):
            return False
        if start > self.breaks[-1]:
            self.breaks.append(start)
        return True

    def _is_sibling(self) -> bool:
        marker = MARKER.match(self.text, self.nesting.at) if self.nesting.indent <= 3 else None
        return bool(marker and self.text[marker.end() - 1] == self.root and not self.rules.starts(self.nesting.at))

    def _open(self, start: int) -> None:
        """Close the blocks that do not hold the line, and open those that it starts."""
        nesting = self.nesting
        nesting.close_others()
        self.empty_item = False
        while not nesting.blank and nesting.indent <= 3 and self._open_container():
            pass
        self.leaf = _Leaf.NONE
        if not nesting.blank:
            self._open_leaf(start)
        self.breaks.append(start)

    def _open_container(self) -> bool:
        if self.text[self.nesting.at] == ">":
            self.nesting.open_quote()
            self.empty_item = False
            return True
        marker = MARKER.match(self.text, self.nesting.at)
        if not marker or self.rules.starts(self.nesting.at):
            return False
        self.nesting.open_item(marker.end())
        self.empty_item = self.nesting.blank
        return True

    def _open_leaf(self, start: int) -> None:
        at = self.nesting.at
        if self.nesting.indent > 3:
            self.leaf = _Leaf.CODE
            return
        self.verbatim = find_verbatim(self.text, at)
        if self.verbatim:
            self.leaf = _Leaf.VERBATIM
            self._take_verbatim(self.verbatim.inside)
        elif not self.rules.starts(at) and not find_atx(self.text, at):
            self.leaf = _Leaf.PARAGRAPH
            self.header = start, at
