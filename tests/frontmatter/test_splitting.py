"""Where a header ends."""

from __future__ import annotations

import pytest

from vault_memory.frontmatter import split_frontmatter


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_header_runs_through_the_line_end_of_its_closing_fence(end: str) -> None:
    """Each of the three line ends closes the fences; nothing of the body is stripped."""
    text = end.join(["---", "title: Pump", "---", "", "  Prime it. ", ""])
    split = split_frontmatter(text)
    assert split.header == end.join(["---", "title: Pump", "---", ""])
    assert split.properties == f"title: Pump{end}"
    assert split.body == end.join(["", "  Prime it. ", ""])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "Words\n---\na: 1\n---\n",
        "\n---\na: 1\n---\n",
        " ---\na: 1\n---\n",
        "----\na: 1\n----\n",
        "--- x\na: 1\n---\n",
        "---\na: 1\n",
        "---\na: 1\n ---\n",
        "---\na: 1\n---x\n",
        "---\u2028a: 1\u2028---\u2028",
    ],
)
def test_without_two_fences_all_is_body(text: str) -> None:
    """The first line must be just `---`, and so must a later one; neither may be indented."""
    split = split_frontmatter(text)
    assert split == ("", "", text)
    assert not split.has_fences


def test_blanks_may_follow_the_dashes() -> None:
    """White space behind a fence does not count."""
    assert split_frontmatter("--- \t\na: 1\n---  \nBody").body == "Body"


def test_an_empty_block_is_a_header() -> None:
    """The closing fence may follow the opening one at once."""
    split = split_frontmatter("---\n---\nBody")
    assert split == ("---\n---\n", "", "Body")
    assert split.has_fences


def test_the_closing_fence_may_end_the_file() -> None:
    """No line end is needed behind the closing fence."""
    assert split_frontmatter("---\na: 1\n---") == ("---\na: 1\n---", "a: 1\n", "")


def test_only_the_first_closing_fence_counts() -> None:
    """A rule in the body stays there, and an indented one inside a value does not close."""
    split = split_frontmatter("---\na: |\n  ---\n---\nOne\n\n---\nTwo")
    assert split.properties == "a: |\n  ---\n"
    assert split.body == "One\n\n---\nTwo"


@pytest.mark.parametrize(("text", "header"), [("\ufeffBody", "\ufeff"), ("\ufeff---\n---\nBody", "\ufeff---\n---\n")])
def test_a_byte_order_mark_belongs_to_the_header(text: str, header: str) -> None:
    """The mark is never part of the body, and it is not lost either."""
    assert split_frontmatter(text)[::2] == (header, "Body")
