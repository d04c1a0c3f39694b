"""Blocks: kinds, spans, headings and breaks."""

from __future__ import annotations

import pytest

from vault_memory.markdown.blocks import Block, parse_blocks


def pieces(body: str) -> list[tuple[str, str]]:
    """Return kind and text of each block."""
    return [(block.kind, body[block.start : block.end]) for block in parse_blocks(body)]


def headings(body: str) -> list[tuple[int, str, int]]:
    """Return level, text and offset of the text of each heading."""
    return [(block.level, block.text, block.text_start) for block in parse_blocks(body) if block.level]


@pytest.mark.parametrize("body", ["", "\n", " \t\n\r\n\r", "   "])
def test_nothing_but_blanks(body: str) -> None:
    """A body without text has no blocks."""
    assert parse_blocks(body) == []


def test_block_holds_all_that_is_known() -> None:
    """A block tells its kind, span, heading path and, for a heading, level, text and its place."""
    assert parse_blocks("## Sow\n\n  Peas.\n") == [
        Block("heading", 0, 6, ("Sow",), 2, "Sow", 3),
        Block("paragraph", 8, 15, ("Sow",), 0, "", 8),
    ]


def test_heading_path_follows_levels() -> None:
    """A heading leaves all headings of its own level and below; a level that is passed over leaves no gap."""
    body = "a\n# A\n### B\n## C\n#### D\n## C\n# E\nend\n"
    assert [block.heading_path for block in parse_blocks(body)] == [
        (),
        ("A",),
        ("A", "B"),
        ("A", "C"),
        ("A", "C", "D"),
        ("A", "C"),
        ("E",),
        ("E",),
    ]


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# Pump", (1, "Pump", 2)),
        ("   ###### \t Deep \t", (6, "Deep", 12)),
        ("## Closed ##", (2, "Closed", 3)),
        ("## Closed ####  ", (2, "Closed", 3)),
        ("# C#", (1, "C#", 2)),
        ("# kept \\#", (1, "kept \\#", 2)),
        ("# Jar ^jar-7", (1, "Jar", 2)),
        ("# Jar ^jar-7 #", (1, "Jar", 2)),
        ("# x^2", (1, "x^2", 2)),
        ("# sum ^not_an_id", (1, "sum ^not_an_id", 2)),
        ("#", (1, "", 1)),
        ("##  ", (2, "", 2)),
        ("### ###", (3, "", 3)),
        ("#\r", (1, "", 1)),
    ],
)
def test_heading_with_marks(line: str, heading: tuple[int, str, int]) -> None:
    """A heading's text is without marks and block id; where it is empty, its place is behind the marks."""
    assert headings(line) == [heading]
    assert headings(f"{line}\nmore") == [heading]


@pytest.mark.parametrize("line", ["#tag", "####### seven", "\\# escaped", "    # far", "\t# far"])
def test_what_is_no_heading(line: str) -> None:
    """A tag, more than six marks, an escaped mark and an indented line are no headings."""
    assert headings(f"\n{line}\n") == []


def test_underlined_headings() -> None:
    """A line of `=` or `-` below a paragraph makes all of it a heading, on one line, at the place of its first line."""
    body = "Beds\n====\n\n  South\n  side  \n---\n\n- leeks\n---\n\nEnd ^here\n-"
    assert headings(body) == [(1, "Beds", 0), (2, "South side", 13), (2, "End", 46)]
    assert pieces(body)[1] == ("heading", "  South\n  side  \n---")
    assert pieces(body)[2:4] == [("list", "- leeks"), ("thematic_break", "---")]


@pytest.mark.parametrize(
    "body",
    [
        "```sh\n# no\n```",
        "~~~\n# no\n```\n# no\n~~~",
        "````\n```\n# no\n````",
        "- a\n\n  ```\n  # no\n  ```\n\n  # inner",
        "> # inner\n> ```\n> # no",
        "<!--\n# no\n\n# no\n-->",
        "<pre>\n\n# no\n</pre>",
        "<div>\n# no\n</div>",
        "%%\n# no\n\n# no\n%%",
        "$$\n# no\n$$",
        "    # no\n\n    # no",
        "```\n# never closed\n\n# no",
        "%%\n# never closed\n\n# no",
        "<!-- \n# never closed\n\n# no",
    ],
)
def test_no_heading_inside_another_block(body: str) -> None:
    """What looks like a heading inside a fence, comment, HTML, math, quote, list or code opens no section."""
    assert headings(body) == []
    assert len(parse_blocks(body)) == 1


