r"""Offsets to line numbers. A line ends at `\n`, `\r\n` or `\r`, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable

LINE_END = re.compile(r"\r\n?|\n")


def count_line_ends(text: str, start: int = 0, end: int | None = None) -> int:
    """Return the number of line ends whose first character lies in `text[start:end]`."""
    stop = len(text) if end is None else end
    returns = text.count("\r", start, stop)
    feeds = text.count("\n", start, stop)
    if not returns:
        return feeds
    pairs = text.count("\r\n", start, stop)
    split = text.startswith("\n", start) and text.startswith("\r", start - 1) if start else False
    return returns + feeds - pairs - split


def line_ranges(text: str, spans: Iterable[tuple[int, int]], lines_before: int = 0) -> list[tuple[int, int]]:
    """Return the first and last line of each span, 1-based, both inclusive.

    Args:
        text: The body.
        spans: Non-empty `[start, end)` spans by rising start.
        lines_before: Number of lines of the file that precede the body.
    """
    ranges = []
    position, line = 0, lines_before + 1
    for start, end in spans:
        line += count_line_ends(text, position, start)
        ranges.append((line, line + count_line_ends(text, start, end - 1)))
        position = start
    return ranges
