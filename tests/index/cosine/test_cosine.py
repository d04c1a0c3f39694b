"""The in-memory index: its storage, loading from arrays, and many threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from vault_memory.errors import ConfigError, DimensionMismatchError, FragmentIndexError, InvalidFragmentError
from vault_memory.index.cosine import InMemoryFragmentCosineIndex
from vault_memory.index.cosine import search as search_module
from vault_memory.model import EmbeddedFragment, FragmentLocator, Target

Matrix = npt.NDArray[np.float32]


def random_units(rows: int, dimensions: int, seed: int = 0) -> Matrix:
    """Return random rows of length 1."""
    matrix = np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def fragments_of(matrix: npt.NDArray[Any]) -> list[EmbeddedFragment]:
    """Return one fragment of ten characters per row."""
    return [EmbeddedFragment(FragmentLocator(10 * n, 10 * n + 10), row) for n, row in enumerate(matrix)]


def loaded(matrix: Matrix, per_record: int, **options: int) -> InMemoryFragmentCosineIndex:
    """Return an index of records named by number in scopes of ten, each of `per_record` rows."""
    records = len(matrix) // per_record
    index = InMemoryFragmentCosineIndex(**options)
    starts = np.tile(10 * np.arange(per_record), records)
    targets = [named(number) for number in range(records)]
    index.load(targets, [per_record] * records, starts, starts + 10, matrix)
    return index


def named(number: int) -> Target:
    """Return the target of a numbered record."""
    return Target(f"s{number // 10:04}", f"{number:06}")


def numbers(index: InMemoryFragmentCosineIndex, vector: npt.ArrayLike, top_k: int, cap: int | None = None) -> list[Any]:
    """Return record name and fragment number of each hit."""
    return [(hit.target.id, hit.locator.start // 10) for hit in index.query(vector, top_k, cap)]


@pytest.mark.parametrize("rows", [19_999, 30_000])
def test_one_and_two_threads_find_the_best(rows: int) -> None:
    """Below and above the size from which two threads scan, the answer is that of a plain product and sort."""
    matrix = random_units(rows // 5 * 5, 16)
    query = random_units(1, 16, seed=1)[0]
    best = np.argsort(-(matrix.astype(np.float64) @ query))[:20]
    assert numbers(loaded(matrix, 5), query, 20) == [(f"{row // 5:06}", row % 5) for row in best]


def test_one_processor_scans_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with one processor gives the same answer."""
    matrix = random_units(25_000, 8)
    index = loaded(matrix, 5)
    expected = index.query(matrix[7], 5)
    monkeypatch.setattr(search_module, "CAN_USE_TWO_THREADS", False)
    assert index.query(matrix[7], 5) == expected


def test_record_owning_the_best_ninety_percent_hides_no_other() -> None:
    """Under a cap the other records are found, however many better rows one record has."""
    near = random_units(9_000, 16) * 0.05 + np.eye(16)[0]
    others = random_units(1_000, 16, seed=2)
    index = InMemoryFragmentCosineIndex()
    index.add_fragments(Target("", "big"), fragments_of(near))
    for number, row in enumerate(others):
        index.add_fragments(named(number), fragments_of(row[None]))
    hits = index.query(np.eye(16)[0], 10, 2)
    best = np.argsort(-others[:, 0])[:8]
    assert [hit.target for hit in hits] == [Target("", "big")] * 2 + [named(number) for number in best]


def test_record_may_be_larger_than_a_block() -> None:
    """A record of any size is replaced as a whole and every row of it is found."""
    matrix = random_units(200, 4)
    index = InMemoryFragmentCosineIndex(block_rows=16)
    index.add_fragments(Target("", "small"), fragments_of(matrix[:3]))
    index.add_fragments(Target("", "big"), fragments_of(matrix))
    assert [numbers(index, row, 1)[0][1] for row in matrix[3:]] == list(range(3, 200))
    index.add_fragments(Target("", "big"), fragments_of(matrix[:1]))
    assert (index.record_count, index.fragment_count) == (2, 4)


def test_memory_stays_near_the_living_rows() -> None:
    """After many replacements the blocks hold little more than the rows that are alive."""
    matrix = random_units(1_000, 4)
    index = loaded(matrix, 5, block_rows=64)
    order = np.random.default_rng(3).integers(0, 200, 2_000)
    for number in order:
        index.add_fragments(named(number), fragments_of(matrix[number * 5 : number * 5 + 5]))
    blocks = index._state.blocks.values()
    assert index.fragment_count == 1_000
    assert sum(len(block.memory) for block in blocks) < 1.5 * 1_000
    assert [numbers(index, matrix[row], 1)[0] for row in range(0, 1000, 7)] == [
        (f"{row // 5:06}", row % 5) for row in range(0, 1000, 7)
    ]


