"""Laws of the in-memory index: whatever happened before, it answers as a loop over everything would."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from vault_memory.index.cosine import InMemoryFragmentCosineIndex
from vault_memory.index.cosine.blocks import Block, Rows, Run
from vault_memory.index.cosine.checks import scaled, unit_rows
from vault_memory.index.cosine.kernel import exact_scores, scan_error, segment_max
from vault_memory.model import EmbeddedFragment, FragmentLocator, Target

WIDTH = 3
TARGETS = [Target(scope, name) for scope in ("", "a", "a/b", "ab") for name in "xyz"]
# Small whole numbers make many exact ties and zero vectors; a few steps of a float make near ties.
NUMBERS = st.sampled_from([-2.0, -1.0, 0.0, 1.0, 1.0, 2.0, 1.0 + 2**-23, 1.0 + 2**-20])
VECTORS = st.lists(NUMBERS, min_size=WIDTH, max_size=WIDTH)
Content = dict[Target, list[tuple[int, list[float]]]]


def expected(content: Content, query: list[float], top_k: int, cap: int | None) -> list[tuple[Target, int, float]]:
    """Return the answer by definition: score everything, sort, walk down under the cap."""
    question = scaled(np.array([query]))[0]
    rows = [
        (-float(exact_scores(unit_rows(np.array([vector])), question)[0]), target, start)
        for target, fragments in content.items()
        for start, vector in fragments
    ]
    answer: list[tuple[Target, int, float]] = []
    given_by: dict[Target, int] = {}
    for score, target, start in sorted(rows):
        if len(answer) < top_k and given_by.get(target, 0) < (cap or top_k):
            answer.append((target, start, -score))
            given_by[target] = given_by.get(target, 0) + 1
    return answer


class IndexMachine(RuleBasedStateMachine):
    """Any order of adding, replacing, removing and loading, with blocks so small that they are compacted all the time."""

    def __init__(self) -> None:
        super().__init__()
        self.index = InMemoryFragmentCosineIndex(block_rows=12)
        self.content: Content = {}

    @rule(record=st.sampled_from(TARGETS), vectors=st.lists(VECTORS, max_size=6), copies=st.sampled_from([1, 1, 1, 30]))
    def add(self, record: Target, vectors: list[list[float]], copies: int) -> None:
        """Adding replaces the whole record; many copies cross the segments of 64 rows."""
        fragments = list(enumerate(vectors * copies))
        added = [EmbeddedFragment(FragmentLocator(start, start + 1), vector) for start, vector in fragments]
        assert self.index.add_fragments(record, added) == len(fragments)
        self.content.pop(record, None)
        if fragments:
            self.content[record] = fragments

    @rule(record=st.sampled_from(TARGETS))
    def remove(self, record: Target) -> None:
        """Removing forgets the record."""
        assert self.index.remove(record) == record
        self.content.pop(record, None)

    @rule(
        records=st.dictionaries(
            st.sampled_from(TARGETS), st.lists(VECTORS, min_size=1, max_size=4), min_size=1, max_size=6
        )
    )
    def load(self, records: dict[Target, list[list[float]]]) -> None:
        """Loading replaces the named records and no others."""
        starts = np.concatenate([np.arange(len(vectors)) for vectors in records.values()])
        self.index.load(
            list(records),
            [len(vectors) for vectors in records.values()],
            starts,
            starts + 1,
            np.array([vector for vectors in records.values() for vector in vectors]),
            normalized=False,
        )
        self.content.update({target: list(enumerate(vectors)) for target, vectors in records.items()})

    @rule(
        query=VECTORS,
        top_k=st.integers(1, 40),
        cap=st.none() | st.integers(1, 5),
        scope=st.sampled_from([None, "", "a", "a/b", "ab", "b"]),
        among=st.none() | st.sets(st.sampled_from(TARGETS)),
    )
    def query(
        self, query: list[float], top_k: int, cap: int | None, scope: str | None, among: set[Target] | None
    ) -> None:
        """Every answer is the one by definition: places, order and scores."""
        kept = {
            target: fragments
            for target, fragments in self.content.items()
            if (not scope or target.scope == scope or target.scope.startswith(scope + "/"))
            and (among is None or target in among)
        }
        hits = self.index.query(query, top_k, cap, scope=scope, targets=among)
        assert [(hit.target, hit.locator.start, hit.score) for hit in hits] == expected(kept, query, top_k, cap)

    @invariant()
    def counts_agree(self) -> None:
        """Counters and `has` tell what is there."""
        assert self.index.record_count == len(self.content)
        assert self.index.fragment_count == sum(map(len, self.content.values()))
        assert all(self.index.has(target) == (target in self.content) for target in TARGETS)


TestIndexMachine = IndexMachine.TestCase
TestIndexMachine.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([0.0, 1e-7, 1e-6, 1e-4, 1.0]),
    top_k=st.integers(1, 30),
    cap=st.none() | st.integers(1, 3),
)
def test_near_ties_are_ranked_as_by_brute_force(seed: int, spread: float, top_k: int, cap: int | None) -> None:
    """Rows closer together than a float32 scan can tell are still ranked by their exact scores, or as real ties."""
    random = np.random.default_rng(seed)
    matrix = random.standard_normal(64) + spread * random.standard_normal((300, 64))
    query = random.standard_normal(64)
    content: Content = {}
    index = InMemoryFragmentCosineIndex()
    for number, rows in enumerate(np.split(matrix, [180, 181, 182, *range(183, 300, 9)])):
        target = Target("", f"{number:02}")
        index.add_fragments(target, [EmbeddedFragment(FragmentLocator(n, n + 1), row) for n, row in enumerate(rows)])
        content[target] = [(n, row.tolist()) for n, row in enumerate(rows)]
    hits = index.query(query, top_k, cap)
    assert [(h.target, h.locator.start, h.score) for h in hits] == expected(content, query.tolist(), top_k, cap)


@given(arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 40)), elements=st.floats(-1e3, 1e3)))
def test_score_of_a_row_does_not_depend_on_its_place(rows: npt.NDArray[np.float64]) -> None:
    """The same vector gets the same unit row and the same score, bit for bit, alone and among any others."""
    units = unit_rows(rows)
    question = scaled(rows[:1])[0]
    scores = exact_scores(units, question)
    for number in range(len(rows)):
        alone = unit_rows(rows[number : number + 1])
        assert alone.tobytes() == units[number].tobytes()
        assert exact_scores(alone, question)[0] == scores[number]


@given(arrays(np.float64, 5, elements=st.floats(-8, 8)), st.integers(-900, 900))
def test_scaling_by_a_power_of_two_changes_nothing(row: npt.NDArray[np.float64], power: int) -> None:
    """The unit row keeps every bit when a vector is made huge or tiny, as long as the vector itself keeps its bits."""
    other = np.ldexp(row, power)
    if np.array_equal(np.ldexp(other, -power), row):
        assert unit_rows(other[None]).tobytes() == unit_rows(row[None]).tobytes()


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from([1, 2, 3, 17, 256, 700, 9216, 10_000]), same=st.booleans())
def test_scan_stays_within_its_error(seed: int, width: int, same: bool) -> None:
    """Every maximum that the scan finds is within `scan_error` of the exact one, for all or some segments."""
    random = np.random.default_rng(seed)
    counts = random.integers(1, 130, 3)
    vectors = unit_rows(random.standard_normal((counts.sum(), width)))
    question = scaled(vectors[:1] if same else random.standard_normal((1, width)))[0]
    places = np.arange(len(vectors), dtype=np.int64)
    run = Run(Rows(vectors, places, places + 1), np.arange(3, dtype=np.int32), counts)
    block = Block.empty(len(vectors), width).appended(run)
    exact = np.maximum.reduceat(exact_scores(vectors, question), block.bounds[:-1])
    every: npt.NDArray[Any] = segment_max(block, question.astype(np.float32))
    assert np.abs(every - exact).max() <= scan_error(width)
    some = np.array([0, len(exact) - 1])
    assert np.abs(segment_max(block, question.astype(np.float32), some) - exact[some]).max() <= scan_error(width)
