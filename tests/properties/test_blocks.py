"""Laws of blocks, over documents put together of hostile pieces and over any text at all."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.markdown.blocks import Block, parse_blocks

PIECES = [
    *("", "", "", " ", "  ", "    ", "\t", "> ", ">", "> [!note]", "- ", "-", "* ", "-\t", "1. ", "2) ", "- [ ] "),
    *("# ", "#", " ##", " ^id", "---", "* * *", "===", "--", "```", "~~~", "`````", "|a|b|", "|-|-|", "-|-", "a|b"),
    *(
        "<div>",
        "<!--",
        "-->",
        "<b>",
        "<?",
        "%%",
        "%% x %%",
        "%%%",
        "$$",
        "$$x$$",
        "$$ ^id",
        "\\",
        "a",
        "é 字",
        "[x]: y",
    ),
]
DOCUMENTS = st.builds(
    lambda lines: "".join("".join(pieces) + end for pieces, end in lines),
    st.lists(
        st.tuples(st.lists(st.sampled_from(PIECES), max_size=4), st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])),
        max_size=14,
    ),
)
BODIES = DOCUMENTS | st.text(st.characters(codec="utf-8") | st.sampled_from("\n\r\t >#-`|$%<1.*"))


def at_line_start(body: str, offset: int) -> bool:
    """Tell whether a line starts at the offset."""
    return offset == 0 or body[offset - 1] == "\n" or (body[offset - 1] == "\r" and body[offset : offset + 1] != "\n")


def without_place(block: Block, start: int, depth: int) -> tuple[object, ...]:
    """Return a block as if `start` were the start of the body and `depth` headings were not there."""
    breaks = tuple(offset - start for offset in block.breaks)
    place = (block.start - start, block.end - start, block.text_start - start)
    return (block.kind, *place, block.heading_path[depth:], block.level, block.text, breaks)


@settings(max_examples=300, deadline=None)
@given(BODIES)
def test_blocks_cover_the_body(body: str) -> None:
    """Blocks are whole lines without their last line end; they rise, do not overlap, and hold every visible character."""
    position = 0
    for block in parse_blocks(body):
        assert position <= block.start < block.end
        assert not body[position : block.start].strip(" \t\r\n")
        assert at_line_start(body, block.start)
        assert body[block.end - 1] not in "\r\n"
        assert body[block.end : block.end + 1] in ("", "\r", "\n")
        position = block.end
    assert not body[position:].strip(" \t\r\n")


@settings(max_examples=300, deadline=None)
@given(BODIES)
def test_breaks_lie_inside(body: str) -> None:
    """Breaks rise, lie inside their block, at line starts; only lists, quotes and callouts have them."""
    for block in parse_blocks(body):
        assert list(block.breaks) == sorted(set(block.breaks))
        assert all(block.start < offset < block.end and at_line_start(body, offset) for offset in block.breaks)
        assert not block.breaks or block.kind in ("list", "quote", "callout")


@settings(max_examples=300, deadline=None)
@given(BODIES)
def test_headings(body: str) -> None:
    """A heading's text begins at its place, and the path of each block is the chain of headings above it."""
    path: list[tuple[int, str]] = []
    for block in parse_blocks(body):
        assert (block.kind == "heading") == (block.level > 0)
        assert block.start <= block.text_start <= block.end
        if block.level:
            first_line = re.split(r"[ \t]*[\r\n]", body[block.text_start : block.end])[0]
            assert block.text.startswith(first_line) or first_line.startswith(block.text)
            path = [*(heading for heading in path if heading[0] < block.level), (block.level, block.text)]
        assert block.heading_path == tuple(text for _, text in path)


@settings(max_examples=300, deadline=None)
@given(BODIES)
def test_a_prefix_has_the_same_blocks(body: str) -> None:
    """A body cut off at the end of a block has the same blocks up to there."""
    blocks = parse_blocks(body)
    for count, block in enumerate(blocks, 1):
        assert parse_blocks(body[: block.end]) == blocks[:count]


@settings(max_examples=300, deadline=None)
@given(BODIES)
def test_a_suffix_has_the_same_blocks(body: str) -> None:
    """From the start of a block on, the structure does not depend on what came before."""
    blocks = parse_blocks(body)
    for index, first in enumerate(blocks):
        kept = [(block.kind, block.end - first.start, block.level, block.text) for block in blocks[index:]]
        rest = parse_blocks(body[first.start :])
        assert [(block.kind, block.end, block.level, block.text) for block in rest] == kept


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS, st.sampled_from(["\r\n", "\r"]))
def test_line_ends_do_not_matter(body: str, end: str) -> None:
    """The same lines with other line ends have the same blocks, line by line."""
    plain = re.sub(r"\r\n?", "\n", body)
    other = plain.replace("\n", end)
    place = [offset + plain.count("\n", 0, offset) * (len(end) - 1) for offset in range(len(plain) + 1)]
    moved = [
        block._replace(
            start=place[block.start],
            end=place[block.end],
            text_start=place[block.text_start],
            breaks=tuple(place[offset] for offset in block.breaks),
        )
        for block in parse_blocks(plain)
    ]
    assert parse_blocks(other) == moved
