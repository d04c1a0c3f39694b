"""How the passages of a context are shown, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from vault_memory.context.passages import ContextPassage
from vault_memory.context.source_block import render_source
from vault_memory.errors import QueryError

Order = Literal["rank", "place"]
Render = Callable[[ContextPassage], str]


def render_plain(passage: ContextPassage) -> str:
    """Return the passage's text and nothing else."""
    return passage.text


FORMATS: dict[str, Render] = {"source": render_source, "plain": render_plain}


@dataclass(frozen=True, slots=True)
class Layout:
    """The shape of a context's text.

    Attributes:
        order: `rank` puts the best passage first; `place` goes by path and position, as a person would read.
        format: `source` wraps each passage in a citable block, `plain` gives its text alone. A function is given the
            passage, whose `block` is still empty, and returns the block; escaping is its own affair
            (`escape_text`).
        merge: Whether neighbouring passages of one record, with nothing but blanks between them, become one.
        header: Put before the first passage, if there is one.
        footer: Put after the last passage, if there is one.

    Raises:
        QueryError: The order or the format is unknown.
    """

    order: Order = "rank"
    format: Literal["source", "plain"] | Render = "source"
    merge: bool = False
    header: str = ""
    footer: str = ""

    def __post_init__(self) -> None:
        if self.order not in get_args(Order):
            raise QueryError(f"order {self.order!r} is unknown; use one of {', '.join(get_args(Order))}")
        if not callable(self.format) and self.format not in FORMATS:
            raise QueryError(f"format {self.format!r} is unknown; use a function or one of {', '.join(FORMATS)}")

    def render(self, passage: ContextPassage) -> str:
        """Return the block of a passage.

        Raises:
            QueryError: The caller's own format returned something else than a text.
        """
        render = self.format if callable(self.format) else FORMATS[self.format]
        block = render(passage)
        if not isinstance(block, str):
            raise QueryError(f"the format must return a text for {passage.id}, not {type(block).__name__}")
        return block

    def ordered(self, passages: Iterable[ContextPassage]) -> tuple[ContextPassage, ...]:
        """Return the passages in the order of the text."""
        if self.order == "place":
            return tuple(sorted(passages, key=lambda passage: (passage.path, passage.locator)))
        return tuple(sorted(passages, key=lambda passage: passage.rank))


SOURCES_BY_RANK = Layout()
