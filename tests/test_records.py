"""Bytes of a file to a record, and back."""

from __future__ import annotations

import pytest

from vault_memory.config import ReadSettings
from vault_memory.errors import FrontmatterError, RecordEncodingError, RecordError
from vault_memory.model import Record, Target, content_digest
from vault_memory.records import parse_record, render_record

TARGET = Target("beds", "North")


def _parsed(text: str | bytes, settings: ReadSettings | None = None) -> Record:
    data = text.encode() if isinstance(text, str) else text
    return parse_record(TARGET, "beds/North.md", data, settings or ReadSettings())


def test_a_record_holds_what_the_file_says() -> None:
    """Identity, parts, digest and names come from one reading."""
    data = b"---\ntitle: North bed\nalias: [NB, 7, NB]\nAliases: Cold one\ntags: soil\n---\n# Bed\n\n#Clay, see [[Soil]].\n"
    record = _parsed(data)
    assert record.target == TARGET
    assert record.path == "beds/North.md"
    assert (record.header + record.body).encode() == data
    assert record.digest == content_digest(data)
    assert record.title == "North bed"
    assert record.aliases == ("NB", "7", "Cold one")
    assert record.tags == ("soil", "Clay")
    assert record.links == ("Soil",)


@pytest.mark.parametrize(
    ("header", "title"),
    [
        ("title: 1984", "1984"),
        ("title: 1.5", "1.5"),
        ("title: true", "North"),
        ("title:", "North"),
        ("title: [a]", "North"),
        ("title: ' '", "North"),
        ("name: x", "North"),
    ],
)
def test_the_title_is_a_text_of_the_metadata_or_the_name(header: str, title: str) -> None:
    """A number is a fair title; nothing, a truth value and a list are none."""
    assert _parsed(f"---\n{header}\n---\n").title == title


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        (
            "tags: [garden, null, 2024, no, Plant/Tomato, Garden, true, '#mint', ' ', [x]]",
            ("garden", "2024", "no", "Plant/Tomato", "true", "mint"),
        ),
        ("tags: 'herb, #kitchen  shed'", ("herb", "kitchen", "shed")),
        ("Tags: 2024\ntag: [a]", ("2024", "a")),
        ("tags:", ()),
        ("tags: {a: b}", ()),
    ],
)
def test_tags_of_the_metadata(header: str, tags: tuple[str, ...]) -> None:
    """A list or one text gives tags; numbers become text, nothing gives none, the first spelling of a tag stays."""
    assert _parsed(f"---\n{header}\n---\n").tags == tags


def test_the_first_spelling_of_a_tag_stays() -> None:
    """Metadata comes before text, and letter case makes no second tag."""
    assert _parsed("---\ntags: [Garden]\n---\n#garden #SHED #shed").tags == ("Garden", "SHED")


def test_links_come_from_all_values_and_the_body() -> None:
    """Links are found however deep in the metadata, in the order in which they are written, each once."""
    header = 'up: [[A]]\nin:\n  deep: ["see [[B|b]] and [[C]]", {x: "![[D#e]]"}]\nno: 5'
    assert _parsed(f"---\n{header}\n---\n[[E]] [[A]] [f](F%20g.md)").links == ("A", "B", "C", "D#e", "E", "F g.md")


def test_a_byte_order_mark_is_in_neither_metadata_nor_body() -> None:
    """One mark is kept in the header; a second one would be text."""
    record = _parsed("\ufeff---\na: 1\n---\nBody")
    assert (dict(record.metadata), record.body) == ({"a": 1}, "Body")
    assert _parsed("\ufeff\ufeffBody").body == "\ufeffBody"


