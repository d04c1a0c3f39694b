"""Blocks whose text is not Markdown: fences, HTML, comments and math. They run until their closing mark."""

from __future__ import annotations

import re
from typing import NamedTuple

from vault_memory.markdown.lines import AT_END, BLANK_LINE, BLANK_REST, last_stop, line_stop
from vault_memory.model import BlockKind

BACKTICK_FENCE = r"`{3,}+(?=[^`\n]*+" + AT_END + ")"
TILDE_FENCE = r"~{3,}+"

# Element names and conditions are those of the CommonMark specification 0.31.2, section 4.6 "HTML blocks".
_RAW_ELEMENTS = "(?:script|pre|style|textarea)"
_BLOCK_ELEMENTS = (
    "(?:address|article|aside|base|basefont|blockquote|text|caption|center|col|colgroup|dd|details|dialog|dir|div|dl"
    "|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main"
    "|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead"
    "|title|tr|track|ul)"
)
_ATTRIBUTE = r"""[ \t]++[a-z_:][a-z0-9:._-]*+(?:[ \t]*+=[ \t]*+(?:[^\s"'=<>`]++|'[^'\n]*+'|"[^"\n]*+"))?+"""
_OPEN_TAG = r"<[a-z][a-z0-9-]*+(?:" + _ATTRIBUTE + r")*+[ \t]*+/?+>"
_CLOSE_TAG = r"</[a-z][a-z0-9-]*+[ \t]*+>"

_HTML_KINDS = (
    "<" + _RAW_ELEMENTS + r"(?=[ \t>]|" + AT_END + ")",
    "<!--",
    r"<\?",
    "<![a-z]",
    r"<!\[(?-i:CDATA)\[",
    "</?+" + _BLOCK_ELEMENTS + r"(?=[ \t]|/?+>|" + AT_END + ")",
    "(?:" + _OPEN_TAG + "|" + _CLOSE_TAG + r")[ \t]*+" + AT_END,
)
# The seventh kind, a tag of any name alone on its line, cannot end a paragraph.
HTML_IN_PARAGRAPH = "|".join(_HTML_KINDS[:6])
_HTML = re.compile("|".join(f"({kind})" for kind in _HTML_KINDS), re.IGNORECASE | re.ASCII)
_HTML_CLOSERS = (
    re.compile("</" + _RAW_ELEMENTS + ">", re.IGNORECASE | re.ASCII),
    re.compile("-->"),
    re.compile(r"\?>"),
    re.compile(">"),
    re.compile(r"\]\]>"),
    BLANK_LINE,
    BLANK_LINE,
)
_HTML_COMMENT = 2

_FENCE = re.compile(f"({BACKTICK_FENCE})|({TILDE_FENCE})")
_FENCE_LINES = {mark: re.compile(rf"\n {{0,3}}+({mark}{{3,}}+)[ \t]*+{AT_END}") for mark in "`~"}
_FENCE_CLOSERS = {mark: re.compile(rf"({mark}{{3,}}+)[ \t]*+{AT_END}") for mark in "`~"}

_COMMENT_CLOSER = re.compile("%%")
_MATH_CLOSER = re.compile(r"\$\$")
_MATH_TAIL = re.compile(r"[ \t]*+(?:\^[A-Za-z0-9-]++[ \t]*+)?+" + AT_END)


class Verbatim(NamedTuple):
    """A block of text that is not Markdown, seen from its first line.

    Attributes:
        kind: `fence`, `html`, `comment` or `math`.
        closer: What ends it; `BLANK_LINE` for HTML that ends before a blank line.
        inside: Offset behind the opening mark, where the closer is searched first.
        fence: The run of marks that opens a fence, else empty.
    """

    kind: BlockKind
    closer: re.Pattern[str]
    inside: int
    fence: str = ""

    def end_in(self, text: str) -> int:
        """Return where the block ends when nothing but its own closer can end it: behind its last line's text."""
        if self.fence:
            closed = self._fence_end(text)
            return last_stop(text) if closed is None else closed
        found = self.closer.search(text, self.inside)
        if found is None:
            return last_stop(text)
        return found.start() if self.closer is BLANK_LINE else line_stop(text, found.end())

    def _fence_end(self, text: str) -> int | None:
        lines = _FENCE_LINES[self.fence[0]]
        found = lines.search(text, self.inside)
        while found and len(found[1]) < len(self.fence):
            found = lines.search(text, found.end())
        return found.end() if found else None

    def closes_on(self, text: str, at: int, stop: int) -> bool:
        """Tell whether the line whose text is `text[at:stop]` ends the block, by anything but its being blank."""
        if self.fence:
            found = self.closer.match(text, at, stop)
            return found is not None and len(found[1]) >= len(self.fence)
        return self.closer is not BLANK_LINE and self.closer.search(text, at, stop) is not None


def find_verbatim(text: str, at: int) -> Verbatim | None:
    """Return the fence, HTML, comment or math block that starts at `at`, the first character of a line's text."""
    find = _FINDERS.get(text[at])
    return find(text, at) if find else None


def find_comment(text: str, at: int, *, in_paragraph: bool = False) -> Verbatim | None:
    """Return the `%% %%` comment block that starts at `at`; one that is never closed runs to the end of the text.

    A comment with text behind it on its only line belongs to a paragraph. Inside a paragraph, so does any comment that
    ends on the line on which it starts.
    """
    if not text.startswith("%%", at):
        return None
    inside = at + 2
    closing = text.find("%%", inside)
    on_one_line = 0 <= closing < line_stop(text, inside)
    if on_one_line and (in_paragraph or not BLANK_REST.match(text, closing + 2)):
        return None
    return Verbatim("comment", _COMMENT_CLOSER, inside)


def find_math(text: str, at: int) -> Verbatim | None:
    """Return the `$$ $$` block that starts at `at`.

    It must be closed, and nothing but a block id may follow the closing mark: a lone `$$` must not swallow a note. Only
    a formula that begins below its mark may hold blank lines.
    """
    if not text.startswith("$$", at):
        return None
    inside = at + 2
    closing = text.find("$$", inside)
    if closing < 0 or not _MATH_TAIL.match(text, closing + 2):
        return None
    if not BLANK_REST.match(text, inside) and BLANK_LINE.search(text, inside, closing):
        return None
    return Verbatim("math", _MATH_CLOSER, inside)


def _find_fence(text: str, at: int) -> Verbatim | None:
    found = _FENCE.match(text, at)
    return Verbatim("fence", _FENCE_CLOSERS[text[at]], found.end(), found[0]) if found else None


def _find_html(text: str, at: int) -> Verbatim | None:
    found = _HTML.match(text, at)
    if not found or not found.lastindex:
        return None
    kind: BlockKind = "comment" if found.lastindex == _HTML_COMMENT else "html"
    # The closing mark may share characters with the opening one, as in `<!-->`.
    return Verbatim(kind, _HTML_CLOSERS[found.lastindex - 1], at)


_FINDERS = {"`": _find_fence, "~": _find_fence, "<": _find_html, "%": find_comment, "$": find_math}
