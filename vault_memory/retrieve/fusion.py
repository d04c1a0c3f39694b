"""Two ranked lists of places become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vault_memory.model import FragmentHit, FragmentLocator, Target

# How many places of each list are fused. Further down, a place in one list only can no longer reach the first ten.
POOL = 100

# The weight of the dense list follows how much of the question the best lexical hits hold. Where keywords cover the
# question they lead; where they hardly do, the reader does not know the words of the notes, and meaning leads. Chosen
# by the figures of eight question sets as a whole, see docs/retrieval.md.
COVERED = 0.55
HARDLY_COVERED = 0.2
WEIGHT_IF_COVERED = 0.15
WEIGHT_IF_HARDLY_COVERED = 0.9

# Below this share of known words a vector says less about a text than its likeness to other vectors suggests (the
# embedder then compares names and loan words), so the dense list loses weight with the square of the share.
KNOWN_WELL = 0.9


@dataclass(frozen=True, slots=True)
class FusedHit:
    """A place with its fused score and the score of each list that had it."""

    target: Target
    locator: FragmentLocator
    score: float
    scores: dict[str, float]


def dense_weight(coverage: float, known_share: float = 1.0) -> float:
    """Return the weight of the dense list, in [0, 1].

    Args:
        coverage: Share of the question's words, weighted by rarity, that the best lexical hits hold; in [0, 1].
        known_share: Share of the question's words that the embedder knows; in [0, 1].
    """
    position = min(1.0, max(0.0, (coverage - HARDLY_COVERED) / (COVERED - HARDLY_COVERED)))
    weight = WEIGHT_IF_HARDLY_COVERED + position * (WEIGHT_IF_COVERED - WEIGHT_IF_HARDLY_COVERED)
    return weight * min(1.0, known_share / KNOWN_WELL) ** 2


def fuse(dense: Sequence[FragmentHit], lexical: Sequence[FragmentHit], weight: float) -> list[FusedHit]:
    """Return `weight * minmax(dense) + (1 - weight) * minmax(lexical)` of every place, best first.

    Each list is brought to [0, 1] by its own best and worst score; a place that a list lacks has 0 there. A lexical
    list that is not full lacks only places without any of the words, whose BM25 is 0: its worst score is then 0, and
    not that of its last hit. Equal scores are ordered by target, then start.
    """
    fused: dict[tuple[Target, FragmentLocator], tuple[float, dict[str, float]]] = {}
    floor = 0.0 if len(lexical) < POOL else None
    lanes = (("cosine", dense, weight, None), ("bm25", lexical, 1.0 - weight, floor))
    for kind, hits, share, worst in lanes:
        for hit, scaled in zip(hits, minmax([hit.score for hit in hits], worst), strict=True):
            score, scores = fused.get((hit.target, hit.locator), (0.0, {}))
            fused[hit.target, hit.locator] = (score + share * scaled, {**scores, kind: hit.score})
    ranked = [
        FusedHit(target, locator, score, {**scores, "hybrid": score})
        for (target, locator), (score, scores) in fused.items()
    ]
    return sorted(ranked, key=lambda hit: (-hit.score, hit.target.scope, hit.target.id, hit.locator.start))


def minmax(scores: Sequence[float], worst: float | None = None) -> list[float]:
    """Return scores scaled so that the best is 1 and the worst 0; all are 1 where they are equal.

    Args:
        scores: Any finite scores.
        worst: What counts as the worst, if it is known to be lower than all of them.
    """
    if not scores:
        return []
    low, high = min(scores) if worst is None else worst, max(scores)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def single_lane(kind: str, hits: Sequence[FragmentHit]) -> list[FusedHit]:
    """Return one list as it is, under its own score."""
    return [FusedHit(hit.target, hit.locator, hit.score, {kind: hit.score}) for hit in hits]


def select(
    ranked: Sequence[FusedHit], top_k: int, max_per_record: int | None, threshold: float | None = None
) -> list[FusedHit]:
    """Return the best hits that reach the threshold, at most `max_per_record` of one record."""
    taken: Counter[Target] = Counter()
    selected: list[FusedHit] = []
    for hit in ranked:
        if len(selected) == top_k or (threshold is not None and hit.score < threshold):
            break
        if max_per_record is None or taken[hit.target] < max_per_record:
            taken[hit.target] += 1
            selected.append(hit)
    return selected
