"""What an embedder is given for a fragment: its text under the names that a reader would see above it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vault_memory.model import content_digest

# Comments are not shown to a reader and would dilute the vector; the span keeps them.
_COMMENT = re.compile(r"%%.*?%%|<!--.*?-->", re.DOTALL)
_SEPARATOR = "\n"


def embedding_input(
    text: str, heading_path: Sequence[str] = (), names: Sequence[str] = (), max_chars: int | None = None
) -> str:
    """Return the text to embed for a fragment.

    The file's name is no part of it: a renamed note keeps its vectors.

    Args:
        text: The fragment's text, at most `max_chars` long.
        heading_path: The headings above it.
        names: Title and aliases from the metadata.
        max_chars: The embedder's bound. The names give way to the text.
    """
    shown = _COMMENT.sub(" ", text) if "%%" in text or "<!--" in text else text
    above = _SEPARATOR.join(dict.fromkeys(name for name in (*names, *heading_path) if name and name not in text))
    if not above:
        return shown
    if max_chars is not None:
        above = above[: max(0, max_chars - len(shown) - len(_SEPARATOR))]
    return above + _SEPARATOR + shown if above else shown


def vector_key(embedded: str) -> bytes:
    """Return the key under which the vector of a text is kept and found again."""
    return bytes.fromhex(content_digest(embedded))