@pytest.mark.parametrize(
    ("data", "position", "line", "hint"),
    [
        (b"---\ntitle: K\xe4se\n---\n", 12, 2, "Latin-1"),
        (b"a\r\nb\rc\n\x80", 7, 4, "0x80 at position 7"),
        ("Käse".encode("utf-16"), 0, 1, "UTF-16"),
        ("ab".encode("utf-16-le"), 1, 1, "UTF-16"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", 0, 1, "binary"),
        (b"text \x00 and more", 5, 1, "binary"),
    ],
)
def test_what_is_not_utf8_is_refused(data: bytes, position: int, line: int, hint: str) -> None:
    """The error holds the path, the first bad byte, its line, and what the file may be instead."""
    with pytest.raises(RecordEncodingError, match=rf"^beds/North\.md:{line}: not UTF-8") as caught:
        _parsed(data)
    assert caught.value.byte_position == position
    assert hint in caught.value.reason


def test_a_nul_far_behind_is_text() -> None:
    """A file that a crash left with NULs at its end can still be read."""
    assert _parsed(b"x" * 2000 + b"\0\0").body.endswith("x\0\0")


def test_a_file_may_not_be_too_large() -> None:
    """A file above the bound is refused with both sizes."""
    with pytest.raises(RecordError, match=r"beds/North\.md: the file has 11 bytes, the bound is 10"):
        _parsed(b"x" * 11, ReadSettings(max_note_bytes=10))


def test_an_error_of_the_header_gets_the_path() -> None:
    """The path is added once to what the header says."""
    with pytest.raises(FrontmatterError, match=r"^beds/North\.md:2: .*more than 3 values"):
        _parsed("---\na: [1, 2, 3]\n---\n", ReadSettings(max_header_nodes=3))


def test_a_new_file_has_line_feeds() -> None:
    """Metadata is written through the handler; without any there is no header."""
    assert render_record({"title": "A", "tags": ["b"]}, "Body\r\n") == "---\ntitle: A\ntags:\n  - b\n---\nBody\r\n"
    assert render_record({}, "Body") == "Body"


@pytest.mark.parametrize(
    "header",
    ["---\n# kept\na:   1\nb: '2'\n---\n", "\ufeff---\r\na: 1\r\nb: '2'\r\n---\r\n", "---\nb: '2'\na: 1\n---  \n"],
)
def test_a_header_that_says_the_same_is_kept(header: str) -> None:
    """Comments, spacing, order, quotes, line ends and byte order mark stay while the metadata stays."""
    existing = _parsed(header + "Old")
    assert render_record({"a": 1, "b": "2"}, "New", existing=existing) == header + "New"


@pytest.mark.parametrize("metadata", [{"a": True}, {"a": 1.0}, {"a": "1"}, {"a": 1, "b": None}])
def test_a_header_that_says_something_else_is_written_anew(metadata: dict[str, object]) -> None:
    """Values that Python calls equal are not the same metadata."""
    existing = _parsed("---\r\na: 1 # one\r\n---\r\nOld")
    text = render_record(metadata, "New", existing=existing)
    assert text.startswith("---\r\na: ")
    assert _parsed(text).metadata == metadata
    assert "# one" not in text


@pytest.mark.parametrize(
    ("old", "body", "text"),
    [
        ("---\na: 1 #c\n---", "", "---\na: 1 #c\n---"),
        ("---\na: 1 #c\n---", "Body", "---\na: 1 #c\n---\nBody"),
        ("---\ra: 1 #c\r---\r", "\nBody", "---\ra: 1 #c\r---\r\n\nBody"),
    ],
)
def test_a_kept_header_gets_the_line_end_that_the_body_needs(old: str, body: str, text: str) -> None:
    """A header at the end of its file, or one whose line end would join the body's first, is closed before the body."""
    existing = _parsed(old)
    assert render_record(existing.metadata, body, existing=existing) == text
    assert _parsed(text).body == body


@pytest.mark.parametrize("body", ["---\na: 1\n---\nBody", "---\na: b: c\n---\n", "---\n---", "\ufeffBody"])
def test_a_body_that_looks_like_a_header_gets_an_empty_one(body: str) -> None:
    """What the body would lose to a reader is kept behind a header that says nothing."""
    text = render_record({}, body)
    assert text == f"---\n---\n{body}"
    assert (dict(_parsed(text).metadata), _parsed(text).body) == ({}, body)


def test_a_body_that_starts_with_a_rule_needs_no_header() -> None:
    """Prose between two rules is no header, so nothing is put before it."""
    body = "---\nThe gate sticks\n---\n"
    assert render_record({}, body) == body
    assert render_record({}, body, existing=_parsed(body)) == body


def test_the_last_property_takes_the_header_along() -> None:
    """A file whose metadata is emptied has no header; one that was empty keeps its own."""
    assert render_record({}, "Body", existing=_parsed("---\na: 1\n---\n")) == "Body"
    assert render_record({}, "Body", existing=_parsed("---\n# nothing\n---\n")) == "---\n# nothing\n---\nBody"


def test_what_cannot_be_stored_is_refused() -> None:
    """Nothing is written for metadata that JSON does not know."""
    with pytest.raises(FrontmatterError, match="`plot`"):
        render_record({"plot": float("nan")}, "Body")