def test_removing_everything_gives_all_memory_back() -> None:
    """An emptied index holds no block."""
    index = loaded(random_units(500, 4), 5, block_rows=32)
    for number in range(100):
        index.remove(named(number))
    assert (index.record_count, index.fragment_count, len(index._state.blocks)) == (0, 0, 0)


def test_names_of_removed_records_do_not_pile_up() -> None:
    """Numbers of removed records are given out again, and never mix up targets."""
    index = InMemoryFragmentCosineIndex(block_rows=64)
    for number in range(4_000):
        index.add_fragments(named(number), fragments_of(np.array([[1.0, number + 1.0]])))
        if number >= 10:
            index.remove(named(number - 10))
    assert len(index._state.targets) < 2_500
    assert {hit.target for hit in index.query([0, 1], 99)} == {named(number) for number in range(3_990, 4_000)}
    assert {hit.target for hit in index.query([0, 1], 99, scope=named(3_990).scope)} == {
        named(number) for number in range(3_990, 4_000)
    }
    assert index.query([0, 1], 99, scope=named(7).scope) == []


def test_load_equals_adding_one_by_one() -> None:
    """Loading arrays gives the index that `add_fragments` gives, whether the rows have length 1 or not."""
    matrix = random_units(300, 8)
    one_by_one = InMemoryFragmentCosineIndex()
    for number in range(100):
        one_by_one.add_fragments(named(number), fragments_of(matrix[3 * number : 3 * number + 3] * 7))
    raw = InMemoryFragmentCosineIndex()
    starts = np.tile([0, 10, 20], 100)
    added = raw.load([named(n) for n in range(100)], [3] * 100, starts, starts + 10, matrix * 7, normalized=False)
    assert added == raw.fragment_count == 300
    for query in random_units(5, 8, seed=9):
        assert raw.query(query, 30, 2) == one_by_one.query(query, 30, 2)
        assert numbers(loaded(matrix, 3), query, 30, 2) == numbers(one_by_one, query, 30, 2)


def test_load_replaces_records_that_are_there() -> None:
    """A loaded record replaces what the index held of it."""
    index = loaded(random_units(100, 4), 5)
    index.load([named(3), named(99)], [1, 2], [0, 0, 10], [10, 10, 20], random_units(3, 4, seed=5))
    assert (index.record_count, index.fragment_count) == (21, 98)


def test_loading_nothing_changes_nothing() -> None:
    """An empty load is allowed and fixes no width."""
    index = InMemoryFragmentCosineIndex()
    nothing = np.zeros(0, dtype=np.int64)
    assert index.load([], nothing, nothing, nothing, np.zeros((0, 7), dtype=np.float32)) == 0
    assert index.dimensions is None


