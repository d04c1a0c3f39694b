"""Tables: a header row, a delimiter row with as many cells, and the rows below."""

from __future__ import annotations

import re

from vault_memory.markdown.lines import AT_END, line_stop
from vault_memory.markdown.openings import starts_block

_CELL = r":?+-++:?+[ \t]*+"
# A dash with a blank behind it is a list item.
_DELIMITER_ROW = re.compile(
    r"(?!-(?:[ \t]|" + AT_END + r"))(?:\|[ \t]*+)?+" + _CELL + r"(?:\|[ \t]*+" + _CELL + r")*+(?:\|[ \t]*+)?+" + AT_END
)
_ROWS = re.compile(r"(?:\n {0,3}+(?:\||[^-+*_#>`~<$%0-9 \t\n]).*+)*+")
_NEXT_ROW = re.compile(r"\n {0,3}+(?=[^ \t\n])")


def is_table_head(text: str, header: int, stop: int, at: int) -> bool:
    """Tell whether two lines are the header and the delimiter row of a table.

    Args:
        text: The whole text.
        header: First character of the first line that is not blank.
        stop: Where that line ends.
        at: First character of the second line that is not blank.
    """
    row = _DELIMITER_ROW.match(text, at)
    if not row:
        return False
    columns = _columns(text[header:stop])
    return columns > 0 and columns == _columns(row[0], delimiter=True)


def _columns(row: str, *, delimiter: bool = False) -> int:
    """Return the number of cells, or 0 for a header without any bar."""
    row = row.rstrip(" \t")
    bars = row.count("|")
    if not bars and not delimiter:
        return 0
    escaped = row.count("\\|")
    outer = row.startswith("|") + (row.endswith("|") and not row.endswith("\\|"))
    return bars - escaped + 1 - outer


def table_end(text: str, delimiter_stop: int) -> int:
    """Return the end of the table whose delimiter row ends at `delimiter_stop`: every line up to a blank or a block."""
    end = delimiter_stop
    while True:
        rows = _ROWS.match(text, end)
        end = rows.end() if rows else end
        row = _NEXT_ROW.match(text, end)
        if not row or starts_block(text, row.end(), in_paragraph=False):
            return end
        end = line_stop(text, row.end())
