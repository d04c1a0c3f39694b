"""Our handler inside the library python-frontmatter."""

from __future__ import annotations

from pathlib import Path

import frontmatter
import pytest

from vault_memory.errors import FrontmatterError
from vault_memory.frontmatter import VaultFrontmatterHandler


def test_the_library_loads_a_file_with_it(tmp_path: Path) -> None:
    """Metadata is typed by our rules, also behind a byte order mark and with CRLF."""
    note = tmp_path / "note.md"
    note.write_bytes("\ufeff---\r\nversion: 1.10\r\nup: [[A]]\r\n---\r\nBody".encode())
    post = frontmatter.load(str(note), handler=VaultFrontmatterHandler())
    assert post.metadata == {"version": "1.10", "up": "[[A]]"}
    assert post.content == "Body"


def test_the_library_writes_what_it_loaded() -> None:
    """Dumping a post and loading it again gives the same metadata and content."""
    handler = VaultFrontmatterHandler()
    post = frontmatter.loads("---\na: '---'\nb: [1, 1.10]\n---\nBody\n\n---\nmore", handler=handler)
    text = frontmatter.dumps(post, handler=handler)
    assert text == '---\na: "---"\nb:\n  - 1\n  - "1.10"\n---\nBody\n\n---\nmore'
    again = frontmatter.loads(text, handler=handler)
    assert (again.metadata, again.content) == (post.metadata, post.content)


@pytest.mark.parametrize("text", ["No header", "---\nprose\n---\nmore", "---\nnever: closed"])
def test_a_text_without_header_is_all_content(text: str) -> None:
    """Where we see no header the library keeps every word in the content."""
    post = frontmatter.loads(text, handler=VaultFrontmatterHandler())
    assert (post.metadata, post.content) == ({}, text)


def test_the_five_steps_stand_alone() -> None:
    """Detect, split, load and export can be called one by one."""
    handler = VaultFrontmatterHandler()
    text = "---\na: 1\n---\n\nBody\n"
    assert handler.detect(text)
    assert not handler.detect("a: 1")
    assert handler.split(text) == ("a: 1\n", "\nBody\n")
    assert handler.load("a: 1\n") == {"a": 1}
    assert handler.load("") == {}
    assert handler.export({"a": 1}) == "a: 1"
    with pytest.raises(ValueError, match="no header"):
        handler.split("Body")
    with pytest.raises(FrontmatterError):
        handler.load("a: b: c")
