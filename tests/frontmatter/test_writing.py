"""How metadata is written."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from vault_memory.errors import FrontmatterError
from vault_memory.frontmatter import checked_metadata, read_frontmatter, render_header, render_properties
from vault_memory.frontmatter.scalars import render_scalar

UTC = datetime.UTC


def test_properties_are_written_for_people() -> None:
    """Block style, keys in their order, two blanks of indentation, no quotes where none are needed."""
    metadata = {
        "title": "Pump house & well",
        "tags": ["garden", "water/well"],
        "created": "2024-03-05",
        "seen": "2024-03-05T09:30:00Z",
        "links": [{"type": "about", "target": {"scope": "a", "id": "b"}}, [1, [2]]],
        "empty": {"list": [], "map": {}, "nothing": None, "text": ""},
        "done": True,
        "size": 1.5,
        "note": "One\n\n  two\n---\nthree\n",
        "short": "One\ntwo",
    }
    assert render_properties(metadata) == (
        "title: Pump house & well\n"
        "tags:\n"
        "  - garden\n"
        "  - water/well\n"
        "created: 2024-03-05\n"
        "seen: 2024-03-05T09:30:00Z\n"
        "links:\n"
        "  - type: about\n"
        "    target:\n"
        "      scope: a\n"
        "      id: b\n"
        "  - - 1\n"
        "    - - 2\n"
        "empty:\n"
        "  list: []\n"
        "  map: {}\n"
        "  nothing: null\n"
        '  text: ""\n'
        "done: true\n"
        "size: 1.5\n"
        "note: |\n"
        "  One\n"
        "\n"
        "    two\n"
        "  ---\n"
        "  three\n"
        "short: |-\n"
        "  One\n"
        "  two\n"
    )


@pytest.mark.parametrize("text", ["Zoë", "a-b_c/d", "it's 5 o'clock", "a:b", "a#b", "2024-03-05 09:30", "春の庭"])
def test_plain_texts_get_no_quotes(text: str) -> None:
    """A text that no reader takes for something else is written as it is."""
    assert render_scalar(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *["null", "True", "yes", "NO", "on", "Off", "y", "N", "~", ""],
        *["1", "1.10", "010", "1e3", "0x1F", "1_000", ".5", "+1", "12:30", ".inf", "=", "<<"],
        *["a: b", "a #b", "a:", "a ", " a", "- a", "? a", "#a", "@a", "`a`", "*a", "&a", "!a", "%a", "|", ">"],
        *["[[A]]", "{{a}}", '"a"', "'a'", "---", "...", "2023-02-30", "2024-3-5", "2024-03-05T25:00", "a\u2028b"],
    ],
)
def test_texts_that_a_reader_may_take_for_more_are_quoted(text: str) -> None:
    """Words, numbers and indicators of YAML 1.1 and 1.2, and dates that do not exist, are written in quotes."""
    assert render_scalar(text)[0] == '"'


def test_what_no_reader_may_see_bare_is_escaped() -> None:
    """Control characters, the Unicode line ends and the byte order mark are written as escapes; emoji are not."""
    written = render_properties({"a": '\x00\x07\t\r\x85\u2028\ufeff"\\👩\u200d🌾'})
    assert written == 'a: "\\u0000\\u0007\\t\\r\\u0085\\u2028\\ufeff\\"\\\\👩\u200d🌾"\n'


def test_a_value_never_closes_the_header() -> None:
    """Lines of three dashes in a value, a key or an item do not stand at the start of a line."""
    metadata = {"---": "---\n---\n", "a": ["---", "x\n---"], "b": {"c": "\n---\n"}}
    assert read_frontmatter(render_header(metadata) + "Body") == (render_header(metadata), metadata, "Body")


def test_a_long_key_is_written_so_that_it_can_be_read() -> None:
    """A key that is too long for its line gets the explicit form, in lists as well."""
    key = "k" * 3000
    metadata = {key: 1, "a": [{key: {key: [2]}}]}
    assert read_frontmatter(render_header(metadata)).metadata == metadata


def test_line_ends_can_be_chosen() -> None:
    """A header for a file with CRLF has no bare line feed, and means the same."""
    header = render_header({"a": "x\ny", "b": [1]}, "\r\n")
    assert "\n" not in header.replace("\r\n", "")
    assert read_frontmatter(header).metadata == {"a": "x\ny", "b": [1]}


def test_dates_become_iso_text() -> None:
    """Dates and times of Python are written as ISO text without quotes."""
    moment = datetime.datetime(2024, 3, 5, 9, 30, tzinfo=UTC)
    checked = checked_metadata({"day": moment.date(), "at": moment})
    assert checked == {"day": "2024-03-05", "at": "2024-03-05T09:30:00+00:00"}
    assert render_properties(checked) == "day: 2024-03-05\nat: 2024-03-05T09:30:00+00:00\n"


def test_a_checked_copy_is_plain_and_deep() -> None:
    """Tuples become lists, numbers lose their subclass, and later changes of the original do not show."""
    items = ["a"]
    checked = checked_metadata({"list": items, "pair": (1, None)})
    items.append("b")
    assert checked == {"list": ["a"], "pair": [1, None]}


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        {1},
        object(),
        b"x",
        1j,
        {"inner": {2: 3}},
        [{None: 1}],
        "\ud800",
        pytest.param(10**5000, id="big"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(value: Any) -> None:
    """A value that JSON or UTF-8 cannot hold is an error that names the property."""
    with pytest.raises(FrontmatterError, match=r"plot|key (2|None) "):
        render_properties({"plot": value})


def test_keys_must_be_text() -> None:
    """A key that is no text, or that no file can hold, is refused."""
    with pytest.raises(FrontmatterError, match="key 5 is int"):
        render_properties({5: "x"})  # type: ignore[dict-item]  # The wrong type is the point.
    with pytest.raises(FrontmatterError, match="surrogate"):
        render_properties({"\udfff": "x"})


def test_nesting_is_bounded() -> None:
    """Metadata that contains itself, or is nested deeper than reading allows, is refused."""
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(FrontmatterError, match="`loop` is nested deeper"):
        render_properties({"loop": loop})
    deepest: Any = "x"
    for _ in range(31):
        deepest = [deepest]
    assert read_frontmatter(render_header({"a": deepest})).metadata == {"a": deepest}
