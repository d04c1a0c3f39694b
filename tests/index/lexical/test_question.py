"""What a query asks of one index."""

from __future__ import annotations

import pytest

from vault_memory.index.lexical.question import MOST_TERMS, Question
from vault_memory.index.lexical.words import query_terms


def question(text: str, **frequencies: int) -> Question:
    """Return the question that a text is for an index of 100 fragments with these document frequencies."""
    return Question(query_terms(text), lambda term: frequencies.get(term, 0), 100)


def test_rarest_terms_bring_in_fragments_and_all_terms_count() -> None:
    """Within a bound the commoner terms add to the score but bring in no fragment."""
    asked = question("common rare often", common=60, often=20, rare=1)
    assert asked.expression(30) == '("rare" OR "often") AND ("rare" OR "often" OR "common")'
    assert not asked.is_whole(30)


def test_one_term_is_asked_whatever_the_bound() -> None:
    """The rarest term is always asked."""
    assert question("common usual", common=60, usual=70).expression(1) == '("common") AND ("common" OR "usual")'


def test_all_terms_within_the_bound_are_asked_once() -> None:
    """A small index is asked for all terms as they are."""
    asked = question("rare common", common=60, rare=1)
    assert (asked.expression(61), asked.is_whole(61)) == ('("rare" OR "common")', True)


def test_unknown_terms_are_not_searched() -> None:
    """A query of words that no fragment holds has no expression."""
    asked = question("nowhere", somewhere=1)
    assert (asked.expression(10), asked.is_whole(10), asked.terms) == (None, True, ("nowher",))


def test_phrases_are_required_and_bound_the_work() -> None:
    """With phrases all other terms only add to the score."""
    asked = question('"rare plant" common', common=60, rare=1, plant=2)
    assert asked.expression(1) == (
        '({names headings words} : "rare plant") AND'
        ' (({names headings words} : "rare plant") OR "rare" OR "plant" OR "common")'
    )


def test_whole_compound_is_asked_where_it_is_known() -> None:
    """A compound that the index knows is asked beside its words; it is no term of its own."""
    asked = question("snake_case", snake=3, case=4, snake_case=1)
    assert (asked.expression(100), asked.terms) == ('("snake_case" OR "snake" OR "case")', ("snake", "case"))


def test_unknown_identifier_is_asked_by_its_pieces() -> None:
    """The pieces of a name are asked only where the name itself is unknown, and only those that are known."""
    assert question("getUserName", user=3, name=5).terms == ("user", "name")
    assert question("getUserName", getusernam=1, user=3).terms == ("getusernam",)
    assert question("getUserName").terms == ("getusernam",)


def test_unknown_pairs_are_seams() -> None:
    """Of overlapping pairs the known ones are asked; where none is known, the characters are."""
    assert question("我喜欢编程", 喜欢=2, 编程=3).terms == ("喜欢", "编程")
    assert question("欢喜", 欢=2).terms == ("欢",)
    assert question("我喜").terms == ("我喜",)


def test_coverage_weighs_by_rarity() -> None:
    """A rare term counts more than a common one, and an unknown one as much as one that occurs once."""
    asked = question("rare common", rare=1, common=60)
    assert asked.coverage({"rare"}) > 0.8
    assert asked.coverage({"common"}) == pytest.approx(1 - asked.coverage({"rare"}))
    assert asked.coverage({"rare", "common", "more"}) == 1.0
    assert question("rare unknown", rare=1).coverage({"rare"}) == pytest.approx(0.5)


def test_long_query_is_asked_by_its_first_terms() -> None:
    """A pasted page is bounded."""
    words = [f"w{number}" for number in range(2 * MOST_TERMS)]
    assert question(" ".join(words)).terms == tuple(words[:MOST_TERMS])
    assert len(question("欢" + "".join(map(chr, range(0x4E00, 0x4E00 + 2 * MOST_TERMS)))).terms) == MOST_TERMS
