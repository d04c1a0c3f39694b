r"""Lines of a text whose line ends are all `\n`; a line is blank when it holds only spaces and tabs.

The pieces of patterns here never give back what they took (`++`, `*+`), so that no input makes matching worse than
linear.
"""

from __future__ import annotations

import re

AT_END = r"(?m:$)"

# What a line may start with, after its indentation, without any chance to be a block's first line, a heading's
# underline or a table's delimiter row. Runs of such lines are passed over in one match.
PLAIN = (
    r"(?=[^-+*_#>`~<$%=|:0-9 \t\n]"
    r"|\*\*?+[^* \t\n]|__?+[^_ \t\n]|``?+[^`\n]|#++[^# \t\n]|\$[^$\n]|%[^%\n]|[0-9]++[^0-9.)\n])"
)
PLAIN_LINES = r".*+(?:\n[ \t]*+" + PLAIN + ".*+)*+"

BLANK_LINE = re.compile(r"\n[ \t]*+" + AT_END)
BLANK_REST = re.compile(r"[ \t]*+" + AT_END)

_INDENT = re.compile(r"[ \t]*+")
_PLAIN_LINES = re.compile(PLAIN_LINES)


def with_plain_line_ends(body: str) -> str:
    r"""Return the text with every line end as `\n`, at the same offsets: `\r\n` becomes a blank and `\n`.

    A blank more at the end of a line changes nothing in the structure of blocks.
    """
    return body.replace("\r\n", " \n").replace("\r", "\n") if "\r" in body else body


def line_stop(text: str, position: int) -> int:
    """Return the offset of the line end at or behind `position`, or the length of the text where there is none."""
    stop = text.find("\n", position)
    return len(text) if stop < 0 else stop


def last_line(text: str, start: int, stop: int) -> int:
    """Return the start of the last line of `text[start:stop]`; `start` itself if it holds but a part of one line."""
    return max(text.rfind("\n", start, stop) + 1, start)


def plain_stop(text: str, at: int) -> int:
    """Return the end of the line that holds `at` and of the lines behind it that surely go on with its paragraph."""
    lines = _PLAIN_LINES.match(text, at)
    return lines.end() if lines else at


def skip_blanks(text: str, position: int) -> int:
    """Return the offset of the first character at or behind `position` that is no space or tab."""
    found = _INDENT.match(text, position)
    return found.end() if found else position


def column_behind(blanks: str, column: int) -> int:
    """Return the column behind spaces and tabs that start at `column`; a tab goes to the next multiple of four."""
    if "\t" not in blanks:
        return column + len(blanks)
    within = column % 4
    return column - within + len((" " * within + blanks).expandtabs(4))


def last_stop(text: str) -> int:
    """Return the offset of the end of the last line that is not blank."""
    return line_stop(text, len(text.rstrip(" \t\n")))
