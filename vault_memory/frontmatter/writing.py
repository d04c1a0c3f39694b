"""Metadata to properties: block style, keys in their order, every text readable as the same text."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from vault_memory.config import ReadSettings
from vault_memory.errors import FrontmatterError
from vault_memory.frontmatter.scalars import render_scalar
from vault_memory.frontmatter.splitting import FENCE
from vault_memory.model import Metadata

_MAX_DEPTH = ReadSettings().max_header_depth
_INDENT = "  "
# A key without `?` may have 1024 characters (YAML 1.2.2, section 7.4); the margin is for its quotes and the colon.
_MAX_SIMPLE_KEY = 1000
# Only texts whose lines cannot be taken for indentation or dropped at the end go in a literal block.
_LITERAL = re.compile(r"[^\s\x85\u2028\u2029\ufeff][^\r\t]*\S\n?")
_UNPRINTABLE = re.compile(r"[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def checked_metadata(metadata: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a deep copy in plain JSON types; dates and times become ISO text.

    Raises:
        FrontmatterError: A value is not JSON-safe, a key is no text, or the nesting exceeds the default bound of
            `ReadSettings.max_header_depth`; the reason names the key.
    """
    return {_checked_key(key): _checked(value, str(key), 1) for key, value in metadata.items()}


def _checked_key(key: Any) -> str:
    if not isinstance(key, str):
        raise FrontmatterError(f"the key {key!r} is {type(key).__name__}; keys must be text")
    return str(key)


def _checked(value: Any, key: str, depth: int) -> Any:
    if isinstance(value, Mapping | list | tuple):
        if depth >= _MAX_DEPTH:
            raise FrontmatterError(f"the property `{key}` is nested deeper than {_MAX_DEPTH} levels")
        if isinstance(value, Mapping):
            return {_checked_key(inner): _checked(item, key, depth + 1) for inner, item in value.items()}
        return [_checked(item, key, depth + 1) for item in value]
    return _checked_scalar(value, key)


def _checked_scalar(value: Any, key: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    kind = f"the number {value}" if isinstance(value, float) else f"a value of type {type(value).__name__}"
    raise FrontmatterError(f"the property `{key}` cannot be stored: JSON does not know {kind}")


def render_properties(metadata: Metadata) -> str:
    """Return metadata as YAML, every line with a line end; nothing for empty metadata.

    Raises:
        FrontmatterError: See `checked_metadata`; or a text holds half a surrogate pair.
    """
    return "".join(f"{line}\n" for line in _map_lines(checked_metadata(metadata), ""))


def render_header(metadata: Metadata, line_end: str = "\n") -> str:
    """Return the whole header of a file, fences included.

    Raises:
        FrontmatterError: See `render_properties`.
    """
    return f"{FENCE}\n{render_properties(metadata)}{FENCE}\n".replace("\n", line_end)


def _map_lines(value: dict[str, Any], indent: str) -> Iterator[str]:
    for key, item in value.items():
        try:
            name = render_scalar(key)
            if len(name) <= _MAX_SIMPLE_KEY:
                yield from _entry_lines(f"{indent}{name}:", item, indent)
            else:
                yield f"{indent}? {name}"
                yield from _entry_lines(f"{indent}:", item, indent)
        except FrontmatterError as error:
            raise FrontmatterError(f"the property {key!r}: {error.reason}") from error


def _entry_lines(start: str, value: Any, indent: str) -> Iterator[str]:
    deeper = indent + _INDENT
    if isinstance(value, dict) and value:
        yield start
        yield from _map_lines(value, deeper)
    elif isinstance(value, list) and value:
        yield start
        for item in value:
            yield from _item_lines(item, deeper)
    else:
        yield from _leaf_lines(start, value, deeper)


def _item_lines(value: Any, indent: str) -> Iterator[str]:
    """Yield the lines of a list item; a map or list in it starts on the line of the dash."""
    deeper = indent + _INDENT
    if isinstance(value, dict) and value:
        lines = _map_lines(value, deeper)
    elif isinstance(value, list) and value:
        lines = (line for item in value for line in _item_lines(item, deeper))
    else:
        lines = _leaf_lines(deeper[:-1], value, deeper)
    yield f"{indent}- {next(lines)[len(deeper) :]}"
    yield from lines


def _leaf_lines(start: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield f"{start} {{}}"
    elif isinstance(value, list):
        yield f"{start} []"
    elif isinstance(value, str) and "\n" in value and _LITERAL.fullmatch(value) and not _UNPRINTABLE.search(value):
        yield f"{start} {'|' if value.endswith(chr(10)) else '|-'}"
        yield from (indent + line if line else "" for line in value.removesuffix("\n").split("\n"))
    else:
        yield f"{start} {render_scalar(value)}"
