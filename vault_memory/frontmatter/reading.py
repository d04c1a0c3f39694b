"""Properties to metadata: typed without loss, bounded, and without recursion.

The values are built from the parser's events rather than from its objects: events still hold the text as written.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import yaml

from vault_memory.config import ReadSettings
from vault_memory.errors import FrontmatterError
from vault_memory.frontmatter.building import MetadataBuilder
from vault_memory.frontmatter.splitting import BYTE_ORDER_MARK, split_frontmatter
from vault_memory.frontmatter.yaml_errors import readable_error, refused_character

DEFAULT_BOUNDS = ReadSettings()

# The parser in C is some twenty times as fast; it is missing where PyYAML was built without libyaml.
_LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# YAML 1.1 takes three more characters for line ends, and drops a byte order mark. For us they are part of a value.
_FALSE_LINE_ENDS = re.compile("[\x85\u2028\u2029\ufeff]")
_PRIVATE_USE = range(0xF0000, 0xFFFFE)

_PROPERTY_LINE = re.compile(r"(?:^|[\r\n])[^\r\n#][^\r\n]*?:(?:[ \t\r\n]|$)")


class Frontmatter(NamedTuple):
    """A text in two with the meaning of its header; `header + body` is the text."""

    header: str
    metadata: dict[str, Any]
    body: str


def read_frontmatter(text: str, bounds: ReadSettings = DEFAULT_BOUNDS) -> Frontmatter:
    """Split a text and read its properties.

    A block that is no mapping is prose between two rules, so it stays in the body. A block that is empty or holds
    only comments is a header.

    Args:
        text: A whole file, with or without a byte order mark.
        bounds: What a header may be at most.

    Raises:
        FrontmatterError: The properties cannot be read, or exceed a bound; `line` is the line of the file.
    """
    split = split_frontmatter(text)
    if not split.has_fences:
        return Frontmatter(split.header, {}, split.body)
    metadata = read_properties(split.properties, bounds)
    if metadata is not None:
        return Frontmatter(split.header, metadata, split.body)
    mark = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    return Frontmatter(text[:mark], {}, text[mark:])


def read_properties(properties: str, bounds: ReadSettings = DEFAULT_BOUNDS) -> dict[str, Any] | None:
    """Return the metadata that the lines between the fences say, or `None` if they are no mapping.

    Prose can start like broken YAML (`**Note**`, `> quoted`). It is no mapping if not a single line looks like `key:`.

    Raises:
        FrontmatterError: The lines are no YAML, hold a key twice or one that is no text, or exceed a bound.
    """
    builder: MetadataBuilder | None = None
    try:
        _check_text(properties, bounds)
        shown, originals = _hide_false_line_ends(properties)
        builder = MetadataBuilder(properties, originals, bounds)
        complete = all(builder.take(event) for event in yaml.parse(shown, Loader=_LOADER))
    except (FrontmatterError, yaml.MarkedYAMLError) as error:
        begun = builder is not None and builder.is_mapping
        if not begun and not _PROPERTY_LINE.search(properties, 0, bounds.max_header_chars):
            return None
        raise error if isinstance(error, FrontmatterError) else readable_error(error, properties) from error
    return builder.metadata if complete else None


def _check_text(properties: str, bounds: ReadSettings) -> None:
    if len(properties) > bounds.max_header_chars:
        raise FrontmatterError(
            f"the header is longer than {bounds.max_header_chars} characters ({len(properties)}); move text to the body"
        )
    refused = refused_character(properties)
    if refused is not None:
        raise refused


def _hide_false_line_ends(text: str) -> tuple[str, dict[int, str]]:
    """Put private characters in place of those that the parser would fold or drop; also return the way back."""
    found = set(_FALSE_LINE_ENDS.findall(text))
    if not found:
        return text, {}
    lowered = text.lower()
    free = (code for code in _PRIVATE_USE if chr(code) not in text and f"{code:x}" not in lowered)
    stand_ins = dict(zip(sorted(found), free, strict=False))
    return text.translate({ord(mark): code for mark, code in stand_ins.items()}), {
        code: mark for mark, code in stand_ins.items()
    }
