"""Any text is a query, and any text can be indexed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from vault_memory.index.lexical import LexicalAnswer, LexicalFragment, LexicalIndex
from vault_memory.model import FragmentLocator, Target

TARGET = Target("", "a")
HOSTILE = [
    '"',
    '""" "',
    "seed AND",
    "OR seed NOT",
    "NEAR(seed water, 2)",
    "seed*",
    "^seed",
    "(seed",
    "seed)",
    "{names} : seed",
    "names : seed",
    "-seed +water",
    "'; DROP TABLE lexical_records; --",
    "seed\x00water",
    "🌱",
    "\ud800",
    "seed\udfff",
    "%_\\",
    "c++ c# .net",
    "seed " * 20_000,
    '"' + "seed water " * 10_000 + '"',
    " ".join(f'"word{number}"' for number in range(10_000)),
    "种" * 100_000,
    "a." * 50_000,
    '"' * 100_000,
]


@pytest.fixture
def index() -> Iterator[LexicalIndex]:
    """Give an empty index."""
    with closing(sqlite3.connect(":memory:")) as connection:
        index = LexicalIndex(connection)
        index.create()
        yield index


@pytest.mark.parametrize("text", HOSTILE, ids=[repr(text[:20]) for text in HOSTILE])
def test_any_text_is_a_query(index: LexicalIndex, text: str) -> None:
    """Nothing in a query is an operator, and its length is no fault."""
    index.add_fragments(TARGET, "names", (), [LexicalFragment(FragmentLocator(0, 14), "seed and water")])
    answer = index.query(text, 3)
    assert 0.0 <= answer.coverage <= 1.0


@pytest.mark.parametrize("text", ["", " \n", "?!", "\x00", '""'])
def test_query_without_words_has_no_hits(index: LexicalIndex, text: str) -> None:
    """Blank and punctuation find nothing and cover nothing."""
    index.add_fragments(TARGET, "", (), [LexicalFragment(FragmentLocator(0, 4), "seed")])
    assert index.query(text, 3) == LexicalAnswer((), 0.0, ())


def test_any_text_can_be_indexed_and_comes_back(index: LexicalIndex) -> None:
    """Text is given back as it was added, with NUL and half a surrogate pair."""
    text = "a\x00b \ud800 c 🌱 café\r\n"
    given = [LexicalFragment(FragmentLocator(5, 9), text, ("\ud800",))]
    index.add_fragments(TARGET, "\udfff", ("\x00",), given)
    assert index.texts([(TARGET, 5), (TARGET, 7), (Target("", "b"), 5)]) == {(TARGET, 5): text}
    assert [hit.locator.start for hit in index.query("🌱", 3).hits] == [5]
    assert index.remove(TARGET) == TARGET
    assert index.query("🌱", 3).hits == ()
