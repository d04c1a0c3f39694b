"""A place as a person writes or pastes it, found in a vault."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.cli.output import meant_path, snippet
from vault_memory.errors import QueryError, RecordNotFoundError
from vault_memory.identity import target_of
from vault_memory.markdown.line_numbers import LINE_END, count_line_ends
from vault_memory.model import Fragment, FragmentLocator, Record, Target
from vault_memory.vault import Vault

_SPAN = re.compile(r"(?P<path>.+)#(?P<start>\d+),(?P<end>\d+)", re.DOTALL)
_LINES = re.compile(r"(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?:?", re.DOTALL)
_PRINTED = re.compile(r":(?P<line>\d+): ?")


def find_place(vault: Vault, place: str) -> tuple[Target, FragmentLocator | None]:
    """Return the record and the span that a text names.

    A name may itself hold `:` or `#`, so a reading counts only if its record is there.

    Raises:
        RecordNotFoundError: No reading of the text names a record.
        QueryError: The record has no such lines.
    """
    if (record := _find(vault, place)) is not None:
        return record.target, None
    if (match := _SPAN.fullmatch(place)) and (record := _find(vault, match["path"])) is not None:
        return record.target, FragmentLocator(int(match["start"]), int(match["end"]))
    if (match := _LINES.fullmatch(place)) and (record := _find(vault, match["path"])) is not None:
        first = int(match["first"])
        if match["last"] is None:
            return record.target, _fragment_on_line(vault, record, first, "")
        return record.target, _lines_span(record, first, int(match["last"]))
    for match in _PRINTED.finditer(place):
        if (record := _find(vault, place[: match.start()])) is not None:
            return record.target, _fragment_on_line(vault, record, int(match["line"]), place[match.end() :])
    vault.get(target_of(place))
    raise RecordNotFoundError(f"no note is called {place!r}")


def _find(vault: Vault, path: str) -> Record | None:
    for target in _targets(path):
        try:
            return vault.get(target)
        except RecordNotFoundError:
            continue
    return None


def _targets(path: str) -> Iterator[Target]:
    """Yield what a text may name: a path, then a target without the suffix."""
    for meant in dict.fromkeys((path, meant_path(path))):
        yield target_of(meant)
        yield target_of(f"{meant}.md")


def _fragment_on_line(vault: Vault, record: Record, line: int, printed: str) -> FragmentLocator:
    """Return the fragment that was printed for a line: one that begins on it, else the one that goes over it."""
    span = _lines_span(record, line, line)
    fragments = vault.fragments(record.target)
    beginning = [f for f in fragments if span.start <= f.locator.start < max(span.end, span.start + 1)]
    over = [f for f in fragments if f.locator.start <= span.start < f.locator.end]
    return _as_printed(beginning, printed) or _as_printed(over, printed) or span


def _as_printed(fragments: list[Fragment], printed: str) -> FragmentLocator | None:
    same = [fragment for fragment in fragments if snippet(fragment.text) == printed.strip()]
    return (same or fragments)[0].locator if fragments else None


def _lines_span(record: Record, first: int, last: int) -> FragmentLocator:
    """Return the span of some lines of the file, without the last line's end."""
    header_lines = count_line_ends(record.header)
    starts = [0, *(match.end() for match in LINE_END.finditer(record.body))]
    total = header_lines + len(starts)
    if not header_lines < first <= last <= total:
        raise QueryError(f"{record.path} has text on lines {header_lines + 1} to {total}, not on {first} to {last}")
    start = starts[first - header_lines - 1]
    following = last - header_lines
    end = starts[following] if following < len(starts) else len(record.body)
    return FragmentLocator(start, len(record.body[:end].rstrip("\r\n")) if end > start else end)
