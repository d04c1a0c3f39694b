"""Laws of the header: no character is lost, and what is written is read back."""

from __future__ import annotations

import json
from typing import Any

import frontmatter
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.errors import FrontmatterError
from vault_memory.frontmatter import (
    Frontmatter,
    VaultFrontmatterHandler,
    checked_metadata,
    read_frontmatter,
    render_header,
    split_frontmatter,
)

# Pieces that are likely to break a reader or a writer of headers.
HOSTILE = [
    *["---", "\n", "\r", "\r\n", "\x85", "\u2028", "\ufeff", "\t", " ", "\x00", "\x07", "\x7f", "\ufffe", "👩\u200d🌾"],
    *["null", "yes", "1e3", "0x1F", "12:30", "2023-02-30", "2024-03-05", "[[x]]", "{{y}}", "#", ":", ": ", " #", "- "],
    *[
        "'",
        '"',
        "\\",
        "|",
        ">",
        "*a",
        "&a",
        "!t",
        "%",
        "@",
        "`",
        "?",
        ",",
        "[",
        "]",
        "{",
        "}",
        "...",
        "é",
        "a",
        "x" * 999,
    ],
]
TEXTS = st.one_of(
    st.sampled_from(HOSTILE),
    st.lists(st.sampled_from(HOSTILE), max_size=6).map("".join),
    st.text(st.characters(exclude_categories=["Cs"])),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)
METADATA = st.dictionaries(TEXTS, VALUES, max_size=5)
FILES = (
    st.lists(
        st.sampled_from(
            ["---", "--- ", " ---", "a: 1", "a: [[b]]", "- c", "d", ": ", "\n", "\r\n", "\r", "\ufeff", "\u2028"]
        )
    ).map("".join)
    | st.text()
)


def _exactly(value: Any) -> str:
    """Return a text that tells apart what Python calls equal: `1`, `1.0`, `True`, and `0.0` from `-0.0`."""
    return json.dumps(value, ensure_ascii=False)


def _outcome(text: str) -> Frontmatter | FrontmatterError:
    try:
        return read_frontmatter(text)
    except FrontmatterError as error:
        return error


@given(FILES)
def test_header_and_body_are_the_text(text: str) -> None:
    """Splitting loses and adds nothing, and only the header can hold a fence."""
    split = split_frontmatter(text)
    assert split.header + split.body == text
    assert split.properties in split.header


@given(FILES)
def test_reading_loses_no_word(text: str) -> None:
    """Reading gives the text back in two parts, or says why it cannot, with a line of the file."""
    found = _outcome(text)
    if isinstance(found, FrontmatterError):
        assert found.line is not None
        assert 2 <= found.line <= text.count("\n") + text.count("\r") + 2
    else:
        assert found.header + found.body == text
        assert _exactly(found.metadata)


@given(METADATA, st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_read_back(metadata: dict[str, Any], line_end: str) -> None:
    """Any JSON-safe metadata survives writing and reading, in value, type and order."""
    found = read_frontmatter(render_header(metadata, line_end) + "Body")
    assert _exactly(found.metadata) == _exactly(metadata)
    assert found.body == "Body"


@given(METADATA)
def test_writing_is_stable(metadata: dict[str, Any]) -> None:
    """What was read from a written header is written the same again."""
    header = render_header(metadata)
    assert render_header(read_frontmatter(header).metadata) == header


@given(st.dictionaries(TEXTS, TEXTS, max_size=5))
def test_other_readers_see_the_same_texts(metadata: dict[str, str]) -> None:
    """PyYAML's own loader finds the texts that were written, but for real dates, which it types."""
    text = render_header(metadata).removeprefix("---\n").removesuffix("---\n")
    found = yaml.safe_load(text) or {}
    assert [str(key)[:10] for key in found] == [key[:10] for key in metadata]
    for key, value in found.items():
        assert not isinstance(value, int | float | bool | None | list | dict)
        if isinstance(key, str) and isinstance(value, str):
            assert metadata[key] == value


@given(METADATA)
def test_the_library_sees_the_same_metadata(metadata: dict[str, Any]) -> None:
    """python-frontmatter with our handler reads the metadata that our handler wrote."""
    handler = VaultFrontmatterHandler()
    text = f"---\n{handler.export(metadata)}\n---\n"
    found, _ = frontmatter.parse(text, handler=handler)
    assert _exactly(found) == _exactly(metadata)


@given(METADATA)
def test_a_checked_copy_is_equal(metadata: dict[str, Any]) -> None:
    """JSON-safe metadata is not changed by the check."""
    assert _exactly(checked_metadata(metadata)) == _exactly(metadata)
