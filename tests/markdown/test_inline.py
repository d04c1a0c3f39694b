"""Tags, links, block ids and tasks, and what only looks like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.markdown.blocks import parse_blocks
from vault_memory.markdown.inline import find_block_ids, find_links, find_tags, scan_inline


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#one and #two/three", ["one", "two/three"]),
        ("#a-b_c/1 #y1984 #1984 #20-24", ["a-b_c/1", "y1984", "20-24"]),
        ("#Straße #сад #庭 #हिन्दी #ไทย #🌱 #👩\u200d🌾x", ["Straße", "сад", "庭", "हिन्दी", "ไทย", "🌱", "👩\u200d🌾x"]),
        ("(#a) [#b] *#c* _#d_ ~~#e~~ **#f** >#g |#h| ,#i;#j", ["a", "b", "c", "d_", "e", "f", "g", "h", "i", "j"]),
        (
            "#a, #b. #c! #d? #e: #f; #g) “#h” 「#庭」#木、#水。",
            ["a", "b", "c", "d", "e", "f", "g", "h", "庭", "木", "水"],
        ),
        ("#trailing/ #a//", ["trailing", "a"]),
        ("#a#b", ["a"]),
        ("x#a 1#b é#c 庭#d", []),
        ("# heading\n## heading\n#\n#!", []),
        ("#/route #- #_ #123 #٣", []),
        ("&#35; \\#plain =#x \"#y\" '#z' /#w", []),
        ("#fff #cafe #decade #12ab34 #0f0 #00ff0080 #12ab3", ["fff", "cafe", "decade", "12ab3"]),
        ("https://x.org/p#frag http://x.org/,#b ftp://y/_#c <https://x.org/#d>", []),
        ("[a](#heading) [b](x.md#head) [[#here]] [c](<#x y>)", []),
        ('<span class="a" title= #b>#c</span> <br/> 1 < 2 #d', ["c", "d"]),
        ("line\r#one\r\n#two\n#three", ["one", "two", "three"]),
    ],
)
def test_tags(text: str, tags: list[str]) -> None:
    """A tag starts at a word's start, holds letters of any script and one that is no digit, and is no colour."""
    assert find_tags(text) == tags


@pytest.mark.parametrize(
    "text",
    [
        "`#x [[X]]` ``a ` #x`` ```#x [[X]]```",
        "`#x\n[[X]]`",
        "```\n#x [[X]]\n```",
        "```md\n#x\n~~~\n``\n[[X]]\n`````",
        "~~~ `a`\n#x\n```\n[[X]]\n~~~~",
        "```\n#x [[X]]",
        "```\r\n#x [[X]]\r\n```\r\n",
        "```\r#x [[X]]\r```\r",
        "- one\n\n  ```yaml\n  #x\n  [[X]]\n  ```",
        "1. ```\n   #x [[X]]\n   ```",
        "> ```\n> #x [[X]]\n> ```",
        "%% #x [[X]] %%",
        "%%\n#x\n\n[[X]]\n%%",
        "%%\n#x [[X]]",
        "a <!-- #x\n\n[[X]] --> b",
        "<!-- #x [[X]]",
        "$$\n#x [[X]]\n$$",
        "$a #x [[X]]$",
        "    #x [[X]]",
        "words\n\n    #x\n\n\t[[X]]",
        "words\r\r\t#x [[X]]",
        "\\#x \\[[X]] \\![x](\\]\\(X.md)",
    ],
)
def test_nothing_is_taken_from_what_is_not_prose(text: str) -> None:
    """Code, comments, math and what stands behind a backslash hold no tags and no links."""
    found = scan_inline(text)
    assert (found.tags, found.links) == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "a ` b #x [[X]]",
        "`` a ` #x [[X]]",
        "`a\n\n#x [[X]] b`",
        "- `a\n- #x [[X]] b`",
        "```a``` #x [[X]]",
        "text ```\n#x [[X]]",
        "text ~~~\n#x [[X]]",
        "```\ncode\n```\n#x [[X]]",
        "```\ncode\n    ~~~\n```   \n#x [[X]]",
        "> ```\n> code\n\n#x [[X]]",
        "> ```\r\n> code\r\n\r\n#x [[X]]",
        "100%% #x [[X]]",
        "a <!-- #x [[X]]",
        "a $$ #x [[X]]",
        "$5 and $6 #x [[X]]",
        "$ a #x [[X]] $",
        "costs $5 #x [[X]] or 6$7",
        "- one\n\n    - two #x [[X]]",
        "- one\n    - #x [[X]]",
        "a $x$ %%y%% <!--z--> `w` #x [[X]]",
        "\\\\#y \\` #x [[X]] `",
    ],
)
def test_what_only_looks_closed_hides_nothing(text: str) -> None:
    """A mark without its closer, in another block, or not where it must stand, is a character like others."""
    found = scan_inline(text)
    assert found.tags[-1:] == ["x"]
    assert [link.target for link in found.links] == ["X"]


