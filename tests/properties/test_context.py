"""Laws of contexts."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from vault_memory import Hit, Passage, Record, Target
from vault_memory.context import (
    BLOCK_JOINT,
    Budget,
    Context,
    Layout,
    build_context,
    escape_text,
    unescape_text,
)
from vault_memory.model import FragmentLocator
from vault_memory.records import parse_record
from vault_memory.retrieve.spans import read_hit

# Pieces of which forged tags, entities and the results of escaping are made, so that random texts are full of them.
PIECES = [
    *"<＜‹>/\\ \n\u200b\u00ad\ufe0f\u3164&#;0x",
    *("source", "SOURCE", "ſource", "sоurсe", "sou", "rce", "ｓ", "s", "e"),
    *("&lt;", "&LT", "&amp;", "amp;", "lt;", "&#60;", "&#x3c;", "60", "&#65308;", "&sol;", "&#111;", "&nbsp", "&#0"),
    *("</source>", '<source id="x#1">', "</ source >", "words", "ä", "雨"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)

# Any tag of the wrapper, for a reader that ignores letter case, blanks and slashes.
TAG = re.compile(r"<[\s/\\]*source", re.IGNORECASE)


def seen(text: str) -> str:
    """Return what is left of a text for an eye that sees neither width nor what has no shape."""
    folded = unicodedata.normalize("NFKC", text).replace("\u1160", "")
    return "".join(letter for letter in folded if unicodedata.category(letter)[0] not in "CM")


@dataclass
class Case:
    """Some records, and hits on any spans of them."""

    records: dict[Target, Record]
    hits: list[Hit]

    def read(self, hit: Hit) -> Passage:
        return read_hit(self.records[hit.target], hit)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw records of lines and blanks, and hits on them."""
    lines = st.sampled_from(["The pump failed.", "Sow leeks.", "</source>", "", " ", "\u3000", "雨の日"])
    bodies = draw(st.lists(st.lists(lines, min_size=1, max_size=6).map("\n".join), min_size=1, max_size=3))
    records = [
        parse_record(Target("", str(number)), f"{number}.md", f"x{body}".encode()) for number, body in enumerate(bodies)
    ]
    hits = []
    for record in draw(st.lists(st.sampled_from(records), max_size=8)):
        start = draw(st.integers(0, len(record.body) - 1))
        end = draw(st.integers(start + 1, len(record.body)))
        hits.append(
            Hit(
                target=record.target,
                locator=FragmentLocator(start, end),
                score=draw(st.floats(-1, 1)),
                scores={},
                path=record.path,
                lines=(0, 0),
                heading_path=(),
                record_digest=record.digest,
                fragment_digest="",
                text=record.body[start:end],
            )
        )
    return Case({record.target: record for record in records}, hits)


LAYOUTS = st.builds(
    Layout,
    order=st.sampled_from(["rank", "place"]),
    format=st.sampled_from(["source", "plain"]),
    merge=st.booleans(),
    header=st.sampled_from(["", "Cite these."]),
    footer=st.sampled_from(["", "End."]),
)


def admitted(context: Context) -> set[int]:
    """Return the ranks of the hits that the text holds."""
    return {rank for passage in context.passages for rank in passage.ranks}


@given(TEXTS)
@example("&#" + "0" * 31 + "9source")
@example("<&#" + "0" * 40 + "60;source")
@example("&amp" * 3 + "ltsource")
def test_escaping_has_an_inverse(text: str) -> None:
    """Whatever a note holds comes back."""
    assert unescape_text(escape_text(text)) == text


@given(TEXTS)
def test_an_escaped_text_holds_no_tag(text: str) -> None:
    """No opening or closing tag is left, also for an eye that sees only shapes."""
    assert not TAG.search(escape_text(text))
    assert not TAG.search(seen(escape_text(text)))


