"""First lines: what starts a block, and what may end a paragraph that is still open."""

from __future__ import annotations

import re

from vault_memory.markdown.lines import AT_END
from vault_memory.markdown.verbatim import BACKTICK_FENCE, HTML_IN_PARAGRAPH, TILDE_FENCE, find_comment, find_math

_RULE = r"(?:(?:-[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)" + AT_END
_MARKER = r"(?:[-+*]|[0-9]{1,9}+[.)])(?:(?=[ \t])|" + AT_END + ")"
# An item that ends a paragraph has a text and, if it is numbered, the number 1.
_MARKER_IN_PARAGRAPH = r"(?:[-+*]|0{0,8}+1[.)])[ \t]++(?=[^ \t\n])"
_HEADING = r"#{1,6}+(?:[ \t]|" + AT_END + ")"
_ALWAYS = (">", _HEADING, BACKTICK_FENCE, TILDE_FENCE, HTML_IN_PARAGRAPH, _RULE)

RULE = re.compile(_RULE)
MARKER = re.compile(_MARKER)
_RULE_RUNS = {mark: re.compile(rf"[{mark} \t]*+") for mark in "-*_"}
_STARTS = re.compile("|".join((*_ALWAYS, _MARKER)), re.IGNORECASE | re.ASCII)
_STARTS_IN_PARAGRAPH = re.compile("|".join((*_ALWAYS, _MARKER_IN_PARAGRAPH)), re.IGNORECASE | re.ASCII)


def starts_block(text: str, at: int, *, in_paragraph: bool) -> bool:
    """Tell whether a line ends the paragraph or table before it by starting a block of its own.

    Args:
        text: The whole text.
        at: The line's first character that is not blank; it is indented by less than four columns.
        in_paragraph: Whether the line would go on with the paragraph itself. A line of an outer block that might only
            continue it lazily, and a line below a table, may also be an empty item or one of any number.

    Returns:
        Whether a block starts here. An HTML tag that merely stands alone on its line never counts.
    """
    if text.startswith("$$", at):
        return find_math(text, at) is not None
    if text.startswith("%%", at):
        return find_comment(text, at, in_paragraph=True) is not None
    return bool((_STARTS_IN_PARAGRAPH if in_paragraph else _STARTS).match(text, at))


class RuleFinder:
    """Tells where thematic breaks start, without looking twice at one run of marks, however many places are asked."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._none_before: dict[str, int] = {}

    def starts(self, at: int) -> bool:
        """Tell whether a thematic break starts at `at`; places are asked by rising offset."""
        mark = self._text[at]
        if mark not in _RULE_RUNS or at < self._none_before.get(mark, 0):
            return False
        if RULE.match(self._text, at):
            return True
        run = _RULE_RUNS[mark].match(self._text, at)
        self._none_before[mark] = run.end() if run else at
        return False