def test_rule_first() -> None:
    """A body may start with a thematic break: it is never taken for frontmatter."""
    assert pieces("---\nThe gate\n---\n") == [("thematic_break", "---"), ("heading", "The gate\n---")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("```\na\n```\nb", ["```\na\n```", "b"]),
        ("```\na\n`````  \nb", ["```\na\n`````  ", "b"]),
        ("`````\n```\n````\n`````\nb", ["`````\n```\n````\n`````", "b"]),
        ("```\na\n``` no\n\n \n", ["```\na\n``` no"]),
        ("  ~~~ `x`\na\n   ~~~", ["  ~~~ `x`\na\n   ~~~"]),
        ("``` a`b\nc", ["``` a`b\nc"]),
        ("a\n```\nb\n```\nc", ["a", "```\nb\n```", "c"]),
    ],
)
def test_fences(body: str, expected: list[str]) -> None:
    """A fence ends at a run of the same mark that is at least as long, or with the text, without blank lines there."""
    assert [text for _, text in pieces(body)] == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%% a %%\nb", [("comment", "%% a %%"), ("paragraph", "b")]),
        ("%%\na\n\n%%\nb", [("comment", "%%\na\n\n%%"), ("paragraph", "b")]),
        ("%% a\n\nb %% tail\nc", [("comment", "%% a\n\nb %% tail"), ("paragraph", "c")]),
        ("%% a %% tail\nb", [("paragraph", "%% a %% tail\nb")]),
        ("a\n%% b %%\nc", [("paragraph", "a\n%% b %%\nc")]),
        ("a\n%%\nb\n%%\nc", [("paragraph", "a"), ("comment", "%%\nb\n%%"), ("paragraph", "c")]),
        ("a\n%%\nb\n\nc\n\n", [("paragraph", "a"), ("comment", "%%\nb\n\nc")]),
        ("%a\n%b", [("paragraph", "%a\n%b")]),
        ("<!-- a -->\nb", [("comment", "<!-- a -->"), ("paragraph", "b")]),
        ("<!-->\nb", [("comment", "<!-->"), ("paragraph", "b")]),
    ],
)
def test_comments(body: str, expected: list[tuple[str, str]]) -> None:
    """A comment block starts its line and runs to its mark; inside one line of a paragraph it is the paragraph's."""
    assert pieces(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("$$x$$\nb", [("math", "$$x$$"), ("paragraph", "b")]),
        ("$$\na\n\nb\n$$ ^eq-1\nc", [("math", "$$\na\n\nb\n$$ ^eq-1"), ("paragraph", "c")]),
        ("a\n$$\n- b\n=\n$$\nc", [("paragraph", "a"), ("math", "$$\n- b\n=\n$$"), ("paragraph", "c")]),
        ("$$ a\nb $$", [("math", "$$ a\nb $$")]),
        ("$$x$$ is $1\nb", [("paragraph", "$$x$$ is $1\nb")]),
        ("$$ a\n\nb $$", [("paragraph", "$$ a"), ("paragraph", "b $$")]),
        ("$$\n\n# H", [("paragraph", "$$"), ("heading", "# H")]),
        ("a\n$5\n$$ b", [("paragraph", "a\n$5\n$$ b")]),
    ],
)
def test_math(body: str, expected: list[tuple[str, str]]) -> None:
    """Math needs both of its marks, with nothing but a block id behind; else its lines are a paragraph's."""
    assert pieces(body) == expected


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        ("<script>\n\nx</script> y\nb", "b"),
        ("<?php\n\n?>\nb", "b"),
        ("<!DOCTYPE\n\n>\nb", "b"),
        ("<![CDATA[\n\n]]>\nb", "b"),
        ("<details>\n# a\n\nb", "b"),
        ("</x-y>\na\n\nb", "b"),
        ("<b a=\"1\" c='2' d=3 e />\na\n\nb", "b"),
    ],
)
def test_html_kinds(body: str, rest: str) -> None:
    """Each of the seven kinds of HTML ends at its own mark, or at a blank line."""
    assert [kind for kind, _ in pieces(body)] == ["html", "paragraph"]
    assert pieces(body)[1][1] == rest


