"""Metadata from a YAML parser's events, with a stack in place of recursion."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import yaml

from vault_memory.config import ReadSettings
from vault_memory.errors import FrontmatterError
from vault_memory.frontmatter.scalars import typed_scalar
from vault_memory.frontmatter.splitting import FIRST_PROPERTIES_LINE

_WIKILINK = re.compile(r"\[\[[^\[\]\r\n]++\]\]")
_PLACEHOLDER = re.compile(r"\{\{[^{}\r\n]*+\}\}")


class _Node(NamedTuple):
    """A finished value, and what it costs wherever an alias repeats it."""

    value: Any
    nodes: int = 1
    height: int = 0


@dataclass(slots=True)
class _Open:
    """A list or map whose end has not come yet."""

    value: dict[str, Any] | list[Any]
    start: int
    anchor: str | None
    key: str | None = None
    nodes: int = 1
    height: int = 1


class MetadataBuilder:
    """Takes events one by one and holds the metadata at the end.

    Args:
        text: The properties as written.
        originals: What stands in place of which character in the events' texts, as for `str.translate`.
        bounds: What a header may be at most.

    Attributes:
        metadata: The properties; complete after the last event.
        is_mapping: Whether a mapping was begun.
    """

    def __init__(self, text: str, originals: dict[int, str], bounds: ReadSettings) -> None:
        self.metadata: dict[str, Any] = {}
        self.is_mapping = False
        self._text = text
        self._originals = originals
        self._bounds = bounds
        self._stack: list[_Open] = []
        self._anchors: dict[str, _Node | None] = {}
        self._nodes = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> bool:
        """Add what an event brings.

        Returns:
            Whether the properties can still be a mapping; if not, no further event may be given.

        Raises:
            FrontmatterError: A key is no text or comes twice, an alias has no meaning, or a bound is exceeded.
        """
        if isinstance(event, yaml.CollectionEndEvent):
            self._close(event)
        elif isinstance(event, yaml.NodeEvent):
            if not self._stack and not isinstance(event, yaml.MappingStartEvent):
                return False
            self.is_mapping = True
            self._take_node(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise _error("a second YAML document starts in the header; remove the line that ends the first", event)
        return True

    def _take_node(self, event: yaml.NodeEvent) -> None:
        parent = self._stack[-1] if self._stack else None
        if parent is not None and parent.key is None and isinstance(parent.value, dict):
            parent.key = self._key(event, parent.value)
        elif isinstance(event, yaml.ScalarEvent):
            self._count(1, event)
            self._add(_Node(self._scalar(event)), event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            node = self._anchored(event)
            self._count(node.nodes, event)
            self._check_depth(node.height, event)
            self._add(node, None)
        else:
            self._open(event)

    def _key(self, event: yaml.NodeEvent, siblings: dict[str, Any]) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise _error(self._no_key_reason(event), event)
        key = self._written(event)
        if key in siblings:
            raise _error(f"the key `{key}` is there twice; keep one of them", event)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Node(key)
        return key

    def _no_key_reason(self, event: yaml.NodeEvent) -> str:
        start = _mark(event.start_mark).index
        placeholder = _PLACEHOLDER.match(self._text, max(0, start - 1)) or _PLACEHOLDER.match(self._text, start)
        if placeholder:
            return f"unfilled template: `{placeholder.group()}`; fill it in, or put it in quotes"
        return "a key must be text, not a list, a map or an alias"

    def _scalar(self, event: yaml.ScalarEvent) -> Any:
        text = self._written(event)
        # A tag such as `!!python/object` or `!!int` never constructs anything: what it marks is text.
        return text if event.style or event.tag is not None else typed_scalar(text)

    def _written(self, event: yaml.ScalarEvent) -> str:
        text: str = event.value
        return text.translate(self._originals) if self._originals else text

    def _open(self, event: yaml.NodeEvent) -> None:
        self._count(1, event)
        self._check_depth(1, event)
        value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._stack.append(_Open(value, _mark(event.start_mark).index, event.anchor))

    def _close(self, event: yaml.Event) -> None:
        closed = self._stack.pop()
        if not self._stack:
            self.metadata = closed.value if isinstance(closed.value, dict) else {}
            return
        written = self._text[closed.start : _mark(event.end_mark).index]
        # YAML reads `[[Note]]` as a list in a list; a person who writes it in a note means a link.
        node = _Node(written) if _WIKILINK.fullmatch(written) else _Node(closed.value, closed.nodes, closed.height)
        self._add(node, closed.anchor)

    def _add(self, node: _Node, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = node
        parent = self._stack[-1]
        parent.nodes += node.nodes
        parent.height = max(parent.height, node.height + 1)
        if isinstance(parent.value, list):
            parent.value.append(node.value)
        elif parent.key is not None:
            parent.value[parent.key] = node.value
            parent.key = None

    def _anchored(self, event: yaml.AliasEvent) -> _Node:
        node = self._anchors.get(event.anchor or "")
        if node is None:
            known = event.anchor in self._anchors
            raise _error(f"the alias `*{event.anchor}` {'contains itself' if known else 'has no anchor'}", event)
        return node

    def _count(self, nodes: int, event: yaml.Event) -> None:
        self._nodes += nodes
        if self._nodes > self._bounds.max_header_nodes:
            raise _error(f"the header has more than {self._bounds.max_header_nodes} values, aliases expanded", event)

    def _check_depth(self, height: int, event: yaml.Event) -> None:
        if len(self._stack) + height > self._bounds.max_header_depth:
            raise _error(f"the header is nested deeper than {self._bounds.max_header_depth} levels", event)


def _mark(mark: object) -> yaml.Mark:
    """Say to the type checker what holds for every event that comes from a parser: it has its marks."""
    return cast("yaml.Mark", mark)


def _error(reason: str, event: yaml.Event) -> FrontmatterError:
    return FrontmatterError(reason, line=_mark(event.start_mark).line + FIRST_PROPERTIES_LINE)
