"""Rules of joining two ranked lists."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.model import FragmentHit, FragmentLocator, Target
from vault_memory.retrieve.fusion import (
    COVERED,
    HARDLY_COVERED,
    WEIGHT_IF_COVERED,
    WEIGHT_IF_HARDLY_COVERED,
    dense_weight,
    fuse,
    minmax,
    select,
    single_lane,
)


def place(name: str, score: float, start: int = 0) -> FragmentHit:
    return FragmentHit(Target("", name), FragmentLocator(start, start + 1), score)


hits = st.lists(
    st.builds(place, st.sampled_from("abcdef"), st.floats(-1, 1), st.integers(0, 5)),
    unique_by=lambda hit: (hit.target, hit.locator),
    max_size=20,
)


def test_keywords_lead_where_they_cover_the_question() -> None:
    """A question whose words the notes hold is led by keywords, one whose words they lack by meaning."""
    assert dense_weight(COVERED) == pytest.approx(WEIGHT_IF_COVERED)
    assert dense_weight(1.0) == pytest.approx(WEIGHT_IF_COVERED)
    assert dense_weight(HARDLY_COVERED) == pytest.approx(WEIGHT_IF_HARDLY_COVERED)
    assert dense_weight(0.0) == pytest.approx(WEIGHT_IF_HARDLY_COVERED)


@given(st.floats(0, 1), st.floats(0, 1))
def test_weight_falls_as_coverage_rises(one: float, other: float) -> None:
    """The better the words cover the question, the less meaning weighs."""
    low, high = sorted((one, other))
    assert dense_weight(low) >= dense_weight(high)
    assert 0.0 <= dense_weight(one, other) <= dense_weight(one)


def test_unknown_words_take_weight_from_the_dense_list() -> None:
    """An embedder that knows nothing of the question has no say."""
    assert dense_weight(0.0, known_share=0.0) == 0.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_minmax_keeps_the_order(scores: list[float]) -> None:
    """Scaling keeps which of two scores is higher, with the best at 1."""
    scaled = minmax(scores)
    assert max(scaled) == 1.0
    assert all(0.0 <= score <= 1.0 for score in scaled)
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    assert all(scaled[a] <= scaled[b] for a, b in pairwise(order))


@given(hits, hits, st.floats(0, 1))
def test_fused_list_holds_every_place_once_with_each_lanes_score(
    dense: list[FragmentHit], lexical: list[FragmentHit], weight: float
) -> None:
    """Fusion loses no place, doubles none, keeps each lane's own score and orders by the fused one."""
    fused = fuse(dense, lexical, weight)
    assert {(h.target, h.locator) for h in fused} == {(h.target, h.locator) for h in (*dense, *lexical)}
    assert len({(h.target, h.locator) for h in fused}) == len(fused)
    for kind, lane in (("cosine", dense), ("bm25", lexical)):
        own = {(h.target, h.locator): h.score for h in lane}
        assert {(h.target, h.locator): h.scores[kind] for h in fused if kind in h.scores} == own
    assert [(-h.score, h.target, h.locator) for h in fused] == sorted((-h.score, h.target, h.locator) for h in fused)


@given(hits, st.integers(1, 8), st.integers(1, 3))
def test_selection_fills_up_under_the_cap(pool: list[FragmentHit], top_k: int, cap: int) -> None:
    """The cap passes over hits but never leaves the answer short while other records have some."""
    ranked = sorted(single_lane("cosine", pool), key=lambda hit: -hit.score)
    selected = select(ranked, top_k, cap)
    possible = sum(min(cap, sum(h.target == t for h in ranked)) for t in {h.target for h in ranked})
    assert len(selected) == min(top_k, possible)
    assert all(sum(h.target == t for h in selected) <= cap for t in {h.target for h in selected})


def test_threshold_is_passed_by_an_equal_score() -> None:
    """A hit exactly at the threshold is kept, and one below it is not."""
    ranked = single_lane("cosine", [place("a", 0.9), place("b", 0.5), place("c", 0.4)])
    assert [hit.target.id for hit in select(ranked, 10, None, 0.5)] == ["a", "b"]