def test_html_inside_a_paragraph() -> None:
    """A tag of any name alone on its line goes on with a paragraph; a block element ends it."""
    assert pieces("a\n<b>\n<div>\n") == [("paragraph", "a\n<b>"), ("html", "<div>")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("| a | b |\n|---|:-:|\n| 1 | 2 |\nno bar\n\nc", ["| a | b |\n|---|:-:|\n| 1 | 2 |\nno bar", "c"]),
        ("before\na | b\n-|-\n1\n# H", ["before", "a | b\n-|-\n1", "# H"]),
        ("|a|\n|-|\n|1|\n<b>\n- x", ["|a|\n|-|\n|1|\n<b>", "- x"]),
        ("|a|\n|-|\n    code", ["|a|\n|-|", "    code"]),
        ("|a\\|b|\n|-|", ["|a\\|b|\n|-|"]),
    ],
)
def test_tables(body: str, expected: list[str]) -> None:
    """A table is a header row, a delimiter row with as many cells, and all lines up to a blank or another block."""
    assert [text for _, text in pieces(body)] == expected
    assert any(kind == "table" for kind, _ in pieces(body))


@pytest.mark.parametrize(
    "body", ["|a|b|\n|-|", "a\n-|-", "| a\n- |", "|a|\n|:|", "|a|\n|-x|", "a\n    |b|\n|-|", "|\n|-|"]
)
def test_what_is_no_table(body: str) -> None:
    """Cells that differ in number, a header without bar or too far indented, and marks that are no row: no table."""
    assert all(block.kind != "table" for block in parse_blocks(body))


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ("> [!note]", "callout"),
        (">[!warning]- Title", "callout"),
        ("   >  [!my own kind]", "callout"),
        ("> [note]", "quote"),
        ("> [!]", "quote"),
        ("> a [!note]", "quote"),
        (">", "quote"),
    ],
)
def test_callouts(first: str, kind: str) -> None:
    """A quote whose first text is `[!kind]` is a callout."""
    assert pieces(f"{first}\n> more\n>\n> - x\n\nend")[0] == (kind, f"{first}\n> more\n>\n> - x")


def test_lazy_lines() -> None:
    """A line that starts no block goes on with a paragraph, however deep; behind other blocks it does not."""
    assert pieces("> > - a\nb\n    # c\n- d") == [("quote", "> > - a\nb\n    # c"), ("list", "- d")]
    assert pieces("> ```\nb") == [("quote", "> ```"), ("paragraph", "b")]
    assert pieces("> # a\nb") == [("quote", "> # a"), ("paragraph", "b")]