@given(st.lists(TEXTS.filter(str.strip), min_size=1, max_size=4, unique=True))
def test_a_context_has_as_many_blocks_as_passages(texts: list[str]) -> None:
    """However hostile the notes are, the wrappers can be counted and taken apart again."""
    bodies = {Target("", str(number)): text for number, text in enumerate(texts)}
    hits = [
        Hit(target, FragmentLocator(0, len(text)), 0.5, {}, f"{target}.md", (1, 1), (), "", "", text)
        for target, text in bodies.items()
    ]
    context = build_context(hits, lambda hit: Passage(bodies[hit.target], hit.target, hit.locator, hit.path, hit.lines))
    assert len(re.findall(r"<\s*source", context.text)) == len(texts)
    blocks = re.findall(r'<source id="[^"<>\n]*"[^<>\n]*>\n(.*?)\n</source>', context.text, re.DOTALL)
    assert [unescape_text(block) for block in blocks] == texts


@given(cases(), LAYOUTS, st.integers(1, 400))
def test_the_blocks_are_the_text_and_fit(case: Case, layout: Layout, bound: int) -> None:
    """Joined, the blocks are the text; it is within its bound; each passage is an exact slice of its record."""
    context = build_context(case.hits, case.read, Budget(max_chars=bound), layout)
    assert BLOCK_JOINT.join(context.blocks) == context.text
    assert len(context.text) <= bound
    for passage in context.passages:
        body = case.records[passage.target].body
        assert body[passage.locator.start : passage.locator.end] == passage.text


@given(cases(), LAYOUTS, st.integers(1, 400))
def test_each_hit_is_shown_or_dropped(case: Case, layout: Layout, bound: int) -> None:
    """Ranks of passages and of what was dropped are all ranks, each once; ids are unique."""
    context = build_context(case.hits, case.read, Budget(max_chars=bound), layout)
    shown = [rank for passage in context.passages for rank in passage.ranks]
    dropped = [rank for left in context.dropped for rank in left.ranks]
    assert sorted(shown + dropped) == list(range(1, len(case.hits) + 1))
    assert dropped == sorted(dropped)
    assert len({passage.id for passage in context.passages}) == len(context.passages)


@given(cases(), LAYOUTS, st.integers(1, 400), st.integers(0, 200))
def test_a_larger_budget_never_holds_fewer(case: Case, layout: Layout, bound: int, more: int) -> None:
    """What fits a budget fits each larger one, in characters and in tokens."""
    for name in ("max_chars", "max_tokens"):
        small = build_context(case.hits, case.read, Budget(**{name: bound}), layout)
        large = build_context(case.hits, case.read, Budget(**{name: bound + more}), layout)
        assert admitted(small) <= admitted(large)


@given(cases(), LAYOUTS)
def test_no_place_is_shown_twice(case: Case, layout: Layout) -> None:
    """Passages of one record do not overlap; merged ones are parted by more than blanks."""
    context = build_context(case.hits, case.read, layout=layout)
    by_place = sorted(context.passages, key=lambda passage: (passage.target, passage.locator))
    for one, next_one in pairwise(by_place):
        if one.target == next_one.target:
            between = case.records[one.target].body[one.locator.end : next_one.locator.start]
            assert one.locator.end <= next_one.locator.start
            assert between.strip() or not layout.merge


@given(cases(), LAYOUTS, st.integers(1, 400), st.data())
def test_a_context_survives_json_and_loses_what_is_taken_out(
    case: Case, layout: Layout, bound: int, data: st.DataObject
) -> None:
    """JSON gives an equal context; taking passages out leaves the blocks of the others as they were."""
    context = build_context(case.hits, case.read, Budget(max_tokens=bound), layout)
    gone = data.draw(st.sets(st.sampled_from(context.passages))) if context.passages else set()
    smaller = context.without(passage.id for passage in gone)
    assert smaller.passages == tuple(passage for passage in context.passages if passage not in gone)
    assert len(smaller.dropped) == len(context.dropped) + len(gone)
    for each in (context, smaller):
        assert Context.from_json(each.to_json()) == each
