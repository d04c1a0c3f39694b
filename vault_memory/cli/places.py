"""A place as a person writes or pastes it, found in a vault."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.cli.output import meant_path, snippet
from vault_memory.errors import QueryError, RecordNotFoundError, StaleSpanError, VaultMemoryError
from vault_memory.identity import target_of
from vault_memory.markdown.line_numbers import LINE_END, count_line_ends
from vault_memory.model import FragmentLocator, Hit, Record, Target
from vault_memory.vault import Vault

_SPAN = re.compile(r"(?P<path>.+)#(?P<start>\d+),(?P<end>\d+)", re.DOTALL)
_LINES = re.compile(r"(?P<path>.+):(?P<first>\d+)-(?P<last>\d+)", re.DOTALL)
_PLACE = re.compile(r":(?P<line>\d+)(?::(?P<column>\d+))?(?::(?: (?P<text>.*))?)?\Z", re.DOTALL)


def find_place(vault: Vault, place: str) -> tuple[Target, FragmentLocator | None]:
    """Return the record and the span that a text names.

    A name may itself hold `:` or `#`, so a reading counts only if its record is there.

    Raises:
        RecordNotFoundError: No reading of the text names a record.
        StaleSpanError: The text of a printed hit is no longer in the record.
        QueryError: The record has no such lines.
    """
    if (record := _find(vault, place)) is not None:
        return record.target, None
    if (match := _SPAN.fullmatch(place)) and (record := _find(vault, match["path"])) is not None:
        return record.target, FragmentLocator(int(match["start"]), int(match["end"]))
    if (match := _LINES.fullmatch(place)) and (record := _find(vault, match["path"])) is not None:
        return record.target, _lines_span(record, int(match["first"]), int(match["last"]))
    for colon in re.finditer(":", place):
        match = _PLACE.match(place, colon.start())
        if match is not None and (record := _find(vault, place[: colon.start()])) is not None:
            at = _lines_span(record, int(match["line"]), int(match["line"])).start + int(match["column"] or 1) - 1
            return record.target, _fragment_at(vault, record, at, match["text"])
    vault.get(target_of(place))
    raise RecordNotFoundError(f"no note is called {place!r}")


def column_of(vault: Vault, hit: Hit) -> int:
    """Return where in its first line a hit begins, 1-based; 1 where that cannot be told any more."""
    try:
        record = vault.get(hit.target)
    except VaultMemoryError:
        return 1
    if record.digest != hit.record_digest:
        return 1
    before = record.body[: hit.locator.start]
    return len(before) - max((match.end() for match in LINE_END.finditer(before)), default=0) + 1


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


def _fragment_at(vault: Vault, record: Record, at: int, printed: str | None) -> FragmentLocator:
    """Return the fragment that begins at a place of the body, else the one that goes over it.

    If its text was printed beside the place and is another one now, the note has changed: the fragment that shows the
    printed text is taken, wherever it is.
    """
    fragments = vault.fragments(record.target)
    found = [f for f in fragments if f.locator.start == at] or [f for f in fragments if f.locator.end > at]
    if printed is not None and not (found and snippet(found[0].text) == printed.rstrip("\r\n")):
        found = [fragment for fragment in fragments if snippet(fragment.text) == printed.rstrip("\r\n")]
        if not found:
            raise StaleSpanError(
                f"{record.path} changed and no longer holds that text; search again", target=record.target
            )
    return found[0].locator if found else FragmentLocator(at, len(record.body))


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
