"""Hits to a context: read, drop what is there already, merge neighbours, stop at the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from vault_memory.context.budget import UNBOUNDED, Budget
from vault_memory.context.layout import SOURCES_BY_RANK, Layout
from vault_memory.context.passages import Context, ContextPassage, Dropped, DropReason, passage_id
from vault_memory.errors import RecordError, RecordNotFoundError, StaleSpanError, UnsafePathError
from vault_memory.model import FragmentLocator, Hit, Passage

ReadHit = Callable[[Hit], Passage]

# What reading a place says when the place is no longer there to be read.
_GONE = (StaleSpanError, RecordNotFoundError, RecordError, UnsafePathError)


def build_context(
    hits: Sequence[Hit], read: ReadHit, budget: Budget = UNBOUNDED, layout: Layout = SOURCES_BY_RANK
) -> Context:
    """Return the text of the best hits that fit a budget.

    The hits are taken by rank. The text of the first n of them, in its final layout, is what the budget bounds; the
    first hit with which it no longer fits ends it, and later ones are not read. So a larger budget never holds fewer,
    and no passage is ever cut short.

    Args:
        hits: Best first.
        read: Reads a hit's span as it is now, such as `Vault.read`. To merge passages it is asked for a hit of the same
            record with a longer span; what it answers counts only if it is both texts with blanks between.
        budget: Bounds of the text.
        layout: Format and order.

    Raises:
        QueryError: The caller's own format returned something else than a text.

    Example:
        >>> from vault_memory import Vault
        >>> with Vault.open("sample_vault") as vault:
        ...     context = build_context(vault.search("watering seedlings").hits, vault.read, Budget(max_chars=900))
        >>> context.passages[0].id, len(context.text) <= 900
        ('Garden/Seedlings.md#1', True)
    """
    draft = _Draft(hits, read, layout)
    context = Context((), (), layout.header, layout.footer, budget.max_chars, budget.max_tokens)
    for rank, hit in enumerate(hits, 1):
        passages = draft.with_hit(rank, hit)
        larger = replace(context, passages=layout.ordered(passages))
        if (overrun := _overrun(larger, budget)) is not None:
            rest = [_dropped(later, hit, *overrun) for later, hit in enumerate(hits[rank - 1 :], rank)]
            return replace(context, dropped=(*draft.dropped, *rest))
        context, draft.passages = larger, passages
    return replace(context, dropped=tuple(draft.dropped))


def _overrun(context: Context, budget: Budget) -> tuple[DropReason, str] | None:
    """Return why a context does not fit, if it does not."""
    if budget.max_chars is None and budget.max_tokens is None:
        return None
    text = context.text
    if budget.max_chars is not None and len(text) > budget.max_chars:
        return "over-char-budget", f"with the next passage the text has {len(text)} of {budget.max_chars} characters"
    if budget.max_tokens is not None and (count := budget.count_tokens(text)) > budget.max_tokens:
        return "over-token-budget", f"with the next passage the text has {count} of {budget.max_tokens} tokens"
    return None


def _dropped(rank: int, hit: Hit, reason: DropReason, detail: str) -> Dropped:
    return Dropped(passage_id(hit.path, rank), (rank,), float(hit.score), hit.target, hit.locator, reason, detail)


@dataclass(slots=True)
class _Draft:
    """The passages of the first hits, and what was dropped of them on the way."""

    hits: Sequence[Hit]
    read: ReadHit
    layout: Layout
    passages: tuple[ContextPassage, ...] = ()
    dropped: list[Dropped] = field(default_factory=list)
    ranks_by_text: dict[str, int] = field(default_factory=dict)

    def with_hit(self, rank: int, hit: Hit) -> tuple[ContextPassage, ...]:
        """Return the passages with the text of one more hit, or as they are if it adds none."""
        try:
            passage = self.read(hit)
        except _GONE as error:
            return self._drop(rank, hit, "stale", str(error))
        if not passage.text.strip():
            return self._drop(rank, hit, "empty", "the passage holds nothing but blanks")
        if (twin := self.ranks_by_text.setdefault(passage.text, rank)) != rank:
            return self._drop(rank, hit, "duplicate", f"hit {twin} has the same text")
        fresh = self._rendered(passage, hit, (rank,))
        for shown in self.passages:
            if _covers(shown, fresh):
                return self._drop(rank, hit, "duplicate", f"it is a part of {shown.id}")
        merged, others = self._merged(fresh) if self.layout.merge else (fresh, self.passages)
        for shown in others:
            if _overlap(shown, merged):
                return self._drop(rank, hit, "duplicate", f"it overlaps {shown.id}")
        return (*others, merged)

    def _drop(self, rank: int, hit: Hit, reason: DropReason, detail: str) -> tuple[ContextPassage, ...]:
        self.dropped.append(_dropped(rank, hit, reason, detail))
        return self.passages

    def _merged(self, fresh: ContextPassage) -> tuple[ContextPassage, tuple[ContextPassage, ...]]:
        """Return a passage together with its neighbours, and the passages that are none."""
        others = list(self.passages)
        for neighbour in _neighbours(self.passages, fresh):
            joined = self._joined(fresh, neighbour)
            if joined is not None:
                fresh = joined
                others.remove(neighbour)
        return fresh, tuple(others)

    def _joined(self, one: ContextPassage, other: ContextPassage) -> ContextPassage | None:
        """Return the passage that spans two of one record, if the record holds nothing but blanks between them."""
        first, second = sorted((one, other), key=lambda passage: passage.locator)
        span = FragmentLocator(first.locator.start, max(first.locator.end, second.locator.end))
        ranks = tuple(sorted((*one.ranks, *other.ranks)))
        best = self.hits[ranks[0] - 1]
        try:
            whole = self.read(replace(best, locator=span, heading_path=first.heading_path))
        except _GONE:
            return None
        if whole.locator != span or not _holds(whole.text, first, second):
            return None
        return self._rendered(whole, best, ranks)

    def _rendered(self, passage: Passage, hit: Hit, ranks: tuple[int, ...]) -> ContextPassage:
        bare = ContextPassage(
            text=passage.text,
            target=passage.target,
            locator=passage.locator,
            path=passage.path,
            lines=passage.lines,
            heading_path=passage.heading_path,
            moved=passage.moved,
            id=passage_id(passage.path, ranks[0]),
            ranks=ranks,
            score=float(hit.score),
            title=hit.title,
        )
        return replace(bare, block=self.layout.render(bare))


def _covers(outer: Passage, inner: Passage) -> bool:
    return outer.target == inner.target and (
        outer.locator.start <= inner.locator.start and inner.locator.end <= outer.locator.end
    )


def _overlap(one: Passage, other: Passage) -> bool:
    return one.target == other.target and (
        one.locator.start < other.locator.end and other.locator.start < one.locator.end
    )


def _neighbours(passages: Sequence[ContextPassage], fresh: ContextPassage) -> Iterator[ContextPassage]:
    """Yield the passages of the same record that overlap a span, and the nearest ones before and after it."""
    same = [passage for passage in passages if passage.target == fresh.target]
    before = [passage for passage in same if passage.locator.end <= fresh.locator.start]
    after = [passage for passage in same if passage.locator.start >= fresh.locator.end]
    yield from (passage for passage in same if _overlap(passage, fresh))
    if before:
        yield max(before, key=lambda passage: passage.locator)
    if after:
        yield min(after, key=lambda passage: passage.locator)


def _holds(whole: str, first: Passage, second: Passage) -> bool:
    """Whether a text is two passages at their places, and blanks."""
    offset = second.locator.start - first.locator.start
    between = whole[len(first.text) : offset]
    return whole.startswith(first.text) and whole.startswith(second.text, offset) and not between.strip()
