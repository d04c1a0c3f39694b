"""Hits to text that can be put before a reader, cited, and kept within a budget."""

from vault_memory.context.budget import Budget, CountTokens, estimate_tokens
from vault_memory.context.building import build_context
from vault_memory.context.layout import SOURCES_BY_RANK, Layout, Order
from vault_memory.context.messages import query_from_messages
from vault_memory.context.passages import BLOCK_JOINT, Context, ContextPassage, Dropped, DropReason
from vault_memory.context.source_block import escape_text, render_source, unescape_text

__all__ = [
    "BLOCK_JOINT",
    "SOURCES_BY_RANK",
    "Budget",
    "Context",
    "ContextPassage",
    "CountTokens",
    "DropReason",
    "Dropped",
    "Layout",
    "Order",
    "build_context",
    "escape_text",
    "estimate_tokens",
    "query_from_messages",
    "render_source",
    "unescape_text",
]
