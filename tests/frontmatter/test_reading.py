"""What properties mean, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from vault_memory.config import ReadSettings
from vault_memory.errors import FrontmatterError
from vault_memory.frontmatter import read_frontmatter, read_properties, reading

SMALL = ReadSettings(max_header_chars=200, max_header_depth=4, max_header_nodes=20)


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test with the parser in C and with the one in Python, which serves where the other is missing."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(reading, "_LOADER", getattr(yaml, request.param))


def _refusal(properties: str, bounds: ReadSettings | None = None) -> FrontmatterError:
    with pytest.raises(FrontmatterError) as caught:
        read_frontmatter(f"---\n{properties}\n---\nBody", bounds or ReadSettings())
    return caught.value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2021", 2021),
        ("0", 0),
        ("-7", -7),
        ("1.5", 1.5),
        ("-0.25", -0.25),
        ("12345678901234567890123", 12345678901234567890123),
        ("1.10", "1.10"),
        ("010", "010"),
        ("12:30", "12:30"),
        ("1e3", "1e3"),
        ("0x1F", "0x1F"),
        ("+1", "+1"),
        ("-0", "-0"),
        ("1_000", "1_000"),
        (".5", ".5"),
        ("5.", "5."),
        ("nan", "nan"),
        (".nan", ".nan"),
        ("inf", "inf"),
        ("-.inf", "-.inf"),
        ("٣", "٣"),
        ("9" * 4301, "9" * 4301),
        ("true", True),
        ("false", False),
        ("True", "True"),
        ("yes", "yes"),
        ("no", "no"),
        ("off", "off"),
        ("null", None),
        ("~", None),
        ("", None),
        ("Null", "Null"),
        ("2024-03-05", "2024-03-05"),
        ("2023-02-30", "2023-02-30"),
        ("2024-03-05T09:30:00Z", "2024-03-05T09:30:00Z"),
        ("'2021'", "2021"),
        ('"true"', "true"),
        ('""', ""),
        ('"a\\u2028b\\0"', "a\u2028b\0"),
        ("!!int 5", "5"),
        ("!!python/object/apply:os.system [ls]", ["ls"]),
        ("! 12", "12"),
        ("[a, 1, null]", ["a", 1, None]),
        ("{b: 1.0, c: {}}", {"b": 1.0, "c": {}}),
        ("|\n  one\n    two\n", "one\n  two\n"),
        (">-\n  one\n  two\n", "one two"),
        ("one\n  two", "one two"),
        ("one # comment", "one"),
    ],
)
def test_values_are_what_was_written(written: str, value: Any) -> None:
    """A scalar is a number only if writing it back gives the same text; few words mean nothing or a truth value."""
    found = read_frontmatter(f"---\na: {written}\n---\n").metadata["a"]
    assert found == value
    assert type(found) is type(value)


def test_keys_are_text_as_written() -> None:
    """No key is read as a number, a truth value, a date or a merge."""
    text = "---\n2021: a\nyes: b\n2022-03-04: c\nnull: d\n<<: {e: f}\n? long\n: g\n---\n"
    assert read_frontmatter(text).metadata == {
        "2021": "a",
        "yes": "b",
        "2022-03-04": "c",
        "null": "d",
        "<<": {"e": "f"},
        "long": "g",
    }


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("[[Orchard]]", "[[Orchard]]"),
        ("[[A|b]]", "[[A|b]]"),
        ("[[A, B]]", "[[A, B]]"),
        ("[[A#B c|d]]", "[[A#B c|d]]"),
        ("[[[Soil]], [[Sun]]]", ["[[Soil]]", "[[Sun]]"]),
        ("\n  - [[Soil]]\n  - '[[Sun]]'", ["[[Soil]]", "[[Sun]]"]),
        ("[[1], [2]]", [[1], [2]]),
        ("[ [1] ]", [[1]]),
        ("[[\n  1]]", [[1]]),
    ],
)
def test_an_unquoted_wikilink_is_the_text_as_written(written: str, value: Any) -> None:
    """Two brackets at once are a link, as in the text; other lists in lists stay what they are."""
    assert read_frontmatter(f"---\na: {written}\n---\n").metadata == {"a": value}


def test_aliases_repeat_what_they_name() -> None:
    """An anchor on a value or a key can be used again, each time with the same value."""
    text = "---\na: &x [1, b]\nb: *x\nc: {d: *x}\n&k e: *k\nf: &s 1.10\ng: *s\n---\n"
    assert read_frontmatter(text).metadata == {
        "a": [1, "b"],
        "b": [1, "b"],
        "c": {"d": [1, "b"]},
        "e": "e",
        "f": "1.10",
        "g": "1.10",
    }


@pytest.mark.parametrize("block", ["", "\n", "# only a comment\n", "{}\n"])
def test_an_empty_block_is_a_header_without_metadata(block: str) -> None:
    """Nothing, or just comments, between the fences is a header all the same."""
    assert read_frontmatter(f"---\n{block}---\nBody") == (f"---\n{block}---\n", {}, "Body")


@pytest.mark.parametrize(
    "block",
    [
        "The gate sticks",
        "- one\n- two",
        "**Note** well",
        "> quoted",
        "`code` first",
        "![picture](x.png)",
        "null",
        "12",
        "bell \x07 rings",
        "x" * 300_000,
    ],
)
def test_prose_between_two_rules_stays_in_the_body(block: str) -> None:
    """What is no mapping is no header, also where it starts like broken YAML."""
    text = f"---\n{block}\n---\nBody"
    assert read_frontmatter(text) == ("", {}, text)
    assert read_frontmatter("\ufeff" + text) == ("\ufeff", {}, text)


@pytest.mark.parametrize(
    ("properties", "line", "reason"),
    [
        ("title: Pruning: winter", 2, "second `: `"),
        ("a: 1\nb:\n- @x", 4, "cannot start with '@'"),
        ("a: 1\nb: `x`", 3, "cannot start with '`'"),
        ("a:\n\t- x", 3, "a tab cannot indent"),
        ("a: 'x\nb: c", 2, "never closed"),
        ("a: [x\nb: c", 2, "in brackets is not closed"),
        ("a: b\nwords\nc: d", 3, "neither `key: value`"),
        ("a: - b", 2, "own line"),
        ("a: 'b' c", 2, "follows a closing quote"),
        ("a: 1\n...\nb: 2", 4, "end of document"),
        ("a: 1\n--- b", 3, "second YAML document"),
        ("a: !<x", 2, "starts with `!`"),
        ("a: *bold*", 2, "starts with `*`"),
        ("a: *x", 2, "`*x` has no anchor"),
        ("a: &x [*x]", 2, "`*x` contains itself"),
        ("a: 1\nb: 2\na: 3", 4, "`a` is there twice"),
        ("a: {b: 1, b: 2}", 2, "`b` is there twice"),
        ("created: {{date}}", 2, "unfilled template: `{{date}}`"),
        ("a: [x, {{y z}}]", 2, "unfilled template: `{{y z}}`"),
        ("? [a]\n: b", 2, "a key must be text"),
        ("{a: 1, *b : 2}", 2, "a key must be text"),
        ("a: 1\nb: x\x07", 3, "U+0007"),
        ("a: \ufffe", 2, "U+FFFE"),
        ("a: \ud800", 2, "U+D800"),
        ('a: "\\q"', 2, "not readable as YAML"),
        ("a: " + "[" * 5000, 2, "nested"),
    ],
)
def test_a_refusal_names_line_and_reason(properties: str, line: int, reason: str) -> None:
    """The line is that of the file whatever ends the lines, and the reason is one a person can act on."""
    for end in ("\n", "\r\n", "\r"):
        error = _refusal(properties.replace("\n", end))
        assert (error.line, error.path) == (line, None)
        assert reason in error.reason
        assert len(error.reason) < 200


def test_only_real_line_ends_count_as_lines() -> None:
    """NEL, the Unicode separators and a byte order mark are part of a value, and move no line number."""
    value = "a\x85b\u2028c\u2029d\ufeff"
    assert read_frontmatter(f"---\na: {value}\n---\n").metadata == {"a": value}
    assert _refusal(f"a: {value}\nb: c: d").line == 3


def test_private_characters_of_the_note_stay_themselves() -> None:
    """Characters that could stand in for others, written or escaped, are not confused with them."""
    text = '---\na: "\U000f0000\\U000F0001\u2028"\n---\n'
    assert read_frontmatter(text).metadata == {"a": "\U000f0000\U000f0001\u2028"}


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ("a: " + "x" * 300, "longer than 200 characters"),
        ("a: {b: {c: {d: [1]}}}", "deeper than 4 levels"),
        ("a: &x [[1, 2], 3]\nb: {c: {d: *x}}", "deeper than 4 levels"),
        ("a: [" + "1, " * 30 + "1]", "more than 20 values"),
        ("a: &a [1, 1, 1, 1]\nb: &b [*a, *a]\nc: [*b, *b]", "more than 20 values"),
    ],
)
def test_a_header_is_bounded(properties: str, reason: str) -> None:
    """Size, nesting and the number of values with aliases expanded have bounds; the error names the bound."""
    assert reason in _refusal(properties, SMALL).reason


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    """Aliases that would expand to billions of values are counted, not expanded."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 40)]
    assert "more than 20000 values" in _refusal("\n".join(lines)).reason


def test_properties_alone_can_be_read() -> None:
    """The lines between the fences give metadata, or `None` if they are no mapping."""
    assert read_properties("a: 1\n") == {"a": 1}
    assert read_properties("words") is None