GOOD: dict[str, Any] = {
    "targets": [Target("", "x"), Target("", "y")],
    "counts": [1, 2],
    "starts": [0, 0, 5],
    "ends": [5, 5, 9],
    "matrix": np.eye(3, dtype=np.float32),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("targets", [Target("", "x"), Target("", "x")]),
        ("targets", [Target("", "x")]),
        ("counts", [1, 1]),
        ("counts", [0, 3]),
        ("counts", [1.0, 2.0]),
        ("counts", [[1, 2]]),
        ("starts", [0, 5, 5]),
        ("starts", [0, -1, 5]),
        ("starts", [0.0, 0.0, 5.0]),
        ("starts", [0, 0]),
        ("ends", [[5, 5, 9]]),
        ("matrix", np.eye(3, dtype=np.float32)[:2]),
        ("matrix", np.eye(3, dtype=np.float32) * 2),
        ("matrix", np.full((3, 3), np.nan, dtype=np.float32)),
        ("matrix", np.full((3, 3), 1e30, dtype=np.float32)),
        ("matrix", np.eye(3, dtype=np.int64)),
        ("matrix", np.zeros((3, 0), dtype=np.float32)),
        ("matrix", np.zeros(3, dtype=np.float32)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, value: object) -> None:
    """A load is checked as a whole, and a refused one changes nothing."""
    index = InMemoryFragmentCosineIndex()
    index.load(**GOOD)
    before = index.query([1, 2, 3], 9)
    with pytest.raises(InvalidFragmentError):
        index.load(**{**GOOD, name: value})
    assert index.query([1, 2, 3], 9) == before


def test_load_refuses_what_is_not_finite_and_other_widths() -> None:
    """Raw rows must be finite, and all rows have the width of the index."""
    index = InMemoryFragmentCosineIndex(3)
    with pytest.raises(InvalidFragmentError, match="row 1 of the matrix is not finite"):
        index.load(**{**GOOD, "matrix": np.array([[1, 2, 3], [1, np.inf, 0], [1, 1, 1.0]])}, normalized=False)
    with pytest.raises(DimensionMismatchError):
        index.load(**{**GOOD, "matrix": np.eye(4, dtype=np.float32)[:3]})
    assert index.fragment_count == 0


def test_width_can_be_fixed_from_the_start() -> None:
    """A width given at construction binds the first vector and outlives a rebuild."""
    index = InMemoryFragmentCosineIndex(2)
    assert index.dimensions == 2
    with pytest.raises(DimensionMismatchError):
        index.add_fragments(Target("", "a"), fragments_of(np.eye(3)))
    index.rebuild(list, lambda record: record)
    assert index.dimensions == 2


@pytest.mark.parametrize("options", [{"dimensions": 0}, {"dimensions": -3}, {"block_rows": 0}])
def test_impossible_options_are_refused(options: dict[str, int]) -> None:
    """Width and block size are at least 1."""
    with pytest.raises(ConfigError):
        InMemoryFragmentCosineIndex(**options)


def test_refusal_names_the_fragment_and_the_record() -> None:
    """An error says which fragment of which record is wrong."""
    index = InMemoryFragmentCosineIndex()
    bad = [EmbeddedFragment(FragmentLocator(0, 1), [1.0]), EmbeddedFragment(FragmentLocator(2, 1), [1.0])]
    with pytest.raises(FragmentIndexError, match=r"fragment 1 of notes/x: \[2, 1\) is no span"):
        index.add_fragments(Target("notes", "x"), bad)


def test_filter_reads_few_and_many_rows_alike() -> None:
    """The answer under a filter is the same whether the kept rows are gathered or a whole block is scanned."""
    matrix = random_units(2_000, 8)
    index = loaded(matrix, 5)
    query = random_units(1, 8, seed=4)[0]
    everything = index.query(query, 2_000)
    for step in (2, 100):
        kept = {named(number) for number in range(0, 400, step)}
        assert index.query(query, 7, targets=kept) == [hit for hit in everything if hit.target in kept][:7]


def test_query_sees_a_record_before_or_after_its_replacement() -> None:
    """While records are replaced, added and removed, a query sees each record whole: all its old or all its new rows."""
    index = InMemoryFragmentCosineIndex(block_rows=32)
    old, new = fragments_of(np.tile([1.0, 0.0], (3, 1))), fragments_of(np.tile([0.0, 1.0], (5, 1)))
    for number in range(20):
        index.add_fragments(named(number), old)
    seen_wrong: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            by_record: dict[Target, list[float]] = {}
            for hit in index.query([1.0, 0.0], 1_000):
                by_record.setdefault(hit.target, []).append(hit.score)
            if not {named(n) for n in range(19)} <= set(by_record):
                seen_wrong.append(set(by_record))
            seen_wrong.extend(s for s in by_record.values() if s not in ([1.0] * 3, [0.0] * 5))
            scoped = index.query([1.0, 0.0], 1_000, scope="s0000")
            seen_wrong.extend(hit for hit in scoped if hit.target.scope != "s0000")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(600):
        index.add_fragments(named(turn % 19), new if turn % 3 else old)
        index.remove(named(1_000 + turn - 1))
        index.add_fragments(named(1_000 + turn), old)
    done.set()
    for reader in readers:
        reader.join()
    assert seen_wrong == []


def test_many_writers_lose_nothing() -> None:
    """Writes from several threads are all there at the end."""
    index = InMemoryFragmentCosineIndex(block_rows=32)

    def write(first: int) -> None:
        for number in range(first, first + 100):
            index.add_fragments(named(number), fragments_of(np.array([[1.0, number], [2.0, number]])))

    writers = [threading.Thread(target=write, args=(first,)) for first in range(0, 400, 100)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert (index.record_count, index.fragment_count) == (400, 800)
    assert len(index.query([1, 0], 1_000)) == 800
