"""A YAML parser's complaints, in words that a person can act on."""

from __future__ import annotations

import re
import unicodedata

import yaml

from vault_memory.errors import FrontmatterError
from vault_memory.frontmatter.splitting import FIRST_PROPERTIES_LINE

_EXCERPT_CHARS = 60
_LINE_END = re.compile(r"\r\n?|\n")
# Section 5.1 of YAML 1.2.2: what a stream may consist of.
_REFUSED = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# Words of a complaint, of the parser in C or of the one in Python, and what they mean to the person who wrote the note.
_MEANINGS = (
    ("maximum nesting", "the header is nested too deep"),
    ("mapping values are not allowed", "a value holds a second `: `, or a line is indented wrongly; quote the value"),
    ("unexpected end of stream", "a quote is opened and never closed"),
    ("could not find expected ':'", "a line is neither `key: value` nor part of a list"),
    ("expected ',' or", "a list or map in brackets is not closed, or lacks a comma"),
    ("<document start>", "a directive or an end of document has no place here"),
    ("sequence entries are not allowed", "a list item must start on its own line"),
    ("<block end>", "a line has the wrong indentation, or text follows a closing quote or bracket"),
    ("expected key", "a line has the wrong indentation, or text follows a closing quote or bracket"),
    ("alphabetic or numeric", "a value that starts with `*` or `&` must be in quotes"),
    ("ing a tag", "a value that starts with `!` must be in quotes"),
)


def readable_error(error: yaml.MarkedYAMLError, text: str) -> FrontmatterError:
    """Translate an error of the parser.

    Args:
        error: What it raised.
        text: The properties as written.
    """
    # The context is where the fault began, unless it is the whole block: then the problem's place says more.
    context = error.context_mark if "block" not in (error.context or "") else None
    mark = context or error.problem_mark
    row = mark.line if mark is not None else 0
    return FrontmatterError(f"{_meaning(error, text)}, in `{_excerpt(text, row)}`", line=row + FIRST_PROPERTIES_LINE)


def _meaning(error: yaml.MarkedYAMLError, text: str) -> str:
    said = f"{error.problem}, {error.context}"
    if "cannot start any token" in said and error.problem_mark is not None:
        character = text[error.problem_mark.index : error.problem_mark.index + 1]
        if character == "\t":
            return "a tab cannot indent a line; use spaces"
        return f"a value cannot start with {character!r}; put it in quotes"
    for words, meaning in _MEANINGS:
        if words in said:
            return meaning
    return f"not readable as YAML: {error.problem}"


def _excerpt(text: str, line: int) -> str:
    lines = _LINE_END.split(text)
    shown = lines[min(line, len(lines) - 1)].strip()
    return shown if len(shown) <= _EXCERPT_CHARS else shown[: _EXCERPT_CHARS - 1] + "…"


def refused_character(text: str) -> FrontmatterError | None:
    """Return the error for the first character that no YAML may contain, if there is one."""
    found = _REFUSED.search(text)
    if found is None:
        return None
    code = ord(found.group())
    name = unicodedata.name(found.group(), "a control character" if code < 0xD800 else "no character of its own")
    line = len(_LINE_END.findall(text, 0, found.start())) + FIRST_PROPERTIES_LINE
    return FrontmatterError(f"U+{code:04X} ({name}) cannot stand in a header; remove it", line=line)