@pytest.mark.parametrize(
    "body",
    [
        "- a\n- b\n\n- c",
        "- a\n\n  b\n\n\n- c",
        "* a\n\t* b\n\t\t* c\n* d",
        "1. a\n2. b\n   - c\n10. d",
        "- [ ] a\n- [x] b\n  lazy\nlazy",
        "-\n  a",
        "- a\n  > b\n  > c",
        "-     code\n\n      code",
        "- ```\n\n  a\n  ```\n- b",
        "- %%\n  a\n\n  %%\n- b",
        "- <div>\n  a\n\n  b",
        "- - - a\n    - b",
    ],
)
def test_one_list(body: str) -> None:
    """Items of one kind of marker, with all that is nested in them, are one list."""
    assert pieces(f"{body}\n\nend") == [("list", body), ("paragraph", "end")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("- a\n* b", ["- a", "* b"]),
        ("1. a\n2) b", ["1. a", "2) b"]),
        ("- a\n\nb", ["- a", "b"]),
        ("-\n\n  a", ["-", "  a"]),
        ("- a\n***", ["- a", "***"]),
        ("a\n- b", ["a", "- b"]),
        ("a\n-\nb\n2. c", ["a\n-", "b\n2. c"]),
        ("a\n1. c", ["a", "1. c"]),
        ("- a\n\n\n\n```\nb", ["- a", "```\nb"]),
        ("- ```\na", ["- ```", "a"]),
        ("- |a|\n  |-|\nb", ["- |a|\n  |-|", "b"]),
    ],
)
def test_where_a_list_ends(body: str, expected: list[str]) -> None:
    """Another marker, a block of the top level, or text that is not indented behind anything but a paragraph."""
    assert [text for _, text in pieces(body)] == expected


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("- a\n- b\n\n  c\n  c\n- d", [1, 3, 5]),
        ("- a\n  - b\n    - c\n- d", [1, 2, 3]),
        ("- a\n  ```\n  x\n\n  - y\n  ```\n  z", [1, 6]),
        ("1. a\n\n       code\n\n       code\n   b", [2, 5]),
        ("- a\n\n  x\n  |h|\n  |-|\n  |1|\n  # H", [2, 3, 6]),
        ("- a\n  b\n  |h|\n  |-|\n- c", [2, 4]),
        ("- |h|\n  |-|\n  |1|", []),
        ("- a\nb\n|h|\n  |-|", []),
        ("- a\nb|c\n  -|-", []),
        ("- a\n  ===\n  b", [2]),
        ("1. a\n   2. b\n   1. c", [2]),
        ("> [!note]\n> a\n> b\n>\n> c\n> - d\n> e", [4, 5]),
        ("> a\n> ***\n> b", [1, 2]),
        (">\ta\n> |b|\n> |-|", [1]),
        ("> a\n> b | c\n> -|-\n> 1|2", [1]),
        ("> > a\n> b\n\nend", []),
        ("> > a\n>\n> b", [2]),
        ("> - a\n>   - b\n> - c", [1, 2]),
        ("- a\n  $$\n  - x\n  $$\n  b", [1, 4]),
    ],
)
def test_breaks(body: str, lines: list[int]) -> None:
    """The breaks are the starts of lines, but for the first, on which an item or a child block begins."""
    block = parse_blocks(body)[0]
    assert [body.count("\n", 0, offset) for offset in block.breaks] == lines
    assert all(body[offset - 1] == "\n" for offset in block.breaks)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends(end: str) -> None:
    r"""`\r\n` and `\r` end lines like `\n`; spans and texts are those of the body as it stands, without line ends."""
    lines = ["# Pump", "", "Prime it", "first.", "", "Two", "lines", "---", "", "- a", "- b", "", "> c"]
    body = end.join(lines) + end
    assert pieces(body) == [
        ("heading", "# Pump"),
        ("paragraph", f"Prime it{end}first."),
        ("heading", f"Two{end}lines{end}---"),
        ("list", f"- a{end}- b"),
        ("quote", "> c"),
    ]
    assert headings(body) == [(1, "Pump", 2), (2, "Two lines", body.index("Two"))]
    assert parse_blocks(body)[3].breaks == (body.index("- b"),)


def test_only_three_line_ends() -> None:
    """Form feeds, next-line marks and line separators end no line and are not blank."""
    body = "a\x0b# b\x0c# c\x85# d\u2028# e\n\x0c\nf"
    assert pieces(body) == [("paragraph", body)]


@pytest.mark.parametrize("opening", [">", "- ", "* + ", "1. ", "["])
def test_deep_nesting(opening: str) -> None:
    """Ten thousand nested openings are read without recursion, as one block."""
    body = opening * 10_000 + "a\nb\n"
    assert [(block.start, block.end) for block in parse_blocks(body)] == [(0, len(body) - 1)]


def test_deep_list_of_lines() -> None:
    """A list that goes one level deeper with each line is one list, with a break at each."""
    body = "\n".join("  " * depth + "- x" for depth in range(300))
    assert [(block.kind, len(block.breaks)) for block in parse_blocks(body)] == [("list", 299)]


def test_alternating_markers_are_no_rule() -> None:
    """A line of markers is a thematic break from the place on which only one mark is left, and never before."""
    assert pieces("- * - * * *") == [("list", "- * - * * *")]
    assert pieces("- - -") == [("thematic_break", "- - -")]
    assert pieces("- a\n  * * *\n  - - - b") == [("list", "- a\n  * * *\n  - - - b")]