@pytest.mark.parametrize(
    ("text", "target", "shown", "embed"),
    [
        ("[[Cellar]]", "Cellar", "", False),
        ("[[ Cellar | the cellar ]]", "Cellar", "the cellar", False),
        ("![[Cellar#^jar7]]", "Cellar#^jar7", "", True),
        ("[[beds/North#Soil|soil]]", "beds/North#Soil", "soil", False),
        ("| [[Root cellar\\|cellar]] |", "Root cellar", "cellar", False),
        ("| ![[Plan.png\\|300]] |", "Plan.png", "300", True),
        ("[[A|see [1] here]]", "A", "see [1] here", False),
        ("[[#Here]]", "#Here", "", False),
        ("[[a[[B]]", "B", "", False),
        ("\\![[B]]", "B", "", False),
        ("[x](Note.md)", "Note.md", "", False),
        ("[x](a%20b/N%C3%A4he.md#Top)", "a b/Nähe.md#Top", "", False),
        ("[x](<My note.md>)", "My note.md", "", False),
        ('[x]( Note(1).MD "title" )', "", "", False),
        ('[x](Note(1).MD "title")', "Note(1).MD", "", False),
        ("[x](../Note.markdown 'title')", "../Note.markdown", "", False),
    ],
)
def test_links(text: str, target: str, shown: str, embed: bool) -> None:
    """A link has its target as written, the text it shows, and whether it embeds."""
    links = find_links(text)
    assert [(link.target, link.shown, link.embed) for link in links] == ([(target, shown, embed)] if target else [])


@pytest.mark.parametrize(
    "text",
    [
        "[[]]",
        "[[ ]]",
        "[[|a]]",
        "[[a\nb]]",
        "[[a]b]]",
        "[[a",
        "[x](https://x.org/a.md)",
        "[x](//x/a.md)",
        "[x](mailto:a@b.md)",
        "[x](a.png)",
        "[x](#a.md)",
        "[x](a b.md)",
        "[x]",
    ],
)
def test_what_is_no_link(text: str) -> None:
    """An empty target, a broken bracket, an address elsewhere, and a file that is no note are not links."""
    assert find_links(text) == []


def test_spans_are_exact() -> None:
    """The span of a link covers it with the mark of an embed, that of an id its caret, that of a task its box."""
    body = "See ![[A|a]] and [b](B.md). ^id1\n\n- [x] done #now ^id2\r\n* [ ] open\n1. [-] off\n[x] no task"
    found = scan_inline(body)
    assert [body[link.start : link.end] for link in found.links] == ["![[A|a]]", "](B.md)"]
    assert [body[block.start : block.end] for block in found.block_ids] == ["^id1", "^id2"]
    assert [body[task.start : task.end] for task in found.tasks] == ["[x] done #now ^id2", "[ ] open", "[-] off"]
    assert [(task.state, task.text) for task in found.tasks] == [("x", "done #now ^id2"), (" ", "open"), ("-", "off")]
    assert found.tags == ["now"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("^a-1", ["a-1"]),
        ("words ^a  \r\nmore\t^b", ["a", "b"]),
        ("| a |\n|---|\n\n^tab", ["tab"]),
        ("words^a", []),
        ("words ^a more", []),
        ("words ^a_b", []),
        ("$x ^2$ and `end ^no`", []),
    ],
)
def test_block_ids(text: str, ids: list[str]) -> None:
    """An id stands at the end of a line, behind white space."""
    assert [found.id for found in find_block_ids(text)] == ids


def test_given_blocks_are_used() -> None:
    """A caller who has the blocks gets the same result; one who gives none at all sees indented code as prose."""
    body = "words\n\n    #code\n\n#tag\n\n```\n#no\n```\n"
    assert find_tags(body, parse_blocks(body)) == find_tags(body) == ["tag"]
    assert find_tags(body, ()) == ["code", "tag"]


@pytest.mark.parametrize(
    "unit", ["[[", "`", "` ", "[[a|", '](a "', "<!-- ", "%%a", "$x ", "[ ] ", "- [ ] ", "\n> ```", "#a", "^a ", "<a "]
)
def test_a_long_run_of_marks_ends(unit: str) -> None:
    """A body of marks that never close is read to its end."""
    assert scan_inline(unit * 20_000 + "\n\n[[End]] ^end").block_ids[-1:] in (
        [],
        [(("end"), len(unit) * 20_000 + 10, len(unit) * 20_000 + 14)],
    )


@given(
    st.lists(
        st.sampled_from(
            [
                "#a",
                "[[B]]",
                "`",
                "```",
                "\n",
                "\r\n",
                "> ",
                "- ",
                "    ",
                "%%",
                "$",
                "$$",
                "<!--",
                "-->",
                "\\",
                " ",
                "^c",
                "](D.md)",
                "[ ] ",
                "~~~",
                "!",
                "|",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_spans_lie_in_the_body_and_rise(body: str) -> None:
    """Whatever the marks, what is found is in its place, in order, and hidden blocks hide the same for every caller."""
    found = scan_inline(body)
    starts = [link.start for link in found.links]
    assert starts == sorted(set(starts))
    assert all("[B]" in body[link.start : link.end] or "D.md" in body[link.start : link.end] for link in found.links)
    assert all(body[block.start : block.end] == f"^{block.id}" for block in found.block_ids)
    assert scan_inline(body) == found
