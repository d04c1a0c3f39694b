"""Where the header of a note ends."""

from __future__ import annotations

import re
from typing import NamedTuple

BYTE_ORDER_MARK = "\ufeff"
FENCE = "---"

# The properties start on the second line of the file: the first is the opening fence.
FIRST_PROPERTIES_LINE = 2

_OPENING = re.compile(r"\ufeff?---[ \t]*+(?:\r\n|\n|\r)")
# A fence stands at the very start of its line: an indented one belongs to a value.
_CLOSING = re.compile(r"[\r\n](---[ \t]*+(?:\r\n|\n|\r|\Z))")


class Split(NamedTuple):
    """A text in two; `header + body` is the text.

    Attributes:
        header: From the start through the closing fence and its line end, a byte order mark included; where there is
            no fence, the byte order mark alone or nothing.
        properties: The lines between the fences.
        body: All that follows.
    """

    header: str
    properties: str
    body: str

    @property
    def has_fences(self) -> bool:
        """Whether there is a block of properties, be it empty."""
        return len(self.header) > len(BYTE_ORDER_MARK)


def split_frontmatter(text: str) -> Split:
    r"""Split a text at the closing fence of its header, without looking at what the header says.

    The first line must be just `---`; the header ends with the next line that is just `---`. Blanks may follow the
    dashes, none may precede them. Lines end at `\n`, `\r\n` or `\r`.

    Args:
        text: A whole file, with or without a byte order mark.

    Returns:
        The parts. Without an opening fence, or with none that closes, all of the text is body.
    """
    opening = _OPENING.match(text)
    # The search starts at the line end of the opening, so that an empty block can close at once.
    closing = _CLOSING.search(text, opening.end() - 1) if opening else None
    if opening is None or closing is None:
        mark = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
        return Split(text[:mark], "", text[mark:])
    return Split(text[: closing.end()], text[opening.end() : closing.start(1)], text[closing.end() :])
