"""Headings: their level, their text without marks, and where that text begins."""

from __future__ import annotations

import re
from typing import NamedTuple

from vault_memory.markdown.lines import AT_END

_ATX = re.compile(r"(#{1,6}+)(?:[ \t]++(.*+)|" + AT_END + ")")
_UNDERLINE = re.compile(r"(?:=++|-++)[ \t]*+" + AT_END)
_LINE_ENDS = re.compile(r"\n[ \t]*+")
_BLOCK_ID = re.compile(r"[A-Za-z0-9-]+")


class Heading(NamedTuple):
    """A heading, seen from its first line.

    Attributes:
        level: 1 to 6.
        title: Its text on one line, without marks and block id.
        title_start: Offset of the title; where it is empty, of the place behind the marks.
        end: Offset behind the last character of its last line.
    """

    level: int
    title: str
    title_start: int
    end: int


def find_atx(text: str, at: int) -> Heading | None:
    """Return the heading with `#` marks whose first mark is at `at`."""
    found = _ATX.match(text, at)
    if not found:
        return None
    marked, title = found.end(1), found[2]
    if not title:
        return Heading(marked - at, "", marked, found.end())
    title = title.rstrip(" \t")
    if title.endswith("#"):
        unmarked = title.rstrip("#")
        if not unmarked or unmarked[-1] in " \t":
            title = unmarked.rstrip(" \t")
    return Heading(marked - at, without_block_id(title), found.start(2) if title else marked, found.end())


def find_underlined(text: str, start: int, stop: int, at: int) -> Heading | None:
    """Return the heading that the line at `at` makes of the paragraph `text[start:stop]` above it."""
    found = _UNDERLINE.match(text, at)
    if not found:
        return None
    title = " ".join(line.rstrip(" \t") for line in _LINE_ENDS.split(text[start:stop]))
    return Heading(1 if text[at] == "=" else 2, without_block_id(title), start, found.end())


def is_underline(text: str, at: int) -> bool:
    """Tell whether the line whose text starts at `at` makes the paragraph above it a heading."""
    return _UNDERLINE.match(text, at) is not None


def without_block_id(title: str) -> str:
    """Return a heading's text without the block id at its end, such as ` ^key`."""
    if "^" not in title:
        return title
    before, _, block_id = title.rpartition("^")
    if before.endswith((" ", "\t")) and _BLOCK_ID.fullmatch(block_id):
        return before.rstrip(" \t")
    return title
