"""From a place back to the text: exactly the span, or a clear word that it is gone."""

from __future__ import annotations

from vault_memory.chunking import chunk_markdown
from vault_memory.config import ChunkSettings
from vault_memory.errors import StaleSpanError
from vault_memory.markdown.line_numbers import count_line_ends, line_ranges
from vault_memory.model import FragmentLocator, Hit, Passage, Record


def read_hit(record: Record, hit: Hit) -> Passage:
    """Return the text of a hit as it stands in the record now.

    A record that changed since it was indexed may still hold the fragment: at the same place, or moved by an edit
    elsewhere. Of several equal texts the one nearest to the old place is taken.

    Raises:
        StaleSpanError: The fragment's text is no longer in the record.
    """
    start, end = hit.locator.start, hit.locator.end
    if record.digest == hit.record_digest or record.body[start:end] == hit.text:
        return _passage(record, hit.locator, hit.heading_path)
    found = _nearest(record.body, hit.text, start)
    if found is None:
        raise StaleSpanError(
            f"{record.path} changed and no longer holds the fragment at {start} to {end}; search again",
            target=record.target,
        )
    return _passage(record, FragmentLocator(found, found + len(hit.text)), hit.heading_path, moved=True)


def read_span(record: Record, locator: FragmentLocator | None, chunking: ChunkSettings) -> Passage:
    """Return a span of a record, or its whole body.

    Raises:
        StaleSpanError: The span does not lie in the body.
    """
    if locator is None:
        return _passage(record, FragmentLocator(0, len(record.body)), ())
    if not 0 <= locator.start <= locator.end <= len(record.body):
        raise StaleSpanError(
            f"{record.path} has no span {locator.start} to {locator.end}: its body has {len(record.body)} characters",
            target=record.target,
        )
    above = [f for f in chunk_markdown(record.body, chunking) if f.locator.start <= locator.start]
    return _passage(record, locator, above[-1].heading_path if above else ())


def _passage(
    record: Record, locator: FragmentLocator, heading_path: tuple[str, ...], *, moved: bool = False
) -> Passage:
    span = (locator.start, max(locator.end, locator.start + 1))
    lines = line_ranges(record.body, [span], count_line_ends(record.header))[0]
    text = record.body[locator.start : locator.end]
    return Passage(text, record.target, locator, record.path, lines, heading_path, moved)


def _nearest(body: str, text: str, start: int) -> int | None:
    """Return the offset of the occurrence of a text that lies nearest to `start`, if there is one."""
    after = body.find(text, max(0, start))
    before = body.rfind(text, 0, max(0, start) + len(text))
    found = [offset for offset in (before, after) if offset >= 0]
    return min(found, key=lambda offset: abs(offset - start)) if found else None
