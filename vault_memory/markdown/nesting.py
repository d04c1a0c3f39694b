"""The items and quotes that are open, and which of them hold a line."""

from __future__ import annotations

from bisect import bisect_right

from vault_memory.markdown.lines import column_behind, line_stop, skip_blanks


class Nesting:
    """The items and quotes that are open at the end of the lines read so far, and the place in the next line.

    An item holds the lines that reach its edge: the column of its text, counted from the inside of the nearest quote
    around it, or from the start of the line. The edges inside one quote rise, so that the items that hold a line are
    found by bisection, however deep they are nested.

    Attributes:
        edges: Edges of the open items: one list for those outside of any quote, and one for those inside each quote.
        stop: Offset of the line's end.
        at: First character of the line's text inside the innermost block that was found to hold it.
        indent: Columns between the text of that block and `at`.
        quotes: Number of open quotes that hold the line.
        items: Number of open items, inside the last of those quotes, that hold the line.
    """

    def __init__(self, text: str) -> None:
        self.edges: list[list[int]] = [[]]
        self.stop = self.at = self.indent = self.quotes = self.items = 0
        self._text = text
        self._column = self._inside = 0

    @property
    def blank(self) -> bool:
        """Whether nothing is left of the line."""
        return self.at == self.stop

    def enter_line(self, start: int) -> bool:
        """Find the open items and quotes that hold the line at `start`; tell whether all of them do."""
        self.stop = line_stop(self._text, start)
        self.at, self._column, self._inside, self.quotes = start, 0, 0, 0
        while True:
            self._skip_blanks()
            edges = self.edges[self.quotes]
            reach = self._column - self._inside
            self.items = len(edges) if self.blank else bisect_right(edges, reach)
            self.indent = reach - (edges[self.items - 1] if self.items else 0)
            if self.items < len(edges):
                return False
            if self.quotes == len(self.edges) - 1:
                return True
            if self.blank or self.indent > 3 or self._text[self.at] != ">":
                return False
            self._pass_quote_mark()

    def close_others(self) -> None:
        """Close the items and quotes that do not hold the line."""
        del self.edges[self.quotes + 1 :]
        del self.edges[-1][self.items :]

    def open_quote(self) -> None:
        """Open the quote whose mark is at hand."""
        self.edges.append([])
        self._pass_quote_mark()
        self._skip_blanks()
        self.indent = self._column - self._inside

    def open_item(self, marked: int) -> None:
        """Open the item whose marker is at hand and ends at `marked`.

        Up to four columns of blanks belong to the marker. Of more, one does, and the text is indented code.
        """
        column = self._column + marked - self.at
        self.at = marked
        self._column = column
        self._skip_blanks()
        blanks = self._column - column
        edge = column + (1 if self.blank or blanks > 4 else blanks)
        self.indent = self._column - edge
        self.edges[-1].append(edge - self._inside)

    def _skip_blanks(self) -> None:
        at = skip_blanks(self._text, self.at)
        if at > self.at:
            self._column = column_behind(self._text[self.at : at], self._column)
            self.at = at

    def _pass_quote_mark(self) -> None:
        """Go behind a `>`. One column of blanks belongs to it, which may be the first of those that a tab fills."""
        self.at += 1
        self._column += 1
        self._inside = self._column + self._text.startswith((" ", "\t"), self.at)
        self.quotes += 1
