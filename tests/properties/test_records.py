"""Laws of records: a file is its header and its body, and what is rendered is parsed back."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.errors import RecordError
from vault_memory.model import Record, Target
from vault_memory.records import parse_record, render_record

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
METADATA = st.dictionaries(TEXTS, VALUES, max_size=3)
PIECES = [
    "---",
    "a: 1",
    "a: b: c",
    "\n",
    "\r\n",
    "\r",
    "\ufeff",
    "#tag ",
    "[[Link]]",
    "    ",
    "`",
    "```",
    "%%",
    "words ",
]
BODIES = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | TEXTS


def _parsed(text: str) -> Record:
    return parse_record(Target("", "note"), "note.md", text.encode())


def _exactly(value: Any) -> str:
    return json.dumps(dict(value))


def _outcome(data: bytes) -> Record | RecordError:
    try:
        return parse_record(Target("", "note"), "note.md", data)
    except RecordError as error:
        return error


@given(METADATA, BODIES)
def test_what_is_rendered_is_parsed_back(metadata: dict[str, Any], body: str) -> None:
    """Metadata and body survive writing and reading, whatever the body starts with."""
    record = _parsed(render_record(metadata, body))
    assert _exactly(record.metadata) == _exactly(metadata)
    assert record.body == body


@given(BODIES, METADATA, BODIES, st.booleans())
def test_replacing_a_record_gives_the_new_parts(old: str, metadata: dict[str, Any], body: str, keep: bool) -> None:
    """The file that is replaced shapes the header's form, never what it says; unchanged, it is kept to the byte."""
    try:
        existing = _parsed(old)
    except RecordError:
        return
    wanted = existing.metadata if keep else metadata
    record = _parsed(render_record(wanted, body, existing=existing))
    assert _exactly(record.metadata) == _exactly(wanted)
    assert record.body == body
    assert render_record(existing.metadata, existing.body, existing=existing) == old


@given(st.binary() | BODIES.map(str.encode))
def test_any_bytes_are_a_record_or_an_error_with_a_path(data: bytes) -> None:
    """No file crashes the reading; a good one is its header and its body."""
    found = _outcome(data)
    if isinstance(found, RecordError):
        assert str(found).startswith("note.md:")
    else:
        assert (found.header + found.body).encode() == data
