"""Markdown over the original text: blocks, inline tags and links, packed data, line numbers."""
