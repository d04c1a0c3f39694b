"""Bytes of a file to a `Record`, and metadata and body back to the text of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from vault_memory.config import ReadSettings
from vault_memory.errors import FrontmatterError, RecordEncodingError, RecordError
from vault_memory.frontmatter import checked_metadata, read_frontmatter, render_header, split_frontmatter
from vault_memory.markdown.inline import find_links, scan_inline
from vault_memory.markdown.line_numbers import count_line_ends
from vault_memory.model import Metadata, Record, Target, content_digest

_DEFAULT_SETTINGS = ReadSettings()

# A NUL this near to the start means data; further back it is the mark of a crash in a file that is still text.
_BINARY_PROBE_BYTES = 1024
_TAG_SEPARATORS = re.compile(r"[,\s]+")


def parse_record(target: Target, path: str, data: bytes, settings: ReadSettings = _DEFAULT_SETTINGS) -> Record:
    """Read a file's bytes.

    A byte order mark at the start belongs to the header, so that `header + body` is the file, and offsets in the body
    do not count it. `Garden` and `garden` are one tag: the first spelling stays, metadata before text.

    Args:
        target: The record's identity.
        path: The file, relative to the vault.
        data: All of its bytes.
        settings: Bounds of the file and its header.

    Raises:
        RecordEncodingError: The bytes are not UTF-8 text.
        FrontmatterError: The header cannot be read.
        RecordError: The file is too large.
    """
    try:
        text = _decoded(data, settings)
        header, metadata, body = read_frontmatter(text, settings)
    except RecordError as error:
        error.at(path)
        raise
    inline = scan_inline(body)
    return Record(
        target=target,
        path=path,
        metadata=metadata,
        header=header,
        body=body,
        digest=content_digest(data),
        title=_title(metadata) or target.id,
        aliases=tuple(dict.fromkeys(_names(metadata, "alias", "aliases"))),
        tags=_distinct_tags([*_metadata_tags(metadata), *inline.tags]),
        links=tuple(dict.fromkeys([*_metadata_links(metadata), *(link.target for link in inline.links)])),
    )


def render_record(metadata: Metadata, body: str, *, existing: Record | None = None) -> str:
    """Return the text of a file; reading it gives the same metadata and body.

    A header that already says this metadata is kept as it is written. A body that itself starts like a header gets
    an empty one before it.

    Args:
        metadata: JSON-safe properties; dates become ISO text.
        body: Stored as it is.
        existing: The record that is replaced.

    Raises:
        FrontmatterError: A property cannot be stored; the reason names its key.
    """
    checked = checked_metadata(metadata)
    return next(header + body for header in _possible_headers(checked, existing) if _fits(header, body))


def _possible_headers(metadata: dict[str, Any], existing: Record | None) -> Iterator[str]:
    """Yield headers for metadata, the most wanted first; the last one fits any body."""
    old = existing.header if existing is not None else ""
    line_end = "\r\n" if "\r\n" in old else "\n"
    if existing is not None and _canonical(existing.metadata) == _canonical(metadata):
        yield old
        if metadata:
            yield old + line_end
    if not metadata:
        yield ""
    yield render_header(metadata, line_end)


def _fits(header: str, body: str) -> bool:
    """Tell whether reading gives the two parts back."""
    if split_frontmatter(header + body).header == header:
        return True
    try:
        return read_frontmatter(header + body).header == header
    except FrontmatterError:
        return False


def _canonical(metadata: Metadata) -> str:
    """Return a text that is equal for equal metadata only: in Python `1 == True == 1.0`."""
    return json.dumps(dict(metadata), sort_keys=True)


def _decoded(data: bytes, settings: ReadSettings) -> str:
    if len(data) > settings.max_note_bytes:
        raise RecordError(f"the file has {len(data)} bytes, the bound is {settings.max_note_bytes}")
    nul = data.find(0, 0, _BINARY_PROBE_BYTES)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _encoding_error(data, error.start) from error
    if nul >= 0:
        raise _encoding_error(data, nul)
    return text


def _encoding_error(data: bytes, position: int) -> RecordEncodingError:
    line = count_line_ends(data[:position].decode("utf-8", "replace")) + 1
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or data.find(0, 0, 2) >= 0:
        hint = "it looks like UTF-16; save it as UTF-8"
    elif 0 in data[:_BINARY_PROBE_BYTES]:
        hint = "it looks like binary data, not a note"
    else:
        hint = "it looks like Latin-1 or Windows-1252; save it as UTF-8"
    reason = f"not UTF-8: byte 0x{data[position]:02X} at position {position}; {hint}"
    return RecordEncodingError(reason, byte_position=position, line=line)


def _title(metadata: Metadata) -> str:
    title = metadata.get("title")
    if isinstance(title, bool) or not isinstance(title, str | int | float):
        return ""
    return str(title).strip()


def _names(metadata: Metadata, *keys: str) -> Iterator[str]:
    """Yield the texts under some keys, in whatever letter case: one value or a list; numbers become text."""
    for key, value in metadata.items():
        if key.lower() in keys:
            for item in value if isinstance(value, list) else [value]:
                name = _as_text(item).strip()
                if name:
                    yield name


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""


def _metadata_tags(metadata: Metadata) -> Iterator[str]:
    for key, value in metadata.items():
        if key.lower() in ("tag", "tags"):
            listed = value if isinstance(value, list) else _TAG_SEPARATORS.split(_as_text(value))
            for item in listed:
                yield _as_text(item).strip().lstrip("#").strip()


def _distinct_tags(tags: Iterable[str]) -> tuple[str, ...]:
    distinct: dict[str, str] = {}
    for tag in tags:
        if tag:
            distinct.setdefault(tag.casefold(), tag)
    return tuple(distinct.values())


def _metadata_links(metadata: Metadata) -> Iterator[str]:
    """Yield the link targets in all values, however deep, in the order in which they are written."""
    waiting: list[Any] = [metadata]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if "[[" in value:
                yield from (link.target for link in find_links(value, ()))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            waiting.extend(reversed(value.values()))
