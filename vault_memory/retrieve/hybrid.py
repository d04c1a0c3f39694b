"""The lanes of a search, asked and joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vault_memory.model import FragmentHit
from vault_memory.retrieve.fusion import POOL, FusedHit, dense_weight, fuse, select, single_lane
from vault_memory.retrieve.query import Query


@dataclass(frozen=True, slots=True)
class LexicalLane:
    """What the lexical list answers.

    Attributes:
        hits: Its hits.
        coverage: How much of the question the best of them hold.
        is_exact: Whether the question quotes a phrase, so that no other place may answer.
    """

    hits: Sequence[FragmentHit]
    coverage: float
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class DenseLane:
    """What the dense list answers.

    Attributes:
        hits: Its hits; `None` if the question has no vector.
        known_share: Share of the question that the embedder knows.
    """

    hits: Sequence[FragmentHit] | None
    known_share: float = 1.0


@dataclass(frozen=True, slots=True)
class Ranking:
    """Selected hits, and how they came about."""

    hits: list[FusedHit]
    lanes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    coverage: float | None = None
    dense_weight: float | None = None


NO_WORD = "no note holds a word of the question; meaning alone decides"
NO_VECTOR = "the embedder knows none of the question's words, so no vector was searched"


def rank(query: Query, ask_dense: Callable[[int], DenseLane], ask_lexical: Callable[[int], LexicalLane]) -> Ranking:
    """Return the hits of a query from the lanes that its mode names.

    Args:
        query: A checked query.
        ask_dense: Gives the dense list of a length.
        ask_lexical: Gives the lexical list of a length.
    """
    if query.mode == "lexical":
        lexical = ask_lexical(query.top_k)
        return _single("bm25", lexical.hits, query, coverage=lexical.coverage)
    if query.mode == "semantic":
        dense = ask_dense(query.top_k)
        return _single("cosine", dense.hits or (), query, notes=() if dense.hits is not None else (NO_VECTOR,))
    return _fused(query, ask_dense(max(POOL, query.top_k)), ask_lexical(max(POOL, query.top_k)))


def _fused(query: Query, dense: DenseLane, lexical: LexicalLane) -> Ranking:
    if dense.hits is None:
        silent = (f"{NO_VECTOR}; keywords alone decide",)
        return _single("bm25", lexical.hits, query, notes=silent, coverage=lexical.coverage)
    weight = dense_weight(lexical.coverage, dense.known_share)
    holding = {(hit.target, hit.locator) for hit in lexical.hits}
    may_answer = [hit for hit in dense.hits if not lexical.is_exact or (hit.target, hit.locator) in holding]
    ranked = fuse(may_answer, lexical.hits, weight)
    hits = select(ranked, query.top_k, query.max_per_record, query.threshold)
    lanes = ("cosine", "bm25") if lexical.hits else ("cosine",)
    notes = (NO_WORD,) if hits and not lexical.hits else ()
    return Ranking(hits, lanes, notes, lexical.coverage, weight)


def _single(
    kind: str,
    hits: Sequence[FragmentHit],
    query: Query,
    *,
    notes: tuple[str, ...] = (),
    coverage: float | None = None,
) -> Ranking:
    selected = select(single_lane(kind, hits), query.top_k, query.max_per_record, query.threshold)
    return Ranking(selected, (kind,), notes, coverage)
