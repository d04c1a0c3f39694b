"""The question in a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vault_memory.errors import QueryError

Message = Mapping[str, Any]


def query_from_messages(messages: Iterable[Message]) -> str:
    """Return the text of the last message of the user, as a query.

    Args:
        messages: Messages with `role` and `content`, oldest first. The content is a text, or a list of texts and of
            parts with a `text`; parts of other kinds, such as images, are passed over.

    Raises:
        QueryError: There is no message of the user, or its last one holds no text.

    Example:
        >>> query_from_messages([{"role": "user", "content": [{"type": "text", "text": "When do I sow leeks?"}]}])
        'When do I sow leeks?'
    """
    asked = [message for message in messages if message.get("role") == "user"]
    if not asked:
        raise QueryError("the conversation has no message of the user; give the question itself")
    text = _text(asked[-1].get("content"))
    if not text.strip():
        raise QueryError("the last message of the user holds no text; give the question itself")
    return text


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))
