"""Laws of the lexical index, over random edits in two scripts."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.index.lexical import LexicalAnswer, LexicalFragment, LexicalIndex
from vault_memory.index.lexical.words import index_terms, query_terms
from vault_memory.model import FragmentLocator, Target

WORDS = [
    "seed",
    "seeds",
    "water",
    "watering",
    "garden",
    "snake_case",
    "getUserName",
    "café",
    "1.10",
    "番茄",
    "浇水",
    "the",
]
QUERIES = [*WORDS, "seed water garden", '"seed water"', "番茄浇水 seed", "how do I water the 番"]
TARGETS = [Target("", "a"), Target("x", "a"), Target("x/y", "b"), Target("xy", "c")]

texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
records = st.tuples(texts, st.lists(texts, max_size=2), st.lists(st.tuples(texts, texts), max_size=4))
edits = st.lists(st.tuples(st.sampled_from(TARGETS), st.none() | records), max_size=10)
anything = st.text(st.characters() | st.sampled_from('"*^()-+:.,_#@ 番茄é'), max_size=60)


def apply(index: LexicalIndex, target: Target, record: tuple[str, list[str], list[tuple[str, str]]] | None) -> None:
    """Put or remove one record."""
    if record is None:
        index.remove(target)
        return
    title, aliases, fragments = record
    index.add_fragments(
        target,
        title,
        aliases,
        [
            LexicalFragment(FragmentLocator(number * 100, number * 100 + 50), text, (heading,))
            for number, (heading, text) in enumerate(fragments)
        ],
    )


def answers(index: LexicalIndex) -> list[LexicalAnswer]:
    """Return what the index says to each query, with and without cap and scope."""
    return [
        index.query(query, top_k, cap, scope=scope)
        for query in QUERIES
        for top_k, cap, scope in ((3, None, None), (20, 1, None), (20, None, "x"))
    ]


@given(edits)
@settings(max_examples=60, deadline=None)
def test_edited_index_answers_like_a_fresh_one(history: list[tuple[Target, object]]) -> None:
    """After any edits, hits, scores and coverage are those of an index that only ever saw the last state."""
    with closing(sqlite3.connect(":memory:")) as edited, closing(sqlite3.connect(":memory:")) as fresh:
        old, new = LexicalIndex(edited), LexicalIndex(fresh)
        old.create()
        new.create()
        for target, record in history:
            apply(old, target, record)
        for target, record in sorted(dict(history).items(), reverse=True):
            apply(new, target, record)
        assert answers(old) == answers(new)
        assert (old.record_count, old.fragment_count) == (new.record_count, new.fragment_count)


@given(edits, st.sampled_from(QUERIES), st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_cap_and_filter_are_a_selection_of_the_whole_list(
    history: list[tuple[Target, object]], query: str, top_k: int, cap: int
) -> None:
    """The answer under cap and filter is the whole ranked list, filtered, capped and cut."""
    with closing(sqlite3.connect(":memory:")) as connection:
        index = LexicalIndex(connection)
        index.create()
        for target, record in history:
            apply(index, target, record)
        whole = index.query(query, 1000).hits
        kept = [hit for hit in whole if hit.target in TARGETS[1:]]
        capped = [hit for place, hit in enumerate(kept) if [h.target for h in kept[:place]].count(hit.target) < cap]
        assert list(index.query(query, top_k, cap, targets=TARGETS[1:]).hits) == capped[:top_k]
        assert list(whole) == sorted(whole, key=lambda hit: (-hit.score, hit.target, hit.locator))


@given(anything, anything)
@settings(max_examples=150, deadline=None)
def test_a_text_is_found_by_itself(text: str, query: str) -> None:
    """A text with words is a query that finds its own fragment, and no text fails as one."""
    with closing(sqlite3.connect(":memory:")) as connection:
        index = LexicalIndex(connection)
        index.create()
        target = Target("", "a")
        index.add_fragments(target, "", (), [LexicalFragment(FragmentLocator(0, 1), text)])
        assert index.texts([(target, 0)]) == {(target, 0): text}
        assert 0.0 <= index.query(query, 3).coverage <= 1.0
        own = text.translate(dict.fromkeys(map(ord, '"“”„«»'), " "))
        answer = index.query(own, 3)
        assert bool(answer.hits) == bool(query_terms(own).tokens)
        assert answer.coverage == (1.0 if answer.hits else 0.0)


@given(anything)
@settings(max_examples=300, deadline=None)
def test_phrase_of_a_text_is_in_the_text(text: str) -> None:
    """The words of a phrase are found in order in the text's own words, since both come from the same rules."""
    for phrase in query_terms(f'"{text.replace(chr(34), " ")}"').phrases[:1]:
        assert " ".join(phrase) in index_terms(text.replace('"', " ")).words.replace("  ", " ")
