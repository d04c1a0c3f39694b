"""A search over one consistent view of the state, from the question to hits with their evidence."""

from __future__ import annotations

from collections.abc import Sequence

from vault_memory.embed import VaultEmbedder
from vault_memory.index.state import State
from vault_memory.index.state.mirror import DenseMirror, GenerationMovedError
from vault_memory.index.state.snapshot import Snapshot
from vault_memory.model import Evidence, Hit, Retrieval, Target
from vault_memory.retrieve.filters import matching_targets
from vault_memory.retrieve.fusion import FusedHit
from vault_memory.retrieve.hybrid import DenseLane, LexicalLane, Ranking, rank
from vault_memory.retrieve.query import Query


class Searcher:
    """Answers checked queries from the state and the dense index that follows it."""

    def __init__(self, state: State, mirror: DenseMirror, embedder: VaultEmbedder) -> None:
        self._state = state
        self._mirror = mirror
        self._embedder = embedder

    def search(self, query: Query) -> Retrieval:
        """Return the hits of one generation, whatever is written meanwhile."""
        while True:
            with self._state.reading() as snapshot:
                try:
                    return self._search(snapshot, query)
                except GenerationMovedError:
                    continue

    def _search(self, snapshot: Snapshot, query: Query) -> Retrieval:
        targets = matching_targets(snapshot.envelopes(), query) if query.narrows_by_metadata else None

        def ask_dense(length: int) -> DenseLane:
            vector = self._embedder.embed_query(query.text)
            if not vector.any():
                return DenseLane(None)
            hits = self._mirror.query(
                snapshot, vector, length, query.max_per_record, scope=query.scope, targets=targets
            )
            return DenseLane(hits, self._embedder.known_share(query.text))

        def ask_lexical(length: int) -> LexicalLane:
            answer = snapshot.query_lexical(
                query.text, length, query.max_per_record, scope=query.scope, targets=targets
            )
            return LexicalLane(answer.hits, answer.coverage, answer.is_exact)

        ranking = rank(query, ask_dense, ask_lexical)
        return Retrieval(_hits(snapshot, ranking.hits), self._evidence(snapshot, query, ranking, targets))

    def _evidence(self, snapshot: Snapshot, query: Query, ranking: Ranking, targets: set[Target] | None) -> Evidence:
        freshness = snapshot.freshness()
        return Evidence(
            mode=query.mode,
            lanes=ranking.lanes,
            notes=ranking.notes,
            fingerprint=str(self._embedder.fingerprint) if "cosine" in ranking.lanes else None,
            coverage=ranking.coverage,
            dense_weight=ranking.dense_weight,
            records=_able_to_answer(snapshot, query, targets, freshness.records),
            freshness=freshness,
        )


def _able_to_answer(snapshot: Snapshot, query: Query, targets: set[Target] | None, records: int) -> int:
    """Return how many records the filters leave."""
    if targets is not None:
        return sum(_in_scope(target, query.scope) for target in targets)
    return snapshot.count_in_scope(query.scope) if query.scope else records


def _in_scope(target: Target, scope: str | None) -> bool:
    return not scope or f"{target.scope}/".startswith(f"{scope}/")


def _hits(snapshot: Snapshot, ranked: Sequence[FusedHit]) -> tuple[Hit, ...]:
    details = snapshot.details([(hit.target, hit.locator.start) for hit in ranked])
    return tuple(
        Hit(
            target=hit.target,
            locator=hit.locator,
            score=hit.score,
            scores=hit.scores,
            path=detail.path,
            lines=detail.lines,
            heading_path=detail.heading_path,
            record_digest=detail.record_digest,
            fragment_digest=detail.fragment_digest,
            text=detail.text,
            title=detail.title,
        )
        for hit, detail in zip(ranked, details, strict=True)
    )
